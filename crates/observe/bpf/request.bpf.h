/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests that outlive the call that submits them: io_uring's and those of Linux AIO. Whoever adds pages that one waits
 * for, they are its misses: the pages stand in HS_WANTED from submission, move to HS_MISSED when added, and are taken at
 * completion. What a write waits for stands in HS_WRITING too, and moves to HS_NEW; reads from the device for such pages are
 * its misses, but for what is read ahead (block.bpf.h).
 */

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

static __always_inline void start_request(struct task_state *s, struct request *r, const struct request_key *key)
{
	struct target *t = &r->target;
	t->flags &= ~TARGET_USES_POSITION;
	r->start_ns = bpf_ktime_get_ns();
	r->ns = r->iocb = r->past = 0;
	r->open = 1;
	r->owner = owner(s);
	if (RECORD) {
		r->tid = bpf_get_current_pid_tgid();
		r->site = site_of_task(s);
	}
	if (has_file(r))
		r->what |= direct_kind(r);
	if (has_marks(r))
		mark_pages(r);
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
		add_ahead(row, &r->target, r->target.ahead);
}

/* A sync that fails was waited for like any other, but not one that was given up with the chain that it stands in. */
static __always_inline int came_to_nothing(const struct request *r, s64 result)
{
	return result < 0 && (!(r->what & REQUEST_SYNCS) || result == -ECANCELED);
}

/* With O_DIRECT: each part as what it is, first what went past the cache. */
static __always_inline int finish_direct(struct request *r, struct hs_row *row, u64 bytes, u64 ns)
{
	struct target *t = &r->target;
	u32 writes = r->what & REQUEST_WRITES;
	u64 past = past_cache(r, bytes), cached = bytes - past;
	if (cached && !(r->what & (REQUEST_EITHER | REQUEST_CACHED))) {
		/* Which pages it brought in nobody saw. */
		note_past_cache(r, 0);
		ATOMIC_ADD(&g.requests_lost, 1);
		return 0;
	}
	if (past || !bytes) {
		count_direct(row, t, past, ns, writes);
		if (!(r->what & (REQUEST_BOOKED | REQUEST_TOLD))) {
			book_bytes(row, writes ? REQ_OP_WRITE : REQ_OP_READ, past);
			note_request(r, writes ? REQ_OP_WRITE : REQ_OP_READ, past);
		}
		ns = 0;
	}
	t->pos += past;
	if (!cached)
		add_ahead(row, t, t->ahead);
	else if (writes)
		count_write(row, t, cached, ns, 0);
	else
		count_read(row, t, cached, ns, r->what & REQUEST_WAITED ? COUNT_WAITED : 0);
	t->pos -= past;
	return 0;
}

static __always_inline int finish_request(struct request *r, struct hs_row_key *key, s64 result)
{
	struct target *t = &r->target;
	u64 ns = r->ns ? r->ns : bpf_ktime_get_ns() - r->start_ns;
	u64 bytes = result & ~(result >> 63); /* none if it failed */
	/* Pages that come beside what goes past the cache are somebody else's. */
	settle_request(r, key, (r->what & REQUEST_IOMAP) && past_cache(r, bytes) == bytes ? 0 : bytes);
	if (came_to_nothing(r, result)) {
		count_undone(r, key);
		send_request(r, result, ns);
		return 0;
	}
	struct hs_row *row = row_made(key);
	if (!row)
		return 0;
	if (r->what & REQUEST_SYNCS) {
		ATOMIC_ADD(&row->sync_calls, 1);
		ATOMIC_ADD(&row->sync_ns, ns);
	} else if (t->flags & TARGET_DIRECT) {
		finish_direct(r, row, result, ns);
	} else if (r->what & REQUEST_WRITES) {
		count_write(row, t, result, ns, 0);
	} else {
		count_read(row, t, result, ns, r->what & REQUEST_WAITED ? COUNT_WAITED : 0);
	}
	send_request(r, result, ns);
	return 0;
}

static __always_inline int finish_lookup(struct request *r, s64 result)
{
	int failed = result == -ENOENT || result == -ENOTDIR;
	count_lookup(process_by_owner(r->owner), failed, bpf_ktime_get_ns() - r->start_ns, 0);
	if (cfg.live)
		return 0;
	if (failed)
		ATOMIC_ADD(&g.uring_paths, 1);
	if (RECORD) {
		r->target.id = (struct hs_file_key){};
		r->target.file = 0;
	}
	struct task_state *s = known_state();
	if (s && !s->kind && (r->what & REQUEST_OPENS) && result >= 0 && s->owner == r->owner) {
		opened(s, result, 0);
		/* What it made stands in its record; the path that was asked for is gone by now. */
		if (RECORD && s->in.inode) {
			r->target.id = s->in.id;
			r->target.file = s->in.file;
		}
	}
	send_request(r, result, bpf_ktime_get_ns() - r->start_ns);
	return 0;
}
