/* SPDX-License-Identifier: GPL-2.0 */
/* System calls: what was requested, and how long it took. */

/* The file's marks of pages that are dirty, or being written: the low bits are of another kind (linux/xarray.h). */
#define XA_MARKS(flags) ((flags) >> 20)

/* Where pages that are dirty already can be written over by a call with O_DIRECT, no page shows that they were. */
static __always_inline void begin_write(struct target *t)
{
	join_memory(t);
	if (!(t->flags & TARGET_DIRECT) || LOAD(super_block, LOAD(inode, t->inode, i_sb), s_magic) != BTRFS_SUPER_MAGIC)
		return;
	if (XA_MARKS(LOAD(address_space, LOAD(inode, t->inode, i_mapping), i_pages.xa_flags)))
		t->flags |= TARGET_WAS_DIRTY;
}

#define CALL_PREADV2 327

/* Two files at once: sendfile, splice, copy_file_range. */
APART int enter_pair(struct task_state *s, const struct arguments *args, u32 kind)
{
	if (!s || !args)
		return 0;
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
	if (find_fd(s, &s->in, from, 0)) {
		set_range(&s->in, position(&s->in, from_pos), count);
		any = 1;
	}
	if (find_fd(s, &s->out, to, 0)) {
		set_range(&s->out, position(&s->out, to_pos), count);
		begin_write(&s->out);
		any = 1;
	}
	return any;
}

APART int enter_single(struct task_state *s, const struct arguments *args, u32 kind)
{
	if (!s || !args)
		return 0;
	struct task_struct *task = CURRENT();
	struct target *t = &s->in;
	u64 pos = 0, count = args->c, at = args->d;
	barrier_value(at); /* see load_arguments() */
	s->out.inode = 0;
	if (!resolve_file(s, fd_to_file(task, args->a), t))
		return 0;
	if (kind == HS_READ || kind == HS_WRITE || kind == HS_READV || kind == HS_WRITEV)
		pos = position(t, 0);
	else if ((kind == HS_PREADV || kind == HS_PWRITEV2) && (s64)at == -1)
		pos = position(t, 0);
	else
		pos = at;
	if (kind == HS_READV || kind == HS_WRITEV || kind == HS_PREADV || kind == HS_PWRITEV2 || kind == HS_PWRITEV)
		count = iov_bytes(args->b, args->c);
	if (count > MAX_RW_COUNT)
		count = MAX_RW_COUNT; /* what was not moved is settled at the end */
	u64 rwf = args->f;
	barrier_value(rwf);
	if (kind == HS_PWRITEV2)
		settle_flags(t, rwf);
	if (kind >= HS_WRITE && (t->flags & TARGET_APPENDS))
		pos = LOAD(inode, t->inode, i_size);
	set_range(t, pos, count);
	if (RECORD && (kind == HS_PWRITEV2 || REC(s)->call == CALL_PREADV2))
		TOLD(t)->rwf = rwf;
	if (kind >= HS_WRITE)
		begin_write(t);
	return 1;
}

/* What is synced: a file, a directory, a file system, all of them, or memory, of which no file is at hand. */
APART int enter_sync(struct task_state *s, u32 fd, u32 kind)
{
	if (!s)
		return 0;
	struct target *t = &s->in;
	s->out.inode = 0;
	if (kind == HS_SYNC) {
		if (!find_fd(s, t, fd, 1))
			return 0;
	} else {
		t->inode = t->file = 0;
		t->id = (struct hs_file_key){};
	}
	if (kind == HS_SYNC_FS) {
		u64 file = NUMBER(&s->scratch, fd_to_file(CURRENT(), fd));
		if (!file)
			return 0;
		t->id.dev = LOAD(super_block, LOAD(inode, LOAD(file, file, f_inode), i_sb), s_dev);
	} else if (kind == HS_SYNC_ALL) {
		t->id.ino = HS_ALL_FILE_SYSTEMS;
	}
	set_range(t, 0, 0);
	return 1;
}

#define CALL_SYNC_FILE_RANGE 277

