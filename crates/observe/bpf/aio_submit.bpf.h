/* SPDX-License-Identifier: GPL-2.0 */
/* Linux AIO: the calls, and what is submitted. */

static __always_inline u64 aio_iocb_at(u64 array, u64 i)
{
	u64 iocb = 0;
	if (bpf_probe_read_user(&iocb, sizeof(iocb), (void *)(array + i * sizeof(iocb))))
		return 0;
	return iocb;
}

/* A request of this iocb is open: its result will be seen, if ever, before that of the one that follows. */
APART int aio_again(struct request_key *key)
{
	struct request *r = key ? aio_request(key, REQUEST_AIO) : NULL;
	if (!r || !r->open)
		return 0;
	key->kind = REQUEST_AIO_BEFORE;
	if (bpf_map_update_elem(&requests, key, r, BPF_NOEXIST)) {
		ATOMIC_ADD(&g.aio_pending, -1);
		ATOMIC_ADD(&g.aio_unseen, 1);
	}
	return 0;
}

/* Whether the row that the task used last is this file's, so that it has a name. */
static __always_inline int aio_named(struct task_state *s, struct target *t)
{
	u32 slot = s->row;
	struct hs_row *row = bpf_map_lookup_elem(&rows, &slot);
	return row && same_file(&row->file, &t->id) && row->owner == s->owner && row->named;
}

/* One request, as the call begins. */
static __always_inline u64 aio_begin(u64 array, u64 i)
{
	struct task_state *s = known_state();
	struct aio_iocb io = {};
	if (!s)
		return 0;
	u64 iocb = aio_iocb_at(array, i);
	if (!iocb || bpf_probe_read_user(&io, sizeof(io), (void *)iocb)) {
		ATOMIC_ADD(&g.requests_lost, 1);
		return 0;
	}
	u32 op = io.opcode;
	if (op > IOCB_CMD_FDSYNC && op != IOCB_CMD_PREADV && op != IOCB_CMD_PWRITEV)
		return 0;
	struct request *r = &s->request;
	struct target *t = &r->target;
	u64 pos = io.offset, bytes = io.bytes;
	barrier_value(pos);
	barrier_value(bytes);
	int syncs = op == IOCB_CMD_FSYNC || op == IOCB_CMD_FDSYNC;
	u64 file = fd_to_file(CURRENT(), io.fd);
	if (!resolve_file(s, file, t) && !(syncs && resolve_directory(s, file, t)))
		return 0;
	r->what = 0;
	if (syncs) {
		r->what = REQUEST_SYNCS;
		bytes = 0;
	}
	if (op == IOCB_CMD_PREADV || op == IOCB_CMD_PWRITEV)
		bytes = iov_bytes(io.buffer, bytes);
	if (op == IOCB_CMD_PWRITE || op == IOCB_CMD_PWRITEV) {
		r->what = REQUEST_WRITES;
		settle_flags(t, io.rw_flags);
		if (t->flags & TARGET_APPENDS)
			pos = append_position(s, t, bytes);
	}
	set_range(t, pos, bytes);
	if (r->what & REQUEST_WRITES)
		join_memory(t);
	if (t->flags & TARGET_DIRECT) {
		if (s->aio_one_file && !(r->what & REQUEST_SYNCS)) {
			r->what |= REQUEST_BOOKED;
			s->in = *t;
		}
	}
	if (has_pages(r) || !aio_named(s, t))
		s->aio_settles = 1;
	struct request_key key = { .id = iocb, .owner = owner(s) };
	aio_again(&key);
	key.kind = REQUEST_AIO;
	start_request(s, r, &key);
	return 0;
}

/* Names the file of a request whose process was not seen to use it before. */
static __always_inline int aio_name(struct task_state *s, u64 iocb)
{
	u32 fd = 0;
	if (!s || bpf_probe_read_user(&fd, sizeof(fd), (void *)(iocb + __builtin_offsetof(struct aio_iocb, fd))))
		return 0;
	struct target *t = &s->unasked;
	if (!resolve_file(s, fd_to_file(CURRENT(), fd), t))
		return 0;
	struct hs_row *row = row_of(s, t, 0);
	if (!row || row->named || row->owner != s->owner)
		return 0;
	row->mode = LOAD(inode, t->inode, i_mode);
	row->named = 1;
	send_first(t->inode, t->file, s->tgid, 0);
	return 0;
}

