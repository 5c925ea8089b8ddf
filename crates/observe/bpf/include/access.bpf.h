/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How kernel memory is read. The full build loads through a read-only BTF cast (6.2 and later): about 1 ns, faults are
 * caught. The compat build calls bpf_probe_read_kernel, about 25 ns a load, and is tested on 6.1. HOTSET_NO_FETCH besides
 * makes it one for kernels before 5.12, tested on 5.10: only additions whose result is not used are atomic there.
 */
#ifndef HOTSET_ACCESS_H
#define HOTSET_ACCESS_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#ifdef HOTSET_COMPAT
/* clang-format off */
#define LOAD(type, ptr, field) \
	({ const void *_from = (const void *)(ptr); BPF_CORE_READ((struct type *)_from, field); })
#define CURRENT() ((struct task_struct *)bpf_get_current_task())
/* clang-format on */
#else
#ifdef HOTSET_KERNEL_SYMBOLS
extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym;
#else
/*
 * Functions of the kernel, called by numbers that no helper has: programs.rs writes the kernel's in their place. libbpf would
 * look through all types of the kernel for them, 7 ms a start.
 */
enum hs_function {
	HS_RDONLY_CAST = 0x70000000,
	HS_PREEMPT_DISABLE,
	HS_PREEMPT_ENABLE,
	HS_VMAS_NEW,
	HS_VMAS_NEXT,
	HS_VMAS_DESTROY,
};
static void *(*const bpf_rdonly_cast)(const void *obj, u32 btf_id) = (void *)HS_RDONLY_CAST;
static void (*const bpf_preempt_disable)(void) = (void *)HS_PREEMPT_DISABLE;
static void (*const bpf_preempt_enable)(void) = (void *)HS_PREEMPT_ENABLE;
/* Mappings of a task, from an address on; 6.7 and later (cfg.code_told). */
struct bpf_iter_task_vma {
	u64 opaque;
};
static int (*const bpf_iter_task_vma_new)(struct bpf_iter_task_vma *it, struct task_struct *task,
					  u64 from) = (void *)HS_VMAS_NEW;
static struct vm_area_struct *(*const bpf_iter_task_vma_next)(struct bpf_iter_task_vma *it) = (void *)HS_VMAS_NEXT;
static void (*const bpf_iter_task_vma_destroy)(struct bpf_iter_task_vma *it) = (void *)HS_VMAS_DESTROY;
#endif
#define LOAD(type, ptr, field) \
	(((struct type *)bpf_rdonly_cast((const void *)(ptr), bpf_core_type_id_kernel(struct type)))->field)
#define CURRENT() bpf_get_current_task_btf()
#endif

#ifdef HOTSET_NO_FETCH
/* clang-format off */
#define FETCH_OR(p, v) (*(volatile u64 *)(p) |= (v))
#define CLEAR_BITS(p, v) \
	({ u64 _got = *(volatile u64 *)(p) & (v); *(volatile u64 *)(p) &= ~(v); _got; })
#define COMPARE_AND_SWAP(p, old, new) \
	({ u64 _was = *(volatile u64 *)(p); if (_was == (old)) *(volatile u64 *)(p) = (new); _was; })
/* clang-format on */
#else
#define FETCH_OR(p, v) __sync_fetch_and_or(p, v)
#define CLEAR_BITS(p, v) (__sync_fetch_and_and(p, ~(v)) & (v))
#define COMPARE_AND_SWAP(p, old, new) __sync_val_compare_and_swap(p, old, new)
#endif

/*
 * A function that is verified once in a program, apart from those that call it, and not again at each call in each state: it is
 * not static then. Nothing is known of its arguments, none may point to a structure of the kernel, and a chain of calls is at
 * most eight. Before 5.12 it takes no pointers at all: in the compat builds it is static, or a part of its callers.
 */
#ifdef HOTSET_COMPAT
#define APART static __noinline
#define APART_OR_INLINE static __always_inline
#else
#define APART __noinline
#define APART_OR_INLINE __noinline
#endif

/*
 * A recording (`hotset record`) has objects of its own, made of the same source: other sessions need none of it, and are loaded
 * sooner without.
 */
