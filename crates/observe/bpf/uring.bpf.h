/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io_uring. A request may be served at once, by a worker, or by the poller; whoever adds pages that it waits for, they
 * are its misses: the pages stand in HS_WANTED from submission, move to HS_MISSED when added, and are taken at completion.
 * Reads from the device for pages in HS_WRITING are the misses of a write (block.bpf.h).
 */

/* enum io_uring_op, include/uapi/linux/io_uring.h */
#define IORING_OP_READV 1
#define IORING_OP_WRITEV 2
#define IORING_OP_READ_FIXED 4
#define IORING_OP_WRITE_FIXED 5
#define IORING_OP_READ 22
#define IORING_OP_WRITE 23
#define REQ_F_FIXED_FILE 1
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

static __noinline int submitted(struct task_state *s, u64 req)
{
	if (!s)
		return 0;
	u32 op = LOAD(io_kiocb, req, opcode);
	u32 writes = op == IORING_OP_WRITEV || op == IORING_OP_WRITE_FIXED || op == IORING_OP_WRITE;
	if (!writes && op != IORING_OP_READV && op != IORING_OP_READ_FIXED && op != IORING_OP_READ)
		return 0;
	struct task_struct *task = CURRENT();
	s32 fd = LOAD(io_kiocb, req, cqe.fd);
	u64 file = LOAD(io_kiocb, req, flags) & REQ_F_FIXED_FILE ? fixed_file(req, fd) : fd_to_file(task, fd);
	struct uring_request r = { .owner = owner(s), .writes = writes };
	file = NUMBER(&s->scratch, file);
	if (!file) {
		ATOMIC_ADD(&g.uring_unknown, 1);
		return 0;
	}
	if (!resolve_file(s, file, &r.target))
		return 0; /* a socket or a pipe */
	u64 pos = LOAD(io_rw, req, kiocb.ki_pos), bytes = LOAD(io_rw, req, len);
	if (op == IORING_OP_READV || op == IORING_OP_WRITEV)
		bytes = iov_bytes(LOAD(io_rw, req, addr), bytes);
	if ((s64)pos == -1)
		pos = position(&r.target, 0);
	set_range(&r.target, pos, bytes);
	if (writes)
		join_memory(&r.target);
	r.target.flags &= ~TARGET_USES_POSITION;
	r.start_ns = bpf_ktime_get_ns();
	if (!(r.target.flags & TARGET_DIRECT) && r.target.first <= r.target.last) {
		bits_set(r.target.id, HS_WANTED, r.target.first, r.target.last + 1);
		if (writes)
			bits_set(r.target.id, HS_WRITING, r.target.first, r.target.last + 1);
	}
	if (bpf_map_update_elem(&requests, &req, &r, BPF_ANY))
		ATOMIC_ADD(&g.requests_lost, 1);
	/* Names the file while it surely exists. */
	row_of(s, &r.target, 0);
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

static __noinline int completed(u64 req, s64 result)
{
	struct uring_request *r = bpf_map_lookup_elem(&requests, &req);
	if (!r)
		return 0;
	struct target *t = &r->target;
	u64 ns = bpf_ktime_get_ns() - r->start_ns;
	if (!(t->flags & TARGET_DIRECT) && t->first <= t->last) {
		bits_take(t->id, HS_WANTED, t->first, t->last + 1);
		t->brought = bits_take(t->id, HS_MISSED, t->first, t->last + 1);
		if (r->writes)
			bits_take(t->id, HS_WRITING, t->first, t->last + 1);
	}
	settle_memory(t, result > 0 ? result : 0);
	struct hs_row_key key = { .file = t->id, .owner = r->owner };
	struct hs_row *row = row_by_key(&key);
	if (row && result >= 0) {
		if (t->flags & TARGET_DIRECT) {
			count_direct(row, t, result, ns, r->writes);
			book_bytes(row, r->writes ? REQ_OP_WRITE : REQ_OP_READ, result);
		} else if (r->writes) {
			count_write(row, t, result, ns, 0);
		} else {
			count_read(row, t, result, ns, 0);
		}
	}
	bpf_map_delete_elem(&requests, &req);
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
