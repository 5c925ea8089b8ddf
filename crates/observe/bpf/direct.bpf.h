/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What goes past the cache of what is asked for with O_DIRECT: the file system may serve all or the end of it from the cache
 * all the same, as ext4 does with data=journal and Btrfs with compressed data. Ext4, XFS and Btrfs have iomap do their direct
 * I/O, whose beginning and end have tracepoints since Linux 6.5.
 */

#include "include/bio.bpf.h"

/* Whether these tell all of this file's. */
static __always_inline u32 direct_told(u64 inode)
{
	if (!cfg.direct_told)
		return 0;
	u64 magic = LOAD(super_block, LOAD(inode, inode, i_sb), s_magic);
	return magic == EXT4_SUPER_MAGIC || magic == XFS_SUPER_MAGIC || magic == BTRFS_SUPER_MAGIC;
}

static __always_inline u32 on_btrfs(u64 inode)
{
	return LOAD(super_block, LOAD(inode, inode, i_sb), s_magic) == BTRFS_SUPER_MAGIC;
}

/*
 * Whether requests to the device can be told to be for direct I/O of this file: where iomap makes them, and no file system
 * lies above that has a request of its own.
 */
static __always_inline u32 device_told(const struct target *t)
{
	if (!bpf_core_field_exists(((struct iomap_dio *)0)->iocb) || (u64)LOAD(file, t->file, f_inode) != t->inode)
		return 0;
	u64 magic = LOAD(super_block, LOAD(inode, t->inode, i_sb), s_magic);
	return magic == EXT4_SUPER_MAGIC || magic == XFS_SUPER_MAGIC ? REQUEST_TOLD : 0;
}

/* The pages that it waits for, so that who adds them knows (request.bpf.h). */
static __always_inline void mark_pages(struct request *r)
{
	struct target *t = &r->target;
	bits_set(t->id, HS_WANTED, t->first, t->last + 1);
	if (r->what & REQUEST_WRITES)
		r->marked = bits_set(t->id, HS_WRITING, t->first, t->last + 1);
}

/*
 * Of a request with O_DIRECT, what is known of it before it begins. Where it may go through the cache its pages are marked:
 * always on Btrfs, which chooses by what the data is and, before 6.5, for writes only, as marks that are taken when pages
 * turn dirty tell; on other file systems until a request for the file was seen to try to go past the cache.
 */
APART u32 direct_kind(struct request *r)
{
	struct target *t = r ? &r->target : NULL;
	if (!t || !(t->flags & TARGET_DIRECT))
		return 0;
	u32 kind = device_told(t), btrfs = on_btrfs(t->inode), asks = t->first <= t->last;
	u32 layer = (u64)LOAD(file, t->file, f_inode) != t->inode;
	if (!direct_told(t->inode) || (layer && !bpf_core_field_exists(((struct backing_aio *)0)->orig_iocb)))
		return kind | (btrfs && asks && (r->what & REQUEST_WRITES) ? REQUEST_EITHER : 0);
	struct hs_row_key key = { .file = t->id, .owner = r->owner };
	struct hs_row *row = btrfs ? NULL : row_by_key(&key);
	return kind | REQUEST_IOMAP | (asks && !(row && row->past_cache) ? REQUEST_EITHER : 0);
}

static __always_inline struct request *request_by_iocb(u32 owner, u64 iocb)
{
	struct request_key key = { .id = iocb, .kind = REQUEST_URING };
	struct request *r = bpf_map_lookup_elem(&requests, &key);
	if (r || !owner || !bpf_core_field_exists(((struct aio_kiocb *)0)->ki_res))
		return r;
	key.id = BPF_CORE_READ((struct aio_kiocb *)iocb, ki_res.obj);
	key.owner = owner;
	key.kind = REQUEST_AIO;
	return bpf_map_lookup_elem(&requests, &key);
}

/*
 * The request that an iocb of the kernel is for: those of io_uring and of Linux AIO begin with it. Overlayfs asks the layer by
 * another, which leads to it. None for calls, which wait for theirs. Those of Linux AIO are an owner's.
 */