/* The part that is synced, for the record alone: no page is requested. */
static __always_inline void note_sync_range(struct task_state *s, const struct arguments *args, u32 kind)
{
	u64 from = args->b, bytes = args->c;
	if (kind == HS_MSYNC)
		from = args->a, bytes = args->b;
	else if (REC(s)->call != CALL_SYNC_FILE_RANGE)
		return;
	barrier_value(from);
	barrier_value(bytes);
	s->in.pos = from;
	TOLD(&s->in)->asked = bytes;
}

/* Calls from 512 on that x32 has for what a 64-bit program does by another number. */
#define X32_OWN \
	(1ULL << 3 | 1ULL << 4 | 1ULL << 8 | 1ULL << 22 | 1ULL << 23 | 1ULL << 32 | 1ULL << 33 | 1ULL << 34 | 1ULL << 35)

APART int enter_x32(u64 number)
{
	u32 counted = number < HS_SYSCALLS ? cfg.kinds[number & (HS_SYSCALLS - 1)] & ~HS_I386 :
					     number < HS_SYSCALLS + 64 && (X32_OWN >> (number & 63)) & 1;
	struct task_state *s = counted ? current_state() : NULL;
	if (!s)
		return 0;
	s->kind = HS_FOREIGN;
	s->fault_inode = 0;
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id)
{
	if ((u64)id >= HS_SYSCALLS)
		return id & X32_SYSCALL_BIT ? enter_x32(id & ~X32_SYSCALL_BIT) : 0;
	u32 number = cfg.kinds[id & (HS_SYSCALLS - 1)], kind = number & ~HS_I386;
	if (!number)
		return 0;
	struct task_struct *task = CURRENT();
	if (!kind && !(LOAD(task_struct, task, thread_info.status) & TS_COMPAT))
		return 0;
	struct task_state *s = state_of(task);
	if (!s)
		return 0;
	s->handled = HANDLED_ENTER;
	s->kind = HS_NONE;
	s->added.ino = 0;
	if (s->fault_inode)
		settle_fault(s, LOAD(task_struct, task, maj_flt));
	/* A program of either width may make such a call: by int 0x80. */
	if (LOAD(task_struct, task, thread_info.status) & TS_COMPAT) {
		if (number & HS_I386)
			s->kind = HS_FOREIGN;
		return 0;
	}
	struct arguments *args = &s->arguments;
	*args = load_arguments(regs);
	if (RECORD)
		begin_call(s, args, id, kind);
	if (kind == HS_PAGEOUT) {
		s->in.inode = s->out.inode = 0;
		s->kind = args->c == MADV_PAGEOUT ? kind : RECORD ? HS_MADVISE : HS_NONE;
		if (RECORD)
			enter_madvise(s, args);
		return 0;
	}
	if (kind > HS_SYNC_ALL) {
		if (kind < HS_OPEN)
			enter_aio(s, args, kind);
		else if (!RECORD || kind < HS_CLOSE)
			enter_path(s, args, kind);
		else
			enter_other(s, args, kind);
		return 0;
	}
	if (kind >= HS_SYNC) {
		if (!enter_sync(s, args->a, kind))
			return 0;
		if (RECORD)
			note_sync_range(s, args, kind);
	} else if (kind == HS_SENDFILE || kind == HS_SPLICE || kind == HS_COPY_RANGE) {
		if (!enter_pair(s, args, kind))
			return 0;
	} else if (!enter_single(s, args, kind)) {
		return 0;
	}
	s->switches = LOAD(task_struct, task, nvcsw);
	s->kind = kind;
	s->start_ns = bpf_ktime_get_ns();
	return 0;
}

/* A file system that can share blocks may have copied nothing; pages that were added prove that it did. */
static __always_inline int may_share(struct target *t)
{
	return !t->brought && !t->ahead && (t->flags & TARGET_SHARES);
}

/*
 * Of a call with O_DIRECT, the bytes that the file system served from the cache all the same, as ext4 does with data=journal
 * and Btrfs with compressed data. Such a read moves the place that read-ahead remembers; such a write adds pages or makes
 * them dirty. Where they are dirty already, nothing goes past the cache: ext4's requests for direct I/O, and Btrfs's where
 * it can choose, are made by the task itself.
 */
