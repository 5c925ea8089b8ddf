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
APART int aio_begin(struct task_state *s)
{
	struct aio_iocb io = {};
	if (!s)
		return 0;
	u64 iocb = aio_iocb_at(s->aio.array, s->aio.next++);
	if (!iocb || bpf_probe_read_user(&io, sizeof(io), (void *)iocb)) {
		ATOMIC_ADD(&g.requests_lost, 1);
		return 0;
	}
	u32 op = io.opcode;
	if (op > IOCB_CMD_PWRITEV || !(AIO_FOLLOWED >> op & 1))
		return 0;
	/* Taken from the sets by shifts: each branch would have the verifier read the rest once more. */
	u64 writes = AIO_WRITES >> op & 1, syncs = AIO_SYNCS >> op & 1;
	barrier_value(writes);
	barrier_value(syncs);
	struct request *r = &s->request;
	struct target *t = &r->target;
	u64 pos = io.offset, bytes = io.bytes;
	barrier_value(pos);
	barrier_value(bytes);
	if (!find_fd(s, t, io.fd, syncs))
		return 0;
	r->what = writes * REQUEST_WRITES + syncs * REQUEST_SYNCS;
	bytes &= syncs - 1;
	if (AIO_VECTORS >> op & 1)
		bytes = iov_bytes(io.buffer, bytes);
	if (bytes == UNKNOWN_BYTES) {
		ATOMIC_ADD(&g.requests_lost, 1);
		return 0;
	}
	if (writes) {
		settle_flags(t, io.rw_flags);
		if (t->flags & TARGET_APPENDS)
			pos = append_position(s, t, bytes);
		join_memory(t);
	}
	set_range(t, pos, bytes);
	if (RECORD)
		TOLD(t)->rwf = io.rw_flags;
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
	if (RECORD)
		r->call = HS_CALL_AIO + (op & 15);
	key.kind = REQUEST_AIO;
	start_request(s, r, &key);
	if (r->what & REQUEST_IOMAP)
		s->aio_settles = 1;
	return 0;
}

/* Names the file of a request whose process was not seen to use it before. */
static __always_inline int aio_name(struct task_state *s, u64 iocb)
{
	u32 fd = 0;
	if (!s || bpf_probe_read_user(&fd, sizeof(fd), (void *)(iocb + __builtin_offsetof(struct aio_iocb, fd))))
		return 0;
	struct target *t = &s->unasked;
	if (!find_fd(s, t, fd, 0))
		return 0;
	struct hs_row *row = row_of(s, t, 0);
	if (!row || row->named || row->owner != s->owner)
		return 0;
	row->mode = LOAD(inode, t->inode, i_mode);
	row->named = 1;
	send_first(t->inode, t->file, s->tgid, 0);
	return 0;
}

/* Whether it was served before the call ended. */
static __always_inline int within_call(const struct request *r)
{
	return has_pages(r) || ((r->what & REQUEST_IOMAP) && !(r->what & (REQUEST_PAST | REQUEST_SYNCS)));
}

/* One request, as the call ends: refused from the first that failed on, buffered ones done. */
APART int aio_settle(struct task_state *s)
{
	if (!s)
		return 0;
	u64 i = s->aio.next++, iocb = aio_iocb_at(s->aio.array, i);
	if (!iocb)
		return 0;
	struct request_key key = { .id = iocb, .owner = owner(s) };
	struct request *r = aio_request(&key, REQUEST_AIO);
	if (i < s->aio.accepted) {
		if (r && within_call(r)) {
			r->ns = s->aio_share_ns;
			settle_memory(&r->target, ((r->target.last + 1) << 12) - r->target.pos);
			r->what |= s->aio_waited ? REQUEST_WAITED : 0;
		}
		aio_name(s, iocb);
	} else if (r && CLEAR_BITS(&r->open, 1ULL)) {
		settle_request(r, &s->request_key, 0);
		count_undone(r, &s->request_key);
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

struct aio_files {
	u64 array, n, fd, others;
};

static long aio_files_callback(u32 i, struct aio_files *w)
{
	if (i >= w->n)
		return 1;
	w->others |= aio_fd(w->array, i) ^ w->fd;
	return 0;
}

/* Whether the requests of one call are all for one file: then what it asks of the device is that file's. */
__noinline u32 aio_one_file(u64 array, u64 n)
{
	struct aio_files w = { .array = array, .n = n, .fd = aio_fd(array, 0) };
	if (n > 1)
		bpf_loop(AIO_MOST, aio_files_callback, &w, 0);
	return !w.others;
}

/* Says whether there is anything to go through. */
APART int aio_enters(struct task_state *s, const struct arguments *args, u32 kind)
{
	if (!s || !args)
		return 0;
	struct aio_work *w = &s->aio;
	u64 n = (s64)args->b > 0 ? args->b : 0;
	s->in.inode = s->out.inode = 0;
	w->next = w->n = w->left = w->returned = 0;
	if (kind == HS_AIO_DESTROY || kind == HS_EXIT) {
		/* The ring goes with the context: what the program took out of it since its last call is seen now or never. */
		w->context = kind == HS_EXIT ? s->aio_context : args->a;
		return w->context != 0;
	}
	w->array = kind == HS_AIO_SETUP ? args->b : kind == HS_AIO_SUBMIT ? args->c : args->d;
	w->context = 0;
	s->aio_context = args->a;
	s->kind = kind;
	s->switches = LOAD(task_struct, CURRENT(), nvcsw);
	s->start_ns = bpf_ktime_get_ns();
	if (kind != HS_AIO_SUBMIT)
		return 0;
	s->aio_nr = n;
	s->aio_one_file = aio_one_file(w->array, n);
	s->aio_settles = 0;
	s->append_inode = 0; /* buffered appends ended with the call that submitted them */
	w->n = n > AIO_MOST ? AIO_MOST : n;
	return 1;
}

AIO_CALLBACK(aio_enter_callback, aio_begin)

static __always_inline void enter_aio(struct task_state *s, const struct arguments *args, u32 kind)
{
	if (aio_enters(s, args, kind))
		AIO_LOOP(s, aio_enter_callback);
}

APART int aio_exits(struct task_state *s, u32 kind, s64 ret, u64 ns)
{
	if (!s)
		return 0;
	struct aio_work *w = &s->aio;
	u64 n = s->aio_nr, done = ret > 0 ? ret : 0;
	w->next = w->n = w->left = w->returned = w->end = 0;
	w->context = s->aio_context;
	if (kind == HS_AIO_SETUP) {
		u64 context = 0;
		if (!ret && !bpf_probe_read_user(&context, sizeof(context), (void *)w->array))
			aio_new_ring(s, context, 1);
		return 0;
	}
	if (kind == HS_AIO_SUBMIT) {
		s->in.inode = 0;
		s->aio_share_ns = done ? ns / done : 0;
		s->aio_waited = LOAD(task_struct, CURRENT(), nvcsw) != s->switches;
		if (done > AIO_MOST)
			ATOMIC_ADD(&g.requests_lost, done - AIO_MOST);
		w->accepted = done;
		if (s->aio_settles || done < n)
			w->n = n > AIO_MOST ? AIO_MOST : n;
	} else {
		w->returned = done;
		aio_results(w, w->array, done);
	}
	return 1;
}

AIO_CALLBACK(aio_exit_callback, aio_settle)

static __always_inline void exit_aio(struct task_state *s, u32 kind, s64 ret, u64 ns)
{
	if (aio_exits(s, kind, ret, ns))
		AIO_LOOP(s, aio_exit_callback);
}
