/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a recording is sent of each request (`RECORD`). In other sessions that is a constant 0, and nothing here is reached.
 */
#ifndef HOTSET_OP_H
#define HOTSET_OP_H

#include "target.bpf.h"

static __always_inline void *op_ring(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	return bpf_map_lookup_elem(&op_rings, &cpu);
}

/* Of a record that has its room already. */
static __always_inline u64 op_wakeup(void *ring)
{
	return ring_wakeup(ring, 0, sizeof(struct hs_op), cfg.wake_bytes);
}

#define SIGSTOP 19

/*
 * Stops the process that fills a ring, where nothing may be lost: user space lets it go on. Its threads come to a halt when
 * they leave the kernel, with at most the record of the call that each of them is in.
 */
static __always_inline void hold_back(struct task_state *s, void *ring)
{
	u32 one = 1, tgid = s->tgid;
	/* Who reads the rings is followed too while it starts a command, which may fill one by then. */
	if (!cfg.stop_bytes || tgid == cfg.self_tgid || bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) < cfg.stop_bytes)
		return;
	if (bpf_map_update_elem(&stopped, &tgid, &one, BPF_ANY))
		return;
	ATOMIC_ADD(&g.stops, 1);
	bpf_send_signal(SIGSTOP);
}

/* A record that found no room. Those that no task is at hand for are in the sum only. */
static __always_inline void lose_op(struct task_state *s, u64 start, u64 ns)
{
	ATOMIC_ADD(&g.ops_lost, 1);
	if (!s)
		return;
	if (!REC(s)->lost || start < REC(s)->lost_from)
		REC(s)->lost_from = start;
	REC(s)->lost_to = start + ns;
	REC(s)->lost++;
}

/* Tells of records that found no room, once there is some. */
static __always_inline void tell_lost(struct task_state *s, void *ring)
{
	struct hs_lost *lost = REC(s)->lost ? bpf_ringbuf_reserve(ring, sizeof(*lost), 0) : NULL;
	if (!lost)
		return;
	lost->type = HS_EVENT_LOST;
	lost->tid = bpf_get_current_pid_tgid();
	lost->from_ns = REC(s)->lost_from;
	lost->to_ns = REC(s)->lost_to;
	lost->records = REC(s)->lost;
	REC(s)->lost = 0;
	bpf_ringbuf_submit(lost, BPF_RB_NO_WAKEUP);
}

/* How a file was opened, or how this one request was made. */
static __always_inline u32 op_flags(const struct target *t)
{
	u32 flags = t->flags & TARGET_DIRECT ? HS_OP_DIRECT : 0;
	if (t->flags & TARGET_APPENDS)
		flags |= HS_OP_APPEND;
	if (t->flags & TARGET_USES_POSITION)
		flags |= HS_OP_POSITION;
	if (TOLD(t)->rwf & RWF_DONTCACHE)
		flags |= HS_OP_DONTCACHE;
	u32 file = t->file ? LOAD(file, t->file, f_flags) : 0;
	if ((file & O_DSYNC) || (TOLD(t)->rwf & (RWF_DSYNC | RWF_SYNC)))
		flags |= HS_OP_SYNC;
	if ((file & O_NONBLOCK) || (TOLD(t)->rwf & RWF_NOWAIT))
		flags |= HS_OP_NOWAIT;
	return flags;
}

/* What a record says of its file and of what was counted. */
static __always_inline void fill_op(struct hs_op *op, const struct target *t)
{
	op->file = t->id;
	op->open_file = t->file;
	op->offset = t->pos;
	op->asked = TOLD(t)->asked;
	op->device_read_bytes = TOLD(t)->device_read;
	op->device_write_bytes = TOLD(t)->device_write;
	op->pages = TOLD(t)->counted;
	op->misses = TOLD(t)->missed;
	op->ahead_hits = TOLD(t)->ahead_hits;
	op->zeros = TOLD(t)->zeros;
	op->created = TOLD(t)->created;
	op->read_ahead = TOLD(t)->read_ahead;
}

/*
 * Room for a record, of which nothing is filled but its type and what it is of; without any, the record is lost. In `call`:
 * which, and flags above.
 */
static __always_inline struct hs_op *reserve_op(void *ring, struct task_state *s, u64 call, u64 start, u64 ns)
{
	struct hs_op *op = ring ? bpf_ringbuf_reserve(ring, sizeof(*op), 0) : NULL;
	if (!op) {
		if (ring)
			lose_op(s, start, ns);
		return NULL;
	}
	op->type = HS_EVENT_OP;
	op->call = call;
	op->flags = call >> 32;
	op->start_ns = start;
	op->ns = ns;
	op->pad = 0;
	return op;
}

