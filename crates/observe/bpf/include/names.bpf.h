/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names. A path is sent as a chain of nodes, each directory once: a new file then costs one record of its own name.
 * With the mount at hand the chain climbs through mount points as d_path() does, so the path is the one that the process
 * sees, in whatever namespace; from a bare inode it ends at the root of the file system.
 */
#ifndef HOTSET_NAMES_H
#define HOTSET_NAMES_H

#include "rows.bpf.h"

struct place {
	u64 dentry;
	u64 mount; /* struct mount; 0: unknown */
};

/* A way up. */
struct climb {
	struct place place;
	u64 id; /* of the directory reached, or the sum so far */
	u64 factor;
};

static __always_inline u64 mount_of(u64 vfsmount)
{
	return vfsmount ? vfsmount - bpf_core_field_offset(struct mount, mnt) : 0;
}

/* From the root of a mount to the place where it is mounted. */
static __always_inline void leave_mounts(struct place *p, u64 *slot)
{
#pragma unroll
	for (int i = 0; i < 3; i++) {
		if (!p->mount || (u64)LOAD(mount, p->mount, mnt.mnt_root) != p->dentry)
			return;
		u64 parent = NUMBER(slot, LOAD(mount, p->mount, mnt_parent));
		if (parent == p->mount)
			return;
		p->dentry = NUMBER(slot, LOAD(mount, p->mount, mnt_mountpoint));
		p->mount = parent;
	}
}

APART_OR_INLINE int leave_mount(struct place *p)
{
	u64 *slot = number_slot();
	if (p && slot)
		leave_mounts(p, slot);
	return 0;
}

/*
 * A directory's id covers the whole way up, so that a renamed ancestor makes a new one:
 * id = own(directory) + STEP * id(parent). STEP has an inverse, so the ids of all parents follow from one sum.
 */
#define STEP 0x9E3779B97F4A7C15ULL
#define STEP_BACK 0xF1DE83E19937733DULL

static __always_inline u64 own_id(const struct place *p)
{
	return hash64(p->dentry, p->mount) + LOAD(dentry, p->dentry, d_name.hash_len);
}

static __always_inline int is_mount_root(const struct place *p)
{
	return p->mount && (u64)LOAD(mount, p->mount, mnt.mnt_root) == p->dentry;
}

static __always_inline int is_root(const struct place *p)
{
	if (is_mount_root(p))
		return 1;
	return (u64)LOAD(dentry, p->dentry, d_parent) == p->dentry;
}

static __always_inline long sum_step(struct climb *c)
{
	struct place *p = &c->place;
	c->id += own_id(p) * c->factor;
	c->factor *= STEP;
	u64 *slot = number_slot();
	if (is_root(p) || !slot)
		return 1;
	p->dentry = NUMBER(slot, LOAD(dentry, p->dentry, d_parent));
	if (is_mount_root(p))
		leave_mount(p);
	return 0;
}

static __always_inline u32 copy_name(char *to, u64 dentry)
{
	long n = bpf_probe_read_kernel_str(to, HS_NAME_MAX, LOAD(dentry, dentry, d_name.name));
	return n > 0 ? (n - 1) & (HS_NAME_MAX - 1) : 0;
}

/* Sends one directory, unless it was sent before, and moves on to the one above it. */
static __always_inline long climb_step(struct climb *c)
{
	struct place *p = &c->place;
	u64 id = c->id;
	u8 one = 1;
	if (bpf_map_lookup_elem(&nodes, &id))
		return 1;
	bpf_map_update_elem(&nodes, &id, &one, BPF_ANY);
	union scratch *sc = get_scratch(1);
	u64 *slot = number_slot();
	if (!sc || !slot)
		return 1;
	struct hs_node *node = &sc->node;
	node->type = HS_EVENT_NODE;
	node->id = id;
	node->parent = 0;
	node->dev = 0;
	node->name_len = 0;
	int root = is_root(p);
	if (root) {
		if (!is_mount_root(p))
			node->dev = LOAD(super_block, LOAD(dentry, p->dentry, d_sb), s_dev);
	} else {
		node->name_len = copy_name(node->name, p->dentry);
		c->id = (id - own_id(p)) * STEP_BACK;
		node->parent = c->id;
		p->dentry = NUMBER(slot, LOAD(dentry, p->dentry, d_parent));
		leave_mounts(p, slot);
	}
	send_event(node, __builtin_offsetof(struct hs_node, name) + node->name_len, sizeof(*node));
	return root;
}

