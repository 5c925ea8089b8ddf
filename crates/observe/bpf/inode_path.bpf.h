/* SPDX-License-Identifier: GPL-2.0 */
/* The name of an inode. */
#ifndef HOTSET_INODE_PATH_H
#define HOTSET_INODE_PATH_H

#include "include/walk.bpf.h"

static __always_inline u64 dentry_of(u64 alias)
{
	if (bpf_core_field_exists(((struct dentry *)0)->d_alias))
		return alias - bpf_core_field_offset(struct dentry, d_alias);
	return alias - bpf_core_field_offset(struct dentry, d_u.d_alias);
}

static __always_inline int is_unhashed(u64 dentry)
{
	return LOAD(dentry, dentry, d_hash.pprev) == NULL;
}

/* Looks for a name that still stands in its directory. */
static long visit_alias(u32 i, void *unused)
{
	if (!current)
		return 1;
	u64 dentry = dentry_of(current);
	if (!is_unhashed(dentry)) {
		previous = dentry;
		return 1;
	}
	current = PLAIN(LOAD(hlist_node, current, next));
	return 0;
}

/* Adds the name of the current directory entry; false where there is no room left. */
static __always_inline int add_name(void)
{
	u32 key = 0, length = path_state.length;
	struct hs_names *to = bpf_map_lookup_elem(&names, &key);
	if (!to || length > HS_PATH_BYTES - 1)
		return 0;
	long n = bpf_probe_read_kernel_str(&to->bytes[length], HS_PATH_NAME, LOAD(dentry, current, d_name.name));
	if (n <= 0)
		return 0;
	path_state.length = length + (n & (2 * HS_PATH_NAME - 1));
	return 1;
}

static long visit_level(u32 i, void *unused)
{
	u64 parent = PLAIN(LOAD(dentry, current, d_parent));
	if (parent == current || !parent) {
		path_state.status = HS_PATH_COMPLETE;
		/* What stands in no directory, such as a memfd, is its own root and has a name all the same. */
		u64 superblock = PLAIN(LOAD(dentry, current, d_sb));
		if (!path_state.length && PLAIN(LOAD(super_block, superblock, s_root)) != current)
			add_name();
		return 1;
	}
	if (!add_name())
		return 1;
	current = parent;
	return 0;
}

/* The names from an inode up to the root of its file system. */
SEC("syscall")
int path(struct hs_inode_path *ctx)
{
	u64 inode = ctx->inode;
	path_state.length = 0;
	path_state.unhashed = 0;
	bpf_rcu_read_lock();
	if (LOAD(inode, inode, i_ino) != ctx->ino || PLAIN(LOAD(inode, inode, i_sb)) != ctx->superblock) {
		path_state.status = HS_PATH_GONE;
	} else {
		u64 first = PLAIN(LOAD(inode, inode, i_dentry.first));
		path_state.status = HS_PATH_NO_NAME;
		if (first) {
			current = first;
			previous = dentry_of(first);
			bpf_loop(MAX_ALIASES, visit_alias, NULL, 0);
			current = previous;
			path_state.unhashed = is_unhashed(current);
			path_state.status = HS_PATH_LONG;
			bpf_loop(MAX_LEVELS, visit_level, NULL, 0);
		}
	}
	bpf_rcu_read_unlock();
	ctx->length = path_state.length;
	ctx->status = path_state.status;
	ctx->unhashed = path_state.unhashed;
	return 0;
}

#endif
