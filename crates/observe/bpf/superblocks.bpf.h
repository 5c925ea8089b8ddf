/* SPDX-License-Identifier: GPL-2.0 */
/* The list of superblocks. */
#ifndef HOTSET_SUPERBLOCKS_H
#define HOTSET_SUPERBLOCKS_H

#include "include/walk.bpf.h"

static __always_inline void add_superblock(u64 superblock)
{
	u32 key = list.count;
	struct hs_superblock *row = bpf_map_lookup_elem(&table, &key);
	if (!row) {
		list.status = HS_WALK_FULL;
		return;
	}
	u64 type = PLAIN(LOAD(super_block, superblock, s_type));
	row->pointer = superblock;
	row->magic = LOAD(super_block, superblock, s_magic);
	row->dev = LOAD(super_block, superblock, s_dev);
	bpf_probe_read_kernel_str(row->type, sizeof(row->type), LOAD(file_system_type, type, name));
	bpf_probe_read_kernel_str(row->id, sizeof(row->id),
				  (void *)(superblock + bpf_core_field_offset(struct super_block, s_id)));
	list.count = key + 1;
}

static long visit_superblock(u32 i, void *unused)
{
	u64 superblock = current - bpf_core_field_offset(struct super_block, s_list);
	u64 next = next_of(current);
	if (!next || next == current) {
		list.status = HS_WALK_CHANGED;
		return 1;
	}
	if (is_superblock(superblock))
		add_superblock(superblock);
	current = next;
	if (list.status == HS_WALK_MORE && next == head)
		list.status = HS_WALK_COMPLETE;
	return list.status != HS_WALK_MORE;
}

static __always_inline u64 superblock_of_fd(u32 fd)
{
	u64 files = PLAIN(CURRENT()->files);
	u64 table = PLAIN(LOAD(files_struct, files, fdt));
	if (fd >= LOAD(fdtable, table, max_fds))
		return 0;
	u64 array = PLAIN(LOAD(fdtable, table, fd));
	u64 file = PLAIN(load_pointer(array + 8ULL * fd));
	if (!file)
		return 0;
	u64 inode = PLAIN(LOAD(file, file, f_inode));
	return PLAIN(LOAD(inode, inode, i_sb));
}

/* Lists every superblock of the system, mounted anywhere or nowhere, from that of an open file on. */
SEC("syscall")
int superblocks(struct hs_list *ctx)
{
	list.count = 0;
	list.status = HS_WALK_MORE;
	bpf_rcu_read_lock();
	u64 first = superblock_of_fd(ctx->fd);
	if (first && is_superblock(first)) {
		head = current = first + bpf_core_field_offset(struct super_block, s_list);
		bpf_loop(2 * HS_SUPERBLOCKS, visit_superblock, NULL, 0);
	} else {
		list.status = HS_WALK_GONE;
	}
	bpf_rcu_read_unlock();
	ctx->count = list.count;
	ctx->status = list.status;
	return 0;
}

#endif
