/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything that crosses between the BPF programs and user space. Plain fixed-width types only; `src/record.rs` mirrors
 * this file, and a test compares both, field by field, through the object's BTF.
 */
#ifndef HOTSET_RECORD_H
#define HOTSET_RECORD_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

#define HS_HISTOGRAM_BUCKETS 12
#define HS_SYSCALLS 512

/* What a system call is to us. */
enum hs_kind {
	HS_NONE,
	HS_READ,
	HS_PREAD,
	HS_READV,
	HS_PREADV,
	HS_SENDFILE,
	HS_SPLICE,
	HS_COPY_RANGE,
	HS_WRITE, /* everything from here to HS_PWRITEV writes */
	HS_PWRITE,
	HS_WRITEV,
	HS_PWRITEV2, /* with flags */
	HS_PWRITEV,
	HS_SYNC,     /* from here to HS_SYNC_ALL: data is written back */
	HS_MSYNC,    /* no file at hand */
	HS_SYNC_FS,  /* the file system of a descriptor */
	HS_SYNC_ALL, /* all file systems */
	HS_PAGEOUT,  /* madvise(MADV_PAGEOUT) */
	HS_AIO_SETUP,
	HS_AIO_SUBMIT,
	HS_AIO_EVENTS,
	HS_AIO_DESTROY,
	HS_EXIT,     /* of a thread or a process */
	HS_FOREIGN,  /* of the i386 or the x32 ABI: not decoded */
	HS_OPEN,     /* path in the first argument */
	HS_OPENAT,   /* path in the second */
	HS_STAT,     /* path in the first argument */
	HS_STATAT,   /* path in the second, flags in the fourth */
	HS_STATX,    /* path in the second, flags in the third */
	HS_ACCESSAT, /* path in the second, no flags of interest */
	HS_EXEC,
	HS_EXECAT,
	HS_TRUNCATE,  /* from here on in a recording only: path in the first argument */
	HS_UNLINK,    /* the same */
	HS_UNLINKAT,  /* path in the second */
	HS_RENAME,    /* paths in the first and the second */
	HS_RENAMEAT,  /* in the second and the fourth */
	HS_SYMLINKAT, /* in the first and the third */
	HS_CLOSE,     /* from here on without a path */
	HS_MADVISE,   /* with another advice than HS_PAGEOUT */
	HS_MMAP,
	HS_MUNMAP,
	HS_FADVISE,
	HS_READAHEAD,
	HS_FTRUNCATE,
	HS_FALLOCATE,
	HS_KINDS,
};

/* Beside a kind: the i386 call of this number does what we would count. */
#define HS_I386 0x80

/* Which tasks are observed. */
enum hs_scope {
	HS_SCOPE_TREE,   /* marked tasks and what they fork */
	HS_SCOPE_ROOTS,  /* processes in `roots` and what they fork */
	HS_SCOPE_CGROUP, /* tasks under a cgroup v2 */
	HS_SCOPE_SYSTEM, /* everybody but the observer */
};

struct hs_config {
	u8 kinds[HS_SYSCALLS];
	u32 scope;
	u32 self_tgid;
	u32 max_rows;
	/* Bits of a page's flags: the first of a large folio, up to date, being written back. */
	u32 pg_head, pg_uptodate, pg_writeback;
	/* From a btrfs inode to the pointer to its subvolume, and in that to its device number; 0 where not known. */
	s32 subvolume;
	u32 subvolume_dev;
	u32 live;          /* a session of any length: user space reclaims what is not used any more */
	u32 names;         /* names of files are wanted */
	u32 preemptible;   /* tracepoints are preempted (7.0) */
	u32 cgroup_v1;     /* processes are told apart by the hierarchy of version 1 that accounts memory */
	u32 free_mask;     /* entries of `free_rows` - 1, a power of two */
	u32 file_rows;     /* of `max_rows`, those for files; a run keeps the rest for what each process does beyond them */
	u32 block_layer;   /* requests to devices are seen */
	u32 direct_told;   /* so is direct I/O of ext4, XFS and Btrfs (6.5) */
	u32 record;        /* each request is sent too */
	u32 record_pages;  /* and pages that enter and leave the cache */
	u32 wake_bytes;    /* of records in a ring, from which on its reader is woken */
	u32 stack_bytes;   /* of a thread's stack, where the code that asks is met for the first time; 0: it is not told */
	u32 stop_bytes;    /* the same from which on who fills it is stopped; 0: nobody is */
	u32 code_told;     /* mappings of a process can be walked (6.7) */
	u32 five_levels;   /* of page tables */
	u32 physical_bits; /* of an address in physical memory */
	u32 sampling;      /* references to some pages are sent */
	u32 lookups;       /* path lookups are counted */
};

