/* SPDX-License-Identifier: GPL-2.0 */
/* What the block layer is asked to move. */

/* Whether the current call reads or writes past the cache. */
static __always_inline int is_direct_call(struct task_state *s)
{
	if (!s || !s->in.inode || !(s->in.flags & TARGET_DIRECT))
		return 0;
	return (s->kind && s->kind < HS_SYNC) || s->kind == HS_AIO_SUBMIT;
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
	return is_direct_call(s) && !((flags >> (cfg.pg_writeback & 63)) & 1);
}

/* The inode whose cached page a request reads or writes, and which page; 0 for memory of a program (direct I/O). */
static __always_inline u64 bio_inode(struct task_state *s, struct bio *bio, u64 *index, u32 op)
{
	u64 page = load_pointer((u64)LOAD(bio, bio, bi_io_vec)), head = 0;
	if (!page)
		return 0;
	if (bpf_core_field_exists(((struct page *)0)->compound_head))
		head = BPF_CORE_READ((struct page *)page, compound_head);
	else if (bpf_core_field_exists(((struct page *)0)->compound_info))
		head = BPF_CORE_READ((struct page *)page, compound_info);
	if (head & 1)
		page = head - 1;
	u64 mapping = 0;
	bpf_probe_read_kernel(&mapping, sizeof(mapping), (void *)(page + mapping_offset()));
	if (!mapping || (mapping & 3))
		return 0;
	bpf_probe_read_kernel(index, sizeof(*index), (void *)(page + index_offset()));
	u64 inode = (u64)BPF_CORE_READ((struct address_space *)mapping, host);
	/* Metadata, in the pages of a block device, is read and written a piece of a page at a time. */
	u16 type = BPF_CORE_READ((struct inode *)inode, i_mode) & S_IFMT;
	return type == S_IFREG && is_buffer(s, bio, page, op) ? 0 : inode;
}

/* Writeback by a kernel thread belongs to whoever dirtied the file last. */
static __noinline int book_writeback(u64 inode, u32 bytes)
{
	struct hs_file_key key = file_key(inode);
	if (!cfg.live && !tracked[file_hash(key) & (TRACKED - 1)])
		return 0;
	struct hs_file *f = bpf_map_lookup_elem(&files, &key);
	if (!f || !f->last_writer.owner)
		return 0;
	struct hs_row_key owner = f->last_writer;
	struct hs_row *row = row_by_key(&owner);
	if (row)
		ATOMIC_ADD(&row->device_write_bytes, bytes);
	return 0;
}

static __noinline int book_own(struct task_state *s, u64 inode, u64 index, u32 op, u32 bytes)
{
	struct target t = {};
	if (!s)
		return 0;
	if (!inode) {
		/* Direct I/O of the current call; io_uring's is booked at completion. */
		if (is_direct_call(s)) {
			struct hs_row *row = row_of(s, &s->in, 0);
			if (row)
				book_bytes(row, op, bytes);
		}
		return 0;
	}
	if (s->kind >= HS_WRITE && s->kind <= HS_PWRITEV && s->in.inode == inode && op == REQ_OP_READ)
		s->in.modified += (bytes + 4095) >> 12;
	if (!target_of_inode(s, (void *)inode, &t))
		return 0;
	if (op == REQ_OP_WRITE && t.id.ino) {
		/* Pages of somebody else's that we happen to write back are his. */
		struct hs_file *f = bpf_map_lookup_elem(&files, &t.id);
		if (f && f->last_writer.owner && f->last_writer.owner != owner(s)) {
			book_writeback(inode, bytes);
			return 0;
		}
	}
	struct hs_row *row = row_of(s, &t, 0);
	if (!row)
		return 0;
	book_bytes(row, op, bytes);
	if (op == REQ_OP_READ && (!s->kind || s->kind == HS_AIO_SUBMIT) && *(volatile u32 *)hint_of(HS_WRITING, t.id)) {
		u64 modified = bits_take(t.id, HS_WRITING, index, index + ((bytes + 4095) >> 12));
		if (modified)
			ATOMIC_ADD(&row->write_misses, modified);
	}
	return 0;
}

static __always_inline int queued(struct bio *bio)
{
	struct task_state *s = current_state();
	if (s)
		s->handled = HANDLED(s, bio, TAG_QUEUED);
	/* A stacked device sends clones of what was counted above it. */
	if (BPF_CORE_READ(bio, bi_flags) & (1 << BIO_CLONED))
		return 0;
	u32 bytes = BPF_CORE_READ(bio, bi_iter.bi_size), op = BPF_CORE_READ(bio, bi_opf) & 0xff;
	if (!bytes || op > REQ_OP_WRITE)
		return 0;
	u64 index = 0, inode = bio_inode(s, bio, &index, op);
	if (s)
		book_own(s, inode, index, op, bytes);
	else if (inode && op == REQ_OP_WRITE)
		book_writeback(inode, bytes);
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
