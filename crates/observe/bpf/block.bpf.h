/* SPDX-License-Identifier: GPL-2.0 */
/* What the block layer is asked to move. */

#include "include/bio.bpf.h"

/* Writeback by a kernel thread belongs to whoever dirtied the file last. */
APART int book_writeback(u64 inode, u64 index, u32 bytes)
{
	struct hs_file_key key = file_key(inode);
	if (!cfg.live && !tracked[near_hash(key) & (TRACKED - 1)])
		return 0;
	struct hs_file *f = bpf_map_lookup_elem(&files, &key);
	if (!f || !f->last_writer.owner)
		return 0;
	struct hs_row_key owner = f->last_writer;
	struct hs_row *row = row_by_key(&owner);
	if (row)
		ATOMIC_ADD(&row->device_write_bytes, bytes);
	send_writeback(&owner, index << 12, bytes);
	return 0;
}

/* What a device is asked to move for a file of this task; `queued` has it recorded, where the chain of calls is short. */
static __always_inline void book_bytes_of(struct task_state *s, struct hs_row *row, struct target *t, u64 index, u32 op,
					  u32 bytes)
{
	book_bytes(row, op, bytes);
	if (!RECORD)
		return;
	REC(s)->moved = t->id;
	REC(s)->moved_pos = index << 12;
	REC(s)->moved_bytes = bytes;
}

/* Metadata of a file system, and what no file can be named for, stands under the device that it is on. */
APART int book_device(struct task_state *s, u64 bio, u32 op, u32 bytes)
{
	if (!s)
		return 0;
	struct target *t = &s->queued;
	no_target(t);
	if (bpf_core_field_exists(((struct bio *)0)->bi_bdev)) {
		struct block_device *device = BPF_CORE_READ((struct bio *)bio, bi_bdev);
		u64 inode;
		if (bpf_core_field_exists(((struct block_device *)0)->bd_inode))
			inode = (u64)BPF_CORE_READ(device, bd_inode);
		else
			inode = (u64)BPF_CORE_READ(device, bd_mapping, host);
		inode = NUMBER(&s->scratch, inode);
		if (!inode || target_of_inode(s, (void *)inode, t) != S_IFBLK)
			no_target(t);
	}
	struct hs_row *row = row_of(s, t, 0);
	if (row)
		book_bytes_of(s, row, t, 0, op, bytes);
	return 0;
}

/* Pages that were added last and are now read by other memory: compressed data. Which of them are zeros is not known. */
APART int fill_unnamed(struct task_state *s, struct hs_row *row)
{
	if (!s || !row || s->added_first > s->added_last)
		return 0;
	u64 first = s->added_first, last = s->added_last;
	s->added_first = 1;
	s->added_last = 0;
	bits_take(s->added, HS_UNFILLED, first, last + 1);
	if (s->kind && s->kind < HS_SYNC && same_file(&s->in.id, &s->added))
		s->in.unfilled = 0;
	else
		ATOMIC_ADD(&row->fault_filled, last - first + 1);
	if (RECORD && s->fault_inode)
		REC(s)->fault_filled += last - first + 1;
	else
		note_filled(s, last - first + 1, 0);
	return 0;
}

/*
 * A request with memory that belongs to no file, for data that is compressed or encrypted, or a table of the file system
 * that it does not mark as such: for the file whose pages the task added last, else for that of its call.
 */
APART int book_unnamed(struct task_state *s, u64 bio, u32 op, u32 bytes)
{
	if (!s)
		return 0;
	struct hs_row *row = NULL;
	struct target *t = &s->queued;
	u64 index = 0;
	if (op == REQ_OP_READ && s->added.ino) {
		no_target(t);
		t->id = s->added;
		index = s->added_first;
		row = row_of(s, t, 0);
		fill_unnamed(s, row);
	} else if (s->kind && s->kind <= HS_SYNC && s->in.inode) {
		t = &s->in;
		row = row_of(s, t, 0);
	} else {
		return book_device(s, bio, op, bytes);
	}
	if (row)
		book_bytes_of(s, row, t, index, op, bytes);
	return 0;
}

