/* SPDX-License-Identifier: GPL-2.0 */
/* What the walks over superblocks, inodes and directory entries share: tables, state, steps along a list. */
#ifndef HOTSET_WALK_H
#define HOTSET_WALK_H

#include "access.bpf.h"
#include "inodes.h"

extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;

#define MAX_LEVELS 256
#define MAX_ALIASES 16

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HS_SUPERBLOCKS);
	__type(key, u32);
	__type(value, struct hs_superblock);
} table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HS_INODE_ROWS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct hs_inode);
} rows SEC(".maps");

struct hs_names {
	char bytes[HS_PATH_BYTES + HS_PATH_NAME];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hs_names);
} names SEC(".maps");

/* The state of the call. Globals and not the loop's context, whose every value the verifier would follow. */
struct hs_list list;
struct hs_walk walk;
struct hs_inode_path path_state;
u64 head, previous, current, slot;

/* A number out of a tracked pointer. */
#define PLAIN(ptr) NUMBER(&slot, ptr)

static __always_inline u64 next_of(u64 node)
{
	return PLAIN(LOAD(list_head, node, next));
}

static __always_inline u64 previous_of(u64 node)
{
	return PLAIN(LOAD(list_head, node, prev));
}

/*
 * A live superblock is the owner of its root. This also tells the head of the list of superblocks, which lies in no
 * superblock and has no name that a program could look up.
 */
static __always_inline int is_superblock(u64 superblock)
{
	u64 root = PLAIN(LOAD(super_block, superblock, s_root));
	return root && PLAIN(LOAD(dentry, root, d_sb)) == superblock;
}

#endif
