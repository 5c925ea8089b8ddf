/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page faults on file mappings. A fault first tries to map cached neighbours (mm_filemap_map_pages: done), else it looks
 * for its page (mm_filemap_fault) and may have to read it; the fault is then retried. Whatever it does, it is counted once.
 * One that fails, as past the end of the file, leaves its number to the next: that one is told by another page or file.
 */

/* Says whether it was not counted before. */
static __always_inline int count_fault(struct task_state *s, struct target *t, u64 number)
{
	if (s->fault_counted == number && s->fault_counted_inode == t->inode)
		return 0;
	struct hs_row *row = row_of(s, t, 0);
	if (!row)
		return 0;
	s->fault_counted = number;
	s->fault_counted_inode = t->inode;
	ATOMIC_ADD(&row->faults, 1);
	return 1;
}

/* A fault that maps cached neighbours may go on to look for its page: it is told once it is known not to. */
static __always_inline void keep_around(struct task_state *s, struct target *t, u64 start, u64 end)
{
	REC(s)->around.file = t->id;
	REC(s)->around.owner = s->owner;
	REC(s)->around_first = start;
	REC(s)->around_pages = end + 1 - start;
	REC(s)->around_ns = bpf_ktime_get_ns();
	pend(s, 1);
	REC(s)->around_site = site_of_cached_fault(s);
}

/* Before the next fault: one that went on to look for its page, and is counted, is no fault of its own. */
RECORDS int end_around(struct task_state *s, int fresh)
{
	if (!RECORD || !s || !REC(s)->around_ns)
		return 0;
	if (fresh) {
		send_around(s);
	} else {
		REC(s)->around_ns = 0;
		pend(s, -1);
	}
	return 0;
}

/* A reference to the page that it looks for. Which of the neighbours that others map was asked for, no event tells. */
static __always_inline void sample_fault(struct task_state *s, struct target *t, u64 index)
{
	struct hs_process *p = SAMPLING ? process_of(s) : NULL;
	if (!p)
		return;
	ATOMIC_ADD(&p->referring_faults, 1);
	sample_pages(s->owner, &t->id, index, 1, HS_REFERENCE_FAULT);
}

SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(fault_lookup, struct address_space *mapping, unsigned long index)
{
	struct task_state *s = current_state();
	if (!s)
		return 0;
	u64 inode = NUMBER(&s->scratch, LOAD(address_space, mapping, host)), number = fault_number();
	s->handled = HANDLED_FAULT(number, TAG_LOOKUP);
	if (s->fault_inode == inode && s->fault_number == number && s->fault_index == index)
		return 0; /* a later pass */
	struct target *t = &s->unasked;
	if (!inode || !target_of_inode(s, (void *)inode, t))
		return 0;
	int fresh = count_fault(s, t, number);
	if (RECORD)
		end_around(s, fresh);
	if (s->fault_inode)
		settle_fault(s, LOAD(task_struct, CURRENT(), maj_flt));
	s->fault_inode = inode;
	s->fault_number = number;
	s->fault_index = index;
	s->fault_added = 0;
	s->fault_before = LOAD(task_struct, CURRENT(), maj_flt);
	if (RECORD) {
		REC(s)->fault_pages = REC(s)->fault_filled = REC(s)->fault_device = 0;
		pend(s, 1);
		REC(s)->fault_site = site_of_task(s);
	}
	s->fault_key.owner = owner(s);
	s->fault_key.file = t->id;
	bits_take(t->id, HS_AHEAD, index, index + 1);
	sample_fault(s, t, index);
	s->fault_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/mm_filemap_map_pages")
int BPF_PROG(fault_around, struct address_space *mapping, unsigned long start, unsigned long end)
{
	struct task_state *s = current_state();
	if (!s)
		return 0;
	u64 inode = NUMBER(&s->scratch, LOAD(address_space, mapping, host)), number = fault_number();
	s->handled = HANDLED_FAULT(number, TAG_AROUND);
	struct target *t = &s->unasked;
	if (!inode || !target_of_inode(s, (void *)inode, t))
		return 0;
	bits_take(t->id, HS_AHEAD, start, end + 1);
	if (s->fault_inode == inode && s->fault_number == number && start <= s->fault_index && s->fault_index <= end)
		return 0; /* a later pass of the fault that read the page */
	if (s->fault_inode)
		settle_fault(s, LOAD(task_struct, CURRENT(), maj_flt));
	if (count_fault(s, t, number) && RECORD) {
		if (REC(s)->around_ns)
			send_around(s);
		keep_around(s, t, start, end);
	}
	return 0;
}

/* The software event "major fault" fires at its end, once. */
SEC("perf_event")
int major_fault_end(void *ctx)
{
	struct task_state *s = known_state_plain();
	if (!s || !s->fault_inode)
		return 0;
	/* By now the kernel has counted it. Another number: a swap-in after a fault on a file, and not that file's. */
	struct task_struct *task = CURRENT();
	u64 majors = BPF_CORE_READ(task, maj_flt);
	if (BPF_CORE_READ(task, min_flt) + majors != s->fault_number) {
		settle_fault(s, majors - 1);
		return 0;
	}
	struct hs_row *row = row_by_key(&s->fault_key);
	if (row) {
		ATOMIC_ADD(&row->major_faults, 1);
		ATOMIC_ADD(&row->fault_ns, bpf_ktime_get_ns() - s->fault_ns);
	}
	if (RECORD) {
		pend(s, -1);
		send_fault(s, &s->fault_key, HS_CALL_MAJOR_FAULT, s->fault_index << 12, 4096);
	}
	s->fault_inode = 0;
	return 0;
}
