/* SPDX-License-Identifier: GPL-2.0 */
/*
 * New pages of files in memory. tmpfs adds pages without the tracepoint, so only the file's own count of pages tells; with
 * several writers at once, a difference over one call holds the pages of all. So the writers of a file share a level: the
 * count up to which pages were booked. A call that ends books what the file has beyond the level, at most the pages that it
 * wrote, and raises the level by that much. Each call adds no more pages than it writes, so that the last to end finds no
 * more than its own left: the file's sum is exact, whoever of the writers it is booked to.
 */
#ifndef HOTSET_MEMORY_H
#define HOTSET_MEMORY_H

#include "bits.bpf.h"
#include "target.bpf.h"

#define ONE_WRITER (1ULL << 48)
#define LEVEL (ONE_WRITER - 1)

/* By inode: writers at work (the upper 16 bits), and the level. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, u64);
} memory_files SEC(".maps");

static __always_inline u64 pages_now(u64 inode)
{
	return LOAD(address_space, LOAD(inode, inode, i_mapping), nrpages) & LEVEL;
}

/* A writer that comes or leaves: what it wants to do until no other comes in between. */
struct memory_turn {
	u64 *state;
	u64 inode, wrote, booked, done;
};

static __always_inline long join_step(struct memory_turn *turn)
{
	u64 old = *(volatile u64 *)turn->state;
	u64 joined = old < ONE_WRITER ? ONE_WRITER | pages_now(turn->inode) : old + ONE_WRITER;
	if (COMPARE_AND_SWAP(turn->state, old, joined) != old)
		return 0;
	NO_FETCH_RISK(old >= ONE_WRITER);
	turn->done = 1;
	return 1;
}

static __always_inline long leave_step(struct memory_turn *turn)
{
	u64 old = *(volatile u64 *)turn->state, level = old & LEVEL, now = pages_now(turn->inode);
	if (old < ONE_WRITER)
		return 1;
	u64 fresh = now > level ? now - level : 0;
	if (fresh > turn->wrote)
		fresh = turn->wrote;
	/* Where pages were taken away the level falls. */
	u64 left = (old - ONE_WRITER - level) | (now > level ? level + fresh : now);
	if (COMPARE_AND_SWAP(turn->state, old, left) != old)
		return 0;
	turn->booked = fresh;
	turn->done = 1;
	return 1;
}

#define MEMORY_ATTEMPTS 32
#ifdef HOTSET_COMPAT
#define TAKE_TURN(step, turn) \
	do { \
		for (u32 i = 0; i < MEMORY_ATTEMPTS; i++) { \
			if (step(&turn)) \
				break; \
		} \
	} while (0)
#else
#define TAKE_TURN(step, turn) bpf_loop(MEMORY_ATTEMPTS, step##_callback, &turn, 0)

static long join_step_callback(u32 i, struct memory_turn *turn)
{
	return join_step(turn);
}

static long leave_step_callback(u32 i, struct memory_turn *turn)
{
	return leave_step(turn);
}
#endif

/* One more writer; the first sets the level. Says whether it could be noted. */
__noinline u64 memory_join(u64 inode)
{
	u64 nobody = 0;
	struct memory_turn turn = { .inode = inode, .state = bpf_map_lookup_elem(&memory_files, &inode) };
	if (!turn.state) {
		bpf_map_update_elem(&memory_files, &inode, &nobody, BPF_NOEXIST);
		turn.state = bpf_map_lookup_elem(&memory_files, &inode);
	}
	if (turn.state)
		TAKE_TURN(join_step, turn);
	if (!turn.done)
		ATOMIC_ADD(&g.chunks_lost, 1);
	return turn.done;
}

/* One writer less, which wrote so many pages; says how many are booked to it. */
__noinline u64 memory_leave(u64 inode, u64 wrote)
{
	struct memory_turn turn = { .inode = inode, .wrote = wrote, .state = bpf_map_lookup_elem(&memory_files, &inode) };
	if (turn.state)
		TAKE_TURN(leave_step, turn);
	if (!turn.done)
		ATOMIC_ADD(&g.chunks_lost, 1);
	return turn.booked;
}

static __always_inline void join_memory(struct target *t)
{
	if ((t->flags & TARGET_IN_MEMORY) && memory_join(t->inode))
		t->flags |= TARGET_JOINED;
}

/* What a write, of 0 bytes if it failed, brought into the cache. */
static __always_inline void settle_memory(struct target *t, u64 bytes)
{
	if (!(t->flags & TARGET_JOINED))
		return;
	t->flags &= ~TARGET_JOINED;
	t->brought = memory_leave(t->inode, pages_of(t->pos, bytes));
}

#endif
