/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io_uring. A request may be served at once, by a worker, or by the poller. Multishot reads need no place here: the kernel
 * refuses them on files that have pages.
 */

/* enum io_uring_op, include/uapi/linux/io_uring.h */
#define IORING_OP_READV 1
#define IORING_OP_WRITEV 2
#define IORING_OP_FSYNC 3
#define IORING_OP_READ_FIXED 4
#define IORING_OP_WRITE_FIXED 5
#define IORING_OP_SYNC_FILE_RANGE 8
#define IORING_OP_OPENAT 18
#define IORING_OP_STATX 21
#define IORING_OP_READ 22
#define IORING_OP_WRITE 23
#define IORING_OP_OPENAT2 28
#define IORING_OP_SPLICE 30
#define IORING_OP_READV_FIXED 60
#define IORING_OP_WRITEV_FIXED 61

#define ONE_OF(op, set) ((op) < 64 && ((set) >> ((op)&63)) & 1)
#define URING_VECTORS \
	(1ULL << IORING_OP_READV | 1ULL << IORING_OP_READV_FIXED | 1ULL << IORING_OP_WRITEV | 1ULL << IORING_OP_WRITEV_FIXED)
#define URING_READS \
	(1ULL << IORING_OP_READV | 1ULL << IORING_OP_READ_FIXED | 1ULL << IORING_OP_READ | 1ULL << IORING_OP_READV_FIXED)
#define URING_WRITES \
	(1ULL << IORING_OP_WRITEV | 1ULL << IORING_OP_WRITE_FIXED | 1ULL << IORING_OP_WRITE | 1ULL << IORING_OP_WRITEV_FIXED)
#define URING_SYNCS (1ULL << IORING_OP_FSYNC | 1ULL << IORING_OP_SYNC_FILE_RANGE)
#define URING_OPENS (1ULL << IORING_OP_OPENAT | 1ULL << IORING_OP_OPENAT2)

#define REQ_F_FIXED_FILE 1
#define REQ_F_CQE_SKIP (1 << 6) /* IOSQE_CQE_SKIP_SUCCESS */
#define SPLICE_F_FD_IN_FIXED (1U << 31)
#define FILE_POINTER_MASK (~7ULL) /* io_uring/rsrc.h keeps flags in the low bits */

static __always_inline u64 fixed_file(u64 req, u32 slot)
{
	void *ctx = LOAD(io_kiocb, req, ctx);
	if (bpf_core_field_exists(((struct io_ring_ctx *)0)->file_table.data)) {
		if (slot >= LOAD(io_ring_ctx, ctx, file_table.data.nr))
			return 0;
		u64 nodes = (u64)LOAD(io_ring_ctx, ctx, file_table.data.nodes);
		u64 node = load_pointer(nodes + 8ULL * slot);
		return node ? LOAD(io_rsrc_node, node, file_ptr) & FILE_POINTER_MASK : 0;
	}
	if (!bpf_core_field_exists(((struct io_ring_ctx *)0)->nr_user_files))
		return 0;
	if (slot >= LOAD(io_ring_ctx, ctx, nr_user_files))
		return 0;
	u64 files = (u64)LOAD(io_ring_ctx, ctx, file_table.files);
	return load_number(files + 8ULL * slot) & FILE_POINTER_MASK;
}

static __always_inline u64 file_of(u64 req, s32 fd, int fixed)
{
	return fixed ? fixed_file(req, fd) : fd_to_file(CURRENT(), fd);
}

APART int start_uring(struct task_state *s, u64 req)
{
	if (!s)
		return 0;
	if (RECORD)
		s->request.call = HS_CALL_URING + (LOAD(io_kiocb, req, opcode) & 127);
	struct request_key key = { .id = req, .kind = REQUEST_URING };
	start_request(s, &s->request, &key);
	/* Names the file while it surely exists. */
	if (!(s->request.what & (REQUEST_LOOKS_UP | REQUEST_NO_FILE)))
		row_of(s, &s->request.target, 0);
	return 0;
}

APART int submit_lookup(struct task_state *s, u64 req, u32 op)
{
	if (!s || !cfg.lookups)
		return 0;
	/* fstat by another name. */
	if (op == IORING_OP_STATX && (LOAD(io_statx, req, flags) & AT_EMPTY_PATH))
		return 0;
	struct request *r = &s->request;
	r->what = REQUEST_LOOKS_UP;
	if (ONE_OF(op, URING_OPENS) && !LOAD(io_open, req, file_slot))
		r->what |= REQUEST_OPENS;
	start_uring(s, req);
	return 0;
}

/* Of a splice one end is a pipe: the other one is what is read or written. */
APART int submit_splice(struct task_state *s, u64 req)
{
	if (!s)
		return 0;
	struct request *r = &s->request;
	struct target *t = &r->target;
	u64 count = LOAD(io_splice, req, len), pos;
	int fixed = LOAD(io_splice, req, flags) & SPLICE_F_FD_IN_FIXED;
	r->what = 0;
	u64 file = NUMBER(&s->scratch, file_of(req, LOAD(io_splice, req, splice_fd_in), fixed));
	if (find_file(s, t, file, 0)) {
		pos = LOAD(io_splice, req, off_in);
	} else {
		fixed = LOAD(io_kiocb, req, flags) & REQ_F_FIXED_FILE;
		file = NUMBER(&s->scratch, file_of(req, LOAD(io_kiocb, req, cqe.fd), fixed));
		if (!find_file(s, t, file, 0))
			return 0;
		pos = LOAD(io_splice, req, off_out);
		r->what = REQUEST_WRITES;
	}
	set_range(t, (s64)pos == -1 ? position(t, 0) : pos, count);
	if (r->what & REQUEST_WRITES)
		join_memory(t);
	start_uring(s, req);
	return 0;
}

