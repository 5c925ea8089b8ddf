/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page faults on file mappings. A fault first tries to map cached neighbours (mm_filemap_map_pages: done), else it looks
 * for its page (mm_filemap_fault) and may have to read it; the fault is then retried, and its second pass is not counted.
 */

static __always_inline struct hs_row *fault_row(struct task_state *s, u64 inode)
{
	struct target t = {};
	if (!inode || !target_of_inode(s, (void *)inode, &t))
		return NULL;
	return row_of(s, &t, 0);
}

SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(fault_lookup, struct address_space *mapping, unsigned long index)
{
	struct task_state *s = current_state();
	if (!s)
		return 0;
	struct task_struct *task = CURRENT();
	u64 inode = NUMBER(&s->scratch, LOAD(address_space, mapping, host));
	u64 switches = LOAD(task_struct, task, nvcsw);
	if (s->fault_inode == inode && s->fault_index == index && (s->fault_major || s->fault_switches != switches))
		return 0;
	struct target t = {};
	if (!inode || !target_of_inode(s, (void *)inode, &t))
		return 0;
	struct hs_row *row = row_of(s, &t, 0);
	if (row)
		ATOMIC_ADD(&row->faults, 1);
	s->fault_inode = inode;
	s->fault_index = index;
	s->fault_switches = switches;
	s->fault_major = 0;
	s->fault_key.tgid = s->tgid;
	s->fault_key.dev = t.dev;
	s->fault_key.ino = t.ino;
	bits_take(t.ino, t.dev, HS_AHEAD, index, index + 1);
	s->fault_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/mm_filemap_map_pages")
int BPF_PROG(fault_around, struct address_space *mapping, unsigned long start, unsigned long end)
{
	struct task_state *s = current_state();
	if (!s)
		return 0;
	u64 inode = NUMBER(&s->scratch, LOAD(address_space, mapping, host));
	struct target t = {};
	if (!inode || !target_of_inode(s, (void *)inode, &t))
		return 0;
	bits_take(t.ino, t.dev, HS_AHEAD, start, end + 1);
	u64 switches = LOAD(task_struct, CURRENT(), nvcsw);
	if (s->fault_inode == inode && s->fault_index >= start && s->fault_index <= end &&
	    (s->fault_major || s->fault_switches != switches))
		return 0; /* the second pass of the fault that read the page */
	s->fault_inode = 0;
	struct hs_row *row = row_of(s, &t, 0);
	if (row)
		ATOMIC_ADD(&row->faults, 1);
	return 0;
}

/* The software event "major fault" fires at its end, once. */
SEC("perf_event")
int major_fault_end(void *ctx)
{
	struct task_state *s = known_state_plain();
	if (!s || !s->fault_inode)
		return 0;
	struct hs_row *row = row_by_key(&s->fault_key);
	if (row) {
		ATOMIC_ADD(&row->major_faults, 1);
		ATOMIC_ADD(&row->fault_ns, bpf_ktime_get_ns() - s->fault_ns);
	}
	s->fault_inode = 0;
	s->fault_major = 0;
	return 0;
}
