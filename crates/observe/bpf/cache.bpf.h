/* SPDX-License-Identifier: GPL-2.0 */
/* Pages that enter the cache, leave it, or turn dirty. */

/*
 * Whether a page that is added to this file is made of zeros where nothing is read for it: on file systems whose reads carry
 * the pages of the file. Where it can be small data kept beside the inode, it is not told.
 */
APART u32 shows_zeros(u64 inode, u64 first)
{
	if (!cfg.block_layer || !inode)
		return 0;
	u64 magic = LOAD(super_block, LOAD(inode, inode, i_sb), s_magic);
	u64 size = LOAD(inode, inode, i_size), blocks = LOAD(inode, inode, i_blocks);
	if (magic == XFS_SUPER_MAGIC)
		return 1;
	if (magic == EXT4_SUPER_MAGIC)
		return first || size >= 4096 || blocks;
	/* Of data beside the inode Btrfs counts the bytes: fewer than a block has, but for a whole page that is compressed. */
	u64 used = (blocks << 9) + LOAD(inode, inode, i_bytes);
	return magic == BTRFS_SUPER_MAGIC && (first || size > 4096 || !used || used >= 4096 + (size == 4096));
}

static __always_inline void mark_run(struct target *t, u64 start, u64 end, u32 zeros)
{
	if (zeros)
		bits_set_both(t->id, start, end);
	else
		bits_set(t->id, HS_AHEAD, start, end);
}

/* Remembers the pages of [first, last] outside of what was asked for as read ahead. */
APART int mark_ahead(struct target *t, u64 first, u64 last, u32 zeros)
{
	if (!t)
		return 0;
	if (t->first > t->last || last < t->first || first > t->last) {
		mark_run(t, first, last + 1, zeros);
		return 0;
	}
	if (first < t->first)
		mark_run(t, first, t->first, zeros);
	if (last > t->last)
		mark_run(t, t->last + 1, last + 1, zeros);
	return 0;
}

/* More gaps than are remembered count as added. */
static __always_inline void note_gap(struct task_state *s, const struct target *t, u64 from)
{
	u64 n = s->gaps, next = t->added_last + 1;
	if (t->added_first > t->added_last) {
		s->gaps = 0;
		return;
	}
	if (from <= next || n >= HS_GAPS)
		return;
	s->gap_first[n & (HS_GAPS - 1)] = next;
	s->gap_end[n & (HS_GAPS - 1)] = from;
	s->gaps = n + 1;
}

static __always_inline void added_for_read(struct task_state *s, u64 first, u64 n)
{
	struct target *t = &s->in;
	u64 asked = overlap(first, first + n - 1, t->first, t->last);
	u32 zeros = shows_zeros(t->inode, first);
	if (asked) {
		u64 from = first > t->first ? first : t->first;
		/* The count says how many, the marks which: not all may be used. */
		if (zeros) {
			t->unfilled += asked;
			bits_set(t->id, HS_UNFILLED, from, from + asked);
		}
		note_gap(s, t, from);
		if (from < t->added_first)
			t->added_first = from;
		if (from + asked - 1 > t->added_last)
			t->added_last = from + asked - 1;
	}
	t->brought += asked;
	t->ahead += n - asked;
	if (!cfg.live)
		t->gone += bits_take(t->id, HS_GONE, first, first + n);
	if (asked < n)
		mark_ahead(t, first, first + n - 1, zeros);
}

/* A write beyond the end of the file brings the page of the old end in too, to fill its rest with zeros. */
static __always_inline void added_for_write(struct target *t, u64 first, u64 n)
{
	u64 asked = overlap(first, first + n - 1, t->first, t->last);
	t->brought += asked;
	t->ahead += n - asked;
}

