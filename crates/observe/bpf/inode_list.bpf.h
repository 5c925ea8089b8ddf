/* SPDX-License-Identifier: GPL-2.0 */
/* The inodes of one superblock, and their pages. */
#ifndef HOTSET_INODE_LIST_H
#define HOTSET_INODE_LIST_H

#include "include/walk.bpf.h"

/* What only this program reads of the kernel's address_space: the objects of the sensor stay as they are. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct rb_root___mapped {
	void *rb_node;
};

struct rb_root_cached___mapped {
	struct rb_root___mapped rb_root;
};

struct address_space___mapped {
	struct rb_root_cached___mapped i_mmap;
};
#pragma clang attribute pop

static __always_inline u32 log2_of(u64 value)
{
	u32 log = 0;
	if (value >> 16) {
		value >>= 16;
		log += 16;
	}
	if (value >> 8) {
		value >>= 8;
		log += 8;
	}
	if (value >> 4) {
		value >>= 4;
		log += 4;
	}
	if (value >> 2) {
		value >>= 2;
		log += 2;
	}
	return log + (value >> 1 ? 1 : 0);
}

static __always_inline u32 kind_of(u32 mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return HS_INODE_REGULAR;
	case S_IFDIR:
		return HS_INODE_DIRECTORY;
	case S_IFLNK:
		return HS_INODE_SYMLINK;
	case S_IFBLK:
		return HS_INODE_BLOCK;
	default:
		return HS_INODE_OTHER;
	}
}

/* No type where an inode of the file system's tables has that of what its memory held before, as type_of() has it. */
static __always_inline u32 mode_of(u64 inode)
{
	u32 mode = LOAD(inode, inode, i_mode), type = mode & S_IFMT;
	const void *calls = LOAD(inode, inode, i_fop), *names = LOAD(inode, inode, i_op);
	if ((type == S_IFREG && !type_of(inode)) ||
	    (type == S_IFDIR && !LOAD(file_operations, calls, iterate_shared) && !LOAD(file_operations, calls, read)) ||
	    (type == S_IFLNK && !LOAD(inode_operations, names, get_link)))
		mode &= ~S_IFMT;
	return mode;
}

static __always_inline void add_row(u64 inode, u64 mapping, u64 pages, u64 size_bytes, u32 mode, u32 nlink)
{
	walk.candidates++;
	u32 key = walk.rows;
	struct hs_inode *row = bpf_map_lookup_elem(&rows, &key);
	if (!row)
		return;
	row->pointer = inode;
	row->superblock = walk.superblock;
	row->ino = LOAD(inode, inode, i_ino);
	row->pages = pages;
	row->size_bytes = size_bytes;
	row->dev = walk.dev;
	row->rdev = LOAD(inode, inode, i_rdev);
	row->nlink = nlink;
	row->mode = mode;
	row->mapped = !!LOAD(address_space___mapped, mapping, i_mmap.rb_root.rb_node);
	row->unused = 0;
	walk.rows++;
}

static __always_inline void count_inode(u64 inode)
{
	walk.visited++;
	u64 mapping = PLAIN(LOAD(inode, inode, i_mapping));
	u64 pages = LOAD(address_space, mapping, nrpages);
	/* Pages of a mapping that is another inode's are counted there. */
	if (!pages || PLAIN(LOAD(address_space, mapping, host)) != inode)
		return;
	u32 mode = mode_of(inode);
	u32 nlink = LOAD(inode, inode, __i_nlink);
	u32 kind = kind_of(mode);
	walk.inodes_with_pages++;
	walk.pages[kind] += pages;
	if (kind == HS_INODE_REGULAR && !nlink) {
		walk.unlinked_pages += pages;
		walk.unlinked_files++;
	}
	u64 size_bytes = LOAD(inode, inode, i_size);
	if (size_bytes < walk.min_size_bytes)
		return;
	walk.sizes[log2_of(pages) & (HS_PAGE_BUCKETS - 1)]++;
	if (pages >= walk.min_pages)
		add_row(inode, mapping, pages, size_bytes, mode, nlink);
}

static __always_inline u64 inode_of(u64 node)
{
	return node - bpf_core_field_offset(struct inode, i_sb_list);
}

static long visit_inode(u32 i, void *unused)
{
	u64 node = current;
	if (node == head) {
		walk.status = HS_WALK_COMPLETE;
		return 1;
	}
	u64 next = next_of(node);
	if (!next || next == node) {
		/* Taken off since the one before was read: that one knows who follows now, unless it is gone too. */
		u64 again = next_of(previous);
		if (!again || again == node || again == previous) {
			walk.status = HS_WALK_CHANGED;
			return 1;
		}
		current = again;
		return 0;
	}
	count_inode(inode_of(node));
	previous = node;
	current = next;
	return 0;
}

/* Between two calls anything can happen to the inode where the walk stood. */
static __always_inline int cursor_is_there(void)
{
	u64 node = walk.cursor, inode = inode_of(node);
	return PLAIN(LOAD(inode, inode, i_sb)) == walk.superblock && LOAD(inode, inode, i_ino) == walk.cursor_ino &&
	       LOAD(inode, inode, i_generation) == walk.cursor_generation && next_of(previous_of(node)) == node &&
	       previous_of(next_of(node)) == node;
}

static __always_inline void begin_walk(void)
{
	head = walk.superblock + bpf_core_field_offset(struct super_block, s_inodes);
	if (!is_superblock(walk.superblock) || LOAD(super_block, walk.superblock, s_dev) != walk.dev) {
		walk.status = HS_WALK_GONE;
	} else if (!walk.cursor) {
		previous = head;
		current = next_of(head);
	} else if (cursor_is_there()) {
		previous = previous_of(walk.cursor);
		current = walk.cursor;
	} else {
		walk.status = HS_WALK_CHANGED;
	}
}

/* Counts the inodes of one superblock, `limit` at a time. */
SEC("syscall")
int inodes(struct hs_walk *ctx)
{
	__builtin_memcpy(&walk, ctx, sizeof(walk));
	walk.status = HS_WALK_MORE;
	bpf_rcu_read_lock();
	begin_walk();
	if (walk.status == HS_WALK_MORE) {
		bpf_loop(walk.limit, visit_inode, NULL, 0);
		walk.cursor = current;
		if (walk.status == HS_WALK_MORE) {
			u64 inode = inode_of(current);
			walk.cursor_ino = LOAD(inode, inode, i_ino);
			walk.cursor_generation = LOAD(inode, inode, i_generation);
		}
	}
	bpf_rcu_read_unlock();
	__builtin_memcpy(ctx, &walk, sizeof(walk));
	return 0;
}

#endif