#ifdef HOTSET_RECORD
#define RECORD 1
#define RECORD_PAGES cfg.record_pages
#define RECORDS APART
#else
#define RECORD 0
#define RECORD_PAGES 0
#define RECORDS static __always_inline
#endif

#define ATOMIC_ADD(p, v) ((void)__sync_fetch_and_add(p, v))
#define PLAIN_ADD(p, v) (*(p) += (v))
#define barrier_value(v) asm volatile("" : "+r"(v))

/*
 * Arithmetic without branches, each of which makes the verifier follow two ways. The barriers keep clang from making branches
 * of it. Numbers are below 2^63.
 */

/* All bits if a < b, else none. */
static __always_inline u64 if_less(u64 a, u64 b)
{
	u64 mask = (s64)(a - b) >> 63;
	barrier_value(mask);
	return mask;
}

/* All bits if a number is not 0, else none. */
static __always_inline u64 if_any(u64 a)
{
	u64 negative = -a;
	barrier_value(negative);
	u64 mask = (s64)(a | negative) >> 63;
	barrier_value(mask);
	return mask;
}

static __always_inline u64 least(u64 a, u64 b)
{
	return b + ((a - b) & if_less(a, b));
}

/* The verifier refuses arithmetic on a kernel pointer, but not on the number that a map value gives back for it. */
#define NUMBER(slot, ptr) (*(volatile u64 *)(slot) = (u64)(ptr), *(volatile u64 *)(slot))

static __always_inline u64 load_pointer(u64 address)
{
#ifdef HOTSET_COMPAT
	u64 value = 0;
	bpf_probe_read_kernel(&value, sizeof(value), (void *)address);
	return value;
#else
	return (u64)LOAD(hlist_head, address, first);
#endif
}

/* A u64 at an address; the cast needs some kernel type that begins with one. */
static __always_inline u64 load_number(u64 address)
{
#ifdef HOTSET_COMPAT
	return load_pointer(address);
#else
	return LOAD(io_uring_cqe, address, user_data);
#endif
}

#ifdef HOTSET_COMPAT
/* Before 5.16 there were pages only. */
static __always_inline struct address_space *folio_mapping(const void *folio)
{
	if (bpf_core_type_exists(struct folio))
		return LOAD(folio, folio, mapping);
	return LOAD(page___whole, folio, mapping);
}

static __always_inline u64 folio_index(const void *folio)
{
	if (bpf_core_type_exists(struct folio))
		return LOAD(folio, folio, index);
	return LOAD(page___whole, folio, index);
}

static __always_inline u64 mapping_offset(void)
{
	return bpf_core_type_exists(struct folio) ? bpf_core_field_offset(struct folio, mapping) :
						    bpf_core_field_offset(struct page___whole, mapping);
}
static __always_inline u64 index_offset(void)
{
	return bpf_core_type_exists(struct folio) ? bpf_core_field_offset(struct folio, index) :
						    bpf_core_field_offset(struct page___whole, index);
}
#else
static __always_inline struct address_space *folio_mapping(const void *folio)
{
	return LOAD(folio, folio, mapping);
}

static __always_inline u64 folio_index(const void *folio)
{
	return LOAD(folio, folio, index);
}

static __always_inline u64 mapping_offset(void)
{
	return bpf_core_field_offset(struct folio, mapping);
}

static __always_inline u64 index_offset(void)
{
	return bpf_core_field_offset(struct folio, index);
}
#endif

static __always_inline u64 hash64(u64 a, u64 b)
{
	return (a * 0x9E3779B97F4A7C15ULL) ^ ((b + 0x7F4A7C15ULL) * 0xC2B2AE3D27D4EB4FULL);
}

/*
 * What kind of file an inode is; 0 where nobody can read it. The inodes in which Btrfs, EROFS and F2FS cache their own tables
 * are never given a mode: they have that of the file whose memory they were given.
 */
static __always_inline u16 type_of(u64 inode)
{
	u16 type = LOAD(inode, inode, i_mode) & S_IFMT;
	if (type != S_IFREG)
		return type;
	const void *calls = LOAD(inode, inode, i_fop);
	return LOAD(file_operations, calls, read_iter) || LOAD(file_operations, calls, read) ? type : 0;
}

#endif