#ifndef HOTSET_COMPAT
/* A function of its own: what bpf_loop calls is verified again for each pass and each way to it. */
__noinline int climb(struct climb *c)
{
	return c ? climb_step(c) : 1;
}

static long climb_callback(u32 i, struct climb *c)
{
	u64 done = climb(c);
	barrier_value(done); /* or clang leaves out what it knows, and the verifier does not */
	return done & 1;
}

static long sum_callback(u32 i, struct climb *c)
{
	return sum_step(c);
}
#endif

/* Makes a directory known; returns its id. */
__noinline u64 send_directory(u64 dentry, u64 mount)
{
	struct climb c = { .place = { .dentry = dentry, .mount = mount }, .factor = 1 };
	leave_mount(&c.place);
#ifdef HOTSET_COMPAT
	for (u32 i = 0; i < 24; i++) {
		if (sum_step(&c))
			break;
	}
#else
	bpf_loop(128, sum_callback, &c, 0);
#endif
	u64 id = c.id;
	if (bpf_map_lookup_elem(&nodes, &id))
		return id;
	/* Once more from below: keeping both ways would take more stack than a chain of calls may have. */
	c.place.dentry = dentry;
	c.place.mount = mount;
	leave_mount(&c.place);
#ifdef HOTSET_COMPAT
	for (u32 i = 0; i < 24; i++) {
		if (climb_step(&c))
			break;
	}
#else
	bpf_loop(128, climb_callback, &c, 0);
#endif
	return id;
}

static __always_inline u64 alias_of(u64 inode, u64 *slot)
{
	u64 node = NUMBER(slot, LOAD(inode, inode, i_dentry.first));
	if (!node)
		return 0;
	if (bpf_core_field_exists(((struct dentry *)0)->d_alias))
		return node - bpf_core_field_offset(struct dentry, d_alias);
	return node - bpf_core_field_offset(struct dentry, d_u.d_alias);
}

static __always_inline void make_first(u64 inode, u64 file, u32 tgid, u64 unasked)
{
	union scratch *sc = get_scratch(0);
	u64 *slot = number_slot();
	if (!sc || !slot)
		return;
	struct hs_first *f = &sc->first;
	struct hs_file_key id = file_key(inode);
	tracked[near_hash(id) & (TRACKED - 1)] = 1;
	f->type = HS_EVENT_FILE;
	f->file = id;
	f->mounted = LOAD(super_block, LOAD(inode, inode, i_sb), s_dev);
	f->tgid = tgid;
	f->size_bytes = LOAD(inode, inode, i_size);
	u64 cached = LOAD(address_space, LOAD(inode, inode, i_mapping), nrpages);
	f->cached_pages = cached > unasked ? cached - unasked : 0;
	f->mode = LOAD(inode, inode, i_mode);
	f->nlink = LOAD(inode, inode, __i_nlink);
	f->parent = 0;
	f->name_len = 0;
	f->unhashed = 0;
	f->used = file != 0;
	struct place p = {};
	if (file) {
		p.dentry = NUMBER(slot, LOAD(file, file, f_path.dentry));
		p.mount = mount_of(NUMBER(slot, LOAD(file, file, f_path.mnt)));
	} else {
		p.dentry = alias_of(inode, slot);
	}
	if (p.dentry) {
		f->unhashed = LOAD(dentry, p.dentry, d_hash.pprev) == NULL;
		leave_mount(&p);
		f->name_len = copy_name(f->name, p.dentry);
		u64 parent = NUMBER(slot, LOAD(dentry, p.dentry, d_parent));
		if (parent != p.dentry)
			f->parent = send_directory(parent, p.mount);
	}
	send_event(f, __builtin_offsetof(struct hs_first, name) + f->name_len, sizeof(*f));
}

/* Sends what is known of a file at first sight. `unasked`: pages that this very event added. */
__noinline int send_first(u64 inode, u64 file, u32 tgid, u64 unasked)
{
	if (!cfg.names)
		return 0;
	hold_cpu();
	make_first(inode, file, tgid, unasked);
	release_cpu();
	return 0;
}

