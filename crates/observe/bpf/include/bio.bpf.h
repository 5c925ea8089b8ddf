/* SPDX-License-Identifier: GPL-2.0 */
/* The pages that a request to the block layer carries. */
#ifndef HOTSET_BIO_H
#define HOTSET_BIO_H

#include "account.bpf.h"

#define BIO_USER 1u /* memory of a program */

/* A vector of a request: where its memory begins, and how much it is. */
struct bio_vector {
	u64 page;
	u32 len, offset;
};

static __always_inline u64 page_bytes(void)
{
	return bpf_core_type_size(struct page);
}

static __always_inline struct bio_vector vector_of(u64 vectors, u64 n)
{
	struct bio_vector v = {};
	bpf_probe_read_kernel(&v, sizeof(v), (void *)(vectors + n * sizeof(v)));
	v.page += (v.offset >> 12) * page_bytes();
	v.offset &= 4095;
	return v;
}

/* The folio that a page is a part of. */
static __always_inline u64 head_of(u64 page)
{
	u64 head = 0;
	if (bpf_core_field_exists(((struct page *)0)->compound_head))
		head = BPF_CORE_READ((struct page *)page, compound_head);
	else if (bpf_core_field_exists(((struct page *)0)->compound_info))
		head = BPF_CORE_READ((struct page *)page, compound_info);
	return head & 1 ? head - 1 : page;
}

static __always_inline u64 index_in_file(u64 page, u64 head)
{
	u64 index = 0, size = page_bytes();
	bpf_probe_read_kernel(&index, sizeof(index), (void *)(head + index_offset()));
	return index + (size ? (page - head) / size : 0);
}

/* What the current call reads or writes past the cache. */
static __always_inline struct target *direct_target(struct task_state *s, u32 op)
{
	if (!s)
		return NULL;
	if (s->kind >= HS_SENDFILE && s->kind < HS_WRITE && op == REQ_OP_WRITE)
		return s->out.inode && (s->out.flags & TARGET_DIRECT) ? &s->out : NULL;
	if (!s->in.inode || !(s->in.flags & TARGET_DIRECT))
		return NULL;
	return (s->kind && s->kind < HS_SYNC) || s->kind == HS_AIO_SUBMIT ? &s->in : NULL;
}

/*
 * Whether a page that the cache holds is only the memory that direct I/O uses: a mapped file, or memory that is shared. Then
 * the block layer has pinned it; before 6.5, which does not say so, it is up to date before it is read, or is written without
 * being under writeback, which journals of data do as well.
 */
static __always_inline int is_buffer(struct task_state *s, struct bio *bio, u64 page, u32 op)
{
	if (BPF_CORE_READ(bio, bi_flags) & (1 << BIO_PAGE_PINNED))
		return 1;
	u64 flags = 0;
	bpf_probe_read_kernel(&flags, sizeof(flags), (void *)page);
	if (op == REQ_OP_READ)
		return (flags >> (cfg.pg_uptodate & 63)) & 1;
	return direct_target(s, op) && !((flags >> (cfg.pg_writeback & 63)) & 1);
}

/* The inode whose cached page a request begins with, and which page; 0 for other memory, and whether that is a program's. */
APART u64 bio_inode(struct task_state *s, u64 bio_address, u64 *index, u32 op, u32 *user)
{
	struct bio *bio = (struct bio *)bio_address;
	if (!index || !user)
		return 0;
	struct bio_vector v = vector_of((u64)BPF_CORE_READ(bio, bi_io_vec), 0);
	if (!v.page)
		return 0;
	u64 head = head_of(v.page), mapping = 0, flags = 0;
	bpf_probe_read_kernel(&mapping, sizeof(mapping), (void *)(head + mapping_offset()));
	bpf_probe_read_kernel(&flags, sizeof(flags), (void *)head);
	*user = flags >> bpf_core_enum_value(enum pageflags, PG_swapbacked) & 1 ? BIO_USER : 0;
	/* Memory that can be swapped, shared memory too, is no file's on a device. A page that its file lost is still a
	 * program's. */
	if (!mapping || (mapping & 3) || *user) {
		if (mapping || BPF_CORE_READ(bio, bi_flags) & (1 << BIO_PAGE_PINNED))
			*user = BIO_USER;
		return 0;
	}
	/* Memory of other kinds keeps other things there. */
	u64 inode = (u64)BPF_CORE_READ((struct address_space *)mapping, host);
	if (!inode || (u64)BPF_CORE_READ((struct inode *)inode, i_mapping) != mapping)
		return 0;
	/* Metadata, in the pages of a block device, is read and written a piece of a page at a time. */
	u16 type = BPF_CORE_READ((struct inode *)inode, i_mode) & S_IFMT;
	if (type == S_IFREG && is_buffer(s, bio, head, op)) {
		*user = BIO_USER;
		return 0;
	}
	*index = index_in_file(v.page, head);
	return inode;
}

