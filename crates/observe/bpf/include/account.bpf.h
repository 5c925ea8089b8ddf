/* SPDX-License-Identifier: GPL-2.0 */
/* What a finished request adds to its row. */
#ifndef HOTSET_ACCOUNT_H
#define HOTSET_ACCOUNT_H

#include "bits.bpf.h"
#include "memory.bpf.h"
#include "op.bpf.h"
#include "sample.bpf.h"
#include "site.bpf.h"

/*
 * Buckets by powers of four: 16, 64, 256, 1K … 16M, more. A difference's top bit says whether a bound was passed. None is
 * beyond the last; the mask is for the verifier, which does not count them.
 */
static __always_inline u32 bucket(u64 bytes)
{
	u64 b = 0;
#pragma unroll
	for (u32 i = 0; i < HS_HISTOGRAM_BUCKETS - 1; i++)
		b += ((16ULL << (2 * i)) - bytes) >> 63;
	barrier_value(b);
	return b & 15;
}

/* What each call adds to its row; its time to the counter at `time`. */
#define ADD_CALL(add, row, side, t, bytes, pages, in_order, size, time, ns) \
	do { \
		add(&(row)->side##_calls, 1); \
		add(&(row)->side##_bytes, bytes); \
		add(&(row)->side##_pages, pages); \
		add(&(row)->side##_histogram[size], 1); \
		add(&(row)->side##_sequential, in_order); \
		add(time, ns); \
	} while (0)

/* The same by additions that nobody else's come between, where others may add at once. */
#define COUNT_CALL(alone, row, side, t, bytes, pages, time, ns) \
	do { \
		u32 _size = bucket(bytes); \
		u64 _in_order = 1 + if_any((row)->side##_next ^ (t)->pos); \
		if (alone) \
			ADD_CALL(PLAIN_ADD, row, side, t, bytes, pages, _in_order, _size, time, ns); \
		else \
			ADD_CALL(ATOMIC_ADD, row, side, t, bytes, pages, _in_order, _size, time, ns); \
		(row)->side##_next = (t)->pos + (bytes); \
	} while (0)

static __always_inline u64 overlap(u64 a_first, u64 a_last, u64 b_first, u64 b_last)
{
	u64 first = a_first > b_first ? a_first : b_first;
	u64 last = a_last < b_last ? a_last : b_last;
	return first <= last ? last - first + 1 : 0;
}

/* The file's own position after the call tells where it began, also where another thread moved it before. */
static __always_inline void settle_position(struct target *t, u64 bytes)
{
	if (!(t->flags & TARGET_USES_POSITION) || !bytes)
		return;
	u64 after = LOAD(file, t->file, f_pos);
	if (after >= bytes)
		t->pos = after - bytes;
}

/* Marks what the call added for its read, from a page on, as read ahead: says how many as bits_set_left() does. */
APART u64 mark_left(struct task_state *s, u64 from)
{
	if (!s)
		return 0;
	struct target *t = &s->in;
	u64 marked = 0;
	for (u32 i = 0; i < HS_GAPS; i++) {
		if (i >= s->gaps)
			break;
		u64 gap = s->gap_first[i], end = s->gap_end[i];
		marked += bits_set_left(t->id, from, gap);
		if (from < end)
			from = end;
	}
	return marked + bits_set_left(t->id, from, t->added_last + 1);
}

/* A call that ended short leaves pages behind that nobody has asked for yet: they are read ahead. */
static __always_inline void settle_short(struct task_state *s, u64 bytes)
{
	struct target *t = &s->in;
	u64 next = (t->pos >> 12) + pages_of(t->pos, bytes);
	if (!t->brought || t->added_last < next)
		return;
	u64 from = next > t->added_first ? next : t->added_first;
	u64 marked = mark_left(s, from), left = (u32)marked, zeros = marked >> UNFILLED_SHIFT;
	if (left > t->brought)
		left = t->brought;
	t->brought -= left;
	t->ahead += left;
	t->unfilled -= zeros < t->unfilled ? zeros : t->unfilled;
	if (t->unfilled > t->brought)
		t->unfilled = t->brought;
}

/*
 * The number of the fault under way. The kernel counts a fault when it is complete, so all passes of one have the same:
 * mapping cached neighbours, looking for its own page, waiting for that, and starting over.
 */
static __always_inline u64 fault_number(void)
{
	struct task_struct *task = CURRENT();
	return LOAD(task_struct, task, min_flt) + LOAD(task_struct, task, maj_flt) + 1;
}

/* Whether a fault on a mapping of this file is under way, also within a call that uses the mapping as its memory. */
static __always_inline int in_fault(struct task_state *s, u64 inode)
{
	return inode && s->fault_inode == inode && s->fault_number == fault_number();
}

/* One that ended unseen is a minor fault, or was as many major ones. */
static __always_inline void send_faults(struct task_state *s, u64 majors)
{
	u64 call = (majors ? HS_CALL_MAJOR_FAULT : HS_CALL_FAULT) | OP_FLAGS(HS_OP_NO_TIME);
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		if (i && i >= majors)
			break;
		send_fault(s, &s->fault_key, call, s->fault_index << 12, 4096);
	}
}

/*
 * A fault that the kernel makes for the program, as when it fills a mapping at once (MADV_POPULATE_READ), has no event at its
 * end: who comes next finds how many major faults the task has had until then. More than one, where the page was there but
 * not as it was needed, so that the kernel tried again: it was cleaned before it could be written to.
 */
APART int settle_fault(struct task_state *s, u64 majors)
{
	if (!s)
		return 0;
	u64 had = s->fault_inode && majors > s->fault_before ? majors - s->fault_before : 0;
	struct hs_row *row = had ? row_by_key(&s->fault_key) : NULL;
	if (row) {
		ATOMIC_ADD(&row->major_faults, had);
		if (had > 1)
			ATOMIC_ADD(&row->faults, had - 1);
	}
	if (RECORD && s->fault_inode) {
		pend(s, -1);
		send_faults(s, had);
	}
	s->fault_inode = 0;
	return 0;
}

#define COUNT_WAITED 1u
#define COUNT_ALONE 2u

/* Pages among the misses and the read-ahead hits that nothing was read for: a hole, or space that was never written. */
APART u64 zeros_of(const struct target *t, u64 missed, u64 ahead, u64 ahead_zeros)
{
	/* A delayed read may be seen after its page is used. */
	if (!t || g.delayed_reads)
		return 0;
	u64 zeros = t->unfilled < missed ? t->unfilled : missed;
	ahead_zeros += t->used_zeros;
	return zeros + (ahead_zeros < ahead ? ahead_zeros : ahead);
}

/*
 * The counter that the time of a read goes to: whether it missed, or waited. The last mask takes nothing away; it is for the
 * verifiers of 5.10 and 6.1, to whom two numbers joined by OR can be any.
 */
static __always_inline u64 *read_time(struct hs_row *row, u64 missed, u64 waited)
{
	const u64 hit = __builtin_offsetof(struct hs_row, hit_ns);
	const u64 miss = __builtin_offsetof(struct hs_row, miss_ns) - hit;
	const u64 wait = __builtin_offsetof(struct hs_row, wait_ns) - hit;
	u64 at = (missed & miss) | (waited & ~missed & wait);
	barrier_value(at);
	return (u64 *)((void *)&row->hit_ns + (at & (miss | wait)));
}

APART_OR_INLINE int count_read(struct hs_row *row, struct target *t, u64 bytes, u64 ns, u32 how)
{
	if (!row || !t)
		return 0;
	sample_request(row, t, bytes, HS_REFERENCE_READ);
	u64 pages = pages_of(t->pos, bytes), first = t->pos >> 12;
	u64 missed = least(t->brought, pages), zeros = 0;
	u64 taken = bits_take_both(t->id, HS_AHEAD, first, first + pages);
	u64 ahead = least((u32)taken + t->used, pages - missed);
	/* First what is a part of the pages: who reads the pages first and then these never sees a part that is larger. */
	if (missed | ahead | t->gone | t->ahead | t->brought) {
		ATOMIC_ADD(&row->read_misses, missed);
		ATOMIC_ADD(&row->read_ra_hits, ahead);
		zeros = zeros_of(t, missed, ahead, taken >> UNFILLED_SHIFT);
		if (zeros)
			ATOMIC_ADD(&row->read_zeros, zeros);
		if (t->unfilled)
			bits_counted(t->id, t->added_first, t->added_last + 1);
		ATOMIC_ADD(&row->read_refaults, t->gone);
		ATOMIC_ADD(&row->ra_pages, t->ahead + (t->brought - missed));
	}
	if (RECORD) {
		TOLD(t)->counted = pages;
		TOLD(t)->missed = missed;
		TOLD(t)->ahead_hits = ahead;
		TOLD(t)->zeros = zeros;
		TOLD(t)->read_ahead = t->ahead + (t->brought - missed);
	}
	u64 *time = read_time(row, if_less(zeros, missed), if_any(how & COUNT_WAITED));
	COUNT_CALL(how & COUNT_ALONE, row, read, t, bytes, pages, time, ns);
	return 0;
}

APART_OR_INLINE int count_write(struct hs_row *row, struct target *t, u64 bytes, u64 ns, u32 how)
{
	if (!row || !t)
		return 0;
	sample_request(row, t, bytes, HS_REFERENCE_WRITE);
	u64 pages = pages_of(t->pos, bytes);
	COUNT_CALL(how & COUNT_ALONE, row, write, t, bytes, pages, &row->write_ns, ns);
	if (t->brought | t->ahead | t->modified | t->old_end) {
		u64 created = t->brought;
		/* It began elsewhere than was thought, after another writer had appended: what was added there is its own. */
		if ((t->pos >> 12) != t->first)
			created += t->ahead;
		ATOMIC_ADD(&row->write_new, least(created, pages));
		/* Both ends of one page are read apart where blocks are smaller than pages. */
		ATOMIC_ADD(&row->write_misses, least(t->modified, pages) + t->old_end);
		if (RECORD) {
			TOLD(t)->created = least(created, pages);
			TOLD(t)->missed = least(t->modified, pages) + t->old_end;
		}
	}
	if (RECORD)
		TOLD(t)->counted = pages;
	return 0;
}

APART_OR_INLINE int count_direct(struct hs_row *row, const struct target *t, u64 bytes, u64 ns, u32 writes)
{
	if (!row || !t)
		return 0;
	ATOMIC_ADD(&row->direct_ns, ns);
	if (writes) {
		ATOMIC_ADD(&row->direct_write_calls, 1);
		ATOMIC_ADD(&row->direct_write_bytes, bytes);
		return 0;
	}
	ATOMIC_ADD(&row->direct_read_calls, 1);
	ATOMIC_ADD(&row->direct_read_bytes, bytes);
	/* Whole pages only: a smaller piece read twice says nothing about its neighbours. */
	u64 start = (t->pos + 4095) >> 12, end = (t->pos + bytes) >> 12;
	if (start < end && !cfg.live) {
		u64 fresh = bits_set(t->id, HS_DIRECT, start, end), again = (end - start - fresh) << 12;
		if (again) {
			ATOMIC_ADD(&row->direct_reread_bytes, again);
			/* ns * again / bytes, which a long call could not hold; again is at most bytes. */
			ATOMIC_ADD(&row->direct_reread_ns, ns / bytes * again + ns % bytes * again / bytes);
		}
	}
	return 0;
}

/* Pages that were read ahead, and nothing else of a request. */
static __always_inline void add_ahead(struct hs_row *row, struct target *t, u64 pages)
{
	ATOMIC_ADD(&row->ra_pages, pages);
	if (RECORD)
		TOLD(t)->read_ahead = pages;
}

static __always_inline void book_bytes(struct hs_row *row, u32 op, u32 bytes)
{
	if (op == REQ_OP_READ)
		ATOMIC_ADD(&row->device_read_bytes, bytes);
	else
		ATOMIC_ADD(&row->device_write_bytes, bytes);
}

static __always_inline void count_sync(struct task_state *s, u64 ns)
{
	struct hs_row *row = row_of(s, &s->in, 0);
	if (row) {
		ATOMIC_ADD(&row->sync_calls, 1);
		ATOMIC_ADD(&row->sync_ns, ns);
	}
}

#endif
