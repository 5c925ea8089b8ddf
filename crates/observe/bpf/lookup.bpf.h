/* SPDX-License-Identifier: GPL-2.0 */
/* Path lookups: how many, how long, and which paths were not there. A live session only counts, if it wants them. */

static __always_inline void enter_path(struct task_state *s, const struct arguments *args, u32 kind)
{
	u64 flags = 0;
	s->dirfd = AT_FDCWD;
	s->path = args->a;
	if (kind == HS_OPENAT || kind == HS_STATAT || kind == HS_STATX || kind == HS_ACCESSAT || kind == HS_EXECAT ||
	    (RECORD && (kind == HS_UNLINKAT || kind == HS_RENAMEAT))) {
		s->dirfd = args->a;
		s->path = args->b;
		flags = kind == HS_STATAT ? args->d : kind == HS_STATX ? args->c : 0;
	}
	s->path_unread = 0;
	if (flags & AT_EMPTY_PATH) {
		/* fstat by another name: no path to resolve. */
		u8 c = 0;
		s->path_unread = s->path && bpf_probe_read_user(&c, 1, (void *)s->path);
		if (!s->path_unread && !c)
			return;
	}
	s->kind = kind;
	s->start_ns = cfg.live ? 0 : bpf_ktime_get_ns();
}

/* The node of the directory that a relative path starts from; 0: not known. */
static __always_inline u64 send_base(s32 dirfd, u64 *slot)
{
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
	return dentry ? send_directory(dentry, mount) : 0;
}

static __always_inline void make_failed(u64 path, s32 dirfd, s32 error, u32 tgid)
{
	union scratch *sc = get_scratch(0);
	u64 *slot = number_slot();
	if (!sc || !slot)
		return;
	struct hs_failed *f = &sc->failed;
	long n = bpf_probe_read_user_str(f->path, HS_PATH_MAX, (void *)path);
	f->type = HS_EVENT_FAILED;
	f->path_len = n > 0 ? (n - 1) & (HS_PATH_MAX - 1) : 0;
	f->tgid = tgid;
	f->error = error;
	f->base = f->path[0] != '/' ? send_base(dirfd, slot) : 0;
	send_event(f, __builtin_offsetof(struct hs_failed, path) + f->path_len, sizeof(*f));
}

__noinline int send_failed(u64 path, s32 dirfd, s32 error, u32 tgid)
{
	hold_cpu();
	make_failed(path, dirfd, error, tgid);
	release_cpu();
	return 0;
}

/* Pages may have come up before the file was opened: its name was then that of any link to it. */
static __always_inline void open_row(struct task_state *s, struct hs_row *row, u32 how)
{
	if (row->owner && (how & COUNT_ALONE))
		PLAIN_ADD(&row->opens, 1);
	else
		ATOMIC_ADD(&row->opens, 1);
	if (row->named)
		return;
	row->named = 1;
	send_first(s->in.inode, s->in.file, s->tgid, 0);
}

APART int opened(struct task_state *s, u32 fd, u32 how)
{
	if (!s || !find_fd(s, &s->in, fd, 0))
		return 0;
	struct hs_row *row = row_of(s, &s->in, 0);
	if (row)
		open_row(s, row, how);
	return 0;
}

/* Those of nobody: the table of processes was full. */
static __always_inline void count_other_lookup(int failed)
{
	ATOMIC_ADD(&g.other_lookups, 1);
	if (failed)
		ATOMIC_ADD(&g.other_lookups_failed, 1);
}

static __always_inline void count_live_lookup(struct hs_process *p, int failed, u32 how)
{
	if (how & COUNT_ALONE)
		PLAIN_ADD(&p->lookups, 1);
	else
		ATOMIC_ADD(&p->lookups, 1);
	if (failed)
		ATOMIC_ADD(&p->lookups_failed, 1);
}

static __always_inline void count_lookup(struct hs_process *p, int failed, u64 ns, u32 how)
{
	if (cfg.live) {
		if (p)
			count_live_lookup(p, failed, how);
		else
			count_other_lookup(failed);
		return;
	}
	if (!p)
		return;
	if (how & COUNT_ALONE) {
		PLAIN_ADD(&p->lookups, 1);
		PLAIN_ADD(&p->lookup_ns, ns);
	} else {
		ATOMIC_ADD(&p->lookups, 1);
		ATOMIC_ADD(&p->lookup_ns, ns);
	}
	if (failed) {
		ATOMIC_ADD(&p->lookups_failed, 1);
		ATOMIC_ADD(&p->lookup_failed_ns, ns);
	}
}