/* Pages that follow one another, of a copy within the file at most a folio: all or none of it are read for the call. */
APART_OR_INLINE int fill(struct bio_walk *w, u64 start, u64 end)
{
	if (!w || start >= end)
		return 0;
	if (w->begun == start + 1)
		start++;
	w->pages += end - start;
	w->asked += overlap(start, end - 1, w->first, w->last);
	if (!w->ahead)
		return 0;
	bits_take(w->id, HS_UNFILLED, start, end);
	u64 copied = overlap(start, end - 1, w->out_first, w->out_last);
	if (copied && !overlap(start, end - 1, w->first, w->last)) {
		w->copied += copied;
		bits_set(w->id, HS_AHEAD, start, end);
	}
	return 0;
}

/* One folio, or the part of it that a vector covers; neighbours in memory need not be neighbours in the file. */
static __always_inline long walk_step(struct bio_walk *w)
{
	if (!w->left) {
		if (w->at >= w->count)
			return 1;
		struct bio_vector v = vector_of(w->vectors, w->at++);
		w->page = v.page;
		w->left = (u64)v.len + v.offset;
	}
	u64 head = head_of(w->page), size = page_bytes(), index = index_in_file(w->page, head);
	u64 pages = folio_pages((void *)head) - (size ? (w->page - head) / size : 0);
	u64 wanted = (w->left + 4095) >> 12;
	if (pages > wanted || !pages)
		pages = wanted;
	fill(w, index, index + pages);
	w->page += pages * size;
	w->left = pages << 12 < w->left ? w->left - (pages << 12) : 0;
	return 0;
}

#ifndef HOTSET_COMPAT
struct walk_context {
	struct bio_walk *walk;
};

static long walk_callback(u32 i, struct walk_context *context)
{
	return walk_step(context->walk);
}
#endif

#ifdef HOTSET_COMPAT
/* Without a walk along the vectors: pages of zeros between these count as read. */
static __noinline int fill_around(struct bio_walk *w, u64 start, u64 end)
{
	if (!w)
		return 0;
	u64 first = w->first > start ? w->first : start, after = w->last < end ? w->last + 1 : end;
	fill(w, start, first < end ? first : end);
	fill(w, first, after);
	fill(w, after > start ? after : start, end);
	return 0;
}
#endif

/* All pages of a request, which begins with page `index` of the file. */
static __always_inline int walk_bio(struct bio_walk *w, u64 bio_address, u64 index)
{
	struct bio *bio = (struct bio *)bio_address;
	if (!w)
		return 0;
	w->vectors = (u64)BPF_CORE_READ(bio, bi_io_vec);
	w->count = BPF_CORE_READ(bio, bi_vcnt);
	u64 bytes = vector_of(w->vectors, 0).offset + (u64)BPF_CORE_READ(bio, bi_iter.bi_size);
	struct bio_vector end = vector_of(w->vectors, (w->count - 1) & 0xffff);
	u64 last_page = end.page + ((end.offset + (u64)end.len - 1) >> 12) * page_bytes();
	u64 last = index_in_file(last_page, head_of(last_page));
	w->end = last + 1;
	/* As many pages as lie between the first and the last: these. */
	u32 copies = w->out_first <= w->out_last;
	if (!copies && last - index + 1 == (bytes + 4095) >> 12) {
		fill(w, index, last + 1);
		return 0;
	}
#ifdef HOTSET_COMPAT
	fill_around(w, index, last + 1);
#else
	struct walk_context context = { w };
	bpf_loop(65536, walk_callback, &context, 0);
#endif
	return 0;
}

#endif