static __always_inline struct request *request_of(u32 owner, u64 iocb)
{
	if (!BPF_CORE_READ((struct kiocb *)iocb, ki_complete))
		return NULL;
	struct request *r = request_by_iocb(owner, iocb);
	if (r || !bpf_core_field_exists(((struct backing_aio *)0)->orig_iocb))
		return r;
	return request_by_iocb(owner, (u64)BPF_CORE_READ((struct backing_aio *)iocb, orig_iocb));
}

/* The owner of requests of Linux AIO that are submitted just now. */
static __always_inline u32 submitter(struct task_state *s)
{
	return s && s->kind == HS_AIO_SUBMIT ? s->owner : 0;
}

/* What a device is asked for a request. */
static __always_inline void note_request(struct request *r, u32 op, u32 bytes)
{
	if (!RECORD)
		return;
	if (op == REQ_OP_READ)
		TOLD(&r->target)->device_read += bytes;
	else
		TOLD(&r->target)->device_write += bytes;
}

/* Books what the device is asked for direct I/O to the request that it is for, which may be served by another task. */
APART int book_request(struct task_state *s, u64 dio, u32 op, u32 bytes)
{
	if (!bpf_core_field_exists(((struct iomap_dio *)0)->iocb))
		return 0;
	struct request *r = request_of(s ? s->owner : 0, (u64)BPF_CORE_READ((struct iomap_dio *)dio, iocb));
	if (!r || !(r->what & REQUEST_TOLD))
		return 0;
	struct hs_row_key row_key = { .file = r->target.id, .owner = r->owner };
	struct hs_row *row = row_made(&row_key);
	if (row)
		book_bytes(row, op, bytes);
	note_request(r, op, bytes);
	return 1;
}

/* What a device was asked for: by the call under way, by a request of Linux AIO that it submits, or by nobody who waits. */
RECORDS int note_moved(struct task_state *s, u64 bio, u32 op)
{
	if (!RECORD || !s)
		return 0;
	struct request *r = NULL;
	if (s->kind == HS_AIO_SUBMIT && s->in.inode && same_file(&s->in.id, &REC(s)->moved) &&
	    bpf_core_field_exists(((struct iomap_dio *)0)->iocb) && device_told(&s->in)) {
		u64 dio = (u64)BPF_CORE_READ((struct bio *)bio, bi_private);
		r = request_of(s->owner, (u64)BPF_CORE_READ((struct iomap_dio *)dio, iocb));
	}
	if (r)
		note_request(r, op, REC(s)->moved_bytes);
	else
		note_device(s, &REC(s)->moved, REC(s)->moved_pos, op, REC(s)->moved_bytes);
	/* Of requests that are under way, whose records come later. */
	if (REC(s)->moved_for && REC(s)->beside_ns) {
		TOLD(&REC(s)->beside)->read_ahead += (u32)REC(s)->moved_for;
		TOLD(&REC(s)->beside)->missed += REC(s)->moved_for >> 32;
	}
	return 0;
}

/*
 * Of a request that did so many bytes, those that went past the cache: all, where its end was not seen. That of Linux AIO is
 * looked for only within the call; that of io_uring may come in an interrupt in the middle of this program for a task, which
 * the kernel then skips. What goes on through the cache has its end in the task that serves it.
 */
static __always_inline u64 past_cache(const struct request *r, u64 bytes)
{
	if (!(r->what & REQUEST_IOMAP))
		return r->what & REQUEST_CACHED ? 0 : bytes;
	return r->what & REQUEST_PAST || r->past > bytes ? bytes : r->past;
}

/* Whether requests for its file seem to go past the cache, so that those of this owner need no marks. */
static __always_inline void note_past_cache(const struct request *r, u32 past)
{
	struct hs_row_key key = { .file = r->target.id, .owner = r->owner };
	struct hs_row *row = row_made(&key);
	if (row)
		row->past_cache = past;
}

