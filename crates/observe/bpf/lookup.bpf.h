/* SPDX-License-Identifier: GPL-2.0 */
/* Path lookups: how many, how long, and which paths were not there. */

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
	s->path_unread = 0;
	if (flags & AT_EMPTY_PATH) {
		/* fstat by another name: no path to resolve. */
		u8 c = 0;
		s->path_unread = s->path && bpf_probe_read_user(&c, 1, (void *)s->path);
		if (!s->path_unread && !c)
			return;
	}
	s->kind = kind;
	s->start_ns = bpf_ktime_get_ns();
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

static __always_inline void count_lookup(struct hs_process *p, int failed, u64 ns, u32 how)
{
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

static __always_inline void exit_path(struct task_state *s, u32 kind, long ret, u64 ns, u32 how)
{
	int failed = ret == -ENOENT || ret == -ENOTDIR;
	if ((kind == HS_EXEC || kind == HS_EXECAT) && !failed)
		return; /* the time of an exec is not that of a lookup */
	if (cfg.live)
		return;
	u8 c = 1;
	if (s->path_unread && !bpf_probe_read_user(&c, 1, (void *)s->path) && !c)
		return;
	struct hs_process *p = process_of(s);
	if (p)
		count_lookup(p, failed, ns, how);
	if (failed) {
		send_failed(s->path, s->dirfd, -ret, s->tgid);
		return;
	}
	if ((kind == HS_OPEN || kind == HS_OPENAT) && ret >= 0)
		opened(s, ret, how);
}
