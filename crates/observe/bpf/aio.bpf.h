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

#define AIO_WRITES (1u << IOCB_CMD_PWRITE | 1u << IOCB_CMD_PWRITEV)
#define AIO_SYNCS (1u << IOCB_CMD_FSYNC | 1u << IOCB_CMD_FDSYNC)
#define AIO_VECTORS (1u << IOCB_CMD_PREADV | 1u << IOCB_CMD_PWRITEV)
#define AIO_FOLLOWED (1u << IOCB_CMD_PREAD | AIO_WRITES | AIO_SYNCS | AIO_VECTORS)

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

/* The next of the results at hand. Two threads may see it, one counts it. */
APART int aio_result(struct task_state *s)
{
	if (!s)
		return 0;
	struct aio_work *w = &s->aio;
	struct aio_told e = {};
	u64 event = w->event;
	w->left--;
	w->event = event + sizeof(struct aio_event) == w->end ? w->begin : event + sizeof(struct aio_event);
	if (bpf_probe_read_user(&e, sizeof(e), (void *)(event + __builtin_offsetof(struct aio_event, told))))
		return 0;
	struct request_key key = { .id = e.iocb, .owner = owner(s) };
	struct request *r = aio_request(&key, REQUEST_AIO_BEFORE);
	if (!r)
		r = aio_request(&key, REQUEST_AIO);
	if (!r || !CLEAR_BITS(&r->open, 1ULL))
		return 0;
	/* The program may use its iocb again as soon as it knows. */
	s->request = *r;
	bpf_map_delete_elem(&requests, &key);
	ATOMIC_ADD(&g.aio_pending, -1);
	finish_request(&s->request, &s->request_key, e.result);
	return 0;
}

/* Where the ring was looked at is no one's business but that of the first to say so. */
static __always_inline int claim(u64 *seen, u64 from, u64 to)
{
	return __sync_val_compare_and_swap(seen, from, to) == from;
}

/* Results that stand one behind the other, from `event` on, are what is looked at next. */
static __always_inline void aio_results(struct aio_work *w, u64 event, u64 n)
{
	w->event = event;
	w->left = n;
	if (n > AIO_MOST) {
		w->left = AIO_MOST;
		ATOMIC_ADD(&g.requests_lost, n - AIO_MOST);
	}
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

/* Finds what is new in the ring, as far as it can be read now; the next call looks for the rest. Says whether it is there. */
static __always_inline int aio_look(struct aio_work *w, struct request *r, u64 context)
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
	next = w->returned && aio_left(head, tail, size) < aio_left(to, tail, size) ? head : to;
	if (next == from || !claim(&r->ring.seen, seen, next))
		return 1;
	w->begin = events;
	w->end = events + size * sizeof(struct aio_event);
	aio_results(w, events + from * sizeof(struct aio_event), aio_left(from, to, size));
	return 1;
}

APART int aio_new_ring(struct task_state *s, u64 context, u64 anew)
{
	if (!s)
		return 0;
	struct request_key key = { .id = context, .owner = owner(s), .kind = REQUEST_AIO_RING };
	struct request *r = &s->request;
	r->ring.seen = r->ring.read = 0;
	r->ring.known = anew;
	if (bpf_map_update_elem(&requests, &key, r, BPF_ANY))
		ATOMIC_ADD(&g.requests_lost, 1);
	return 0;
}

/* When what the call returned is counted: goes on with what is in the ring only. Says whether there is anything. */
APART u64 aio_more(struct task_state *s)
{
	struct aio_work *w = s ? &s->aio : NULL;
	if (!w || !w->context)
		return 0;
	struct request_key key = { .id = w->context, .owner = owner(s) };
	w->context = 0;
	struct request *r = aio_request(&key, REQUEST_AIO_RING);
	if (!r) {
		aio_new_ring(s, key.id, 0);
		r = aio_request(&key, REQUEST_AIO_RING);
	}
	if (!r || aio_look(w, r, key.id) || !w->returned)
		return w->left;
	/*
	 * What can't be read now can be later: the next call looks again. Where nobody reads the ring, what is returned is what
	 * was in it, in order.
	 */
	if (r->ring.read)
		r->ring.known = 0;
	ATOMIC_ADD(&r->ring.seen, w->returned);
	return 0;
}

/*
 * One loop goes through all that a call has to look at, for the verifier reads what a loop calls anew at each loop, and in
 * each state; and it stands in the program itself, for what it calls needs all but two of the frames that a chain may have.
 */
#define AIO_LOOP(s, callback) \
	do { \
		struct task_state *_at = (s); \
		bpf_loop(4 * AIO_MOST, callback, &_at, 0); \
	} while (0)

#define AIO_CALLBACK(name, request) \
	static long name(u32 i, struct task_state **at) \
	{ \
		struct task_state *s = *at; \
		u64 more = 1; \
		if (s->aio.next < s->aio.n) \
			request(s); \
		else if (s->aio.left) \
			aio_result(s); \
		else \
			more = aio_more(s); \
		return !more; \
	}