/* The same of what no call of a task did: of no thread, and nothing in it but when it began. */
static __always_inline struct hs_op *reserve_empty_op(void *ring, struct task_state *s, u64 call, u64 start, u64 ns)
{
	struct hs_op *op = reserve_op(ring, s, call, start, ns);
	if (!op)
		return NULL;
	op->tid = op->owner = op->tgid = 0;
	op->open_file = op->how = op->site = 0;
	op->result = 0;
	op->device_read_bytes = op->device_write_bytes = 0;
	op->pages = op->misses = op->ahead_hits = op->zeros = op->created = op->read_ahead = 0;
	return op;
}

/* After a record of a task. */
static __always_inline void submit_op(struct task_state *s, void *ring, struct hs_op *op)
{
	bpf_ringbuf_submit(op, op_wakeup(ring));
	if (REC(s)->lost)
		tell_lost(s, ring);
	if (cfg.stop_bytes)
		hold_back(s, ring);
}

#define OP_FLAGS(flags) ((u64)(flags) << 32)

/* A call of this task, which began when its state says. In `call`: its number, and flags above. */
RECORDS int send_op(struct task_state *s, const struct target *t, u64 call, s64 result, u64 ns)
{
	if (!RECORD || !s || !t)
		return 0;
	void *ring = op_ring();
	struct hs_op *op = reserve_op(ring, s, call, s->start_ns, ns);
	if (!op)
		return 0;
	op->flags |= op_flags(t);
	op->tid = bpf_get_current_pid_tgid();
	op->owner = owner(s);
	op->tgid = s->tgid;
	op->result = result;
	op->how = REC(s)->how;
	op->site = REC(s)->site;
	fill_op(op, t);
	submit_op(s, ring, op);
	return 0;
}

/* A request of io_uring or Linux AIO. */
RECORDS int send_request(struct request *r, s64 result, u64 ns)
{
	if (!RECORD || !r)
		return 0;
	void *ring = op_ring();
	u32 has_file = !(r->what & (REQUEST_LOOKS_UP | REQUEST_NO_FILE));
	struct hs_op *op = reserve_op(ring, NULL, r->call, r->start_ns, ns);
	if (!op)
		return 0;
	op->flags = has_file ? op_flags(&r->target) : HS_OP_NO_RANGE;
	if (r->what & REQUEST_WAITED)
		op->flags |= HS_OP_WAITED;
	if (r->what & REQUEST_WRITES)
		op->flags |= HS_OP_TARGET;
	op->tid = r->tid;
	op->owner = r->owner;
	op->tgid = 0;
	op->result = result;
	op->how = 0;
	op->site = r->site;
	fill_op(op, &r->target);
	if (!has_file) {
		if (r->what & REQUEST_NO_FILE) {
			op->file = (struct hs_file_key){};
			op->open_file = 0;
		}
		op->pages = op->misses = op->ahead_hits = op->zeros = op->created = op->read_ahead = 0;
		op->device_read_bytes = op->device_write_bytes = 0;
	}
	bpf_ringbuf_submit(op, op_wakeup(ring));
	return 0;
}

/*
 * Counts what is told later: faults, and what comes beside calls. Not of hotset itself, which is followed while it starts a
 * command: nobody keeps its records.
 */
static __always_inline void pend(struct task_state *s, s64 more)
{
	if (s->tgid != cfg.self_tgid)
		ATOMIC_ADD(&g.ops_pending, more);
}

/* Sends what a task brought in and moved beside its calls, of one file. */
RECORDS int send_beside(struct task_state *s)
{
	if (!RECORD || !s || !REC(s)->beside_ns)
		return 0;
	struct target *t = &REC(s)->beside;
	u64 start = REC(s)->beside_ns, filled = REC(s)->beside_filled;
	REC(s)->beside_ns = REC(s)->beside_filled = 0;
	pend(s, -1);
	void *ring = op_ring();
	struct hs_op *op = reserve_empty_op(ring, s, HS_CALL_BESIDE | OP_FLAGS(HS_OP_NO_TIME), start, 0);
	if (!op)
		return 0;
	op->tid = bpf_get_current_pid_tgid();
	op->owner = owner(s);
	op->tgid = s->tgid;
	fill_op(op, t);
	op->open_file = 0;
	op->zeros = TOLD(t)->counted > filled ? TOLD(t)->counted - filled : 0;
	bpf_ringbuf_submit(op, op_wakeup(ring));
	return 0;
}

/* Where that is gathered: of another file than before, from now on. */
static __always_inline struct target *beside(struct task_state *s, const struct hs_file_key *id, u64 pos)
{
	struct target *t = &REC(s)->beside;
	if (REC(s)->beside_ns && same_file(&t->id, id))
		return t;
	send_beside(s);
	t->file = 0;
	t->id = *id;
	set_range(t, pos, 0);
	REC(s)->beside_ns = bpf_ktime_get_ns();
	pend(s, 1);
	return t;
}

/* Whether the call under way is one whose record says what was moved for it. */
static __always_inline int is_told_of(const struct task_state *s)
{
	return (s->kind && s->kind <= HS_SYNC) || s->kind == HS_FADVISE || s->kind == HS_READAHEAD;
}