struct hs_globals {
	u64 next_row;       /* rows handed out for the first time; row 0 is "others" */
	u64 rows_lost;      /* operations booked to "others" of everybody */
	u64 processes_lost; /* times that a process found no entry in the table */
	u64 chunks;         /* entries in `chunks` */
	u64 chunks_lost;    /* page ranges whose origin could not be remembered */
	u64 events_lost;    /* ring records dropped */
	u64 tasks_lost;     /* tasks that could not be followed */
	u64 requests_lost;  /* requests of io_uring or Linux AIO that could not be followed */
	u64 compat_calls;   /* calls of the i386 and x32 ABIs that would be counted, and are not decoded */
	u64 shared_copies;  /* copy_file_range calls that may have shared blocks instead of copying */
	u64 uring_unknown;  /* io_uring requests whose file could not be found */
	u64 uring_silent;   /* io_uring requests that leave no completion if they succeed */
	u64 uring_paths;    /* io_uring lookups that failed, whose path is not known */
	u64 aio_pending;    /* Linux AIO requests whose result was not seen yet */
	u64 aio_unseen;     /* of those that are over, for the program used their iocb again */
	u64 next_process;   /* entries of `processes` handed out for the first time; 0 is nobody */
	/* Slots that user space gave back: added at the tail, taken at the head. */
	u64 free_rows_head, free_rows_tail;
	u64 free_owners_head, free_owners_tail;
	u64 evicted;            /* pages that left the cache, live only */
	u64 rescued;            /* events that another program handled, because the kernel skipped the first */
	u64 marks_raced;        /* times that two CPUs changed marks of the same pages at once, before 5.12 */
	u64 subvolumes_unknown; /* not 0: files of btrfs were met, and their subvolumes could not be told apart */
	u64 delayed_reads;      /* from devices, sent by a thread of the kernel for a process that it held back */
	u64 ops_lost;           /* records that found no room */
	u64 stacks_lost;        /* stacks of code that asked for the first time */
	u64 stops;              /* times that a process was stopped until its records are read */
	s64 ops_pending;        /* faults, and what comes beside calls, that are not sent yet */
	u64 direct_map;         /* where the kernel has all physical memory mapped; 0: not known */
	u64 sample_exponent;    /* references to one in 2^this pages are sent; user space writes it */
	u64 samples_lost;       /* of these, those that found no room */
	/* Path lookups of nobody, live only: the table of processes was full. */
	u64 other_lookups, other_lookups_failed;
};

/* What find_direct_map is told: a packet socket of the caller, and the page frame of the page that its ring is. */
struct hs_frame {
	u32 fd, pad;
	u64 number;
};

/*
 * Who a process is, in a row and in all tables: the number of its entry in `processes`, and above it how often that entry was
 * used before. With PID reuse, the new process is another owner. 0 is nobody.
 */
#define HS_PROCESSES 32768
#define HS_OWNER_SLOT (HS_PROCESSES - 1)
/* The owner of a row that was given up. */
#define HS_NO_OWNER 0xffffffffU

/*
 * A file. Its number may be another's after its end; the file system then gives that one another generation. All zero: the
 * process's "others".
 */
struct hs_file_key {
	u64 ino;
	u32 dev; /* kernel dev_t */
	u32 generation;
};

/*
 * One row: what one process did to one file. What it did to a whole file system (syncfs) is a row with the file system's
 * device and ino 0, to all of them (sync) one with dev 0 and this ino.
 */
#define HS_ALL_FILE_SYSTEMS 1

struct hs_row_key {
	struct hs_file_key file;
	u32 owner;
	u32 pad;
};

/* In order of use: its key and what opening and a warm read add stand in the first two cache lines. */
struct hs_row {
	u32 owner;
	u16 mode;  /* of the inode */
	u16 named; /* its file, by a path that the process used and not only by some link to the inode */
	struct hs_file_key file;
	u64 read_calls, read_bytes, read_pages, hit_ns, read_sequential;
	u64 read_next; /* where the next sequential read would begin */
	u32 read_histogram[HS_HISTOGRAM_BUCKETS];
	u64 opens;
	u64 read_misses, read_ra_hits, read_refaults;
	u64 wait_ns, miss_ns;
	u64 ra_pages, device_read_bytes, device_write_bytes;
	u64 write_calls, write_bytes, write_pages, write_new, write_misses, write_dirtied, write_sequential;
	u64 write_next;
	u64 write_ns;
	u64 faults, major_faults, fault_pages, fault_ns;
	u64 direct_read_calls, direct_read_bytes, direct_reread_bytes, direct_write_calls, direct_write_bytes;
	u64 direct_ns;
	u64 sync_calls, sync_ns;
	u32 write_histogram[HS_HISTOGRAM_BUCKETS];
	u64 read_zeros;       /* of the misses and read-ahead hits, those that no device read filled */
	u64 fault_filled;     /* of fault_pages, those that one did */
	u64 direct_reread_ns; /* of direct_ns, the share of what was read directly before */
	u32 mounted;          /* the device by which its file system is mounted; 0: not known, or `file.dev` */
	u32 past_cache;       /* what requests with O_DIRECT asked for was seen to go past the cache */
	u64 pad[1];           /* to whole cache lines */
};

