/* SPDX-License-Identifier: GPL-2.0 */
/* System calls: what was requested, and how long it took. */
#include "include/bits.bpf.h"
#include "include/names.bpf.h"

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
__noinline u64 overlay_inode(u64 file)
{
	u64 *slot = number_slot();
	if (!slot)
		return 0;
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
	void *sb = LOAD(inode, inode, i_sb);
	u32 flags = LOAD(file, file, f_flags);
	t->flags = flags & O_APPEND ? TARGET_APPENDS : 0;
	u64 magic = LOAD(super_block, sb, s_magic);
	/* tmpfs takes the flag and caches all the same. */
	if ((flags & O_DIRECT) && magic != TMPFS_MAGIC && magic != RAMFS_MAGIC)
		t->flags |= TARGET_DIRECT;
	if (magic == OVERLAYFS_SUPER_MAGIC) {
		u64 real = overlay_inode(file);
		if (real) {
			inode = real;
			sb = LOAD(inode, inode, i_sb);
		}
	}
	t->file = file;
	t->ino = LOAD(inode, inode, i_ino);
	t->dev = LOAD(super_block, sb, s_dev);
	t->inode = inode;
	return 1;
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
	t->brought = t->ahead = t->gone = t->modified = 0;
}

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
	bpf_probe_read_user(&v, sizeof(v), (void *)(w->iov + i * sizeof(v)));
	w->total += v.len;
	return 0;
}

#ifndef HOTSET_COMPAT
static long iov_callback(u32 i, struct iov_walk *w)
{
	return iov_step(i, w);
}
#endif

