/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of pages: which were read ahead, evicted, read directly. Bits live in chunks of 256 pages.
 *
 * Functions that are not static and take numbers only are verified once and not again at each call.
 */
#ifndef HOTSET_BITS_H
#define HOTSET_BITS_H

#include "file.bpf.h"

enum bits_op {
	BITS_SET,
	BITS_TAKE,
	BITS_ALONE,  /* take what is in no plane that others take it with */
	BITS_MOVE,   /* take from one plane, set in HS_NEW what is in HS_WRITING, the rest in HS_MISSED */
	BITS_OTHERS, /* set what is in neither of these */
	BITS_BACK,   /* take from one plane, set in HS_AHEAD */
	BITS_BOTH,   /* set, in HS_UNFILLED too */
	BITS_LEFT,   /* set, and say how many of these are in HS_UNFILLED */
};

/* A device, an operation and a plane in one argument. */
static __always_inline u64 bits_how(u32 dev, u32 op, u32 plane)
{
	return dev | (u64)op << 32 | (u64)plane << 40;
}

static __always_inline u64 popcount(u64 x)
{
	x = x - ((x >> 1) & 0x5555555555555555ULL);
	x = (x & 0x3333333333333333ULL) + ((x >> 2) & 0x3333333333333333ULL);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (x * 0x0101010101010101ULL) >> 56;
}

/* The lowest n bits, n up to 64. */
static __always_inline u64 low_bits(u64 n)
{
	return ~((~0ULL << (n >> 1)) << (n - (n >> 1)));
}

/* n limited to [0, 64]. */
static __always_inline u64 clamp64(u64 n)
{
	return least(n & ~if_less(n, 0), 64);
}

/* The bits of [start, end) that fall into one word; both relative to the chunk. */
static __always_inline u64 word_mask(u64 start, u64 end, u64 word)
{
	return low_bits(clamp64(end - word * 64)) & ~low_bits(clamp64(start - word * 64));
}

static __always_inline struct hs_chunk *new_chunk(struct hs_chunk_key *key)
{
	u32 zero = 0;
	struct hs_chunk *empty = bpf_map_lookup_elem(&empty_chunk, &zero);
	if (empty && !bpf_map_update_elem(&chunks, key, empty, BPF_NOEXIST))
		ATOMIC_ADD(&g.chunks, 1);
	struct hs_chunk *chunk = bpf_map_lookup_elem(&chunks, key);
	if (!chunk)
		ATOMIC_ADD(&g.chunks_lost, 1);
	return chunk;
}

/* What an operation did, in one number: pages in its plane, and above, pages in HS_UNFILLED too (BITS_MOVE: in HS_MISSED). */
#define UNFILLED_SHIFT 32

/* Whether an operation adds to its plane. */
static __always_inline int adds(u64 how)
{
	u32 op = (how >> 32) & 0xff;
	return op == BITS_SET || op == BITS_OTHERS || op >= BITS_BOTH;
}

static __always_inline u64 set_word(struct hs_chunk *chunk, u32 op, u32 plane, u32 word, u64 mask)
{
	u64 *bits = &chunk->bits[plane][word], *unfilled = &chunk->bits[HS_UNFILLED][word];
	/* Pages that a request waits for are left out. */
	u64 waited = chunk->bits[HS_MISSED][word] | chunk->bits[HS_NEW][word];
	mask &= ~(waited & ~if_any(op ^ BITS_OTHERS));
	u64 fresh = mask & ~*bits, fresh_unfilled = mask & ~*unfilled & ~if_any(op ^ BITS_BOTH);
	u64 counted = fresh_unfilled | (fresh & *unfilled & ~if_any(op ^ BITS_LEFT));
	if (fresh_unfilled)
		FETCH_OR(unfilled, fresh_unfilled);
	if (fresh)
		FETCH_OR(bits, fresh);
	return popcount(fresh) | popcount(counted) << UNFILLED_SHIFT;
}

/* A page that is read ahead, or missed, and still is in HS_UNFILLED leaves both: it is made of zeros. */
static __always_inline u64 take_word(struct hs_chunk *chunk, u32 op, u32 plane, u32 word, u64 mask)
{
	u64 *bits = &chunk->bits[plane][word], *unfilled = &chunk->bits[HS_UNFILLED][word], beside = 0;
	if (op == BITS_ALONE)
		mask &= ~(chunk->bits[HS_AHEAD][word] | chunk->bits[HS_MISSED][word] | chunk->bits[HS_NEW][word]);
	if (!(*bits & mask))
		return 0;
	u64 back = ~if_any(op ^ BITS_BACK), moved = ~if_any(op ^ BITS_MOVE);
	u64 brought = ~if_any(plane ^ HS_MISSED) | ~if_any(plane ^ HS_NEW);
	u64 joint = ~if_any(plane ^ HS_AHEAD) | (brought & ~back);
	u64 got = CLEAR_BITS(bits, mask);
	moved &= got;
	if (moved) {
		u64 written = chunk->bits[HS_WRITING][word];
		beside = moved & ~written & chunk->bits[HS_MISSED][word];
		FETCH_OR(&chunk->bits[HS_NEW][word], moved & written);
		FETCH_OR(&chunk->bits[HS_MISSED][word], moved & ~written);
	}
	if (got & back)
		FETCH_OR(&chunk->bits[HS_AHEAD][word], got & back);
	joint &= got & *unfilled;
	if (joint)
		beside = CLEAR_BITS(unfilled, joint);
	return popcount(got) | popcount(beside) << UNFILLED_SHIFT;
}