/* The device by which a file's file system is mounted: on btrfs not that of its subvolume. Devices themselves are on none. */
static __always_inline u32 mounted_by(const struct target *t, u32 mode)
{
	return (mode & S_IFMT) == S_IFBLK ? 0 : LOAD(super_block, LOAD(inode, t->inode, i_sb), s_dev);
}

#ifdef HOTSET_COMPAT
/* A function of its own: every program that looks for a row would hold a copy. */
__noinline int describe_owner(u32 owner)
{
	struct hs_process *p = process_by_owner(owner);
	if (p)
		describe(p, CURRENT());
	return 0;
}

/* The row of a target for the current process; sends the file's name where the row is new. */
static __always_inline struct hs_row *row_of(struct task_state *s, struct target *t, u64 unasked)
{
	u32 fresh = 0;
	struct hs_row_key key = { .file = t->id, .owner = owner(s) };
	struct hs_row *row = row_lookup(&key, &fresh);
	if (!t->inode || !row)
		return row;
	if (fresh) {
		row->mode = LOAD(inode, t->inode, i_mode);
		row->named = t->file != 0;
		row->mounted = mounted_by(t, row->mode);
		send_first(t->inode, t->file, s->tgid, unasked);
		if (cfg.live)
			describe_owner(s->owner);
	} else if (cfg.live && t->file && !row->named) {
		row->named = 1;
		send_first(t->inode, t->file, s->tgid, 0);
	}
	return row;
}
#else
/* User space may have given a row to another since it was used. */
static __always_inline int is_row_of(const struct hs_row *row, const struct task_state *s, const struct target *t)
{
	return same_file(&row->file, &t->id) && row->owner == s->owner;
}

__noinline int find_row(struct task_state *s, const struct target *t, u64 unasked)
{
	if (!s || !t)
		return 0;
	u32 *guess = &recent[(near_hash(t->id) + owner(s) * 0x9E3779B1) & (RECENT - 1)];
	u32 slot = *guess;
	u64 found = slot;
	struct hs_row *row = slot ? bpf_map_lookup_elem(&rows, &slot) : NULL;
	if (!row || !is_row_of(row, s, t)) {
		found = row_slot(s->owner, t->id.dev, t->id.ino, t->id.generation);
		*guess = slot = found;
		row = slot ? bpf_map_lookup_elem(&rows, &slot) : NULL;
	}
	s->row = slot;
	if (!row || !t->inode)
		return 0;
	if (found & ROW_IS_NEW) {
		row->mode = LOAD(inode, t->inode, i_mode);
		row->named = t->file != 0;
		/* A run's rows are used once: what is not written is 0, and its cache line, a row's last, is not fetched. */
		u32 mounted = mounted_by(t, row->mode);
		if (mounted != t->id.dev || cfg.live)
			row->mounted = mounted;
		send_first(t->inode, t->file, s->tgid, unasked);
		struct hs_process *p = cfg.live ? process_by_owner(s->owner) : NULL;
		if (p)
			describe(p, CURRENT());
	} else if (cfg.live && t->file && !row->named) {
		/* Without open(2) to go by, the first request tells the name that the process used. */
		row->named = 1;
		send_first(t->inode, t->file, s->tgid, 0);
	}
	return 0;
}

/* The row of a target for the current process; sends the file's name where the row is new. */
static __always_inline struct hs_row *row_of(struct task_state *s, struct target *t, u64 unasked)
{
	u32 slot = s->row;
	struct hs_row *row = bpf_map_lookup_elem(&rows, &slot);
	if (row && is_row_of(row, s, t))
		return row;
	find_row(s, t, unasked);
	slot = s->row;
	return bpf_map_lookup_elem(&rows, &slot);
}
#endif

static __always_inline void no_target(struct target *t)
{
	t->inode = t->file = 0;
	t->id = (struct hs_file_key){};
}

/* A target for pages that came up without a request: a fault, a stray addition. */
static __always_inline int target_of_inode(struct task_state *s, void *inode, struct target *t)
{
	u16 type = type_of((u64)inode);
	if (type != S_IFREG && type != S_IFBLK)
		return 0;
	t->inode = NUMBER(&s->scratch, inode);
	t->file = 0;
	t->id = file_key(t->inode);
	return type;
}

#endif