/* Says whether it was a call with a path. */
static __always_inline int exit_path(struct task_state *s, u32 kind, long ret, u64 ns, u32 how)
{
	int failed = ret == -ENOENT || ret == -ENOTDIR;
	if (RECORD) {
		s->in.inode = 0;
		if (kind >= HS_TRUNCATE)
			return 1; /* no lookup */
	}
	if ((kind == HS_EXEC || kind == HS_EXECAT) && !failed)
		return 1; /* the time of an exec is not that of a lookup */
	if (!cfg.lookups)
		return 0;
	u8 c = 1;
	if (s->path_unread && !bpf_probe_read_user(&c, 1, (void *)s->path) && !c)
		return 0;
	count_lookup(process_of(s), failed, ns, how);
	if (cfg.live)
		return 0;
	if (failed)
		send_failed(s->path, s->dirfd, -ret, s->tgid);
	else if ((kind == HS_OPEN || kind == HS_OPENAT) && ret >= 0)
		opened(s, ret, how);
	return 1;
}

/* Another path of a call that has two. */
static __always_inline u64 second_path(struct task_state *s, u32 kind, s32 *dirfd)
{
	u64 path = 0;
	*dirfd = AT_FDCWD;
	if (kind == HS_RENAME) {
		path = s->arguments.b;
	} else if (kind == HS_RENAMEAT) {
		*dirfd = s->arguments.c;
		path = s->arguments.d;
	} else if (kind == HS_SYMLINKAT) {
		*dirfd = s->arguments.b;
		path = s->arguments.c;
	}
	barrier_value(path);
	return path;
}

static __always_inline u32 read_path(char *to, u64 from)
{
	long n = from ? bpf_probe_read_user_str(to, HS_LONG_PATH, (void *)from) : 0;
	return n > 0 ? (n - 1) & (HS_LONG_PATH - 1) : 0;
}

static __always_inline void make_paths(struct task_state *s, u32 kind, s64 result, u64 ns)
{
	u32 zero = 0;
	struct op_scratch *sc = bpf_map_lookup_elem(&op_scratch, &zero);
	struct hs_paths *p = sc ? &sc->paths : NULL;
	u64 *slot = number_slot();
	void *ring = op_ring();
	if (!p || !slot || !ring)
		return;
	struct hs_op *op = &p->op;
	__builtin_memset(op, 0, sizeof(*op));
	op->type = HS_EVENT_PATHS;
	op->call = REC(s)->call;
	op->flags = HS_OP_NO_RANGE;
	op->start_ns = s->start_ns;
	op->ns = ns;
	op->tid = bpf_get_current_pid_tgid();
	op->owner = owner(s);
	op->tgid = s->tgid;
	op->result = result;
	op->how = REC(s)->how;
	op->site = REC(s)->site;
	if (s->in.inode) {
		op->file = s->in.id;
		op->open_file = s->in.file;
	}
	s32 second_dir;
	u64 second = second_path(s, kind, &second_dir);
	u32 length = read_path(p->paths, s->path);
	p->path_len = length;
	p->base = p->paths[0] != '/' ? send_base(s->dirfd, slot) : 0;
	p->new_path_len = 0;
	p->new_base = 0;
	if (second) {
		char *to = p->paths + length;
		p->new_path_len = read_path(to, second);
		p->new_base = *to != '/' ? send_base(second_dir, slot) : 0;
		length += p->new_path_len;
	}
	u64 size = __builtin_offsetof(struct hs_paths, paths) + length;
	barrier_value(size);
	if (size > sizeof(*p))
		return;
	if (bpf_ringbuf_output(ring, p, size, ring_wakeup(ring, size, size, cfg.wake_bytes)))
		lose_op(s, s->start_ns, ns);
	else if (REC(s)->lost)
		tell_lost(s, ring);
	if (cfg.stop_bytes)
		hold_back(s, ring);
}

/* The record of a call with a path. That of a program that was started is its file: the words of the call are gone. */
RECORDS int send_paths(struct task_state *s, u32 kind, s64 result, u64 ns)
{
	if (!RECORD || !s)
		return 0;
	if ((kind == HS_EXEC || kind == HS_EXECAT) && result >= 0) {
		void *mm = LOAD(task_struct, CURRENT(), mm);
		u64 file = NUMBER(&s->scratch, LOAD(mm_struct, mm, exe_file));
		if (!find_file(s, &s->in, file, 0)) {
			s->in.id = (struct hs_file_key){};
			s->in.file = 0;
		}
		set_range(&s->in, 0, 0);
		s->in.flags = 0;
		send_op(s, &s->in, REC(s)->call | OP_FLAGS(HS_OP_NO_RANGE), result, ns);
	} else {
		hold_cpu();
		make_paths(s, kind, result, ns);
		release_cpu();
	}
	if (REC(s)->beside_ns)
		send_beside(s);
	return 0;
}
