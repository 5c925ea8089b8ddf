/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All state that outlives one program. Every table has a bound and is allocated when it is created: growing a hash on
 * demand costs microseconds in these contexts and loses updates.
 */
#ifndef HOTSET_MAPS_H
#define HOTSET_MAPS_H

#include "access.bpf.h"

/* One side of a request: the file, and the pages that were asked for. */
struct target {
	u64 inode; /* which holds the pages; 0: not a file with a page cache */
	u64 file;
	struct hs_file_key id;
	u32 flags;
	u32 old_end; /* pages read from the device because a write beyond the end fills their rest with zeros */
	u64 pos;
	u64 first, last;             /* pages; first > last: none */
	u64 added_first, added_last; /* of these, the pages that were added */
	u32 brought;                 /* pages of [first, last] added during this call */
	u32 ahead;                   /* other pages added */
	u32 gone;                    /* of these, pages that had been evicted in this run */
	u32 modified;                /* pages read from the device because a part was overwritten */
	u32 unfilled;                /* of `brought`, pages that nothing was read for so far */
	u32 used, used_zeros;        /* pages read ahead that this call used and dropped; those without a read */
	u32 direct;                  /* bytes that went past the cache */
};

#define TARGET_DIRECT 1u
#define TARGET_USES_POSITION 2u
#define TARGET_APPENDS 4u
#define TARGET_SHARES 8u       /* its file system may share blocks instead of copying */
#define TARGET_IN_MEMORY 256u  /* pages are added without the tracepoint */
#define TARGET_JOINED 512u     /* one of the file's writers (memory.bpf.h) */
#define TARGET_DIRTIED 1024u   /* pages of [first, last] turned dirty during this call */
#define TARGET_WAS_DIRTY 2048u /* it had dirty pages before, on Btrfs */

/* A request that outlives the call that submits it, or a ring of results. */
struct request {
	union {
		struct target target;
		struct {
			u64 seen;  /* results seen, all of them or modulo the size of the ring */
			u64 known; /* `seen` is right */
			u64 read;  /* the ring could be read once */
		} ring;
	};
	u64 start_ns;
	u64 ns;   /* how long it took, where that is known before its result */
	u64 open; /* its result was not seen yet */
	u32 owner;
	u32 what;
	u64 marked; /* pages in HS_WRITING that are its own */
	u64 iocb;   /* the kernel's, of its direct I/O */
	u64 from;   /* where that began */
	u64 past;   /* bytes that went past the cache */
};

#define REQUEST_WRITES 1u
#define REQUEST_SYNCS 2u
#define REQUEST_LOOKS_UP 4u
#define REQUEST_OPENS 8u
#define REQUEST_MOVES 16u    /* from where the file ends or stands: known for sure only when it is done */
#define REQUEST_BOOKED 32u   /* its device bytes are counted as they are queued */
#define REQUEST_WAITED 64u   /* the call that served it slept */
#define REQUEST_NO_FILE 128u /* whose file was not found */
#define REQUEST_TOLD 256u    /* what is asked of the device tells that it is for it */
#define REQUEST_EITHER 512u  /* O_DIRECT, and may go through the cache all the same: its pages are marked */
#define REQUEST_CACHED 1024u /* it did, by what turned dirty (before Linux 6.5) */
#define REQUEST_IOMAP 2048u  /* O_DIRECT, and what goes past the cache is told */
#define REQUEST_PAST 4096u   /* goes past the cache, and was not done within the call that submitted it */

enum request_kind {
	REQUEST_URING,
	REQUEST_AIO,
	REQUEST_AIO_BEFORE, /* of an iocb that is in use again, its result not seen yet */
	REQUEST_AIO_RING,
};

struct request_key {
	u64 id; /* io_uring: the kernel's request; AIO: the user's iocb, or the context */
	u32 owner;
	u32 kind;
};

/* What a read fills: pages of a file, and those of them that the current call asked for or writes to. */
struct bio_walk {
	u64 vectors, at, count;
	u64 page, left; /* of the vector under way: bytes from the beginning of the page */
	struct hs_file_key id;
	u32 ahead; /* pages may be in HS_AHEAD */
	u64 begun; /* after a page that a request before this one carried a part of, and that is counted */
	u64 end;   /* after the last page */
	u64 first, last, out_first, out_last;
	u64 pages, asked, copied;
};

/* Of the system call that begins. */
struct arguments {
	u64 a, b, c, d, e, f;
};

#define HS_GAPS 4

/* What a call of Linux AIO has to look at. */
struct aio_work {
	u64 array, next, n;    /* requests: where the call has them, the next, and how many */
	u64 accepted;          /* of these, when the call ended */
	u64 event, left;       /* results: the next, and how many stand behind each other */
	u64 begin, end;        /* of the ring that they are in: the first stands behind the last */
	u64 context, returned; /* then its ring, 0: none; what the call returned is not looked for there */
};

