/* SPDX-License-Identifier: GPL-2.0 */
/* Children and threads are followed from their creation on; io_uring's workers too, which sched_process_fork does not show. */

SEC("tp_btf/task_newtask")
int BPF_PROG(task_new, struct task_struct *child, u64 clone_flags)
{
	struct task_state *parent = current_state();
	if (!parent)
		return 0;
	u32 tgid = LOAD(task_struct, child, tgid);
#ifdef HOTSET_COMPAT
	struct task_state *s = new_state(LOAD(task_struct, child, pid), tgid);
#else
	struct task_state *s = bpf_task_storage_get(&tasks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
#endif
	if (!s) {
		ATOMIC_ADD(&g.tasks_lost, 1);
		return 0;
	}
	s->tgid = tgid;
	if (cfg.live)
		return 0; /* an owner is made when it first does something */
	if (clone_flags & CLONE_THREAD) {
		s->owner = owner(parent);
		return 0;
	}
	u32 made = owner(s);
	union scratch *sc = get_scratch(0);
	if (!sc)
		return 0;
	hold_cpu();
	struct hs_task_event *e = &sc->task;
	e->type = HS_EVENT_FORK;
	e->argv_len = 0;
	e->pid = tgid;
	e->ppid = parent->tgid;
	e->exit_code = 0;
	e->owner = made;
	e->time_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	send_event(e, __builtin_offsetof(struct hs_task_event, argv), sizeof(*e));
	release_cpu();
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(task_exec, struct task_struct *task, s32 old_pid)
{
#ifdef HOTSET_COMPAT
	/* A thread that executes takes the number of its process's first thread, and its state with it. */
	u32 tid = bpf_get_current_pid_tgid(), old = old_pid;
	struct task_state *moved = old != tid ? bpf_map_lookup_elem(&tasks, &old) : NULL;
	if (moved) {
		if (bpf_map_update_elem(&tasks, &tid, moved, BPF_ANY))
			ATOMIC_ADD(&g.tasks_lost, 1);
		bpf_map_delete_elem(&tasks, &old);
	}
#endif
	struct task_state *s = current_state();
	if (!s)
		return 0;
	s->handled = HANDLED(s, task, TAG_EXEC);
	if (cfg.live) {
		struct hs_process *p = process_by_owner(s->owner);
		if (p)
			describe(p, task);
		return 0;
	}
	u32 runs = owner(s);
	/* The program itself was opened by the kernel: name it, for its pages come up in faults only. */
	void *mm = LOAD(task_struct, task, mm);
	struct target t = {};
	struct hs_row *row = resolve_file(s, NUMBER(&s->scratch, LOAD(mm_struct, mm, exe_file)), &t) ? row_of(s, &t, 0) : NULL;
	/* A fault of the kernel came before, and named it by some link to its inode. */
	if (row && t.inode && !row->named) {
		row->named = 1;
		send_first(t.inode, t.file, s->tgid, 0);
	}
	union scratch *sc = get_scratch(0);
	if (!sc)
		return 0;
	hold_cpu();
	struct hs_task_event *e = &sc->task;
	u64 start = LOAD(mm_struct, mm, arg_start), length = LOAD(mm_struct, mm, arg_end) - start;
	if (length >= HS_ARGV_MAX)
		length = HS_ARGV_MAX - 1;
	barrier_value(length);
	length &= HS_ARGV_MAX - 1;
	e->type = HS_EVENT_EXEC;
	e->argv_len = bpf_probe_read_user(e->argv, length, (void *)start) ? 0 : length;
	e->pid = s->tgid;
	e->ppid = 0;
	e->exit_code = 0;
	e->owner = runs;
	e->time_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	send_event(e, __builtin_offsetof(struct hs_task_event, argv) + e->argv_len, sizeof(*e));
	release_cpu();
	return 0;
}

/* The last thread ends: from now on the number may be another's. */
static __always_inline void end_process(u32 tgid)
{
	bpf_map_delete_elem(&roots, &tgid);
	u32 *known = bpf_map_lookup_elem(&process_index, &tgid);
	if (!known)
		return;
	struct hs_process *p = process_by_owner(*known);
	bpf_map_delete_elem(&process_index, &tgid);
	if (p)
		p->ended = 1;
}

static __always_inline int is_last(struct task_struct *task)
{
	return LOAD(signal_struct, LOAD(task_struct, task, signal), live.counter) == 0;
}

/* A task without a state may be the last thread of a process that has an owner. */
static __always_inline void exit_live(struct task_struct *task)
{
	if (is_last(task))
		end_process(LOAD(task_struct, task, tgid));
}

/* What a recording was not sent of a task that ends. */
RECORDS int end_record(struct task_state *s)
{
	if (!RECORD || !s)
		return 0;
	if (REC(s)->around_ns)
		send_around(s);
	if (REC(s)->beside_ns)
		send_beside(s);
	void *ring = op_ring();
	if (ring && REC(s)->lost)
		tell_lost(s, ring);
	return 0;
}

static __always_inline void exit_run(struct task_state *s, struct task_struct *task)
{
	if (RECORD)
		end_record(s);
	struct hs_process *p = process_of(s);
	if (p) {
		ATOMIC_ADD(&p->minor_faults, LOAD(task_struct, task, min_flt));
		ATOMIC_ADD(&p->major_faults, LOAD(task_struct, task, maj_flt));
	}
	union scratch *sc = get_scratch(0);
	if (!sc || !is_last(task))
		return;
	hold_cpu();
	struct hs_task_event *e = &sc->task;
	s32 group = LOAD(signal_struct, LOAD(task_struct, task, signal), group_exit_code);
	e->type = HS_EVENT_EXIT;
	e->argv_len = 0;
	e->pid = s->tgid;
	e->ppid = 0;
	e->exit_code = group ? group : LOAD(task_struct, task, exit_code);
	e->owner = s->owner;
	e->time_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	send_event(e, __builtin_offsetof(struct hs_task_event, argv), sizeof(*e));
	release_cpu();
	end_process(s->tgid);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exit, struct task_struct *task)
{
	struct task_state *s = cfg.live ? known_state() : current_state();
	/* No call of its own comes first where it was killed, or is a worker of io_uring. */
	if (s && s->fault_inode)
		settle_fault(s, LOAD(task_struct, task, maj_flt));
	if (cfg.live) {
		exit_live(task);
	} else if (s) {
		s->handled = HANDLED(s, task, TAG_EXIT);
		exit_run(s, task);
	}
#ifdef HOTSET_COMPAT
	u32 tid = bpf_get_current_pid_tgid();
	bpf_map_delete_elem(&tasks, &tid);
#endif
	return 0;
}