APART int added_by_fault(struct task_state *s, u64 first, u64 n)
{
	if (!s || !n)
		return 0;
	struct target *t = &s->unasked;
	t->inode = s->fault_inode;
	t->file = 0;
	t->id = s->fault_key.file;
	struct hs_row *row = row_of(s, t, 0);
	if (!row)
		return 0;
	ATOMIC_ADD(&row->fault_pages, n);
	u64 filled = shows_zeros(s->fault_inode, first) ? 0 : n;
	if (filled)
		ATOMIC_ADD(&row->fault_filled, n);
	else
		s->fault_added += n;
	if (RECORD) {
		REC(s)->fault_pages += n;
		REC(s)->fault_filled += filled;
	}
	if (!cfg.live)
		ATOMIC_ADD(&row->read_refaults, bits_take(t->id, HS_GONE, first, first + n));
	return 0;
}

/*
 * Whether the task entered the kernel by a fault and not by a system call: its saved orig_ax is -1 then. The registers
 * stand at the top of the kernel stack, 16 KiB on x86-64 (asm/page_64_types.h; KASAN kernels have larger ones).
 */
static __always_inline int entered_by_fault(struct task_state *s, struct task_struct *task)
{
	if (LOAD(task_struct, task, flags) & PF_IO_WORKER)
		return 0;
	u64 top = NUMBER(&s->scratch, LOAD(task_struct, task, stack)) + 16384;
	u64 regs = top - sizeof(struct pt_regs);
	return (s64)load_number(regs + __builtin_offsetof(struct pt_regs, orig_ax)) == -1;
}

static __always_inline int by_fault(struct task_state *s, u64 inode)
{
	if (in_fault(s, inode))
		return 1;
	if (s->kind && s->kind < HS_SYNC && s->in.inode == inode)
		return 0;
	return s->kind == HS_EXEC || s->kind == HS_EXECAT || entered_by_fault(s, CURRENT());
}

/* Pages that are the file's: some are added past its end and soon dropped, by Squashfs and before 5.11. */
static __always_inline u64 in_file(u64 inode, u64 first, u64 n)
{
	u64 pages = ((u64)LOAD(inode, inode, i_size) + 4095) >> 12;
	if (first >= pages)
		return 0;
	return n < pages - first ? n : pages - first;
}

/* No request of this task asked for these pages: io_uring, exec, an older kernel's fault, or a hint such as readahead(2). */
APART int added_unasked(struct task_state *s, u64 inode, u64 first, u64 n)
{
	if (!s)
		return 0;
	struct target *t = &s->unasked;
	if (target_of_inode(s, (void *)inode, t) != S_IFREG)
		return 0;
	/* A request that appends adds pages past the end. */
	u64 asked = 0, faults = by_fault(s, inode);
	if (!faults && *(volatile u32 *)hint_of(HS_WANTED, t->id))
		asked = bits_brought(t->id, first, first + n);
	n = in_file(inode, first, n);
	if (!n)
		return 0;
	struct hs_row *row = row_of(s, t, n);
	if (!row || s->kind == HS_FOREIGN)
		return 0;
	u32 zeros = shows_zeros(inode, first);
	if (faults) {
		ATOMIC_ADD(&row->fault_pages, n);
		if (!zeros)
			ATOMIC_ADD(&row->fault_filled, n);
		else
			s->fault_added += n;
		note_pages(s, &t->id, first, n, 0);
		note_filled(s, zeros ? 0 : n, 0);
		return 0;
	}
	if (zeros)
		bits_set(t->id, HS_UNFILLED, first, first + n);
	ATOMIC_ADD(&row->ra_pages, n > asked ? n - asked : 0);
	note_pages(s, &t->id, first, 0, n > asked ? n - asked : 0);
	if (!cfg.live)
		ATOMIC_ADD(&row->read_refaults, bits_take(t->id, HS_GONE, first, first + n));
	/* Pages that a request waits for are its misses; the rest may be used later. */
	if (asked < n)
		bits_set_others(t->id, first, first + n);
	return 0;
}

/* What is read from the device next without a name is for this file. */
APART int note_added(struct task_state *s, u64 inode, u64 first, u64 n)
{
	if (!s || !inode)
		return 0;
	u64 last = first + n - 1;
	s->filled_end = 0;
	struct hs_file_key id = file_key(inode);
	if (type_of(inode) != S_IFREG)
		return 0;
	if (!same_file(&s->added, &id) || s->added_first > s->added_last) {
		s->added = id;
		s->added_first = first;
		s->added_last = last;
		return 0;
	}
	if (first < s->added_first)
		s->added_first = first;
	if (last > s->added_last)
		s->added_last = last;
	return 0;
}