/* Bytes of a vector: up to UIO_MAXIOV pieces; the compat build stops at 64. */
__noinline u64 iov_bytes(u64 iov, u64 n)
{
	struct iov_walk w = { .iov = iov, .n = n };
#ifdef HOTSET_COMPAT
	for (u32 i = 0; i < 64; i++) {
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
struct arguments {
	u64 a, b, c, d, e;
};

static __always_inline struct arguments load_arguments(struct pt_regs *regs)
{
	struct arguments args = { regs->di, regs->si, regs->dx, regs->r10, regs->r8 };
	barrier_value(args.a);
	barrier_value(args.b);
	barrier_value(args.c);
	barrier_value(args.d);
	barrier_value(args.e);
	return args;
}

static __always_inline int is_path_kind(u32 kind)
{
	return kind >= HS_OPEN;
}

static __always_inline void enter_path(struct task_state *s, const struct arguments *args, u32 kind)
{
	u64 flags = 0;
	s->dirfd = AT_FDCWD;
	s->path = args->a;
	if (kind == HS_OPENAT || kind == HS_STATAT || kind == HS_STATX || kind == HS_ACCESSAT || kind == HS_EXECAT) {
		s->dirfd = args->a;
		s->path = args->b;
		flags = kind == HS_STATAT ? args->d : kind == HS_STATX ? args->c : 0;
	}
	if (flags & AT_EMPTY_PATH) {
		/* fstat by another name: no path to resolve. */
		u8 c = 0;
		if (!s->path || (!bpf_probe_read_user(&c, 1, (void *)s->path) && !c))
			return;
	}
	s->kind = kind;
	s->start_ns = bpf_ktime_get_ns();
}

/* Two files at once: sendfile, splice, copy_file_range. */
static __noinline int enter_pair(struct task_state *s, struct task_struct *task, const struct arguments *args, u32 kind)
{
	u32 from, to;
	u64 from_pos, to_pos, count;
	u64 a = args->a, b = args->b, c = args->c, d = args->d, e = args->e;
	barrier_value(a);
	barrier_value(b);
	barrier_value(c);
	barrier_value(d);
	barrier_value(e);
	if (kind == HS_SENDFILE) {
		to = a, from = b, from_pos = c, to_pos = 0, count = d;
	} else {
		from = a, from_pos = b, to = c, to_pos = d, count = e;
	}
	int any = 0;
	s->out.inode = 0;
	if (resolve_file(s, fd_to_file(task, from), &s->in)) {
		set_range(&s->in, position(&s->in, from_pos), count);
		any = 1;
	}
	if (resolve_file(s, fd_to_file(task, to), &s->out)) {
		set_range(&s->out, position(&s->out, to_pos), count);
		any = 1;
	}
	return any;
}

static __always_inline int enter_single(struct task_state *s, struct task_struct *task, const struct arguments *args, u32 kind)
{
	struct target *t = &s->in;
	u64 pos = 0, count = args->c;
	s->out.inode = 0;
	if (!resolve_file(s, fd_to_file(task, args->a), t))
		return 0;
	if (kind == HS_READ || kind == HS_WRITE || kind == HS_READV || kind == HS_WRITEV)
		pos = position(t, 0);
	else if ((kind == HS_PREADV || kind == HS_PWRITEV) && (s64)args->d == -1)
		pos = position(t, 0);
	else if (kind != HS_SYNC)
		pos = args->d;
	if (kind == HS_READV || kind == HS_WRITEV || kind == HS_PREADV || kind == HS_PWRITEV)
		count = iov_bytes(args->b, args->c);
	if (kind >= HS_WRITE && (t->flags & TARGET_APPENDS))
		pos = LOAD(inode, t->inode, i_size);
	set_range(t, pos, kind == HS_SYNC ? 0 : count);
	return 1;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id)
{
	if ((u64)id >= HS_SYSCALLS)
		return 0;
	u32 kind = cfg.kinds[id & (HS_SYSCALLS - 1)];
	if (!kind)
		return 0;
	struct task_state *s = current_state();
	if (!s)
		return 0;
	struct task_struct *task = CURRENT();
	s->kind = HS_NONE;
	s->fault_inode = 0;
	if (LOAD(task_struct, task, thread_info.status) & TS_COMPAT) {
		ATOMIC_ADD(&g.compat_calls, 1);
		return 0;
	}
	struct arguments args = load_arguments(regs);
	if (is_path_kind(kind)) {
		enter_path(s, &args, kind);
		return 0;
	}
	if (kind == HS_MSYNC) {
		s->in.inode = s->out.inode = 0;
	} else if (kind == HS_SENDFILE || kind == HS_SPLICE || kind == HS_COPY_RANGE) {
		if (!enter_pair(s, task, &args, kind))
			return 0;
	} else if (!enter_single(s, task, &args, kind)) {
		return 0;
	}
	s->switches = LOAD(task_struct, task, nvcsw);
	s->kind = kind;
	s->start_ns = bpf_ktime_get_ns();
	return 0;
}

/* Buckets by powers of four: 16, 64, 256, 1K … 16M, more. A difference's top bit says whether a bound was passed. */
static __always_inline u32 bucket(u64 bytes)
{
	u64 b = 0;
#pragma unroll
	for (u32 i = 0; i < HS_HISTOGRAM_BUCKETS - 1; i++)
		b += ((16ULL << (2 * i)) - bytes) >> 63;
	barrier_value(b);
	return b;
}

#define ADD(alone, p, v)                   \
	do {                               \
		if (alone)                 \
			*(p) += (v);       \
		else                       \
			ATOMIC_ADD(p, v);  \
	} while (0)

static __always_inline u64 pages_of(u64 pos, u64 bytes)
{
	return bytes ? ((pos + bytes - 1) >> 12) - (pos >> 12) + 1 : 0;
}

/* The file's own position after the call tells where it began, also where another thread moved it before. */
static __always_inline void settle_position(struct target *t, u64 bytes)
{
	if (!(t->flags & TARGET_USES_POSITION) || !bytes)
		return;
	u64 after = LOAD(file, t->file, f_pos);
	if (after >= bytes)
		t->pos = after - bytes;
}

#define COUNT_WAITED 1u
#define COUNT_ALONE 2u

/* Functions that take pointers can be verified apart since 5.12. */
#ifdef HOTSET_COMPAT
#define COUNTER static __always_inline
#else
#define COUNTER __noinline
#endif

COUNTER int count_read(struct hs_row *row, const struct target *t, u64 bytes, u64 ns, u32 how)
{
	if (!row || !t)
		return 0;
	int alone = how & COUNT_ALONE;
	u64 pages = pages_of(t->pos, bytes), first = t->pos >> 12;
	u64 missed = t->brought < pages ? t->brought : pages;
	u64 ahead = bits_take(t->ino, t->dev, HS_AHEAD, first, first + pages);
	if (ahead > pages - missed)
		ahead = pages - missed;
	u32 b = bucket(bytes);
	ADD(alone, &row->read_calls, 1);
	ADD(alone, &row->read_bytes, bytes);
	ADD(alone, &row->read_pages, pages);
	ADD(alone, &row->read_histogram[b < HS_HISTOGRAM_BUCKETS ? b : 0], 1);
	if (row->read_next == t->pos)
		ADD(alone, &row->read_sequential, 1);
	row->read_next = t->pos + bytes;
	if (missed | ahead | t->gone | t->ahead | t->brought) {
		ATOMIC_ADD(&row->read_misses, missed);
		ATOMIC_ADD(&row->read_ra_hits, ahead);
		ATOMIC_ADD(&row->read_refaults, t->gone);
		ATOMIC_ADD(&row->ra_pages, t->ahead + (t->brought - missed));
	}
	if (missed)
		ADD(alone, &row->miss_ns, ns);
	else if (how & COUNT_WAITED)
		ADD(alone, &row->wait_ns, ns);
	else
		ADD(alone, &row->hit_ns, ns);
	return 0;
}

COUNTER int count_write(struct hs_row *row, const struct target *t, u64 bytes, u64 ns, u32 how)
{
	if (!row || !t)
		return 0;
	int alone = how & COUNT_ALONE;
	u32 b = bucket(bytes);
	ADD(alone, &row->write_calls, 1);
	ADD(alone, &row->write_bytes, bytes);
	ADD(alone, &row->write_pages, pages_of(t->pos, bytes));
	ADD(alone, &row->write_histogram[b < HS_HISTOGRAM_BUCKETS ? b : 0], 1);
	ADD(alone, &row->write_ns, ns);
	if (row->write_next == t->pos)
		ADD(alone, &row->write_sequential, 1);
	row->write_next = t->pos + bytes;
	if (t->brought | t->modified) {
		ATOMIC_ADD(&row->write_new, t->brought);
		ATOMIC_ADD(&row->write_misses, t->modified);
	}
	return 0;
}

COUNTER int count_direct(struct hs_row *row, const struct target *t, u64 bytes, u64 ns, u32 writes)
{
	if (!row || !t)
		return 0;
	ATOMIC_ADD(&row->direct_ns, ns);
	if (writes) {
		ATOMIC_ADD(&row->direct_write_calls, 1);
		ATOMIC_ADD(&row->direct_write_bytes, bytes);
		return 0;
	}
	ATOMIC_ADD(&row->direct_read_calls, 1);
	ATOMIC_ADD(&row->direct_read_bytes, bytes);
	/* Whole pages only: a smaller piece read twice says nothing about its neighbours. */
	u64 start = (t->pos + 4095) >> 12, end = (t->pos + bytes) >> 12;
	if (start < end) {
		u64 fresh = bits_set(t->ino, t->dev, HS_DIRECT, start, end);
		ATOMIC_ADD(&row->direct_reread_bytes, (end - start - fresh) << 12);
	}
	return 0;
}

static __always_inline void count_sync(struct task_state *s, u64 ns)
{
	struct hs_row *row = row_of(s, &s->in, 0);
	if (row) {
		ATOMIC_ADD(&row->sync_calls, 1);
		ATOMIC_ADD(&row->sync_ns, ns);
	}
}

__noinline int send_failed(u64 path, s32 dirfd, s32 error, u32 tgid)
{
	union scratch *sc = get_scratch(0);
	u64 *slot = number_slot();
	if (!sc || !slot)
		return 0;
	struct hs_failed *f = &sc->failed;
	long n = bpf_probe_read_user_str(f->path, HS_PATH_MAX, (void *)path);
	f->type = HS_EVENT_FAILED;
	f->path_len = n > 0 ? (n - 1) & (HS_PATH_MAX - 1) : 0;
	f->tgid = tgid;
	f->error = error;
	f->base = 0;
	if (f->path[0] != '/') {
		struct task_struct *task = CURRENT();
		u64 dentry = 0, mount = 0;
		if (dirfd == AT_FDCWD) {
			void *fs = LOAD(task_struct, task, fs);
			dentry = NUMBER(slot, LOAD(fs_struct, fs, pwd.dentry));
			mount = mount_of(NUMBER(slot, LOAD(fs_struct, fs, pwd.mnt)));
		} else {
			u64 file = NUMBER(slot, fd_to_file(task, dirfd));
			if (file) {
				dentry = NUMBER(slot, LOAD(file, file, f_path.dentry));
				mount = mount_of(NUMBER(slot, LOAD(file, file, f_path.mnt)));
			}
		}
		if (dentry)
			f->base = send_directory(dentry, mount);
	}
	send_event(f, __builtin_offsetof(struct hs_failed, path) + f->path_len, sizeof(*f));
	return 0;
}

static __always_inline void exit_path(struct task_state *s, u32 kind, long ret, u64 ns)
{
	int failed = ret == -ENOENT || ret == -ENOTDIR;
	if ((kind == HS_EXEC || kind == HS_EXECAT) && !failed)
		return; /* the time of an exec is not that of a lookup */
	struct hs_process *p = process_of(s);
	if (p) {
		ATOMIC_ADD(&p->lookups, 1);
		ATOMIC_ADD(&p->lookup_ns, ns);
		if (failed) {
			ATOMIC_ADD(&p->lookups_failed, 1);
			ATOMIC_ADD(&p->lookup_failed_ns, ns);
		}
	}
	if (failed) {
		send_failed(s->path, s->dirfd, -ret, s->tgid);
		return;
	}
	if ((kind == HS_OPEN || kind == HS_OPENAT) && ret >= 0 && resolve_file(s, fd_to_file(CURRENT(), ret), &s->in)) {
		struct hs_row *row = row_of(s, &s->in, 0);
		if (row)
			ATOMIC_ADD(&row->opens, 1);
	}
}

/* A file system that can share blocks may have copied nothing; pages that were added prove that it did. */
static __always_inline int may_share(struct target *t)
{
	return !t->brought && !t->ahead && LOAD(file_operations, LOAD(file, t->file, f_op), remap_file_range) != NULL;
}

static __noinline int exit_pair(struct task_state *s, u64 bytes, u64 ns, u32 how, u32 kind)
{
	struct hs_row *row;
	if (!s)
		return 0;
	if (kind == HS_COPY_RANGE && s->in.inode && s->out.inode && may_share(&s->in)) {
		ATOMIC_ADD(&g.shared_copies, 1);
		return 0;
	}
	if (s->in.inode) {
		settle_position(&s->in, bytes);
		row = row_of(s, &s->in, 0);
		if (row && (s->in.flags & TARGET_DIRECT))
			count_direct(row, &s->in, bytes, ns, 0);
		else if (row)
			count_read(row, &s->in, bytes, ns, how);
	}
	if (s->out.inode) {
		settle_position(&s->out, bytes);
		row = row_of(s, &s->out, 0);
		/* The time was booked to the source. */
		if (row)
			count_write(row, &s->out, bytes, s->in.inode ? 0 : ns, 0);
	}
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long ret)
{
	struct task_state *s = known_state();
	if (!s)
		return 0;
	u32 kind = s->kind;
	if (!kind)
		return 0;
	u64 ns = bpf_ktime_get_ns() - s->start_ns;
	s->kind = HS_NONE;
	if (is_path_kind(kind)) {
		exit_path(s, kind, ret, ns);
		return 0;
	}
	if (kind == HS_SYNC || kind == HS_MSYNC) {
		if (kind == HS_MSYNC) {
			/* No file at hand: the process's own "others" row. */
			s->in.ino = s->in.dev = 0;
			s->row_inode = ~0ULL;
		}
		count_sync(s, ns);
		return 0;
	}
	if (ret < 0)
		return 0;
	struct task_struct *task = CURRENT();
	u32 how = LOAD(task_struct, task, nvcsw) != s->switches ? COUNT_WAITED : 0;
	if (kind >= HS_SENDFILE && kind <= HS_COPY_RANGE) {
		exit_pair(s, ret, ns, how, kind);
		return 0;
	}
	struct target *t = &s->in;
	settle_position(t, ret);
	struct hs_row *row = row_of(s, t, 0);
	if (!row)
		return 0;
	if (is_alone(task))
		how |= COUNT_ALONE;
	if (t->flags & TARGET_DIRECT)
		count_direct(row, t, ret, ns, kind >= HS_WRITE);
	else if (kind >= HS_WRITE)
		count_write(row, t, ret, ns, how);
	else
		count_read(row, t, ret, ns, how);
	return 0;
}
