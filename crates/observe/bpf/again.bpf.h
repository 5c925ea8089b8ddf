/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From Linux 7.0 on a task can be preempted in the middle of a program, and until it goes on the kernel skips that program
 * for all other tasks of the CPU (prog->active, kernel/trace/bpf_trace.c). So each program stands behind others on its
 * tracepoint that do its work where it was skipped, by a tail call, which nothing skips. A program leaves in `handled` what
 * it was called for; where the next finds that, nothing is left to do. An event is lost only where as many tasks of one CPU
 * as there are programs were preempted in one each, and that is counted (Loaded::skipped()).
 */
#ifndef HOTSET_COMPAT

#define PROGRAM_TO_RUN(program) \
	struct { \
		__uint(type, BPF_MAP_TYPE_PROG_ARRAY); \
		__uint(max_entries, 1); \
		__type(key, u32); \
		__type(value, u32); \
	} program##_to_run SEC(".maps")

/* One more program `program_again<n>`; `open` says whether the work is still to be done, with the program's arguments. */
#define AGAIN(n, point, program, open, ...) \
	SEC("tp_btf/" point) \
	int BPF_PROG(program##_again##n, __VA_ARGS__) \
	{ \
		if (open) \
			bpf_tail_call(ctx, &program##_to_run, 0); \
		return 0; \
	}

static __always_inline int enter_is_open(long id)
{
	u32 number = (u64)id < HS_SYSCALLS ? cfg.kinds[id & (HS_SYSCALLS - 1)] : 0;
	if (!number)
		return 0;
	if (number == HS_I386 && !(LOAD(task_struct, CURRENT(), thread_info.status) & TS_COMPAT))
		return 0;
	struct task_state *s = current_state();
	return s && s->handled != HANDLED_ENTER;
}

static __always_inline int exit_is_open(void)
{
	struct task_state *s = known_state();
	if (!s)
		return 0;
	if (s->kind)
		return 1;
	s->handled = 0;
	return 0;
}

static __always_inline int request_is_open(u64 req)
{
	struct request_key key = { .id = req, .kind = REQUEST_URING };
	return bpf_map_lookup_elem(&requests, &key) != NULL;
}

static __always_inline int is_open(const void *what, u32 tag)
{
	struct task_state *s = current_state();
	return s && s->handled != HANDLED(s, what, tag);
}

static __always_inline int child_is_open(struct task_struct *child)
{
	return current_state() && !bpf_task_storage_get(&tasks, child, 0, 0);
}

static __always_inline int fault_is_open(u32 tag)
{
	struct task_state *s = current_state();
	return s && s->handled != HANDLED_FAULT(fault_number(), tag);
}

PROGRAM_TO_RUN(sys_enter);
PROGRAM_TO_RUN(sys_exit);
PROGRAM_TO_RUN(page_added);
PROGRAM_TO_RUN(folio_dirtied);
PROGRAM_TO_RUN(bio_queued);
PROGRAM_TO_RUN(fault_lookup);
PROGRAM_TO_RUN(fault_around);
PROGRAM_TO_RUN(task_new);
PROGRAM_TO_RUN(task_exec);
PROGRAM_TO_RUN(task_exit);
PROGRAM_TO_RUN(uring_submit);
PROGRAM_TO_RUN(uring_complete);

#define SYSTEM_CALLS(n) \
	AGAIN(n, "sys_enter", sys_enter, enter_is_open(id), struct pt_regs *regs, long id) \
	AGAIN(n, "sys_exit", sys_exit, exit_is_open(), struct pt_regs *regs, long ret) \
	AGAIN(n, "mm_filemap_add_to_page_cache", page_added, is_open(folio, TAG_ADDED), struct folio *folio)
SYSTEM_CALLS(1)
SYSTEM_CALLS(2)
SYSTEM_CALLS(3)

AGAIN(1, "writeback_dirty_folio", folio_dirtied, is_open(folio, TAG_DIRTIED), struct folio *folio)
AGAIN(1, "block_bio_queue", bio_queued, is_open(bio, TAG_QUEUED), struct bio *bio)
AGAIN(1, "mm_filemap_fault", fault_lookup, fault_is_open(TAG_LOOKUP), struct address_space *mapping)
AGAIN(1, "mm_filemap_map_pages", fault_around, fault_is_open(TAG_AROUND), struct address_space *mapping)
AGAIN(1, "task_newtask", task_new, child_is_open(child), struct task_struct *child)
AGAIN(1, "sched_process_exec", task_exec, is_open(task, TAG_EXEC), struct task_struct *task)
AGAIN(1, "sched_process_exit", task_exit, cfg.live || is_open(task, TAG_EXIT), struct task_struct *task)
AGAIN(1, "io_uring_submit_req", uring_submit, is_open((void *)req, TAG_SUBMIT), u64 req)
AGAIN(1, "io_uring_complete", uring_complete, request_is_open(req), void *ring, u64 req)

#endif