static __always_inline u64 served_from_cache(const struct target *t, u64 bytes, u32 writes)
{
	u64 left = bytes > t->direct ? bytes - t->direct : 0;
	if (!left || t->brought || direct_told(t->inode))
		return left;
	if (!writes)
		return t->ahead || (u64)LOAD(file, t->file, f_ra.prev_pos) == t->pos + bytes ? left : 0;
	if (t->flags & TARGET_DIRTIED)
		return left;
	if (t->direct || !cfg.block_layer)
		return 0;
	if (t->flags & TARGET_WAS_DIRTY)
		return left;
	return LOAD(super_block, LOAD(inode, t->inode, i_sb), s_magic) == EXT4_SUPER_MAGIC ? left : 0;
}

APART int exit_direct(struct target *t, struct hs_row *row, u64 bytes, u64 ns, u32 writes)
{
	if (!t || !row)
		return 0;
	u64 cached = served_from_cache(t, bytes, writes);
	if (cached < bytes || !bytes) {
		count_direct(row, t, bytes - cached, ns, writes);
		ns = 0;
	}
	if (!cached) {
		if (writes && bytes && t->old_end)
			ATOMIC_ADD(&row->write_misses, t->old_end);
		if (RECORD && writes && bytes)
			TOLD(t)->missed = t->old_end;
		/* Read ahead all the same. */
		if (!writes && (t->brought | t->ahead))
			add_ahead(row, t, t->brought + t->ahead);
		return 0;
	}
	t->pos += bytes - cached;
	if (writes)
		count_write(row, t, cached, ns, 0);
	else
		count_read(row, t, cached, ns, 0);
	t->pos -= bytes - cached;
	return 0;
}

APART int exit_source(struct task_state *s, u64 bytes, u64 ns, u32 how)
{
	if (!s)
		return 0;
	settle_position(&s->in, bytes);
	settle_short(s, bytes);
	struct hs_row *row = row_of(s, &s->in, 0);
	if (row && (s->in.flags & TARGET_DIRECT))
		exit_direct(&s->in, row, bytes, ns, 0);
	else if (row)
		count_read(row, &s->in, bytes, ns, how);
	return 0;
}

APART int exit_destination(struct task_state *s, u64 bytes, u64 ns)
{
	if (!s)
		return 0;
	settle_position(&s->out, bytes);
	settle_memory(&s->out, bytes);
	struct hs_row *row = row_of(s, &s->out, 0);
	if (row && (s->out.flags & TARGET_DIRECT))
		exit_direct(&s->out, row, bytes, ns, 1);
	else if (row)
		count_write(row, &s->out, bytes, ns, 0);
	return 0;
}

/* Two files at once. The time is booked to the source. */
static __always_inline void exit_pair(struct task_state *s, u64 bytes, u64 ns, u32 how, u32 kind)
{
	if (kind == HS_COPY_RANGE && s->in.inode && s->out.inode && may_share(&s->in)) {
		ATOMIC_ADD(&g.shared_copies, 1);
		settle_memory(&s->out, 0);
		return;
	}
	if (s->in.inode)
		exit_source(s, bytes, ns, how);
	if (s->out.inode)
		exit_destination(s, bytes, s->in.inode ? 0 : ns);
}

/* A read that failed, as one that may not wait does, can have begun to read ahead; a write is over. */
APART int exit_failed(struct task_state *s, u32 kind)
{
	if (!s)
		return 0;
	if (kind >= HS_WRITE) {
		settle_memory(&s->in, 0);
		return 0;
	}
	if (kind >= HS_SENDFILE && s->out.inode)
		settle_memory(&s->out, 0);
	if (!s->in.inode || !(s->in.brought | s->in.ahead))
		return 0;
	settle_short(s, 0);
	struct hs_row *row = row_of(s, &s->in, 0);
	if (row)
		add_ahead(row, &s->in, s->in.ahead + s->in.brought);
	return 0;
}

