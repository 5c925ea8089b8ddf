/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From Linux 7.0 on a task can be preempted in the middle of a program, and until it goes on the kernel skips that program
 * for all other tasks of the CPU (prog->active, kernel/trace/bpf_trace.c). So each program stands behind others on its
 * tracepoint that do its work where it was skipped. A program leaves in `handled` what it was called for; where the next
 * finds that, nothing is left to do. The work stands in each of them once more: a tail call to the first would run on its
 * private stack, which is the CPU's, while a preempted task is in it. An event is lost only where as many tasks of one CPU
 * as there are programs were preempted in one each, and that is counted (again.rs).
 *
 * An interrupt does the same on any kernel to what ends in interrupts and in tasks, which is direct I/O only (past_cache).
 */
#ifndef HOTSET_COMPAT

/* One more program `program_again<n>`, with the first's parameters; `open` says whether the work is still to be done. */
#define AGAIN(n, point, program, open, arguments, ...) \
	SEC("tp_btf/" point) \
	int BPF_PROG(program##_again##n, __VA_ARGS__) \
	{ \
		if (!(open)) \
			return 0; \
		ATOMIC_ADD(&g.rescued, 1); \
		return ____##program(ctx, PLAIN_LIST arguments); \
	}
#define PLAIN_LIST(...) __VA_ARGS__

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

/* In a session that lasts, the end of a process is done when its number leads nowhere; that of a task, with its last fault. */
static __always_inline int end_is_open(struct task_struct *task)
{
	u32 tgid = LOAD(task_struct, task, tgid);
	if (!cfg.live)
		return is_open(task, TAG_EXIT);
	struct task_state *s = known_state();
	if (s && s->fault_inode)
		return 1;
	return is_last(task) && bpf_map_lookup_elem(&process_index, &tgid) != NULL;
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

/* A request that begins once more goes on from where it began first. */
static __always_inline int direct_begin_is_open(u64 iocb)
{
	struct task_state *s = current_state();
	struct request *r = request_of(submitter(s), iocb);
	return r ? r->iocb != iocb : s && s->direct_iocb != iocb;
}

static __always_inline int direct_end_is_open(u64 iocb)
{
	struct task_state *s = known_state();
	if (s && s->direct_iocb == iocb)
		return 1;
	struct request *r = request_of(submitter(s), iocb);
	return r && r->iocb == iocb && (r->what & REQUEST_PAST);
}

#define SYSTEM_CALLS(n) \
	AGAIN(n, "sys_enter", sys_enter, enter_is_open(id), (regs, id), struct pt_regs *regs, long id) \
	AGAIN(n, "sys_exit", sys_exit, exit_is_open(), (regs, ret), struct pt_regs *regs, long ret) \
	AGAIN(n, "mm_filemap_add_to_page_cache", page_added, is_open(folio, TAG_ADDED), (folio), struct folio *folio)
SYSTEM_CALLS(1)
SYSTEM_CALLS(2)

AGAIN(1, "writeback_dirty_folio", folio_dirtied, is_open(folio, TAG_DIRTIED), (folio), struct folio *folio)
AGAIN(1, "block_bio_queue", bio_queued, is_open(bio, TAG_QUEUED), (bio), struct bio *bio)
AGAIN(1, "mm_filemap_fault", fault_lookup, fault_is_open(TAG_LOOKUP), (mapping, index), struct address_space *mapping,
      unsigned long index)
AGAIN(1, "mm_filemap_map_pages", fault_around, fault_is_open(TAG_AROUND), (mapping, start, end), struct address_space *mapping,
      unsigned long start, unsigned long end)
AGAIN(1, "task_newtask", task_new, child_is_open(child), (child, clone_flags), struct task_struct *child, u64 clone_flags)
AGAIN(1, "sched_process_exec", task_exec, is_open(task, TAG_EXEC), (task, old_pid), struct task_struct *task, s32 old_pid)
AGAIN(1, "sched_process_exit", task_exit, end_is_open(task), (task), struct task_struct *task)
AGAIN(1, "io_uring_submit_req", uring_submit, is_open((void *)req, TAG_SUBMIT), (req), u64 req)
AGAIN(1, "io_uring_complete", uring_complete, request_is_open(req), (ring, req, cqe), void *ring, u64 req,
      struct io_uring_cqe *cqe)
AGAIN(1, "iomap_dio_rw_begin", direct_begun, direct_begin_is_open(number_of(&iocb)), (iocb, iter), void *iocb,
      struct iov_iter *iter)
AGAIN(1, "iomap_dio_complete", direct_ended, direct_end_is_open(number_of(&iocb)), (iocb, error), void *iocb, int error)

#endif