/* What falls into one word of the pages [start, end), which count from the beginning of the chunk. */
APART u64 change_word(struct hs_chunk *chunk, u64 how, u32 word, u64 start, u64 end)
{
	u32 plane = (how >> 40) & 0xff, op = (how >> 32) & 0xff;
	if (!chunk || plane >= HS_PLANES)
		return 0;
	word &= HS_CHUNK_WORDS - 1; /* for the verifier; it is one of them */
	u64 mask = word_mask(start, end, word);
	return adds(how) ? set_word(chunk, op, plane, word, mask) : take_word(chunk, op, plane, word, mask);
}

/* What several CPUs do at once before 5.12 can get lost (HOTSET_NO_FETCH). */
#ifdef HOTSET_NO_FETCH
#define NO_FETCH_RISK(at_once) \
	do { \
		if (at_once) \
			ATOMIC_ADD(&g.marks_raced, 1); \
	} while (0)
#else
#define NO_FETCH_RISK(at_once) ((void)(at_once))
#endif

/*
 * Before 5.12 bits change by plain loads and stores, and who comes in between loses a mark. Additions are atomic there, so
 * that of two that change a chunk at once the second sees the first: what may have been lost is counted.
 */
#ifdef HOTSET_NO_FETCH
#define MARKERS 4096
u64 markers[MARKERS] SEC(".bss.markers");

static __always_inline u64 *begin_marks(const struct hs_chunk_key *key)
{
	u64 *at_work = &markers[(hash64(key->file.ino + key->chunk, key->file.dev) >> 40) & (MARKERS - 1)];
	ATOMIC_ADD(at_work, 1);
	NO_FETCH_RISK(*(volatile u64 *)at_work > 1);
	return at_work;
}

static __always_inline void end_marks(u64 *at_work)
{
	ATOMIC_ADD(at_work, -1ULL);
}
#else
#define begin_marks(key) 0
#define end_marks(at_work) ((void)(at_work))
#endif

/* One operation on the pages [start, end) of one chunk; says how many bits changed, see UNFILLED_SHIFT. */
__noinline u64 bits_chunk(u64 ino, u64 how, u64 start, u64 end, u64 generation)
{
	u64 base = start & ~(u64)(HS_CHUNK_PAGES - 1);
	struct hs_chunk_key key = {
		.file = { .ino = ino, .dev = how, .generation = generation },
		.chunk = base / HS_CHUNK_PAGES,
	};
	struct hs_chunk *chunk = bpf_map_lookup_elem(&chunks, &key);
	if (!chunk && adds(how))
		chunk = new_chunk(&key);
	if (!chunk)
		return 0;
	start -= base;
	end -= base;
	u32 word = start / 64, last = (end - 1) / 64;
	u64 *at_work = begin_marks(&key);
	u64 count = change_word(chunk, how, word, start, end);
#pragma unroll
	for (u32 i = 1; i < HS_CHUNK_WORDS; i++) {
		if (word + i <= last)
			count += change_word(chunk, how, word + i, start, end);
	}
	end_marks(at_work);
	return count;
}

struct bits_walk {
	u64 ino, how, next, end, generation, count;
};

static __always_inline long bits_step(struct bits_walk *w)
{
	u64 stop = (w->next | (HS_CHUNK_PAGES - 1)) + 1;
	if (w->next >= w->end)
		return 1;
	if (stop > w->end)
		stop = w->end;
	w->count += bits_chunk(w->ino, w->how, w->next, stop, w->generation);
	w->next = stop;
	return 0;
}

#ifndef HOTSET_COMPAT
static long bits_step_callback(u32 i, struct bits_walk *w)
{
	return bits_step(w);
}
#endif

/* One operation on the pages [start, end) of a file; says how many bits changed. */
__noinline u64 bits_range(u64 ino, u64 how, u64 start, u64 end, u64 generation)
{
	if (start >= end)
		return 0;
	u64 more = (end - 1) / HS_CHUNK_PAGES - start / HS_CHUNK_PAGES;
	if (!more)
		return bits_chunk(ino, how, start, end, generation);
	struct bits_walk w = { .ino = ino, .how = how, .next = start, .end = end, .generation = generation };
#ifdef HOTSET_COMPAT
	for (u32 i = 0; i < 64; i++) {
		if (bits_step(&w))
			break;
	}
#else
	bpf_loop(more < 65536 ? more + 1 : 65536, bits_step_callback, &w, 0);
#endif
	if (w.next < end)
		ATOMIC_ADD(&g.chunks_lost, 1);
	return w.count;
}

static __always_inline u64 bits_run(struct hs_file_key id, u32 op, u32 plane, u64 start, u64 end)
{
	return bits_range(id.ino, bits_how(id.dev, op, plane), start, end, id.generation);
}