struct hs_process {
	u64 lookups, lookups_failed, lookup_ns, lookup_failed_ns;
	u64 minor_faults, major_faults; /* of threads that have exited */
	u64 cgroup;                     /* id of its control group; from here on but for tgid and owner, live only */
	u64 referring_faults;           /* faults whose page is known, with cfg.sampling */
	u64 samples_lost;               /* references to pages in the sample that found no room */
	u32 tgid, ppid, uid;
	u32 ended;
	char comm[16];
	u32 owner; /* written last, 0 where the entry is free */
	u32 pad;
};

/* Kept for a file only once one of its pages was dirtied or evicted. */
struct hs_file {
	u64 evicted;        /* pages */
	u64 wasted;         /* pages read ahead and evicted unrequested */
	u64 dropped;        /* of the evicted pages, those that somebody dropped: the kernel was not short of memory */
	u64 dropped_by_run; /* of these, those that an observed task dropped */
	struct hs_row_key last_writer;
};

/* 256 pages of one file, a bit a page in each plane. */
#define HS_CHUNK_WORDS 4
#define HS_CHUNK_PAGES (HS_CHUNK_WORDS * 64)

struct hs_chunk_key {
	struct hs_file_key file;
	u32 chunk; /* page index / HS_CHUNK_PAGES */
	u32 pad;
};

enum hs_plane {
	HS_AHEAD,    /* read ahead and not requested since */
	HS_GONE,     /* was cached, evicted since */
	HS_DIRECT,   /* was read by direct I/O */
	HS_WANTED,   /* a request of io_uring or Linux AIO for it is under way */
	HS_MISSED,   /* was brought in while a read wanted it */
	HS_NEW,      /* was brought in while a write did */
	HS_WRITING,  /* such a write to it is under way */
	HS_UNFILLED, /* was added, and nothing was read from the device for it so far: a hole, if that is all */
	HS_PLANES,
};

struct hs_chunk {
	u64 bits[HS_PLANES][HS_CHUNK_WORDS];
};

/* Ring records. Each begins with its type; the variable part comes last and only as much as is used is sent. */
enum hs_event {
	HS_EVENT_NODE = 1,
	HS_EVENT_FILE,
	HS_EVENT_FAILED,
	HS_EVENT_FORK,
	HS_EVENT_EXEC,
	HS_EVENT_EXIT,
	HS_EVENT_OP,
	HS_EVENT_PATHS,
	HS_EVENT_LOST,
	HS_EVENT_STACK,
	HS_EVENT_CODE,
};

#define HS_NAME_MAX 256
#define HS_PATH_MAX 1024
#define HS_ARGV_MAX 1024

/* A directory (or mount point) seen for the first time: its name and where it hangs. */
struct hs_node {
	u32 type;
	u32 name_len; /* without the terminating NUL */
	u64 id;
	u64 parent; /* 0: this is a root */
	u32 dev;    /* of a root without a mount: user space knows where it is mounted */
	u32 pad;
	char name[HS_NAME_MAX];
};

/* A file seen for the first time by a process. */
struct hs_first {
	u32 type;
	u32 name_len;
	u64 parent;
	struct hs_file_key file;
	u64 size_bytes;
	u64 cached_pages;
	u32 tgid;
	u32 mode;
	u32 nlink;
	u32 unhashed; /* its name is gone */
	u32 used;     /* the name is the one that the process used */
	u32 mounted;  /* the device by which its file system is mounted, on btrfs not that of its subvolume */
	char name[HS_NAME_MAX];
};

struct hs_failed {
	u32 type;
	u32 path_len;
	u32 tgid;
	s32 error;
	u64 base; /* node of the directory that a relative path starts from; 0: unknown or absolute */
	char path[HS_PATH_MAX];
};

struct hs_task_event {
	u32 type;
	u32 argv_len;
	u32 pid;
	u32 ppid;
	s32 exit_code; /* as wait(2) gives it */
	u32 owner;
	u64 time_ns;
	char comm[16];
	char argv[HS_ARGV_MAX]; /* NUL-separated words */
};

/* In the ring `samples`: a reference to a page that is in the sample (cfg.sampling). */
enum hs_reference {
	HS_REFERENCE_READ,
	HS_REFERENCE_WRITE,
	HS_REFERENCE_FAULT,
	HS_REFERENCE_REMOVED, /* none: the page was truncated, or its file removed; of no owner */
};

struct hs_sample {
	u64 hash; /* of the file and the page (sample.bpf.h) */
	u32 owner;
	u32 kind;
};