/* What a read fills, of the file that is queued; says how many pages of it faults brought in. */
APART u64 filled(struct task_state *s, u64 bio, u64 index)
{
	u64 inode = s ? s->queued.inode : 0;
	if (!s || !shows_zeros(inode, index))
		return 0;
	u32 faults = by_fault(s, inode), asks = !faults && s->kind && s->kind < HS_WRITE && s->in.inode == inode;
	struct bio_walk *w = &s->walk;
	*w = (struct bio_walk){ .id = s->queued.id, .ahead = !faults, .first = 1, .out_first = 1 };
	if (asks) {
		w->first = s->in.first;
		w->last = s->in.last;
		if (s->out.inode == inode) {
			w->out_first = s->out.first;
			w->out_last = s->out.last;
		}
	}
	/* Where blocks are smaller than a page, it may come in several requests, one after the other. */
	if (s->filled_inode == inode && s->filled_end == index + 1)
		w->begun = index + 1;
	walk_bio(w, bio, index);
	s->filled_inode = inode;
	s->filled_end = w->end;
	s->in.unfilled -= w->asked < s->in.unfilled ? w->asked : s->in.unfilled;
	/* The part that a copy writes to was read ahead, and not made by the copy. */
	u64 copied = w->copied < s->out.brought ? w->copied : s->out.brought;
	s->out.brought -= copied;
	s->in.ahead += copied;
	return faults ? w->pages : 0;
}

/* What the current call writes to, if it is this file and another than it reads. */
static __always_inline struct target *written(struct task_state *s, u64 inode)
{
	if (s->in.inode == inode)
		return s->kind >= HS_WRITE && s->kind <= HS_PWRITEV ? &s->in : NULL;
	return s->out.inode == inode && s->kind >= HS_SENDFILE && s->kind < HS_WRITE ? &s->out : NULL;
}

/* What a write has to read because it changes only a part of it, and the page of the old end, whose rest it fills with zeros.
 */
APART int read_for_write(struct task_state *s, u64 inode, u64 index, u32 bytes)
{
	struct target *t = s && !in_fault(s, inode) ? written(s, inode) : NULL;
	u32 pages = (bytes + 4095) >> 12;
	if (!t)
		return 0;
	if (overlap(index, index + pages - 1, t->first, t->last))
		t->modified += pages;
	else
		t->old_end += pages;
	return 0;
}

#define MISSED_SHIFT 32

/*
 * What is read for pages that a request of io_uring or Linux AIO is to write, and not by a fault: a write reads what it
 * needs, and nothing ahead. What is read ahead is another request's, which is under way as well, and no new page.
 */
APART u64 read_while_written(struct hs_row *row, struct hs_file_key *id, u64 bio, u64 index)
{
	if (!row || !id)
		return 0;
	u64 end = index + ((BPF_CORE_READ((struct bio *)bio, bi_iter.bi_size) + 4095) >> 12), pages;
	if (BPF_CORE_READ((struct bio *)bio, bi_opf) >> bpf_core_enum_value(enum req_flag_bits, __REQ_RAHEAD) & 1) {
		pages = bits_back(*id, HS_NEW, index, end);
		if (pages)
			ATOMIC_ADD(&row->ra_pages, pages);
		return (u32)pages;
	}
	pages = bits_take(*id, HS_WRITING, index, end);
	if (pages)
		ATOMIC_ADD(&row->write_misses, pages);
	return pages << MISSED_SHIFT;
}

/* Pages that a fault reads. Those of a folio that a write began to fill, and did not end to, are in the cache already. */
static __always_inline void count_filled(struct task_state *s, struct hs_row *row, u64 pages)
{
	if (!pages)
		return;
	u64 added = least(s->fault_added, pages);
	s->fault_added -= added;
	ATOMIC_ADD(&row->fault_filled, pages);
	if (added < pages)
		ATOMIC_ADD(&row->fault_pages, pages - added);
	if (RECORD && s->fault_inode) {
		REC(s)->fault_filled += pages;
		REC(s)->fault_pages += pages - added;
	} else {
		note_filled(s, pages, pages - added);
	}
}

/* Says whether it could: some file systems keep metadata in the pages of inodes of their own. */
static __always_inline int book_named(struct task_state *s, u64 bio, u64 inode, u64 index, u32 op)
{
	if (!s)
		return 0;
	struct target *t = &s->queued;
	u64 moved_for = 0;
	u32 bytes = BPF_CORE_READ((struct bio *)bio, bi_iter.bi_size);
	u32 type = target_of_inode(s, (void *)inode, t);
	if (!type)
		return 0;
	if (op == REQ_OP_WRITE && t->id.ino) {
		/* Pages of somebody else's that we happen to write back are his. */
		struct hs_file *f = bpf_map_lookup_elem(&files, &t->id);
		if (f && f->last_writer.owner && f->last_writer.owner != owner(s)) {
			book_writeback(inode, index, bytes);
			return 1;
		}
	}
	struct hs_row *row = row_of(s, t, 0);
	if (!row)
		return 1;
	if (RECORD && op == REQ_OP_READ && in_fault(s, inode)) {
		book_bytes(row, op, bytes);
		REC(s)->fault_device += bytes;
	} else {
		book_bytes_of(s, row, t, index, op, bytes);
	}
	if (op != REQ_OP_READ)
		return 1;
	if (type == S_IFREG) {
		read_for_write(s, inode, index, bytes);
		count_filled(s, row, filled(s, bio, index));
	}
	if ((!s->kind || s->kind == HS_AIO_SUBMIT) && *(volatile u32 *)hint_of(HS_WRITING, t->id) && !by_fault(s, inode))
		moved_for = read_while_written(row, &t->id, bio, index);
	if (RECORD)
		REC(s)->moved_for = moved_for;
	return 1;
}

