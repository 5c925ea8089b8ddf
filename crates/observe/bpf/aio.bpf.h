/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Linux AIO (io_submit, io_getevents; libaio). No tracepoint shows a request or its end. What is submitted stands in the
 * program's memory when io_submit begins. Buffered requests are served within that call, direct ones go on after it.
 * Results are there when io_getevents returns; a program may also take them without a call, out of the ring in its memory
 * where the kernel leaves them, so that the ring is looked at in each call.
 */

/* include/uapi/linux/aio_abi.h */
#define IOCB_CMD_PREAD 0
#define IOCB_CMD_PWRITE 1
#define IOCB_CMD_FSYNC 2
#define IOCB_CMD_FDSYNC 3
#define IOCB_CMD_PREADV 7
#define IOCB_CMD_PWRITEV 8

struct aio_iocb {
	u64 data;
	u32 key;
	s32 rw_flags;
	u16 opcode;
	u16 priority;
	u32 fd;
	u64 buffer, bytes;
	s64 offset;
	u64 reserved;
	u32 flags, eventfd;
};

struct aio_event {
	u64 data;
	struct aio_told {
		u64 iocb;
		s64 result;
	} told;
	s64 result2;
};

/* fs/aio.c: at the address that is the context's name. */
#define AIO_RING_MAGIC 0xa10a10a1
struct aio_ring {
	u32 id;
	struct aio_ends {
		u32 nr, head, tail, magic;
	} ends;
	u32 compat, incompat, header_bytes;
};

/* How many requests or results of one call are followed; what is beyond is a loss. */
#define AIO_MOST 65536

static __always_inline struct request *aio_request(struct request_key *key, u32 kind)
{
	key->kind = kind;
	return bpf_map_lookup_elem(&requests, key);
}

/* The result of a request. Two threads may see it, one counts it. */
static __always_inline int aio_finish(struct task_state *s, u64 iocb, u64 result)
{
	struct request_key key = { .id = iocb, .owner = owner(s) };
	struct request *r = aio_request(&key, REQUEST_AIO_BEFORE);
	if (!r)
		r = aio_request(&key, REQUEST_AIO);
	if (!r || !CLEAR_BITS(&r->open, 1ULL))
		return 0;
	/* The program may use its iocb again as soon as it knows. */
	s->request = *r;
	bpf_map_delete_elem(&requests, &key);
	ATOMIC_ADD(&g.aio_pending, -1);
	finish_request(&s->request, &s->request_key, result);
	return 0;
}

static __always_inline u64 aio_result(u64 event)
{
	struct aio_told e = {};
	struct task_state *s = known_state();
	if (s && !bpf_probe_read_user(&e, sizeof(e), (void *)(event + __builtin_offsetof(struct aio_event, told))))
		aio_finish(s, e.iocb, e.result);
	return 0;
}

/* Where the ring was looked at is no one's business but that of the first to say so. */
static __always_inline int claim(u64 *seen, u64 from, u64 to)
{
	return __sync_val_compare_and_swap(seen, from, to) == from;
}

struct aio_events {
	u64 first, n;
};

static __always_inline long aio_result_step(u64 i, struct aio_events *w)
{
	if (i >= w->n)
		return 1;
	aio_result(w->first + i * sizeof(struct aio_event));
	return 0;
}

static long aio_result_callback(u32 i, struct aio_events *w)
{
	return aio_result_step(i, w);
}

/* Counts results that stand one behind the other. */
static __always_inline u64 aio_results(u64 first, u64 n)
{
	struct aio_events w = { .first = first, .n = n };
	bpf_loop(n > AIO_MOST ? AIO_MOST : n, aio_result_callback, &w, 0);
	if (n > AIO_MOST)
		ATOMIC_ADD(&g.requests_lost, n - AIO_MOST);
	return 0;
}

struct aio_pages {
	u64 at, end;
};

static long aio_readable_callback(u32 i, struct aio_pages *w)
{
	u8 byte = 0;
	if (w->at >= w->end || bpf_probe_read_user(&byte, sizeof(byte), (void *)w->at))
		return 1;
	w->at = (w->at & ~4095ULL) + 4096;
	return 0;
}

/*
 * Up to which result, of those from `from` on, the ring can be read. The kernel writes its pages by an address of its own: the
 * program's table has one only once the program touched it or a neighbour, and not while it is moved. Not a part of its caller:
 * that stands in a chain of calls whose stack is full.
 */
__noinline u64 aio_readable(u64 events, u64 from, u64 to)
{
	struct aio_pages w = {
		.at = events + from * sizeof(struct aio_event),
		.end = events + to * sizeof(struct aio_event),
	};
	bpf_loop(AIO_MOST * sizeof(struct aio_event) / 4096, aio_readable_callback, &w, 0);
	return w.at < w.end ? (w.at - events) / sizeof(struct aio_event) : to;
}

static __always_inline u64 aio_left(u64 place, u64 tail, u64 size)
{
	return tail >= place ? tail - place : tail + size - place;
}

/* Counts what is new in the ring, as far as it can be read now; the next call looks for the rest. Says whether it is there. */
static __always_inline int aio_look(struct request *r, u64 context, u64 returned)
{
	struct aio_ends ring = {};
	if (bpf_probe_read_user(&ring, sizeof(ring), (void *)(context + __builtin_offsetof(struct aio_ring, ends))))
		return 0;
	u64 size = ring.nr, tail = ring.tail, head = ring.head, events = context + sizeof(struct aio_ring);
	if (ring.magic != AIO_RING_MAGIC || !size || tail >= size || head >= size)
		return 0;
	u64 seen = *(volatile u64 *)&r->ring.seen, from = r->ring.known ? seen % size : head;
	r->ring.known = r->ring.read = 1;
	if (from == tail)
		return 1;
	u64 to = aio_readable(events, from, tail < from ? size : tail), next;
	if (to == size)
		to = aio_readable(events, 0, tail);
	/* What a call returned is counted and gone from the ring: the program may use its iocb for something else by now. */
	next = returned && aio_left(head, tail, size) < aio_left(to, tail, size) ? head : to;
	if (next == from || !claim(&r->ring.seen, seen, next))
		return 1;
	aio_results(events + from * sizeof(struct aio_event), (to < from ? size : to) - from);
	if (to < from)
		aio_results(events, to);
	return 1;
}

static __always_inline struct request *aio_ring_of(struct task_state *s, u64 context, int anew)
{
	struct request_key key = { .id = context, .owner = owner(s), .kind = REQUEST_AIO_RING };
	struct request *r = anew ? NULL : bpf_map_lookup_elem(&requests, &key);
	if (r)
		return r;
	r = &s->request;
	r->ring.seen = r->ring.read = 0;
	r->ring.known = anew;
	if (bpf_map_update_elem(&requests, &key, r, BPF_ANY))
		ATOMIC_ADD(&g.requests_lost, 1);
	return bpf_map_lookup_elem(&requests, &key);
}

/* Counts `n` results that a call returned, and those that are in the ring only. */
static __always_inline void aio_count(struct task_state *s, u64 context, u64 events, u64 n)
{
	struct request *r = aio_ring_of(s, context, 0);
	if (n)
		aio_results(events, n);
	if (!r || aio_look(r, context, n))
		return;
	/* What can't be read now can be later: the next call looks again. */
	if (!n)
		return;
	/* Nobody reads the ring: what is returned is what was in it, in order. */
	if (r->ring.read)
		r->ring.known = 0;
	ATOMIC_ADD(&r->ring.seen, n);
}