APART int submit_io(struct task_state *s, u64 req, u32 op)
{
	if (!s)
		return 0;
	struct request *r = &s->request;
	struct target *t = &r->target;
	u64 file = file_of(req, LOAD(io_kiocb, req, cqe.fd), LOAD(io_kiocb, req, flags) & REQ_F_FIXED_FILE);
	file = NUMBER(&s->scratch, file);
	if (!file) {
		/* None, or one that a request before this one is still to open. */
		r->what = REQUEST_NO_FILE;
		start_uring(s, req);
		return 0;
	}
	int syncs = ONE_OF(op, URING_SYNCS);
	if (!find_file(s, t, file, syncs))
		return 0; /* a socket or a pipe */
	if (syncs) {
		set_range(t, 0, 0);
		r->what = REQUEST_SYNCS;
		start_uring(s, req);
		return 0;
	}
	u64 pos = LOAD(io_rw, req, kiocb.ki_pos), bytes = LOAD(io_rw, req, len);
	r->what = ONE_OF(op, URING_WRITES) ? REQUEST_WRITES : 0;
	if (ONE_OF(op, URING_VECTORS))
		bytes = iov_bytes(LOAD(io_rw, req, addr), bytes);
	if (bytes == UNKNOWN_BYTES) {
		ATOMIC_ADD(&g.requests_lost, 1);
		return 0;
	}
	if ((s64)pos == -1) {
		pos = position(t, 0);
		r->what |= REQUEST_MOVES;
	}
	if (r->what & REQUEST_WRITES) {
		settle_flags(t, LOAD(io_rw, req, flags));
		if (t->flags & TARGET_APPENDS) {
			pos = append_position(s, t, bytes);
			r->what |= REQUEST_MOVES;
		}
	}
	set_range(t, pos, bytes);
	if (RECORD)
		TOLD(t)->rwf = LOAD(io_rw, req, flags);
	if (r->what & REQUEST_WRITES)
		join_memory(t);
	start_uring(s, req);
	return 0;
}

static __always_inline int submitted(struct task_state *s, u64 req)
{
	if (!s)
		return 0;
	u32 op = LOAD(io_kiocb, req, opcode);
	if (!ONE_OF(op, URING_READS | URING_WRITES | URING_SYNCS | URING_OPENS | 1ULL << IORING_OP_SPLICE |
				1ULL << IORING_OP_STATX))
		return 0;
	if (LOAD(io_kiocb, req, flags) & REQ_F_CQE_SKIP) {
		ATOMIC_ADD(&g.uring_silent, 1);
		return 0;
	}
	if (ONE_OF(op, URING_OPENS) || op == IORING_OP_STATX)
		submit_lookup(s, req, op);
	else if (op == IORING_OP_SPLICE)
		submit_splice(s, req);
	else
		submit_io(s, req, op);
	return 0;
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(uring_submit, u64 req)
{
	struct task_state *s = current_state();
	if (!s)
		return 0;
	s->handled = HANDLED(s, req, TAG_SUBMIT);
	submitted(s, NUMBER(&s->scratch, req));
	return 0;
}

/* Up to 6.3; the request comes first there too since 6.0. */
SEC("tp_btf/io_uring_submit_sqe")
int BPF_PROG(uring_submit_old, u64 req)
{
	struct task_state *s = current_state();
	if (s)
		submitted(s, NUMBER(&s->scratch, req));
	return 0;
}

APART int completed(u64 req, s64 result)
{
	struct request_key key = { .id = req, .kind = REQUEST_URING };
	struct hs_row_key row_key = {};
	struct request *r = bpf_map_lookup_elem(&requests, &key);
	if (!r)
		return 0;
	if ((r->what & REQUEST_MOVES) && result > 0) {
		u64 end = LOAD(io_rw, req, kiocb.ki_pos);
		if (end >= (u64)result)
			r->target.pos = end - result;
	}
	if ((r->what & REQUEST_NO_FILE) && result >= 0)
		ATOMIC_ADD(&g.uring_unknown, 1);
	else if (r->what & REQUEST_LOOKS_UP)
		finish_lookup(r, result);
	else if (!(r->what & REQUEST_NO_FILE))
		finish_request(r, &row_key, result);
	bpf_map_delete_elem(&requests, &key);
	/* A worker does nothing else that would show it. */
	struct task_state *s = RECORD ? known_state() : NULL;
	if (RECORD && s && REC(s)->beside_ns)
		send_beside(s);
	return 0;
}

SEC("tp_btf/io_uring_complete")
int BPF_PROG(uring_complete, void *ring, u64 req, struct io_uring_cqe *cqe)
{
	completed(req, LOAD(io_uring_cqe, cqe, res));
	return 0;
}

/* Up to 6.15 the result was an argument. */
SEC("tp_btf/io_uring_complete")
int BPF_PROG(uring_complete_old, void *ring, u64 req, u64 user_data, int result)
{
	completed(req, result);
	return 0;
}