static __always_inline int has_hint(u32 plane)
{
	return plane == HS_AHEAD || plane == HS_WANTED || plane == HS_WRITING || plane == HS_UNFILLED;
}

/* Adds the pages [start, end) to a plane; says how many were new. */
static __always_inline u64 bits_set(struct hs_file_key id, u32 plane, u64 start, u64 end)
{
	u64 fresh = bits_run(id, BITS_SET, plane, start, end);
	if (has_hint(plane) && fresh)
		ATOMIC_ADD(hint_of(plane, id), (u32)fresh);
	return fresh;
}

/* Marks pages as read ahead, and as not filled yet. */
static __always_inline void bits_set_both(struct hs_file_key id, u64 start, u64 end)
{
	u64 fresh = bits_run(id, BITS_BOTH, HS_AHEAD, start, end);
	if (!fresh)
		return;
	ATOMIC_ADD(hint_of(HS_AHEAD, id), (u32)fresh);
	ATOMIC_ADD(hint_of(HS_UNFILLED, id), (u32)(fresh >> UNFILLED_SHIFT));
}

/* Marks pages as read ahead that a call brought and left; says how many, and above how many of these were not filled. */
static __always_inline u64 bits_set_left(struct hs_file_key id, u64 start, u64 end)
{
	u64 fresh = bits_run(id, BITS_LEFT, HS_AHEAD, start, end);
	if (fresh)
		ATOMIC_ADD(hint_of(HS_AHEAD, id), (u32)fresh);
	return fresh;
}

/* Removes the pages [start, end) from a plane; says how many were in it, and above how many of these were not filled. */
static __always_inline u64 bits_take_both(struct hs_file_key id, u32 plane, u64 start, u64 end)
{
	if (has_hint(plane) && !*(volatile u32 *)hint_of(plane, id))
		return 0;
	u64 taken = bits_run(id, BITS_TAKE, plane, start, end);
	if (has_hint(plane) && taken)
		ATOMIC_ADD(hint_of(plane, id), (u32) - (s32)taken);
	if (taken >> UNFILLED_SHIFT)
		ATOMIC_ADD(hint_of(HS_UNFILLED, id), (u32) - (s32)(taken >> UNFILLED_SHIFT));
	return taken;
}

/* Pages of a call that nothing was read for: it has counted them. Those of others at work there are theirs. */
static __always_inline void bits_counted(struct hs_file_key id, u64 start, u64 end)
{
	u64 taken = start < end ? bits_run(id, BITS_ALONE, HS_UNFILLED, start, end) : 0;
	if (taken)
		ATOMIC_ADD(hint_of(HS_UNFILLED, id), (u32) - (s32)taken);
}

/* The same for who does not ask what filled them. */
static __always_inline u64 bits_take(struct hs_file_key id, u32 plane, u64 start, u64 end)
{
	return (u32)bits_take_both(id, plane, start, end);
}

/*
 * Pages of [start, end) that a request of io_uring or Linux AIO waits for: they are its misses, or its new pages. Not those
 * that another request missed, which were evicted before it was done: the two have one miss.
 */
static __always_inline u64 bits_brought(struct hs_file_key id, u64 start, u64 end)
{
	u64 moved = bits_run(id, BITS_MOVE, HS_WANTED, start, end);
	if (moved)
		ATOMIC_ADD(hint_of(HS_WANTED, id), (u32) - (s32)moved);
	return (u32)moved - (moved >> UNFILLED_SHIFT);
}

/* Pages of [start, end) that were brought in for requests, by one of the planes, and not used: they are read ahead. */
static __always_inline u64 bits_back(struct hs_file_key id, u32 plane, u64 start, u64 end)
{
	u64 moved = bits_run(id, BITS_BACK, plane, start, end);
	if (moved)
		ATOMIC_ADD(hint_of(HS_AHEAD, id), (u32)moved);
	return moved;
}

/* Marks those of [start, end) as read ahead that no io_uring request waited for. */
static __always_inline void bits_set_others(struct hs_file_key id, u64 start, u64 end)
{
	u64 fresh = bits_run(id, BITS_OTHERS, HS_AHEAD, start, end);
	if (fresh)
		ATOMIC_ADD(hint_of(HS_AHEAD, id), (u32)fresh);
}

/* The key may stand in memory: see COPIED(). */
#define bits_set(id, plane, start, end) bits_set(COPIED(id), plane, start, end)
#define bits_set_both(id, start, end) bits_set_both(COPIED(id), start, end)
#define bits_set_left(id, start, end) bits_set_left(COPIED(id), start, end)
#define bits_take_both(id, plane, start, end) bits_take_both(COPIED(id), plane, start, end)
#define bits_take(id, plane, start, end) bits_take(COPIED(id), plane, start, end)
#define bits_counted(id, start, end) bits_counted(COPIED(id), start, end)
#define bits_brought(id, start, end) bits_brought(COPIED(id), start, end)
#define bits_back(id, plane, start, end) bits_back(COPIED(id), plane, start, end)
#define bits_set_others(id, start, end) bits_set_others(COPIED(id), start, end)

#endif
