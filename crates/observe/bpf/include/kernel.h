/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few fields of kernel structures that the programs read. CO-RE relocates every access against the running kernel,
 * so only names and types matter here, not offsets. A structure lists the fields of all kernel versions; a field that the
 * running kernel lacks is asked for with bpf_core_field_exists() before it is read. One structure and not a flavour for
 * each version: libbpf searches the kernel's types for each, about 1 ms.
 */
#ifndef HOTSET_KERNEL_H
#define HOTSET_KERNEL_H

#include "record.h"

/* libbpf's headers expect the kernel's names for these. */
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;

#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum { BPF_ANY, BPF_NOEXIST, BPF_EXIST };
enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1024 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0, BPF_RB_RING_SIZE = 1 };

#define S_IFMT 0170000
#define S_IFREG 0100000
#define S_IFDIR 0040000
#define S_IFLNK 0120000
#define S_IFBLK 0060000
#define O_APPEND 02000
#define O_DIRECT 040000
#define O_NONBLOCK 04000
#define O_DSYNC 010000
#define AT_FDCWD (-100)
#define AT_EMPTY_PATH 0x1000
#define ENOENT 2
#define ENOTDIR 20
#define CLONE_THREAD 0x10000
#define PF_KTHREAD 0x200000
#define PF_IO_WORKER 0x10
#define PF_MEMALLOC 0x800 /* set while a task reclaims memory */
#define MADV_PAGEOUT 21
#define VM_EXEC 4
#define TS_COMPAT 2                /* arch/x86/include/asm/thread_info.h */
#define X32_SYSCALL_BIT 0x40000000 /* arch/x86/include/uapi/asm/unistd.h */
#define ENOSYS 38
#define EAGAIN 11
#define ECANCELED 125
#define RWF_DSYNC 0x02
#define RWF_SYNC 0x04
#define RWF_NOWAIT 0x08
#define RWF_APPEND 0x10
#define RWF_NOAPPEND 0x20  /* 6.9 */
#define RWF_DONTCACHE 0x80 /* 6.14 */
#define BIO_PAGE_PINNED 0  /* since 6.5; before: pages that are not the cache's own request either */
#define BIO_CLONED 1       /* include/linux/blk_types.h; the same bit since 4.x */
#define REQ_OP_READ 0
#define REQ_OP_WRITE 1
#define BTRFS_SUPER_MAGIC 0x9123683e
#define REQ_META (1 << 12) /* the same bit since 4.x */
enum req_flag_bits {
	__REQ_RAHEAD = 19, /* relocated, as below */
};
#define OVERLAYFS_SUPER_MAGIC 0x794c7630
#define TMPFS_MAGIC 0x01021994
#define EXT4_SUPER_MAGIC 0xef53 /* ext2 and ext3 too */
#define XFS_SUPER_MAGIC 0x58465342
#define F2FS_SUPER_MAGIC 0xf2f52010
#define RAMFS_MAGIC 0x858458f6

/* Part of the ABI of x86-64 (asm/ptrace.h): the same offsets everywhere. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct hlist_bl_node {
	struct hlist_bl_node *next, **pprev;
};

struct list_head {
	struct list_head *next, *prev;
};

struct file_system_type {
	const char *name;
};

struct super_block {
	struct list_head s_list;
	u32 s_dev;
	struct file_system_type *s_type;
	unsigned long s_magic;
	struct dentry *s_root;
	char s_id[32];
	struct list_head s_inodes;
};

struct file_operations {
	void *read, *read_iter, *iterate_shared;
};

struct inode_operations {
	void *get_link;
};

struct inode {
	u16 i_mode;
	u32 i_rdev;
	u32 i_generation;
	struct list_head i_sb_list;
	struct super_block *i_sb;
	struct address_space *i_mapping;
	unsigned long i_ino;
	unsigned int __i_nlink;
	s64 i_size;
	unsigned short i_bytes;
	u64 i_blocks;
	const struct inode_operations *i_op;
	const struct file_operations *i_fop;
	struct hlist_head i_dentry;
};

struct xarray {
	unsigned int xa_flags;
};

struct address_space {
	struct inode *host;
	struct xarray i_pages;
	unsigned long nrpages;
};

struct qstr {
	u64 hash_len;
	const unsigned char *name;
};

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
	struct {
		struct hlist_node d_alias;
	} d_u;
	struct hlist_node d_alias; /* 7.x moved it out of the union */
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file_ra_state {
	s64 prev_pos;
};