static __always_inline int book_own(struct task_state *s, u64 bio, u32 op, u32 meta)
{
	if (!s)
		return 0;
	u64 index = 0;
	u32 user = 0, bytes = BPF_CORE_READ((struct bio *)bio, bi_iter.bi_size);
	u64 inode = bio_inode(s, bio, &index, op, &user);
	if (meta && bpf_core_field_exists(((struct bio *)0)->bi_bdev))
		return book_device(s, bio, op, bytes);
	/*
	 * Direct I/O of the current call. Its buffer may be a mapping of another file. What it writes may be the kernel's page
	 * of zeros; what goes through a pipe is in the kernel's own pages.
	 */
	struct target *direct = direct_target(s, op);
	u32 kernels = op == REQ_OP_WRITE || (s->kind >= HS_SENDFILE && s->kind < HS_WRITE);
	if (inode && book_named(s, bio, inode, index, op))
		return 0;
	if (direct && (user || kernels)) {
		struct hs_row *row = row_of(s, direct, 0);
		if (!direct_told(direct->inode))
			direct->direct += bytes;
		if (row)
			book_bytes_of(s, row, direct, direct->pos >> 12, op, bytes);
		return 0;
	}
	if (book_request(s, (u64)BPF_CORE_READ((struct bio *)bio, bi_private), op, bytes))
		return 0;
	/* Swapping is no I/O of a file. */
	return user ? 0 : book_unnamed(s, bio, op, bytes);
}

/*
 * A read that the kernel held back, by a limit of its control group, is sent by one of its threads: whose it is, and which
 * pages of whose call it fills, is not known.
 */
APART int delayed(u64 inode)
{
	if (!(LOAD(task_struct, CURRENT(), flags) & PF_KTHREAD))
		return 0;
	/* Its threads read tables of file systems for themselves. */
	if (type_of(inode) == S_IFREG && tracked[near_hash(file_key(inode)) & (TRACKED - 1)])
		ATOMIC_ADD(&g.delayed_reads, 1);
	return 0;
}

static __always_inline int queued(struct bio *bio)
{
	struct task_state *s = current_state();
	if (s)
		s->handled = HANDLED(s, bio, TAG_QUEUED);
	/*
	 * A stacked device sends clones of what was counted above it: these have no vectors of their own. Direct I/O whose
	 * memory comes as vectors, as from a pipe or from io_uring's registered buffers, is marked alike; so is that of the
	 * threads of loop devices.
	 */
	if ((BPF_CORE_READ(bio, bi_flags) & (1 << BIO_CLONED)) && (!s || !BPF_CORE_READ(bio, bi_vcnt)))
		return 0;
	u32 bytes = BPF_CORE_READ(bio, bi_iter.bi_size), flags = BPF_CORE_READ(bio, bi_opf), op = flags & 0xff;
	if (!bytes || op > REQ_OP_WRITE)
		return 0;
	if (s) {
		if (RECORD)
			REC(s)->moved_bytes = REC(s)->moved_for = 0;
		book_own(s, NUMBER(&s->scratch, bio), op, flags & REQ_META);
		if (RECORD && REC(s)->moved_bytes)
			note_moved(s, NUMBER(&s->scratch, bio), op);
		return 0;
	}
	u64 index = 0;
	u32 user = 0;
	u64 inode = bio_inode(NULL, number_of((void **)&bio), &index, op, &user);
	if (inode && op == REQ_OP_WRITE)
		book_writeback(inode, index, bytes);
	else if (inode)
		delayed(inode);
	else
		book_request(NULL, (u64)BPF_CORE_READ(bio, bi_private), op, bytes);
	return 0;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(bio_queued, struct bio *bio)
{
	return queued(bio);
}

/* Before 5.11 the queue came first. */
SEC("tp_btf/block_bio_queue")
int BPF_PROG(bio_queued_old, void *queue, struct bio *bio)
{
	return queued(bio);
}
