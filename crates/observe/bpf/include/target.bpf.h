/* SPDX-License-Identifier: GPL-2.0 */
/* From a file descriptor to the file that holds the pages, and from a call's arguments to the pages that it asks for. */
#ifndef HOTSET_TARGET_H
#define HOTSET_TARGET_H

#include "names.bpf.h"

static __always_inline u64 fd_to_file(struct task_struct *task, u32 fd)
{
	void *fdt = LOAD(files_struct, LOAD(task_struct, task, files), fdt);
	if (!fdt || fd >= LOAD(fdtable, fdt, max_fds))
		return 0;
	return load_pointer((u64)LOAD(fdtable, fdt, fd) + 8ULL * fd);
}

/*
 * overlayfs keeps the pages in the inode of the layer below, reached through private_data: a struct file up to 6.12,
 * since then a struct that begins with one. A real file's dentry leads back to its inode, which tells them apart.
 */
static __always_inline u64 layer_file(u64 file, u64 *slot)
{
	u64 real = NUMBER(slot, LOAD(file, file, private_data));
	if (!real)
		return 0;
	u64 inode = NUMBER(slot, LOAD(file, real, f_inode));
	if (!inode || (u64)LOAD(dentry, LOAD(file, real, f_path.dentry), d_inode) != inode) {
		real = NUMBER(slot, load_pointer(real));
		if (!real)
			return 0;
		inode = NUMBER(slot, LOAD(file, real, f_inode));
		if (!inode || (u64)LOAD(dentry, LOAD(file, real, f_path.dentry), d_inode) != inode)
			return 0;
	}
	return real;
}

#define FS_MADE_UP 1u
#define FS_IN_MEMORY 2u
#define FS_SHARES 4u
#define FS_OVERLAY 8u
#define FS_UNTRACED 16u /* pages are added without the tracepoint */

/* What matters of a file system, by its number (include/uapi/linux/magic.h). */
__noinline u32 fs_traits(u64 magic)
{
	switch (magic) {
	case TMPFS_MAGIC:
		return FS_IN_MEMORY | FS_UNTRACED;
	case RAMFS_MAGIC:
		return FS_IN_MEMORY;
	case OVERLAYFS_SUPER_MAGIC:
		return FS_OVERLAY;
	case F2FS_SUPER_MAGIC:
		return 0;
	case 0x9fa0:     /* proc */
	case 0x62656572: /* sysfs */
	case 0x63677270: /* cgroup2 */
	case 0x27e0eb:   /* cgroup */
	case 0x64626720: /* debugfs */
	case 0x74726163: /* tracefs */
	case 0x73636673: /* securityfs */
	case 0x62656570: /* configfs */
	case 0xcafe4a11: /* bpf */
	case 0xde5e81e4: /* efivarfs */
	case 0x6e736673: /* nsfs */
		return FS_MADE_UP;
	case EXT4_SUPER_MAGIC:
		return 0;
	}
	return FS_SHARES;
}

static __always_inline u64 find_layer_inode(u64 file)
{
	u64 *slot = number_slot();
	u64 inode = 0;
	if (!slot)
		return 0;
#pragma unroll
	for (int i = 0; i < 2; i++) {
		file = layer_file(file, slot);
		if (!file)
			return inode;
		inode = NUMBER(slot, LOAD(file, file, f_inode));
		if (LOAD(super_block, LOAD(inode, inode, i_sb), s_magic) != OVERLAYFS_SUPER_MAGIC)
			return inode;
	}
	return inode;
}

/* Of a file of overlayfs: the inode of the layer that holds its pages. That layer may be an overlay itself, but not its layers.
 */
__noinline u64 layer_inode(u64 file)
{
	hold_cpu();
	u64 inode = find_layer_inode(file);
	release_cpu();
	return inode;
}

static __always_inline int resolve_file(struct task_state *s, u64 file, struct target *t)
{
	t->inode = 0;
	if (!file)
		return 0;
	file = NUMBER(&s->scratch, file);
	u64 inode = NUMBER(&s->scratch, LOAD(file, file, f_inode));
	if (!inode)
		return 0;
	u16 type = LOAD(inode, inode, i_mode) & S_IFMT;
	if (type != S_IFREG) {
		if (type != S_IFBLK)
			return 0;
		inode = NUMBER(&s->scratch, LOAD(address_space, LOAD(file, file, f_mapping), host));
		if (!inode)
			return 0;
	}
	u32 flags = LOAD(file, file, f_flags);
	t->flags = flags & O_APPEND ? TARGET_APPENDS : 0;
	u64 magic = LOAD(super_block, LOAD(inode, inode, i_sb), s_magic);
	u32 traits = magic == EXT4_SUPER_MAGIC ? 0 : fs_traits(magic);
	if (traits & FS_OVERLAY) {
		u64 layer = NUMBER(&s->scratch, layer_inode(file));
		if (layer) {
			inode = layer;
			traits = fs_traits(LOAD(super_block, LOAD(inode, inode, i_sb), s_magic));
		}
	}
	if (traits & FS_MADE_UP)
		return 0; /* made up as it is read: there are no pages */
	if (traits & FS_SHARES)
		t->flags |= TARGET_SHARES;
	if (traits & FS_UNTRACED)
		t->flags |= TARGET_IN_MEMORY;
	/* Files in memory take O_DIRECT and are cached all the same. */
	if ((flags & O_DIRECT) && !(traits & FS_IN_MEMORY))
		t->flags |= TARGET_DIRECT;
	t->file = file;
	t->id = file_key(inode);
	t->inode = inode;
	return 1;
}

