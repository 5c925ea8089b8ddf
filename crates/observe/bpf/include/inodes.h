/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What crosses between the walk over inodes and user space. `src/inodes/record.rs` mirrors this file, and a test compares
 * both through the object's BTF.
 */
#ifndef HOTSET_INODES_H
#define HOTSET_INODES_H

#include "record.h"

#define HS_TYPE_MAX 16
#define HS_ID_MAX 32
#define HS_SUPERBLOCKS 16384
#define HS_INODE_ROWS 65536
#define HS_PATH_BYTES 4096
#define HS_PATH_NAME 256
#define HS_PAGE_BUCKETS 32

/* How a walk ended. */
enum hs_walk_status {
	HS_WALK_MORE,     /* the bound of one call was reached: call again */
	HS_WALK_COMPLETE, /* the whole list was seen */
	HS_WALK_CHANGED,  /* the list changed where the walk stood */
	HS_WALK_GONE,     /* the file system is gone */
	HS_WALK_FULL,     /* there are more superblocks than the table holds */
};

/* What has pages. */
enum hs_inode_kind {
	HS_INODE_REGULAR,
	HS_INODE_DIRECTORY,
	HS_INODE_SYMLINK,
	HS_INODE_BLOCK,
	HS_INODE_OTHER, /* a file system's own: metadata, bitmaps */
	HS_INODE_KINDS,
};

/* The context of `superblocks`. */
struct hs_list {
	u32 fd; /* in: any open file, to come to the list by */
	u32 count;
	u32 status;
	u32 unused;
};

struct hs_superblock {
	u64 pointer;
	u64 magic;
	u32 dev; /* kernel dev_t */
	u32 unused;
	char type[HS_TYPE_MAX];
	char id[HS_ID_MAX];
};

/* The context of `inodes`: sums go on where the call before left them. */
struct hs_walk {
	u64 superblock;
	u64 cursor; /* the list node to go on with; 0: from the start */
	u64 cursor_ino;
	u64 min_pages; /* what an inode must have to get a row */
	u64 min_size_bytes;
	u64 visited;
	u64 rows;       /* rows in the table, of all superblocks */
	u64 candidates; /* inodes that should have one */
	u64 inodes_with_pages;
	u64 pages[HS_INODE_KINDS];
	u64 unlinked_pages; /* of regular files without a name */
	u64 unlinked_files;
	u64 sizes[HS_PAGE_BUCKETS]; /* inodes with 2^n to 2^(n+1)-1 pages, of those large enough for a row */
	u32 dev;
	u32 cursor_generation;
	u32 limit; /* inodes a call */
	u32 status;
};

struct hs_inode {
	u64 pointer;
	u64 superblock;
	u64 ino;
	u64 pages;
	u64 size_bytes;
	u32 dev;
	u32 rdev;
	u32 nlink;
	u32 mode;
	u32 mapped; /* some process has it mapped */
	u32 unused;
};

enum hs_path_status {
	HS_PATH_COMPLETE,
	HS_PATH_GONE,    /* another inode is there by now */
	HS_PATH_NO_NAME, /* no directory entry is in memory */
	HS_PATH_LONG,
};

/* The context of `path`. */
struct hs_inode_path {
	u64 inode;
	u64 superblock;
	u64 ino;
	u32 length; /* bytes of names, each with its zero, the file's own first */
	u32 status;
	u32 unhashed; /* the name was removed */
	u32 unused;
};

#endif