/* Those of a regular file are told where they are asked for. */
RECORDS int told_added(struct task_state *s, u64 inode, u64 first, u64 n)
{
	if (!s || !inode || type_of(inode) != S_IFREG)
		return 0;
	struct hs_file_key key = file_key(inode);
	send_pages(&key, owner(s), HS_CALL_PAGES_IN, first, n);
	return 0;
}

/* The pages of a folio that a copy within one file writes to; 0 where it reads any of them. */
static __always_inline u64 in_copy(struct task_state *s, u64 first, u64 n)
{
	if (s->out.inode != s->in.inode || overlap(first, first + n - 1, s->in.first, s->in.last))
		return 0;
	return overlap(first, first + n - 1, s->out.first, s->out.last);
}

/* Pages of a file that was seen, which somebody else brings in. */
static __always_inline int added_by_others(struct folio *folio)
{
	u64 *slot = number_slot();
	if (!slot)
		return 0;
	hold_cpu();
	u64 inode = NUMBER(slot, LOAD(address_space, folio_mapping(folio), host));
	release_cpu();
	struct hs_file_key key = file_key(inode);
	if (tracked[near_hash(key) & (TRACKED - 1)])
		send_pages(&key, 0, HS_CALL_PAGES_IN, folio_index(folio), folio_pages(folio));
	return 0;
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(page_added, struct folio *folio)
{
	struct task_state *s = current_state();
	if (!s)
		return RECORD_PAGES ? added_by_others(folio) : 0;
	s->handled = HANDLED(s, folio, TAG_ADDED);
	u64 inode = NUMBER(&s->scratch, LOAD(address_space, folio_mapping(folio), host));
	u64 first = folio_index(folio), n = folio_pages(folio);
	u32 kind = s->kind;
	note_added(s, inode, first, n);
	if (RECORD_PAGES && inode)
		told_added(s, inode, first, n);
	u32 faults = in_fault(s, inode);
	if (kind && kind < HS_SYNC && !faults) {
		if (s->in.inode == inode) {
			u64 copied = in_copy(s, first, n);
			if (copied) {
				/* A folio that is read ahead may reach further. */
				s->out.brought += copied;
				s->in.ahead += n - copied;
			} else if (kind >= HS_WRITE) {
				added_for_write(&s->in, first, n);
			} else if (in_file(inode, first, n)) {
				added_for_read(s, first, in_file(inode, first, n));
			}
			return 0;
		}
		if (s->out.inode == inode) {
			added_for_write(&s->out, first, n);
			return 0;
		}
	}
	if (!inode)
		return 0;
	if (faults)
		added_by_fault(s, first, in_file(inode, first, n));
	else
		added_unasked(s, inode, first, n);
	return 0;
}

/*
 * A read that drops its pages as soon as they are used (RWF_DONTCACHE): these were read ahead and asked for. Not so where
 * the task looks for memory meanwhile.
 */
APART u64 dropped_after_use(u64 inode, const struct hs_file_key *id, u64 first, u64 n)
{
	struct task_state *s = known_state();
	if (!s || !id || !s->kind || s->kind >= HS_WRITE || s->in.inode != inode)
		return 0;
	if (LOAD(task_struct, CURRENT(), flags) & PF_MEMALLOC)
		return 0;
	struct target *t = &s->in;
	u64 start = first > t->first ? first : t->first, end = first + n;
	if (end > t->last + 1)
		end = t->last + 1;
	if (start >= end)
		return 0;
	u64 taken = bits_take_both(*id, HS_AHEAD, start, end);
	t->used += (u32)taken;
	t->used_zeros += taken >> UNFILLED_SHIFT;
	return 0;
}

/* The kernel is not short of memory: posix_fadvise, drop_caches, direct I/O over cached pages, holes, madvise. */
APART int count_dropped(struct hs_file *f, u64 pages)
{
	struct task_struct *task = CURRENT();
	struct task_state *s = known_state();
	if (!f || ((LOAD(task_struct, task, flags) & PF_MEMALLOC) && (!s || s->kind != HS_PAGEOUT)))
		return 0;
	ATOMIC_ADD(&f->dropped, pages);
	if (s)
		ATOMIC_ADD(&f->dropped_by_run, pages);
	return 0;
}

SEC("tp_btf/mm_filemap_delete_from_page_cache")
int BPF_PROG(page_deleted, struct folio *folio)
{
	u64 *slot = number_slot();
	if (!slot)
		return 0;
	hold_cpu();
	u64 inode = NUMBER(slot, LOAD(address_space, folio_mapping(folio), host));
	release_cpu();
	struct hs_file_key key = file_key(inode);
	if (!cfg.live && !tracked[near_hash(key) & (TRACKED - 1)])
		return 0;
	u64 first = folio_index(folio), n = folio_pages(folio);
	if (RECORD_PAGES)
		send_pages(&key, 0, HS_CALL_PAGES_OUT, first, n);
	if (*(volatile u32 *)hint_of(HS_AHEAD, key))
		dropped_after_use(inode, &key, first, n);
	u64 wasted = bits_take(key, HS_AHEAD, first, first + n);
	/* Truncated or unlinked pages were not evicted; their file is gone. */
	u64 size_pages = ((u64)LOAD(inode, inode, i_size) + 4095) >> 12;
	u64 evicted = LOAD(inode, inode, __i_nlink) && first < size_pages ? n : 0;
	if (cfg.live) {
		if (evicted)
			ATOMIC_ADD(&g.evicted, evicted);
		else if (SAMPLING && tracked[near_hash(key) & (TRACKED - 1)])
			sample_pages(0, &key, first, n, HS_REFERENCE_REMOVED);
		return 0;
	}
	if (evicted)
		bits_set(key, HS_GONE, first, first + n);
	if (!wasted && !evicted)
		return 0;
	struct hs_file *f = file_entry(&key);
	if (f) {
		ATOMIC_ADD(&f->evicted, evicted);
		ATOMIC_ADD(&f->wasted, wasted);
		if (evicted)
			count_dropped(f, evicted);
	}
	return 0;
}

/* What a call writes turned dirty: it goes through the cache. */
static __always_inline void dirtied_by_call(struct task_state *s, u64 inode, u64 first, u64 n)
{
	struct target *t = s->out.inode == inode ? &s->out : &s->in;
	if (t->inode == inode && overlap(first, first + n - 1, t->first, t->last))
		t->flags |= TARGET_DIRTIED;
}

static __always_inline int dirtied(void *folio)
{
	struct task_state *s = current_state();
	if (!s)
		return 0;
	s->handled = HANDLED(s, folio, TAG_DIRTIED);
	u64 inode = NUMBER(&s->scratch, LOAD(address_space, folio_mapping(folio), host));
	struct target *t = &s->unasked;
	if (!inode || target_of_inode(s, (void *)inode, t) != S_IFREG)
		return 0;
	if (s->kind && s->in.inode == inode)
		t->file = s->in.file;
	else if (s->kind && s->out.inode == inode)
		t->file = s->out.file;
	u64 first = folio_index(folio), n = folio_pages(folio);
	if (s->kind && s->kind < HS_SYNC)
		dirtied_by_call(s, inode, first, n);
	else if ((!s->kind || s->kind == HS_AIO_SUBMIT) &&
		 LOAD(super_block, LOAD(inode, inode, i_sb), s_magic) == BTRFS_SUPER_MAGIC)
		bits_take(t->id, HS_WRITING, first, first + n);
	struct hs_row *row = row_of(s, t, 0);
	if (row)
		ATOMIC_ADD(&row->write_dirtied, n);
	struct hs_file *f = file_entry(&t->id);
	if (f && f->last_writer.owner != s->owner) {
		f->last_writer.file = t->id;
		f->last_writer.owner = s->owner;
	}
	return 0;
}

SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(folio_dirtied, struct folio *folio)
{
	return dirtied(folio);
}

/* Before 5.18. */
SEC("tp_btf/writeback_dirty_page")
int BPF_PROG(page_dirtied, struct page *page)
{
	return dirtied(page);
}
