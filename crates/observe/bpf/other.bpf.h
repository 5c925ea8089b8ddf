/* SPDX-License-Identifier: GPL-2.0 */
/* Calls that only a recording has: what is told, mapped and changed without a path, and without moving data. */

/* What a call is told, besides where and how much: flags, a mode, an advice; of mmap its protection and above its flags. */
static __always_inline u64 told(const struct arguments *args, u32 kind)
{
	u64 flags = args->b;
	if (kind == HS_OPENAT || kind == HS_PAGEOUT || kind == HS_UNLINKAT || kind == HS_STATX)
		flags = args->c;
	else if (kind == HS_FADVISE || kind == HS_STATAT)
		flags = args->d;
	else if (kind == HS_RENAMEAT)
		flags = args->e;
	else if (kind == HS_MMAP)
		flags = args->c | args->d << 32;
	barrier_value(flags);
	return flags;
}

#define CALL_OPENAT2 437

/* What was moved beside calls came before this one. */
RECORDS int begin_call(struct task_state *s, const struct arguments *args, u32 number, u32 kind)
{
	if (!RECORD || !s || !args)
		return 0;
	REC(s)->call = number;
	REC(s)->how = told(args, kind);
	if (number == CALL_OPENAT2)
		bpf_probe_read_user(&REC(s)->how, sizeof(REC(s)->how), (void *)REC(s)->how);
	if (REC(s)->around_ns)
		send_around(s);
	if (REC(s)->beside_ns)
		send_beside(s);
	return 0;
}

static __always_inline void enter_madvise(struct task_state *s, const struct arguments *args)
{
	struct target *t = &s->in;
	u64 from = args->a, bytes = args->b;
	barrier_value(from);
	barrier_value(bytes);
	no_target(t);
	t->flags = 0;
	set_range(t, from, bytes);
	s->start_ns = bpf_ktime_get_ns();
}

#define MAP_ANONYMOUS 0x20

/* The file of a call, and the part of it that it is about. Anonymous memory and pipes have none. */
RECORDS int enter_other(struct task_state *s, const struct arguments *args, u32 kind)
{
	if (!s || !args)
		return 0;
	struct target *t = &s->in;
	u64 fd = args->a, from = args->b, bytes = args->c, flags = args->d;
	barrier_value(fd);
	barrier_value(from);
	barrier_value(bytes);
	barrier_value(flags);
	no_target(t);
	t->flags = 0;
	s->out.inode = 0;
	if (kind == HS_MMAP) {
		if (flags & MAP_ANONYMOUS)
			return 0;
		fd = args->e;
		bytes = from;
		from = args->f;
		barrier_value(fd);
		barrier_value(from);
	} else if (kind == HS_FALLOCATE) {
		from = bytes;
		bytes = flags;
	} else if (kind == HS_FTRUNCATE) {
		bytes = 0;
	} else if (kind == HS_CLOSE) {
		from = bytes = 0;
	}
	if (kind != HS_MUNMAP && !find_fd(s, t, fd, 0))
		return 0;
	/* Names the file. */
	if (kind != HS_MUNMAP && kind != HS_CLOSE)
		row_of(s, t, 0);
	if (kind == HS_MUNMAP) {
		bytes = from;
		from = fd;
	}
	set_range(t, from, bytes);
	s->kind = kind;
	s->start_ns = bpf_ktime_get_ns();
	return 0;
}

RECORDS int exit_other(struct task_state *s, u32 kind, s64 ret, u64 ns)
{
	if (!RECORD || !s)
		return 0;
	u64 call = REC(s)->call;
	if (kind == HS_CLOSE)
		call |= OP_FLAGS(HS_OP_NO_RANGE);
	if (kind == HS_MUNMAP)
		forget_code(s);
	/* What advice does to pages that are read ahead is in its record. */
	send_op(s, &s->in, call, ret, ns);
	return 0;
}