/* What a task is doing. */
struct task_state {
	u32 kind;
	u32 tgid;
	u64 start_ns;
	u64 switches; /* voluntary context switches at the start */
	u64 path;     /* user address */
	s32 dirfd;
	u32 path_unread; /* may be empty, and is not in memory before the call */
	u32 owner;       /* 0: not known yet, or beyond the table */
	u64 handled;     /* the event that a program did its work for last (again.bpf.h) */
	struct target in;
	/* Whose pages were added, or stand in a request to a device, beside any call. Here and not on the stack of a program,
	 * of which kernels before 6.13 give a chain of calls 512 bytes; and one for each, for an interrupt may come in between.
	 */
	struct target unasked, queued;
	union {
		struct target out;
		struct request request; /* the one at hand, in calls that have no `out` */
	};
	/* Appends that are under way end here, as far as this task submitted them. */
	u64 append_inode, append_size, append_end;
	u64 aio_context; /* the one used last */
	u64 aio_nr;
	u64 aio_share_ns;
	u32 aio_one_file, aio_settles, aio_waited, aio_pad;
#ifndef HOTSET_COMPAT
	struct aio_work aio;
#endif
	u32 row; /* the one used last (full build) */
	u32 no_row;
	/* The page fault under way. */
	u64 fault_inode, fault_ns;
	u64 fault_number, fault_index;          /* of the fault that fault_inode is about, and of its page */
	u64 fault_counted, fault_counted_inode; /* the fault that was counted last, and its file */
	struct hs_row_key fault_key;
	u64 fault_before; /* major faults of the task before it */
	u64 fault_added;  /* pages that faults added, and that were not read for them so far */
	/* Between the pages that the call adds for its read: pages that were cached before. */
	u64 gap_first[HS_GAPS], gap_end[HS_GAPS];
	u64 gaps;
	/* The file that it added pages of last, and which. */
	struct hs_file_key added;
	u64 added_first, added_last;
	/* The page after the last that the device was asked for, of this file, since pages were added. */
	u64 filled_inode, filled_end;
	/* Memory for programs, as `unasked` and `queued` are. */
	struct bio_walk walk;
	struct hs_row_key request_key;
	/* Its direct I/O that began last: the kernel's iocb, from where, and whether it reads or writes. */
	u64 direct_iocb, direct_from, direct_op;
	struct arguments arguments;
	u64 scratch;
};

/* Values of `handled`: an address or a number, and what was done with it in the low bits. */
#define HANDLED_ENTER 1
#define TAG_ADDED 0
#define TAG_DIRTIED 1
#define TAG_QUEUED 2
#define TAG_EXEC 3
#define TAG_EXIT 4
#define TAG_LOOKUP 5
#define TAG_AROUND 6
#define TAG_SUBMIT 7
#define HANDLED(s, ptr, tag) (NUMBER(&(s)->scratch, ptr) + (tag))
#define HANDLED_FAULT(number, tag) ((number) << 3 | (tag))

#ifdef HOTSET_COMPAT
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct task_state);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, struct hs_row_key);
	__type(value, struct hs_row);
} rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32); /* owner */
	__type(value, struct hs_process);
} processes SEC(".maps");

/* Owners handed out on each CPU: 5.10 has no atomic addition that says what was there before. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} owners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct task_state);
} empty_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hs_row);
} empty_row SEC(".maps");
#else
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* Rows stand in an array, so that a task reaches the row it used last without hashing. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct hs_row);
} rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct hs_row_key);
	__type(value, u32);
} row_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HS_PROCESSES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct hs_process);
} processes SEC(".maps");

/* What user space gave back (live): row slots, and the next owners of entries in `processes`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, u32);
} free_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HS_PROCESSES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, u32);
} free_owners SEC(".maps");
#endif

/* The owner that a PID stands for now. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HS_PROCESSES);
	__type(key, u32);
	__type(value, u32);
} process_index SEC(".maps");

/* Processes to follow from now on (attach). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, u32);
} roots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768); /* 32 GiB, swept of empty ones by user space */
	__type(key, struct hs_chunk_key);
	__type(value, struct hs_chunk);
} chunks SEC(".maps");

/* Never written: a chunk on the stack would be most of what a chain of calls may take. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hs_chunk);
} empty_chunk SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct hs_file_key);
	__type(value, struct hs_file);
} files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct request_key);
	__type(value, struct request);
} requests SEC(".maps");

/* Directories whose name was sent already. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, u8);
} nodes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} events SEC(".maps");

union scratch {
	struct hs_node node;
	struct hs_first first;
	struct hs_failed failed;
	struct hs_task_event task;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, union scratch);
} scratch SEC(".maps");

/* A place in map memory for NUMBER(), for functions that have none. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} numbers SEC(".maps");

const volatile struct hs_config cfg SEC(".rodata");
struct hs_globals g SEC(".bss");

/* Pages in a folio; before folios each page stood for itself. */
static __always_inline u64 folio_pages(const void *folio)
{
	if (!bpf_core_type_exists(struct folio) || !(load_number((u64)folio) & (1ULL << (cfg.pg_head & 63))))
		return 1;
#ifdef HOTSET_COMPAT
	if (bpf_core_field_exists(((struct folio *)0)->_folio_order))
		return 1ULL << (LOAD(folio, folio, _folio_order) & 0x3f);
	if (!bpf_core_field_exists(((struct folio *)0)->_flags_1)) {
		/* 5.16 to 6.0: in the first tail page. */
		u64 tail = (u64)folio + bpf_core_type_size(struct page___whole);
		return 1ULL << (LOAD(page___whole, tail, compound_order) & 0x3f);
	}
#endif
	return 1ULL << (LOAD(folio, folio, _flags_1) & 0x3f);
}