APART int direct_begins(struct task_state *s, u64 iocb, u32 writes)
{
	u32 owner = submitter(s);
	struct request *r = request_of(owner, iocb);
	u64 from = BPF_CORE_READ((struct kiocb *)iocb, ki_pos);
	if (s) {
		s->direct_iocb = iocb;
		s->direct_from = from;
		s->direct_op = writes ? REQ_OP_WRITE : REQ_OP_READ;
	}
	if (!r)
		return 0;
	if (r->iocb != iocb) {
		r->iocb = iocb;
		r->from = from;
		r->past = 0;
	}
	r->what |= REQUEST_PAST;
	if ((r->what & REQUEST_EITHER) && !on_btrfs(r->target.inode))
		note_past_cache(r, 1);
	return 0;
}

/* What is left of a request goes through the cache. */
static __always_inline void goes_on_in_cache(struct request *r)
{
	r->what &= ~REQUEST_PAST;
	if (!(r->what & REQUEST_IOMAP) || (r->what & REQUEST_EITHER))
		return;
	r->what |= REQUEST_EITHER;
	mark_pages(r);
}

/*
 * One that fails does nothing more through the cache. What ext4 then reads, to fill the rest of the block where the file ends,
 * is for no write. Btrfs tries again.
 */
static __always_inline void gives_up(struct request *r)
{
	struct target *t = &r->target;
	if (!(r->what & REQUEST_EITHER) || on_btrfs(t->inode))
		return;
	r->what &= ~REQUEST_EITHER;
	bits_take(t->id, HS_WANTED, t->first, t->last + 1);
	bits_take(t->id, HS_WRITING, t->first, t->last + 1);
}

/* What went past the cache is what the position went on by. */
APART int direct_ends(struct task_state *s, u64 iocb, s32 error)
{
	struct request *r = request_of(submitter(s), iocb);
	u64 end = BPF_CORE_READ((struct kiocb *)iocb, ki_pos);
	u32 here = s && s->direct_iocb == iocb;
	if (here)
		s->direct_iocb = 0;
	if (r && r->iocb == iocb) {
		r->past = end - r->from;
		r->what &= ~REQUEST_PAST;
		if (error && error != -EAGAIN)
			gives_up(r);
		else if (here && !error && end >> 12 <= r->target.last)
			goes_on_in_cache(r);
		return 0;
	}
	/* What a request leaves behind is no call's, though its iocb may be where the call's is. */
	struct target *t = here && !BPF_CORE_READ((struct kiocb *)iocb, ki_complete) ? direct_target(s, s->direct_op) : NULL;
	if (t && t->inode == (u64)BPF_CORE_READ((struct kiocb *)iocb, ki_filp, f_inode))
		t->direct += end - s->direct_from;
	return 0;
}

/* A number, without memory that is the task's or the CPU's. */
static __always_inline u64 number_of(void **at)
{
	u64 number = 0;
	bpf_probe_read_kernel(&number, sizeof(number), at);
	return number;
}

SEC("tp_btf/iomap_dio_rw_begin")
int BPF_PROG(direct_begun, void *iocb, struct iov_iter *iter)
{
	struct task_state *s = current_state();
	direct_begins(s, number_of(&iocb), BPF_CORE_READ(iter, data_source));
	return 0;
}

SEC("tp_btf/iomap_dio_complete")
int BPF_PROG(direct_ended, void *iocb, int error)
{
	struct task_state *s = known_state();
	direct_ends(s, number_of(&iocb), error);
	return 0;
}

/* Pages of the range stay cached: nothing is asked for past the cache, and no end follows. */
SEC("tp_btf/iomap_dio_invalidate_fail")
int BPF_PROG(direct_given_up, void *inode)
{
	struct task_state *s = known_state();
	struct request *r = s && s->direct_iocb ? request_of(submitter(s), s->direct_iocb) : NULL;
	if (r)
		goes_on_in_cache(r);
	return 0;
}
