/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which file an inode is, and what is known of it without a look into the tables.
 */
#ifndef HOTSET_FILE_H
#define HOTSET_FILE_H

#include "maps.bpf.h"

/* Pages in a folio; before folios each page stood for itself. */
static __always_inline u64 folio_pages(const void *folio)
{
	if (!bpf_core_type_exists(struct folio) || !(load_number((u64)folio) & (1ULL << (cfg.pg_head & 63))))
		return 1;
#ifdef HOTSET_COMPAT
	if (bpf_core_field_exists(((struct folio *)0)->_folio_order))
		return 1ULL << (LOAD(folio, folio, _folio_order) & 0x3f);
	if (!bpf_core_field_exists(((struct folio *)0)->_flags_1)) {
		/* 5.16 to 6.0: in the first tail page. */
		u64 tail = (u64)folio + bpf_core_type_size(struct page___whole);
		return 1ULL << (LOAD(page___whole, tail, compound_order) & 0x3f);
	}
#endif
	return 1ULL << (LOAD(folio, folio, _flags_1) & 0x3f);
}

/* Pages pending in planes HS_AHEAD (0), HS_WANTED (1), HS_WRITING (2), HS_UNFILLED (3) by a hash of the file: zero spares the
 * look-up. */
#define HINTS 4096
u32 hints[4][HINTS] SEC(".bss.hints");

/* Files that have a row, by a hash: evictions of all others are none of our business. */
#define TRACKED (1 << 20)
u8 tracked[TRACKED] SEC(".bss.tracked");

#ifndef HOTSET_COMPAT
/* Slots of rows by a hash of process and file: one that was used before is then found without its index. What stands here is a
 * guess, which the row itself confirms. */
#define RECENT (1 << 16)
u32 recent[RECENT] SEC(".bss.recent");
#endif

static __always_inline u32 file_hash(struct hs_file_key id)
{
	return hash64(id.ino, id.dev) >> 40;
}

/*
 * The same where most files are met once, one after another: those that were made together have neighbouring numbers, and
 * stand in one cache line.
 */
static __always_inline u32 near_hash(struct hs_file_key id)
{
	return (u32)id.ino + (u32)(hash64(id.ino >> 16, id.dev) >> 40);
}

static __always_inline u32 *hint_of(u32 plane, struct hs_file_key id)
{
	u32 which = plane == HS_WANTED ? 1 : plane == HS_WRITING ? 2 : plane == HS_UNFILLED ? 3 : 0;
	return &hints[which][file_hash(id) & (HINTS - 1)];
}

/*
 * A copy of a key for a function that becomes a part of its caller. clang reads a structure that is passed to one from memory
 * byte by byte, for it knows no alignment there any more: 40 instructions in place of 3.
 */
#define COPIED(id) \
	({ \
		struct hs_file_key _copy = (id); \
		_copy; \
	})
#define file_hash(id) file_hash(COPIED(id))
#define near_hash(id) near_hash(COPIED(id))
#define hint_of(plane, id) hint_of(plane, COPIED(id))

/*
 * The device that stat(2) tells for a file of btrfs: each subvolume has one of its own. 0: none, or not known.
 */
APART u32 subvolume_device(u64 inode)
{
	u64 root = 0;
	u32 dev = 0;
	if (!cfg.subvolume_dev) {
		if (!*(volatile u64 *)&g.subvolumes_unknown)
			ATOMIC_ADD(&g.subvolumes_unknown, 1);
		return 0;
	}
	bpf_probe_read_kernel(&root, sizeof(root), (void *)(inode + cfg.subvolume));
	if (root)
		bpf_probe_read_kernel(&dev, sizeof(dev), (void *)(root + cfg.subvolume_dev));
	return dev;
}

/* A file by its inode's address, a plain number. */
static __always_inline struct hs_file_key file_key(u64 inode)
{
	struct hs_file_key id;
	void *sb = LOAD(inode, inode, i_sb);
	id.ino = LOAD(inode, inode, i_ino);
	id.dev = LOAD(super_block, sb, s_dev);
	id.generation = LOAD(inode, inode, i_generation);
	if (LOAD(super_block, sb, s_magic) == BTRFS_SUPER_MAGIC) {
		u32 dev = subvolume_device(inode);
		if (dev)
			id.dev = dev;
	}
	return id;
}

static __always_inline int same_file(const struct hs_file_key *a, const struct hs_file_key *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->generation == b->generation;
}

#endif