/* Pages pending in planes HS_AHEAD (0), HS_WANTED (1), HS_WRITING (2), HS_UNFILLED (3) by a hash of the file: zero spares the
 * look-up. */
#define HINTS 4096
u32 hints[4][HINTS] SEC(".bss.hints");

/* Files that have a row, by a hash: evictions of all others are none of our business. */
#define TRACKED (1 << 20)
u8 tracked[TRACKED] SEC(".bss.tracked");

#ifndef HOTSET_COMPAT
/* Slots of rows by a hash of process and file: one that was used before is then found without its index. What stands here is a
 * guess, which the row itself confirms. */
#define RECENT (1 << 16)
u32 recent[RECENT] SEC(".bss.recent");
#endif

static __always_inline u32 file_hash(struct hs_file_key id)
{
	return hash64(id.ino, id.dev) >> 40;
}

/*
 * The same where most files are met once, one after another: those that were made together have neighbouring numbers, and
 * stand in one cache line.
 */
static __always_inline u32 near_hash(struct hs_file_key id)
{
	return (u32)id.ino + (u32)(hash64(id.ino >> 16, id.dev) >> 40);
}

static __always_inline u32 *hint_of(u32 plane, struct hs_file_key id)
{
	u32 which = plane == HS_WANTED ? 1 : plane == HS_WRITING ? 2 : plane == HS_UNFILLED ? 3 : 0;
	return &hints[which][file_hash(id) & (HINTS - 1)];
}

/*
 * A copy of a key for a function that becomes a part of its caller. clang reads a structure that is passed to one from memory
 * byte by byte, for it knows no alignment there any more: 40 instructions in place of 3.
 */
#define COPIED(id) \
	({ \
		struct hs_file_key _copy = (id); \
		_copy; \
	})
#define file_hash(id) file_hash(COPIED(id))
#define near_hash(id) near_hash(COPIED(id))
#define hint_of(plane, id) hint_of(plane, COPIED(id))

/*
 * The device that stat(2) tells for a file of btrfs: each subvolume has one of its own. 0: none, or not known.
 */
APART u32 subvolume_device(u64 inode)
{
	u64 root = 0;
	u32 dev = 0;
	if (!cfg.subvolume_dev) {
		if (!*(volatile u64 *)&g.subvolumes_unknown)
			ATOMIC_ADD(&g.subvolumes_unknown, 1);
		return 0;
	}
	bpf_probe_read_kernel(&root, sizeof(root), (void *)(inode + cfg.subvolume));
	if (root)
		bpf_probe_read_kernel(&dev, sizeof(dev), (void *)(root + cfg.subvolume_dev));
	return dev;
}

/* A file by its inode's address, a plain number. */
static __always_inline struct hs_file_key file_key(u64 inode)
{
	struct hs_file_key id;
	void *sb = LOAD(inode, inode, i_sb);
	id.ino = LOAD(inode, inode, i_ino);
	id.dev = LOAD(super_block, sb, s_dev);
	id.generation = LOAD(inode, inode, i_generation);
	if (LOAD(super_block, sb, s_magic) == BTRFS_SUPER_MAGIC) {
		u32 dev = subvolume_device(inode);
		if (dev)
			id.dev = dev;
	}
	return id;
}

static __always_inline int same_file(const struct hs_file_key *a, const struct hs_file_key *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->generation == b->generation;
}

/* The ring is read every few ms; wake the reader early only when it fills up. */
static __always_inline void send_event(void *record, u64 size, u64 limit)
{
	barrier_value(size); /* or clang compares another register than the one it passes */
	if (size > limit)
		return;
	u64 flags = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > (1 << 20) ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	if (bpf_ringbuf_output(&events, record, size, flags))
		ATOMIC_ADD(&g.events_lost, 1);
}

/*
 * Around the use of memory that all programs on a CPU share: tasks that are preempted in the middle of a program (7.0) would
 * else write into each other's.
 */
#ifdef HOTSET_COMPAT
#define hold_cpu() ((void)0)
#define release_cpu() ((void)0)
#else
static __always_inline void hold_cpu(void)
{
	if (cfg.preemptible)
		bpf_preempt_disable();
}

static __always_inline void release_cpu(void)
{
	if (cfg.preemptible)
		bpf_preempt_enable();
}
#endif

static __always_inline u64 *number_slot(void)
{
	u32 zero = 0;
	return bpf_map_lookup_elem(&numbers, &zero);
}

static __always_inline union scratch *get_scratch(u32 which)
{
	return bpf_map_lookup_elem(&scratch, &which);
}

#endif
