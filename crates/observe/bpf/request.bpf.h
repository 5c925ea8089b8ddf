/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests that outlive the call that submits them: io_uring's and those of Linux AIO. Whoever adds pages that one waits
 * for, they are its misses: the pages stand in HS_WANTED from submission, move to HS_MISSED when added, and are taken at
 * completion. What a write waits for stands in HS_WRITING too, and moves to HS_NEW; reads from the device for such pages are
 * its misses, but for what is read ahead (block.bpf.h).
 */

#define REQUEST_WRITES 1u
#define REQUEST_SYNCS 2u
#define REQUEST_LOOKS_UP 4u
#define REQUEST_OPENS 8u
#define REQUEST_MOVES 16u    /* from where the file ends or stands: known for sure only when it is done */
#define REQUEST_BOOKED 32u   /* its device bytes are counted as they are queued */
#define REQUEST_WAITED 64u   /* the call that served it slept */
#define REQUEST_NO_FILE 128u /* whose file was not found */
#define REQUEST_TOLD 256u    /* what is asked of the device tells that it is for it */
#define REQUEST_EITHER 512u  /* O_DIRECT, where the file system may write through the cache all the same */
#define REQUEST_CACHED 1024u /* it did */

static __always_inline int has_file(const struct request *r)
{
	return !(r->what & (REQUEST_SYNCS | REQUEST_LOOKS_UP | REQUEST_NO_FILE));
}

static __always_inline int has_pages(const struct request *r)
{
	const struct target *t = &r->target;
	return has_file(r) && !(t->flags & TARGET_DIRECT) && t->first <= t->last;
}

static __always_inline int has_marks(const struct request *r)
{
	return (has_pages(r) && !(r->target.flags & TARGET_IN_MEMORY)) || (r->what & REQUEST_EITHER);
}

/* Btrfs: who writes through the cache makes pages dirty, which takes their marks in HS_WRITING. */
static __always_inline u32 either(const struct request *r)
{
	const struct target *t = &r->target;
	if (!(r->what & REQUEST_WRITES) || !(t->flags & TARGET_DIRECT) || t->first > t->last)
		return 0;
	return LOAD(super_block, LOAD(inode, t->inode, i_sb), s_magic) == BTRFS_SUPER_MAGIC ? REQUEST_EITHER : 0;
}

/* Where an append begins: at the end of the file, or of the appends that this task has under way. */
APART u64 append_position(struct task_state *s, struct target *t, u64 bytes)
{
	if (!s || !t)
		return 0;
	u64 size = LOAD(inode, t->inode, i_size), pos = size;
	/* A file that became shorter has nothing to do with what was foreseen. */
	if (s->append_inode == t->inode && size >= s->append_size && s->append_end > size)
		pos = s->append_end;
	s->append_inode = t->inode;
	s->append_size = size;
	s->append_end = pos + bytes;
	return pos;
}

/*
 * Whether requests to the device can be told to be for direct I/O of this file: where iomap makes them, and no file system
 * lies above that has a request of its own.
 */
static __always_inline u32 told(const struct target *t)
{
	if (!(t->flags & TARGET_DIRECT) || !bpf_core_field_exists(((struct iomap_dio *)0)->iocb))
		return 0;
	if ((u64)LOAD(file, t->file, f_inode) != t->inode)
		return 0;
	u64 magic = LOAD(super_block, LOAD(inode, t->inode, i_sb), s_magic);
	return magic == EXT4_SUPER_MAGIC || magic == XFS_SUPER_MAGIC ? REQUEST_TOLD : 0;
}

/*
 * Books what the device is asked for direct I/O to the request that it is for, which may be served by another task: iomap
 * keeps the kernel's iocb, with which the requests of io_uring and of Linux AIO begin. Says whether there is one.
 */
APART int book_request(struct task_state *s, u64 dio, u32 op, u32 bytes)
{
	if (!bpf_core_field_exists(((struct iomap_dio *)0)->iocb))
		return 0;
	u64 iocb = (u64)BPF_CORE_READ((struct iomap_dio *)dio, iocb);
	struct request_key key = { .id = iocb, .kind = REQUEST_URING };
	struct request *r = bpf_map_lookup_elem(&requests, &key);
	if (!r && s && bpf_core_field_exists(((struct aio_kiocb *)0)->ki_res)) {
		key.id = BPF_CORE_READ((struct aio_kiocb *)iocb, ki_res.obj);
		key.owner = s->owner;
		key.kind = REQUEST_AIO;
		r = bpf_map_lookup_elem(&requests, &key);
	}
	if (!r || !(r->what & REQUEST_TOLD))
		return 0;
	struct hs_row_key row_key = { .file = r->target.id, .owner = r->owner };
	struct hs_row *row = row_made(&row_key);
	if (row)
		book_bytes(row, op, bytes);
	return 1;
}