/* A read or a write of one file that was done. */
APART int exit_single(struct task_state *s, u32 kind, u64 bytes, u64 ns, u32 how)
{
	if (!s)
		return 0;
	struct target *t = &s->in;
	settle_position(t, bytes);
	if (kind < HS_WRITE)
		settle_short(s, bytes);
	struct hs_row *row = row_of(s, t, 0);
	if (!row)
		return 0;
	/* The row of "others" belongs to everybody. */
	if (!row->owner)
		how &= ~COUNT_ALONE;
	if (t->flags & TARGET_DIRECT) {
		exit_direct(t, row, bytes, ns, kind >= HS_WRITE);
	} else if (kind >= HS_WRITE) {
		settle_memory(t, bytes);
		count_write(row, t, bytes, ns, how);
	} else {
		count_read(row, t, bytes, ns, how);
	}
	return 0;
}

/* The records of a call that ends: of each of its files. The time is in the first. */
RECORDS int send_call(struct task_state *s, u32 kind, s64 ret, u64 ns, u32 how)
{
	if (!RECORD || !s)
		return 0;
	u64 call = REC(s)->call, target = 0;
	if (how & COUNT_WAITED)
		call |= OP_FLAGS(HS_OP_WAITED);
	if (kind == HS_COPY_RANGE && ret > 0 && s->in.inode && s->out.inode && may_share(&s->in))
		call |= OP_FLAGS(HS_OP_UNCOUNTED);
	if (s->in.inode || kind >= HS_WRITE) {
		send_op(s, &s->in, call, ret, ns);
		target = OP_FLAGS(HS_OP_NO_TIME);
	}
	if (kind >= HS_SENDFILE && kind <= HS_COPY_RANGE && s->out.inode)
		send_op(s, &s->out, call | target | OP_FLAGS(HS_OP_TARGET), ret, ns);
	if (REC(s)->beside_ns)
		send_beside(s);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long ret)
{
	u64 number = regs->orig_ax;
	if (number < HS_SYSCALLS && !cfg.kinds[number & (HS_SYSCALLS - 1)])
		return 0;
	struct task_struct *task = CURRENT();
	struct task_state *s = known_state_of(task);
	if (!s)
		return 0;
	u32 kind = s->kind;
	s->handled = 0;
	if (!kind)
		return 0;
	u64 ns = cfg.live && kind >= HS_OPEN ? 0 : bpf_ktime_get_ns() - s->start_ns;
	s->kind = HS_NONE;
	if (RECORD && cfg.stack_bytes)
		REC(s)->site = kind < HS_AIO_SETUP || (kind >= HS_OPEN && kind != HS_EXEC && kind != HS_EXECAT) ?
				       site_of(s, regs->ip, regs->sp, regs->bp) :
				       0;
	if (kind > HS_SYNC_ALL) {
		u32 has_path = 0;
		if (RECORD && (kind >= HS_CLOSE || kind == HS_PAGEOUT))
			exit_other(s, kind, ret, ns);
		else if (kind >= HS_OPEN)
			has_path = exit_path(s, kind, ret, ns, is_alone(task) ? COUNT_ALONE : 0);
		else if (kind == HS_PAGEOUT)
			return 0;
		else if (kind != HS_FOREIGN)
			exit_aio(s, kind, ret, ns);
		else if (ret != -ENOSYS)
			ATOMIC_ADD(&g.compat_calls, 1);
		if (RECORD && has_path)
			send_paths(s, kind, ret, ns);
		return 0;
	}
	u32 how = LOAD(task_struct, task, nvcsw) != s->switches ? COUNT_WAITED : 0;
	if (kind >= HS_SYNC) {
		count_sync(s, ns);
		send_call(s, kind, ret, ns, how);
		return 0;
	}
	if (ret < 0)
		exit_failed(s, kind);
	else if (kind >= HS_SENDFILE && kind <= HS_COPY_RANGE)
		exit_pair(s, ret, ns, how, kind);
	else
		exit_single(s, kind, ret, ns, is_alone(task) ? how | COUNT_ALONE : how);
	if (RECORD)
		send_call(s, kind, ret, ns, how);
	return 0;
}
