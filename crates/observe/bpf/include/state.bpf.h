/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of a task and of a request while it is under way.
 */
#ifndef HOTSET_STATE_H
#define HOTSET_STATE_H

#include "access.bpf.h"

/* In a recording: what its record says of a request. */
struct told {
	u32 rwf; /* flags of the request itself (RWF_*) */
	u32 counted, missed, ahead_hits, zeros, created, read_ahead;
	u64 asked; /* bytes */
	u64 device_read, device_write;
};

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
#ifdef HOTSET_RECORD
	struct told told;
#endif
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
	u32 tid;    /* in a recording: who submitted it, and by which hs_call */
	u32 call;
	u64 site;
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
#define REQUEST_PAST 4096u   /* goes past the cache, and its end was not seen */

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
#define RECENT_CHAINS 8
#define RECENT_FAULTS 64

/* What a call of Linux AIO has to look at. */
struct aio_work {
	u64 array, next, n;    /* requests: where the call has them, the next, and how many */
	u64 accepted;          /* of these, when the call ended */
	u64 event, left;       /* results: the next, and how many stand behind each other */
	u64 begin, end;        /* of the ring that they are in: the first stands behind the last */
	u64 context, returned; /* then its ring, 0: none; what the call returned is not looked for there */
};

/* A chain that a task asked from lately, and the registers that it led to; whether its stack is found by page tables. */
struct recent_chain {
	u64 ip, sp, mm, is_direct;
	struct hs_chain chain;
};

struct code_range {
	u64 begin, end;
};

/* In a recording: what else is kept of a task. */
struct recorded {
	u32 call, pad; /* the system call under way, and what it was told: flags, advice, protection */
	u64 how;
	u64 fault_pages, fault_filled, fault_device; /* what the fault under way brought in, and read */
	/* The fault that mapped cached neighbours last, and which; not told yet if `around_ns`. */
	struct hs_row_key around;
	u64 around_first, around_pages, around_ns, around_site;
	/*
	 * What the request to a device at hand moved; and of that, pages that were read ahead for writes under way, and above
	 * pages that these needed.
	 */
	struct hs_file_key moved;
	u64 moved_pos, moved_bytes, moved_for;
	/* What was brought in and moved beside any call, and since when. */
	struct target beside;
	u64 beside_ns, beside_filled;
	u64 lost, lost_from, lost_to; /* records that found no room */
	u64 site, fault_site;         /* the code that made the call, and the fault, under way */
	struct recent_chain chains[RECENT_CHAINS];
	/* Where code was mapped when it was told last: of which memory, and how many pages it had. */
	u64 code_mm, code_pages;
	u32 code_count, code_pad;
	struct code_range code[HS_MAPPINGS];
	u64 faults[RECENT_FAULTS]; /* instructions whose faults found their page in the cache */
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
#ifdef HOTSET_RECORD
	struct recorded recorded;
#endif
	u64 scratch;
};

/*
 * What only a recording has, which nothing is read from in other builds: what is behind RECORD is no part of these.
 */
#ifdef HOTSET_RECORD
#define REC(s) (&(s)->recorded)
#define TOLD(t) (&(t)->told)
#else
#define REC(s) ((void)(s), (struct recorded *)0)
#define TOLD(t) ((void)(t), (struct told *)0)
#endif

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

#endif