static __always_inline void start_request(struct task_state *s, struct request *r, const struct request_key *key)
{
	struct target *t = &r->target;
	t->flags &= ~TARGET_USES_POSITION;
	r->start_ns = bpf_ktime_get_ns();
	r->ns = 0;
	r->open = 1;
	r->owner = owner(s);
	if (has_file(r))
		r->what |= told(t) | either(r);
	if (has_marks(r)) {
		bits_set(t->id, HS_WANTED, t->first, t->last + 1);
		if (r->what & REQUEST_WRITES)
			r->marked = bits_set(t->id, HS_WRITING, t->first, t->last + 1);
	}
	if (bpf_map_update_elem(&requests, key, r, BPF_ANY))
		ATOMIC_ADD(&g.requests_lost, 1);
	else if (key->kind == REQUEST_AIO)
		ATOMIC_ADD(&g.aio_pending, 1);
}

/* Takes what it waited for: says how many pages it missed of the `used` first ones, the others are read ahead. */
APART int take_pages(struct request *r, u64 used)
{
	if (!r)
		return 0;
	struct target *t = &r->target;
	t->ahead = 0;
	if (!has_marks(r))
		return 0;
	u64 end = t->last + 1, middle = t->first + used < end ? t->first + used : end;
	bits_take(t->id, HS_WANTED, t->first, end);
	if ((r->what & REQUEST_WRITES) && bits_take(t->id, HS_WRITING, t->first, end) < r->marked && (r->what & REQUEST_EITHER))
		r->what |= REQUEST_CACHED;
	u32 brought = r->what & REQUEST_WRITES ? HS_NEW : HS_MISSED;
	u64 missed = bits_take_both(t->id, brought, t->first, middle);
	t->brought = missed;
	t->unfilled = missed >> UNFILLED_SHIFT;
	if (middle < end)
		t->ahead = bits_back(t->id, brought, middle, end);
	return 0;
}

/* Takes what one waited for that did so many bytes, and finds its row's key. */
static __always_inline void settle_request(struct request *r, struct hs_row_key *key, u64 bytes)
{
	struct target *t = &r->target;
	take_pages(r, pages_of(t->pos, bytes));
	settle_memory(t, bytes);
	key->file = t->id;
	key->owner = r->owner;
}

/* One that came to nothing, or was refused. */
static __always_inline void count_undone(struct request *r, struct hs_row_key *key)
{
	struct hs_row *row = r->target.ahead ? row_by_key(key) : NULL;
	if (row)
		ATOMIC_ADD(&row->ra_pages, r->target.ahead);
}

/* A sync that fails was waited for like any other, but not one that was given up with the chain that it stands in. */
static __always_inline int came_to_nothing(const struct request *r, s64 result)
{
	return result < 0 && (!(r->what & REQUEST_SYNCS) || result == -ECANCELED);
}

static __always_inline int finish_request(struct request *r, struct hs_row_key *key, s64 result)
{
	struct target *t = &r->target;
	u64 ns = r->ns ? r->ns : bpf_ktime_get_ns() - r->start_ns;
	settle_request(r, key, result & ~(result >> 63)); /* none if it failed */
	if (came_to_nothing(r, result)) {
		count_undone(r, key);
		return 0;
	}
	struct hs_row *row = row_made(key);
	if (!row)
		return 0;
	if (r->what & REQUEST_SYNCS) {
		ATOMIC_ADD(&row->sync_calls, 1);
		ATOMIC_ADD(&row->sync_ns, ns);
	} else if ((t->flags & TARGET_DIRECT) && !(r->what & REQUEST_CACHED)) {
		count_direct(row, t, result, ns, r->what & REQUEST_WRITES);
		if (!(r->what & (REQUEST_BOOKED | REQUEST_TOLD)))
			book_bytes(row, r->what & REQUEST_WRITES ? REQ_OP_WRITE : REQ_OP_READ, result);
	} else if (r->what & REQUEST_WRITES) {
		count_write(row, t, result, ns, 0);
	} else {
		count_read(row, t, result, ns, r->what & REQUEST_WAITED ? COUNT_WAITED : 0);
	}
	return 0;
}

static __always_inline int finish_lookup(struct request *r, s64 result)
{
	int failed = result == -ENOENT || result == -ENOTDIR;
	struct hs_process *p = process_by_owner(r->owner);
	if (p)
		count_lookup(p, failed, bpf_ktime_get_ns() - r->start_ns, 0);
	if (failed)
		ATOMIC_ADD(&g.uring_paths, 1);
	struct task_state *s = known_state();
	if (s && !s->kind && (r->what & REQUEST_OPENS) && result >= 0 && s->owner == r->owner)
		opened(s, result, 0);
	return 0;
}
