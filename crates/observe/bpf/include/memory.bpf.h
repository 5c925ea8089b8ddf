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

/* One more writer; the first sets the level. Says whether it could be noted. */
__noinline u64 memory_join(u64 inode)
{
	u64 nobody = 0;
	u64 *state = bpf_map_lookup_elem(&memory_files, &inode);
	if (!state) {
		bpf_map_update_elem(&memory_files, &inode, &nobody, BPF_NOEXIST);
		state = bpf_map_lookup_elem(&memory_files, &inode);
	}
	for (u32 i = 0; state && i < 32; i++) {
		u64 old = *(volatile u64 *)state;
		u64 joined = old < ONE_WRITER ? ONE_WRITER | pages_now(inode) : old + ONE_WRITER;
		if (COMPARE_AND_SWAP(state, old, joined) == old) {
			NO_FETCH_RISK(old >= ONE_WRITER);
			return 1;
		}
	}
	ATOMIC_ADD(&g.chunks_lost, 1);
	return 0;
}

/* One writer less, which wrote so many pages; says how many are booked to it. */
__noinline u64 memory_leave(u64 inode, u64 wrote)
{
	u64 *state = bpf_map_lookup_elem(&memory_files, &inode);
	for (u32 i = 0; state && i < 32; i++) {
		u64 old = *(volatile u64 *)state, level = old & LEVEL, now = pages_now(inode);
		if (old < ONE_WRITER)
			break;
		u64 fresh = now > level ? now - level : 0;
		if (fresh > wrote)
			fresh = wrote;
		/* Where pages were taken away the level falls. */
		u64 left = (old - ONE_WRITER - level) | (now > level ? level + fresh : now);
		if (COMPARE_AND_SWAP(state, old, left) == old)
			return fresh;
	}
	ATOMIC_ADD(&g.chunks_lost, 1);
	return 0;
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