/* One request, as the call ends: refused from the first that failed on, buffered ones done. */
static __always_inline u64 aio_settle(u64 array, u64 i, u64 accepted)
{
	struct task_state *s = known_state();
	u64 iocb = s ? aio_iocb_at(array, i) : 0;
	if (!s || !iocb)
		return 0;
	struct request_key key = { .id = iocb, .owner = owner(s) };
	struct request *r = aio_request(&key, REQUEST_AIO);
	if (i < accepted) {
		if (r && has_pages(r)) {
			r->ns = s->aio_share_ns;
			settle_memory(&r->target, ((r->target.last + 1) << 12) - r->target.pos);
			r->what |= s->aio_waited ? REQUEST_WAITED : 0;
		}
		aio_name(s, iocb);
	} else if (r && CLEAR_BITS(&r->open, 1ULL)) {
		drop_request(r, &s->request_key);
		bpf_map_delete_elem(&requests, &key);
		ATOMIC_ADD(&g.aio_pending, -1);
	}
	return 0;
}

static __always_inline u64 aio_fd(u64 array, u64 i)
{
	u32 fd = 0;
	bpf_probe_read_user(&fd, sizeof(fd), (void *)(aio_iocb_at(array, i) + __builtin_offsetof(struct aio_iocb, fd)));
	return fd;
}

struct aio_walk {
	u64 array, n, accepted, fd, others;
};

static long aio_begin_callback(u32 i, struct aio_walk *w)
{
	if (i >= w->n)
		return 1;
	aio_begin(w->array, i);
	return 0;
}

static long aio_settle_callback(u32 i, struct aio_walk *w)
{
	if (i >= w->n)
		return 1;
	aio_settle(w->array, i, w->accepted);
	return 0;
}

static long aio_files_callback(u32 i, struct aio_walk *w)
{
	if (i >= w->n)
		return 1;
	w->others |= aio_fd(w->array, i) ^ w->fd;
	return 0;
}

#define AIO_WALK(w, callback) bpf_loop(w.n > AIO_MOST ? AIO_MOST : w.n, callback, &w, 0)

/* Whether the requests of one call are all for one file: then what it asks of the device is that file's. */
static __always_inline u64 aio_one_file(u64 array, u64 n)
{
	struct aio_walk w = { .array = array, .n = n };
	if (n < 2)
		return 1;
	w.fd = aio_fd(array, 0);
	AIO_WALK(w, aio_files_callback);
	return !w.others;
}

static __always_inline u64 aio_begin_all(u64 array, u64 n)
{
	struct aio_walk w = { .array = array, .n = n };
	AIO_WALK(w, aio_begin_callback);
	return 0;
}

static __always_inline u64 aio_settle_all(u64 array, u64 n, u64 accepted)
{
	struct aio_walk w = { .array = array, .n = n, .accepted = accepted };
	AIO_WALK(w, aio_settle_callback);
	return 0;
}

APART int enter_aio(struct task_state *s, const struct arguments *args, u32 kind)
{
	if (!s || !args)
		return 0;
	u64 array = kind == HS_AIO_SETUP ? args->b : kind == HS_AIO_SUBMIT ? args->c : args->d;
	u64 n = (s64)args->b > 0 ? args->b : 0;
	s->in.inode = s->out.inode = 0;
	if (kind == HS_AIO_DESTROY || kind == HS_EXIT) {
		/* The ring goes with the context: what the program took out of it since its last call is seen now or never. */
		u64 context = kind == HS_EXIT ? s->aio_context : args->a;
		if (context)
			aio_count(s, context, 0, 0);
		return 0;
	}
	s->path = array;
	s->aio_context = args->a;
	s->kind = kind;
	s->switches = LOAD(task_struct, CURRENT(), nvcsw);
	s->start_ns = bpf_ktime_get_ns();
	if (kind != HS_AIO_SUBMIT)
		return 0;
	s->aio_nr = n;
	s->aio_one_file = aio_one_file(array, n);
	s->aio_settles = 0;
	s->append_inode = 0; /* buffered appends ended with the call that submitted them */
	aio_begin_all(array, n);
	return 0;
}

APART int exit_aio(struct task_state *s, u32 kind, s64 ret, u64 ns)
{
	if (!s)
		return 0;
	u64 user = s->path, context = s->aio_context, n = s->aio_nr, returned = 0;
	barrier_value(user);
	if (kind == HS_AIO_SETUP) {
		if (!ret && !bpf_probe_read_user(&context, sizeof(context), (void *)user))
			aio_ring_of(s, context, 1);
		return 0;
	}
	if (kind == HS_AIO_SUBMIT) {
		u64 accepted = ret > 0 ? ret : 0;
		s->in.inode = 0;
		s->aio_share_ns = accepted ? ns / accepted : 0;
		s->aio_waited = LOAD(task_struct, CURRENT(), nvcsw) != s->switches;
		if (accepted > AIO_MOST)
			ATOMIC_ADD(&g.requests_lost, accepted - AIO_MOST);
		if (s->aio_settles || accepted < n)
			aio_settle_all(user, n, accepted);
	} else if (ret > 0) {
		returned = ret;
	}
	aio_count(s, context, user, returned);
	return 0;
}
