/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of pages: which were read ahead, evicted, read directly. Bits live in chunks of 256 pages.
 *
 * Functions that are not static and take numbers only are verified once and not again at each call.
 */
#ifndef HOTSET_BITS_H
#define HOTSET_BITS_H

#include "maps.bpf.h"

enum bits_op {
	BITS_SET,
	BITS_TAKE,
	BITS_MOVE,   /* take from one plane, set in HS_MISSED */
	BITS_OTHERS, /* set what is not in HS_MISSED */
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

/* n limited to [0, 64] without a branch: every branch here doubles the verifier's work. */
static __always_inline u64 clamp64(u64 n)
{
	u64 negative = (s64)n >> 63;
	barrier_value(negative);
	n &= ~negative;
	u64 below = (s64)(n - 64) >> 63;
	barrier_value(below);
	return 64 + ((n - 64) & below);
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

/* What an operation did, in one number: pages in its plane, and above, pages in HS_UNFILLED beside it. */
#define UNFILLED_SHIFT 32

static __always_inline u64 set_unfilled(struct hs_chunk *chunk, u32 word, u64 mask)
{
	u64 *bits = &chunk->bits[HS_UNFILLED][word], fresh = mask & ~*bits;
	if (fresh)
		FETCH_OR(bits, fresh);
	return popcount(fresh);
}

APART_OR_INLINE u64 set_word(struct hs_chunk *chunk, u64 how, u32 word, u64 mask)
{
	u32 plane = (how >> 40) & 0xff, op = (how >> 32) & 0xff;
	if (!chunk || plane >= HS_PLANES || word >= HS_CHUNK_WORDS)
		return 0;
	u64 count = 0;
	/* Pages that a request waits for are left out. */
	if (op == BITS_OTHERS)
		mask &= ~chunk->bits[HS_MISSED][word];
	if (op == BITS_BOTH)
		count = set_unfilled(chunk, word, mask) << UNFILLED_SHIFT;
	u64 *bits = &chunk->bits[plane][word], fresh = mask & ~*bits;
	if (!fresh)
		return count;
	FETCH_OR(bits, fresh);
	if (op == BITS_LEFT)
		count += popcount(fresh & chunk->bits[HS_UNFILLED][word]) << UNFILLED_SHIFT;
	return count + popcount(fresh);
}

/* A page that is read ahead, or missed, and still is in HS_UNFILLED leaves both: it is made of zeros. */
APART_OR_INLINE u64 take_word(struct hs_chunk *chunk, u64 how, u32 word, u64 mask)
{
	u32 plane = (how >> 40) & 0xff;
	if (!chunk || plane >= HS_PLANES || word >= HS_CHUNK_WORDS)
		return 0;
	u64 *bits = &chunk->bits[plane][word];
	if (!(*bits & mask))
		return 0;
	u64 miss = -(u64)(((how >> 32) & 0xff) == BITS_MOVE), back = -(u64)(((how >> 32) & 0xff) == BITS_BACK);
	u64 joint = -(u64)(plane == HS_AHEAD || (plane == HS_MISSED && !back));
	u64 got = CLEAR_BITS(bits, mask);
	FETCH_OR(&chunk->bits[HS_MISSED][word], got & miss);
	if (got & back)
		FETCH_OR(&chunk->bits[HS_AHEAD][word], got & back);
	u64 count = popcount(got), *unfilled = &chunk->bits[HS_UNFILLED][word];
	if (!(*unfilled & got & joint))
		return count;
	got = CLEAR_BITS(unfilled, got & joint);
	return count | popcount(got) << UNFILLED_SHIFT;
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

/* Adds to the pages [start, end) of one chunk; says how many bits were new. */
__noinline u64 bits_set_chunk(u64 ino, u64 how, u64 start, u64 end, u64 generation)
{
	u64 base = start & ~(u64)(HS_CHUNK_PAGES - 1), count = 0;
	struct hs_chunk_key key = {
		.file = { .ino = ino, .dev = how, .generation = generation },
		.chunk = base / HS_CHUNK_PAGES,
	};
	struct hs_chunk *chunk = bpf_map_lookup_elem(&chunks, &key);
	if (!chunk)
		chunk = new_chunk(&key);
	if (!chunk)
		return 0;
	u64 *at_work = begin_marks(&key);
#pragma unroll
	for (u32 word = 0; word < HS_CHUNK_WORDS; word++) {
		u64 mask = word_mask(start - base, end - base, word);
		if (mask)
			count += set_word(chunk, how, word, mask);
	}
	end_marks(at_work);
	return count;
}

/* Removes from the pages [start, end) of one chunk; says how many bits there were, see UNFILLED_SHIFT. */
__noinline u64 bits_take_chunk(u64 ino, u64 how, u64 start, u64 end, u64 generation)
{
	u64 base = start & ~(u64)(HS_CHUNK_PAGES - 1), count = 0;
	struct hs_chunk_key key = {
		.file = { .ino = ino, .dev = how, .generation = generation },
		.chunk = base / HS_CHUNK_PAGES,
	};
	struct hs_chunk *chunk = bpf_map_lookup_elem(&chunks, &key);
	if (!chunk)
		return 0;
	u64 *at_work = begin_marks(&key);
#pragma unroll
	for (u32 word = 0; word < HS_CHUNK_WORDS; word++) {
		u64 mask = word_mask(start - base, end - base, word);
		if (mask)
			count += take_word(chunk, how, word, mask);
	}
	end_marks(at_work);
	return count;
}

static __always_inline u64 bits_chunk(u64 ino, u64 how, u64 start, u64 end, u64 generation)
{
	u32 op = (how >> 32) & 0xff;
	if (op == BITS_SET || op == BITS_OTHERS || op >= BITS_BOTH)
		return bits_set_chunk(ino, how, start, end, generation);
	return bits_take_chunk(ino, how, start, end, generation);
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
	struct bits_walk w = { .ino = ino, .how = how, .next = start, .end = end, .generation = generation };
#ifdef HOTSET_COMPAT
	for (u32 i = 0; i < 64; i++) {
		if (bits_step(&w))
			break;
	}
#else
	u64 steps = (end - 1) / HS_CHUNK_PAGES - start / HS_CHUNK_PAGES + 1;
	bpf_loop(steps > 65536 ? 65536 : steps, bits_step_callback, &w, 0);
#endif
	if (w.next < end)
		ATOMIC_ADD(&g.chunks_lost, 1);
	return w.count;
}

static __always_inline u64 bits_run(struct hs_file_key id, u32 op, u32 plane, u64 start, u64 end)
{
	u64 ino = id.ino, how = bits_how(id.dev, op, plane), generation = id.generation;
	if (start >= end)
		return 0;
	if (start / HS_CHUNK_PAGES == (end - 1) / HS_CHUNK_PAGES)
		return bits_chunk(ino, how, start, end, generation);
	return bits_range(ino, how, start, end, generation);
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

/* The same for who does not ask what filled them. */
static __always_inline u64 bits_take(struct hs_file_key id, u32 plane, u64 start, u64 end)
{
	return (u32)bits_take_both(id, plane, start, end);
}

/* Pages of [start, end) that an io_uring request waits for: they count as missed from now on. */
static __always_inline u64 bits_missed(struct hs_file_key id, u64 start, u64 end)
{
	u64 moved = bits_run(id, BITS_MOVE, HS_WANTED, start, end);
	if (moved)
		ATOMIC_ADD(hint_of(HS_WANTED, id), (u32) - (s32)moved);
	return moved;
}

/* Pages of [start, end) that were missed by a request which then did not use them: they are read ahead. */
static __always_inline u64 bits_back(struct hs_file_key id, u64 start, u64 end)
{
	u64 moved = bits_run(id, BITS_BACK, HS_MISSED, start, end);
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
#define bits_missed(id, start, end) bits_missed(COPIED(id), start, end)
#define bits_back(id, start, end) bits_back(COPIED(id), start, end)
#define bits_set_others(id, start, end) bits_set_others(COPIED(id), start, end)

#endif