/* Bytes that a device was asked to move, of this file. */
RECORDS int note_device(struct task_state *s, const struct hs_file_key *id, u64 pos, u32 op, u32 bytes)
{
	if (!RECORD || !s || !id)
		return 0;
	struct target *t;
	if (is_told_of(s) && s->in.inode && same_file(&s->in.id, id))
		t = &s->in;
	else if (is_told_of(s) && s->kind < HS_WRITE && s->out.inode && same_file(&s->out.id, id))
		t = &s->out;
	else
		t = beside(s, id, pos);
	if (op == REQ_OP_READ)
		TOLD(t)->device_read += bytes;
	else
		TOLD(t)->device_write += bytes;
	return 0;
}

/* Pages that were added beside any request: by a fault or an exec, or read ahead. */
RECORDS int note_pages(struct task_state *s, const struct hs_file_key *id, u64 first, u64 by_fault, u64 ahead)
{
	if (!RECORD || !s || !id)
		return 0;
	struct target *t = is_told_of(s) && s->in.inode && same_file(&s->in.id, id) ? &s->in : beside(s, id, first << 12);
	TOLD(t)->counted += by_fault;
	TOLD(t)->read_ahead += ahead;
	return 0;
}

/* Of pages that were added beside any request, those that a device filled. */
static __always_inline void note_filled(struct task_state *s, u64 filled, u64 added)
{
	if (!RECORD || !REC(s)->beside_ns)
		return;
	REC(s)->beside_filled += filled;
	TOLD(&REC(s)->beside)->counted += added;
}

/* Pages of a file that enter or leave the cache. */
RECORDS int send_pages(const struct hs_file_key *file, u32 owner, u64 call, u64 first, u64 pages)
{
	if (!RECORD_PAGES || !file)
		return 0;
	void *ring = op_ring();
	struct hs_op *op = reserve_empty_op(ring, NULL, call | OP_FLAGS(HS_OP_NO_TIME), bpf_ktime_get_ns(), 0);
	if (!op)
		return 0;
	op->tid = owner ? bpf_get_current_pid_tgid() : 0;
	op->owner = owner;
	op->file = *file;
	op->offset = first << 12;
	op->asked = pages << 12;
	bpf_ringbuf_submit(op, op_wakeup(ring));
	return 0;
}

/* A fault on a mapping: of a page that had to be looked for, or where neighbours were mapped. */
RECORDS int send_fault(struct task_state *s, const struct hs_row_key *key, u64 call, u64 offset, u64 bytes)
{
	if (!RECORD || !s || !key)
		return 0;
	u64 around = call >> 32 & HS_OP_NO_RANGE, now = bpf_ktime_get_ns(), begun = around ? REC(s)->around_ns : s->fault_ns;
	void *ring = op_ring();
	struct hs_op *op = reserve_empty_op(ring, s, call & ~OP_FLAGS(HS_OP_NO_RANGE), begun, around ? 0 : now - begun);
	if (!op)
		return 0;
	op->tid = bpf_get_current_pid_tgid();
	op->owner = key->owner;
	op->tgid = s->tgid;
	op->file = key->file;
	op->offset = offset;
	op->asked = bytes;
	op->site = around ? REC(s)->around_site : REC(s)->fault_site;
	if (!around) {
		op->device_read_bytes = REC(s)->fault_device;
		op->pages = REC(s)->fault_pages;
		op->zeros = REC(s)->fault_pages > REC(s)->fault_filled ? REC(s)->fault_pages - REC(s)->fault_filled : 0;
		REC(s)->fault_device = REC(s)->fault_pages = REC(s)->fault_filled = 0;
	}
	submit_op(s, ring, op);
	return 0;
}

/* A fault that mapped cached neighbours, and that was all. */
static __always_inline void send_around(struct task_state *s)
{
	u64 call = HS_CALL_FAULT | OP_FLAGS(HS_OP_NO_TIME | HS_OP_NO_RANGE);
	send_fault(s, &REC(s)->around, call, REC(s)->around_first << 12, REC(s)->around_pages << 12);
	REC(s)->around_ns = 0;
	pend(s, -1);
}

/* What an observed process wrote, and somebody else brings to the device. */
RECORDS int send_writeback(const struct hs_row_key *writer, u64 pos, u32 bytes)
{
	if (!RECORD || !writer)
		return 0;
	void *ring = op_ring();
	struct hs_op *op = reserve_empty_op(ring, NULL, HS_CALL_WRITEBACK | OP_FLAGS(HS_OP_NO_TIME), bpf_ktime_get_ns(), 0);
	if (!op)
		return 0;
	op->owner = writer->owner;
	op->file = writer->file;
	op->offset = pos;
	op->asked = bytes;
	op->device_write_bytes = bytes;
	bpf_ringbuf_submit(op, op_wakeup(ring));
	return 0;
}

#endif