/* Bytes of that ring, where it is wanted, and from which on its reader is woken. */
#define HS_SAMPLE_RING (256 << 10)
#define HS_SAMPLE_WAKE (64 << 10)

/*
 * A recording has a record for each request. Whatever is added to a row is in exactly one of them, so that sums agree.
 *
 * Which operation: the number of a system call, or one of these.
 */
enum hs_call {
	HS_CALL_URING = HS_SYSCALLS,       /* and the number of the operation, below 128 */
	HS_CALL_AIO = HS_CALL_URING + 128, /* and the number of the command, below 16 */
	HS_CALL_FAULT = HS_CALL_AIO + 16,
	HS_CALL_MAJOR_FAULT,
	HS_CALL_BESIDE,    /* of a device, or pages that are added, beside any request */
	HS_CALL_WRITEBACK, /* by somebody else, of what an observed process wrote */
	HS_CALL_PAGES_IN,
	HS_CALL_PAGES_OUT,
};

/* What else is to be known of it. */
#define HS_OP_DIRECT 1u
#define HS_OP_APPEND 2u
#define HS_OP_SYNC 4u
#define HS_OP_NOWAIT 8u
#define HS_OP_DONTCACHE 16u
#define HS_OP_POSITION 32u
#define HS_OP_WAITED 64u
#define HS_OP_TARGET 256u     /* of two files, the one that is written */
#define HS_OP_NO_TIME 512u    /* how long it took is not known, or in another record */
#define HS_OP_UNCOUNTED 1024u /* its pages were not */
#define HS_OP_NO_RANGE 2048u  /* neither an offset nor a size */

struct hs_op {
	u32 type;
	u16 call;
	u16 flags;
	u64 start_ns, ns;
	u32 tid, owner, tgid; /* tgid 0: that of the owner */
	u32 pad;
	struct hs_file_key file;
	u64 open_file; /* where the kernel has what open(2) made */
	u64 offset, asked;
	s64 result;
	u64 device_read_bytes, device_write_bytes;
	u32 pages, misses, ahead_hits, zeros;
	u32 created, read_ahead;
	u64 how;  /* of what a call was told: flags, advice, protection */
	u64 site; /* the code that asked; 0: not known */
};

/* The same with one or two paths, one behind the other. */
#define HS_LONG_PATH 4096
struct hs_paths {
	struct hs_op op;
	u64 base, new_base; /* nodes of the directories that relative paths start from; 0: unknown or absolute */
	u32 path_len, new_path_len;
	char paths[2 * HS_LONG_PATH];
};

/*
 * Code that asks for the first time: what the chain of its calls is found by.
 */
#define HS_STACK_BYTES 8192
struct hs_stack {
	u32 type;
	u32 tid, tgid, owner;
	u64 site, time_ns;
	u64 place; /* what its chain is looked up by */
	u64 ip, sp, bp;
	u64 stack_start; /* of the program's first thread: tells programs of a process apart */
	u32 bytes;       /* from sp up */
	u32 pad;
	char stack[HS_STACK_BYTES];
};

/*
 * Where a process has code mapped, in order of address: stands before a stack, if it changed since the thread's stack before.
 * None: more than fit.
 */
#define HS_MAPPINGS 128
struct hs_mapping {
	u64 begin, end;
	u64 offset; /* in the file */
	struct hs_file_key file;
};

struct hs_code {
	u32 type;
	u32 tid, tgid;
	u32 count;
	u64 stack_start; /* as above */
	u64 vdso;        /* what the kernel gives every process begins here */
	struct hs_mapping mapping[HS_MAPPINGS];
};

/*
 * A chain of calls, as user space found it: where on the stack the return addresses stand, from the stack pointer on, and which
 * ones. A thread whose stack has these is in the same chain, as far as that goes.
 */
#define HS_CHAIN_CALLS 12
#define HS_CHAIN_BYTES 2048
struct hs_chain {
	u64 site;
	u32 calls, bytes; /* how many of the calls below, and up to where on the stack they stand */
	u16 at[HS_CHAIN_CALLS];
	u64 from[HS_CHAIN_CALLS];
};

/* The chains that lead to one place: instruction, caller and depth of the stack in a process. */
#define HS_CHAINS 8
/* Stacks that user space was sent, and has not told the chains of, at most. What can be seen of each here tells them apart. */
#define HS_PENDING 4
struct hs_pending {
	u64 site; /* 0: none */
	u64 guess;
};

struct hs_chains {
	u32 count;
	u32 bytes; /* the most that any of them needs of the stack */
	struct hs_pending pending[HS_PENDING];
	struct hs_chain chain[HS_CHAINS];
};

/* Records of a thread that found no room. */
struct hs_lost {
	u32 type;
	u32 tid;
	u64 from_ns, to_ns, records;
};

#endif