struct file {
	struct file_ra_state f_ra;
	struct address_space *f_mapping;
	void *private_data;
	struct inode *f_inode;
	unsigned int f_flags;
	struct path f_path;
	s64 f_pos;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct fs_struct {
	struct path pwd;
};

/* Of a packet socket: its ring of packets, which user space maps. */
struct pgv {
	char *buffer;
};

struct packet_ring_buffer {
	struct pgv *pg_vec;
};

struct packet_sock {
	struct packet_ring_buffer rx_ring;
};

struct socket {
	struct sock *sk;
};

/* x86: where the vDSO is. */
typedef struct {
	void *vdso;
} mm_context_t;

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct mm_struct {
	void *pgd;                       /* the page table of the highest level */
	unsigned long exec_vm, total_vm; /* pages that code runs from, and all */
	mm_context_t context;
	unsigned long start_code, end_code;
	unsigned long start_stack;
	unsigned long arg_start, arg_end;
	struct file *exe_file;
};

struct signal_struct {
	struct {
		int counter;
	} live;
	int nr_threads;
	int group_exit_code;
};

struct thread_info {
	u32 status;
};

/* What user space knows a control group by: the inode number of its directory. */
struct kernfs_node {
	u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp; /* of version 2 */
};

struct cred {
	struct {
		u32 val;
	} uid;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	int exit_code;
	int pid;
	int tgid;
	struct task_struct *real_parent, *group_leader;
	struct cred *cred;
	struct css_set *cgroups;
	unsigned long nvcsw;
	unsigned long min_flt, maj_flt;
	struct mm_struct *mm;
	struct fs_struct *fs;
	struct files_struct *files;
	struct signal_struct *signal;
	void *stack;
	char comm[16];
};

/* The flags come first in every version, plain or wrapped: they are read by position. */
struct folio {
	struct address_space *mapping;
	unsigned long index;
	unsigned long _flags_1;     /* 6.6 and later: the order stands in its low bits */
	unsigned char _folio_order; /* before */
};

#ifdef HOTSET_COMPAT
/* Before folios. */
struct page___whole {
	struct address_space *mapping;
	unsigned long index;
	unsigned char compound_order;
};
#endif

struct page {
	unsigned long compound_head;
	unsigned long compound_info; /* its name in 7.x */
};

struct bvec_iter {
	unsigned int bi_size;
};

struct bio {
	unsigned int bi_opf;
	unsigned short bi_flags;
	struct bvec_iter bi_iter;
	unsigned short bi_vcnt;
	void *bi_io_vec; /* of struct bio_vec: page, u32 length, u32 offset */
	void *bi_private;
	struct block_device *bi_bdev; /* since 5.12 */
};

struct block_device {
	struct inode *bd_inode;           /* up to 6.9 */
	struct address_space *bd_mapping; /* since 6.10 */
};

struct io_cqe {
	s32 fd;
};

struct io_kiocb {
	u8 opcode;
	u64 flags; /* u32 before 6.10; libbpf fits the load to the size */
	struct io_cqe cqe;
	struct io_ring_ctx *ctx;
};

struct kiocb {
	struct file *ki_filp;
	s64 ki_pos;
	void *ki_complete;
};

struct iov_iter {
	u8 data_source; /* it is written from */
};

/* fs/backing-file.c (6.8); its first member is the kiocb. */
struct backing_aio {
	struct kiocb *orig_iocb;
};

/* fs/iomap/direct-io.c */
struct iomap_dio {
	struct kiocb *iocb;
};

struct io_event {
	u64 obj; /* the program's iocb */
};

/* fs/aio.c; its first member is the kiocb. */
struct aio_kiocb {
	struct io_event ki_res;
};

struct io_rw {
	struct kiocb kiocb;
	u64 addr;
	u32 len;
	u32 flags; /* RWF_* */
};

struct io_splice {
	s64 off_out, off_in;
	u64 len;
	int splice_fd_in;
	unsigned int flags;
};

struct io_statx {
	unsigned int flags;
};

struct io_open {
	u32 file_slot;
};

struct io_rsrc_node {
	unsigned long file_ptr;
};

struct io_rsrc_data {
	unsigned int nr;
	struct io_rsrc_node **nodes;
};

struct io_file_table {
	struct io_rsrc_data data; /* 6.13 and later */
	void *files;              /* before: an array of pointers with flags in the low bits */
};

struct io_ring_ctx {
	struct io_file_table file_table;
	unsigned int nr_user_files; /* goes with files */
};

struct io_uring_cqe {
	u64 user_data;
	s32 res;
};

#pragma clang attribute pop

enum pageflags {
	PG_swapbacked = 17, /* relocated, as below */
};

enum cgroup_subsys_id {
	memory_cgrp_id = 4, /* relocated: each kernel has its own */
};

#endif