/* Directories hold no pages of requests, but are synced after a rename or an unlink. */
static __always_inline int resolve_directory(struct task_state *s, u64 file, struct target *t)
{
	if (!file)
		return 0;
	file = NUMBER(&s->scratch, file);
	u64 inode = NUMBER(&s->scratch, LOAD(file, file, f_inode));
	if (!inode || (LOAD(inode, inode, i_mode) & S_IFMT) != S_IFDIR)
		return 0;
	t->flags = 0;
	t->file = file;
	t->id = file_key(inode);
	t->inode = inode;
	return 1;
}

/* For what is rarer than a read or a write: a file, or where it is synced a directory too. The file is a plain number. */
APART int find_file(struct task_state *s, struct target *t, u64 file, u32 syncs)
{
	if (!s || !t)
		return 0;
	return resolve_file(s, file, t) || (syncs && resolve_directory(s, file, t));
}

/* The same by its descriptor. */
APART int find_fd(struct task_state *s, struct target *t, u32 fd, u32 syncs)
{
	if (!s || !t)
		return 0;
	u64 file = fd_to_file(CURRENT(), fd);
	return resolve_file(s, file, t) || (syncs && resolve_directory(s, file, t));
}

static __always_inline void set_range(struct target *t, u64 pos, u64 count)
{
	t->pos = pos;
	t->first = pos >> 12;
	t->last = (pos + count - 1) >> 12;
	if (!count) {
		t->first = 1;
		t->last = 0;
	}
	t->added_first = ~0ULL;
	t->added_last = 0;
	t->brought = t->ahead = t->gone = t->modified = 0;
	t->unfilled = t->used = t->used_zeros = t->direct = t->old_end = 0;
	if (RECORD) {
		TOLD(t)->asked = count;
		TOLD(t)->rwf = 0;
		TOLD(t)->counted = TOLD(t)->missed = TOLD(t)->ahead_hits = TOLD(t)->zeros = TOLD(t)->created =
			TOLD(t)->read_ahead = 0;
		TOLD(t)->device_read = TOLD(t)->device_write = 0;
	}
}

static __always_inline u64 pages_of(u64 pos, u64 bytes)
{
	return (((pos + bytes - 1) >> 12) - (pos >> 12) + 1) & if_any(bytes);
}

/* The flags of one request (RWF_*), of which some say what an open file's flags say for all. */
static __always_inline void settle_flags(struct target *t, u32 flags)
{
	if (flags & RWF_NOAPPEND)
		t->flags &= ~TARGET_APPENDS;
	if (flags & RWF_APPEND)
		t->flags |= TARGET_APPENDS;
}

/* No call moves more (include/linux/fs.h). */
#define MAX_RW_COUNT 0x7ffff000ULL
#define UNKNOWN_BYTES (~0ULL)

struct iov_walk {
	u64 iov, n, total;
};

static __always_inline long iov_step(u64 i, struct iov_walk *w)
{
	struct {
		u64 base, len;
	} v = {};
	if (i >= w->n)
		return 1;
	if (bpf_probe_read_user(&v, sizeof(v), (void *)(w->iov + i * sizeof(v)))) {
		w->total = UNKNOWN_BYTES;
		return 1;
	}
	w->total += v.len;
	return 0;
}

#ifndef HOTSET_COMPAT
static long iov_callback(u32 i, struct iov_walk *w)
{
	return iov_step(i, w);
}
#endif

/* Bytes of a vector, of up to UIO_MAXIOV pieces: unknown where it is not in memory, as only the kernel can fetch it. */
__noinline u64 iov_bytes(u64 iov, u64 n)
{
	struct iov_walk w = { .iov = iov, .n = n };
#ifdef HOTSET_COMPAT
	for (u32 i = 0; i < 1024; i++) {
		if (iov_step(i, &w))
			break;
	}
#else
	bpf_loop(n > 1024 ? 1024 : n, iov_callback, &w, 0);
#endif
	return w.total;
}

/* The position that a call uses: the file's own, or the one behind a user pointer. */
static __always_inline u64 position(struct target *t, u64 user_pointer)
{
	u64 pos = 0;
	if (user_pointer) {
		bpf_probe_read_user(&pos, sizeof(pos), (void *)user_pointer);
		barrier_value(pos); /* see load_arguments() */
		return pos;
	}
	t->flags |= TARGET_USES_POSITION;
	return LOAD(file, t->file, f_pos);
}

/*
 * The arguments, loaded at once: clang would else merge such a load with one through a cast pointer, and the verifier
 * allows an instruction only one kind of pointer.
 */
static __always_inline struct arguments load_arguments(struct pt_regs *regs)
{
	struct arguments args = { regs->di, regs->si, regs->dx, regs->r10, regs->r8, regs->r9 };
	barrier_value(args.a);
	barrier_value(args.b);
	barrier_value(args.c);
	barrier_value(args.d);
	barrier_value(args.e);
	barrier_value(args.f);
	return args;
}

#endif
