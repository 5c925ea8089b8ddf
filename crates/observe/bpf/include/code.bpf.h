/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a process has code mapped. User space is told, for the process may end before it can look; and words on a stack are
 * held against it.
 */
#ifndef HOTSET_CODE_H
#define HOTSET_CODE_H

#include "op.bpf.h"

#define LIST_TRIES 32

/* A mapping may have come in the place of another of the same size. */
static __always_inline void forget_code(struct task_state *s)
{
	REC(s)->code_mm = 0;
}

#ifdef HOTSET_COMPAT
static __always_inline int tell_code(struct task_state *s)
{
	return 0;
}

static __always_inline int is_code(struct task_state *s, u64 address)
{
	return 0;
}
#else
static __always_inline void add_code(struct task_state *s, struct hs_code *to, struct vm_area_struct *vma)
{
	u64 file = NUMBER(&s->scratch, LOAD(vm_area_struct, vma, vm_file));
	u32 n = to->count;
	if (!(LOAD(vm_area_struct, vma, vm_flags) & VM_EXEC))
		return;
	to->count = n + 1;
	if (n >= HS_MAPPINGS)
		return;
	struct hs_mapping *m = &to->mapping[n & (HS_MAPPINGS - 1)];
	struct code_range *range = &REC(s)->code[n & (HS_MAPPINGS - 1)];
	m->begin = range->begin = LOAD(vm_area_struct, vma, vm_start);
	m->end = range->end = LOAD(vm_area_struct, vma, vm_end);
	m->offset = LOAD(vm_area_struct, vma, vm_pgoff) << 12;
	__builtin_memset(&m->file, 0, sizeof(m->file));
	if (file) {
		u64 inode = NUMBER(&s->scratch, LOAD(file, file, f_inode));
		m->file.ino = LOAD(inode, inode, i_ino);
		m->file.generation = LOAD(inode, inode, i_generation);
		m->file.dev = LOAD(super_block, LOAD(inode, inode, i_sb), s_dev);
	}
}

/*
 * Lists where the task has code. Its mappings can be locked at the moment: by another of its threads that changes them, or by
 * whoever reads them, for a moment while it waits itself.
 */
static __always_inline void list_code(struct task_state *s, struct hs_code *to)
{
	struct bpf_iter_task_vma mappings;
	struct vm_area_struct *vma;
	to->count = 0;
	for (u32 i = 0; i < LIST_TRIES && !to->count; i++) {
		bpf_iter_task_vma_new(&mappings, bpf_get_current_task_btf(), 0);
		while ((vma = bpf_iter_task_vma_next(&mappings)))
			add_code(s, to, vma);
		bpf_iter_task_vma_destroy(&mappings);
	}
}

/* Tells where the task has code, unless that is as it was told last. What another CPU's ring has may be read later than this
 * one's. */
RECORDS int tell_code(struct task_state *s)
{
	u32 zero = 0;
	struct op_scratch *sc = bpf_map_lookup_elem(&op_scratch, &zero);
	if (!cfg.code_told || !s || !sc)
		return 0;
	void *ring = op_ring();
	struct mm_struct *mm = LOAD(task_struct, CURRENT(), mm);
	/* What is code and can be written counts as data: both are looked at. */
	u64 memory = NUMBER(&s->scratch, mm);
	u64 pages = hash64(LOAD(mm_struct, mm, exec_vm), LOAD(mm_struct, mm, total_vm)) ^ bpf_get_smp_processor_id();
	if (!ring || (REC(s)->code_mm == memory && REC(s)->code_pages == pages))
		return 0;
	struct hs_code *to = &sc->code;
	list_code(s, to);
	u32 count = to->count;
	REC(s)->code_mm = count ? memory : 0;
	REC(s)->code_pages = pages;
	/* More than can be told, or locked: user space is to look itself. */
	if (count > HS_MAPPINGS)
		to->count = count = 0;
	REC(s)->code_count = count;
	to->type = HS_EVENT_CODE;
	to->tid = bpf_get_current_pid_tgid();
	to->tgid = s->tgid;
	to->stack_start = LOAD(mm_struct, mm, start_stack);
	to->vdso = NUMBER(&s->scratch, LOAD(mm_struct, mm, context.vdso));
	u64 size = __builtin_offsetof(struct hs_code, mapping) + count * sizeof(struct hs_mapping);
	barrier_value(size);
	if (size > sizeof(*to) || bpf_ringbuf_output(ring, to, size, BPF_RB_NO_WAKEUP))
		forget_code(s);
	return 1;
}

#define CODE_STEPS 7
_Static_assert(1 << CODE_STEPS == HS_MAPPINGS, "a step for each bit");

/* Whether code was mapped at an address when it was told last. */
RECORDS int is_code(struct task_state *s, u64 address)
{
	if (!s)
		return 0;
	u32 at = 0, count = REC(s)->code_count;
#pragma unroll
	for (u32 step = HS_MAPPINGS / 2; step; step /= 2) {
		u32 next = (at + step) & (HS_MAPPINGS - 1);
		if (next < count && REC(s)->code[next].begin <= address)
			at = next;
	}
	u64 begin = REC(s)->code[at & (HS_MAPPINGS - 1)].begin, end = REC(s)->code[at & (HS_MAPPINGS - 1)].end;
	return count && address - begin < end - begin;
}
#endif

#endif
