/* SPDX-License-Identifier: GPL-2.0 */
/* Finding the row of a (process, file), the entry of a process, and the state of a task. */
#ifndef HOTSET_ROWS_H
#define HOTSET_ROWS_H

#include "maps.bpf.h"

/* Whether a task that has no state yet is to be observed. */
static __always_inline int in_scope(struct task_struct *task)
{
	if (cfg.scope == HS_SCOPE_TREE)
		return 0;
	u32 tgid = LOAD(task_struct, task, tgid);
	if (tgid == cfg.self_tgid || (LOAD(task_struct, task, flags) & PF_KTHREAD))
		return 0;
	if (cfg.scope == HS_SCOPE_ROOTS)
		return bpf_map_lookup_elem(&roots, &tgid) != NULL;
	if (cfg.scope == HS_SCOPE_CGROUP)
		return bpf_current_task_under_cgroup(&cgroups, 0) == 1;
	return 1;
}

#ifdef HOTSET_COMPAT
static __always_inline struct task_state *new_state(u32 tid, u32 tgid)
{
	u32 zero = 0;
	struct task_state *empty = bpf_map_lookup_elem(&empty_state, &zero);
	if (!empty)
		return NULL;
	if (bpf_map_update_elem(&tasks, &tid, empty, BPF_ANY))
		ATOMIC_ADD(&g.tasks_lost, 1);
	struct task_state *s = bpf_map_lookup_elem(&tasks, &tid);
	if (s)
		s->tgid = tgid;
	return s;
}

static __always_inline struct task_state *known_state(void)
{
	u32 tid = bpf_get_current_pid_tgid();
	struct task_state *s = bpf_map_lookup_elem(&tasks, &tid);
	if (s && !s->tgid)
		s->tgid = bpf_get_current_pid_tgid() >> 32;
	return s;
}

static __always_inline struct task_state *current_state(void)
{
	struct task_state *s = known_state();
	if (s || cfg.scope == HS_SCOPE_TREE)
		return s;
	if (!in_scope(CURRENT()))
		return NULL;
	u64 id = bpf_get_current_pid_tgid();
	return new_state(id, id >> 32);
}

static __always_inline struct hs_process *process_of(struct task_state *s)
{
	u32 tgid = s->tgid;
	struct hs_process *p = bpf_map_lookup_elem(&processes, &tgid);
	if (p)
		return p;
	struct hs_process zero = {};
	bpf_map_update_elem(&processes, &tgid, &zero, BPF_NOEXIST);
	p = bpf_map_lookup_elem(&processes, &tgid);
	if (!p)
		ATOMIC_ADD(&g.processes_lost, 1);
	return p;
}

static __always_inline struct hs_row *row_lookup(struct hs_row_key *key, u32 *fresh)
{
	struct hs_row *row = bpf_map_lookup_elem(&rows, key);
	if (row)
		return row;
	u32 zero = 0;
	struct hs_row *empty = bpf_map_lookup_elem(&empty_row, &zero);
	if (!empty)
		return NULL;
	*fresh = !bpf_map_update_elem(&rows, key, empty, BPF_NOEXIST);
	row = bpf_map_lookup_elem(&rows, key);
	if (!row) {
		struct hs_row_key others = {};
		ATOMIC_ADD(&g.rows_lost, 1);
		row = bpf_map_lookup_elem(&rows, &others);
	}
	return row;
}
#else
static __always_inline struct task_state *known_state(void)
{
	struct task_struct *task = CURRENT();
	struct task_state *s = bpf_task_storage_get(&tasks, task, 0, 0);
	if (s && !s->tgid)
		s->tgid = LOAD(task_struct, task, tgid);
	return s;
}

static __always_inline struct task_state *current_state(void)
{
	struct task_state *s = known_state();
	if (s || cfg.scope == HS_SCOPE_TREE)
		return s;
	struct task_struct *task = CURRENT();
	if (!in_scope(task))
		return NULL;
	s = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (s)
		s->tgid = LOAD(task_struct, task, tgid);
	else
		ATOMIC_ADD(&g.tasks_lost, 1);
	return s;
}

u32 next_process SEC(".bss.next_process");

__noinline u32 process_slot(u32 tgid)
{
	u32 *known = bpf_map_lookup_elem(&process_index, &tgid);
	if (known)
		return *known + 1;
	u32 slot = __sync_fetch_and_add(&next_process, 1);
	if (slot >= 32768 || bpf_map_update_elem(&process_index, &tgid, &slot, BPF_NOEXIST)) {
		known = bpf_map_lookup_elem(&process_index, &tgid);
		return known ? *known + 1 : 0;
	}
	return slot + 1;
}

static __always_inline struct hs_process *process_of(struct task_state *s)
{
	if (!s->process)
		s->process = process_slot(s->tgid);
	u32 slot = s->process - 1;
	struct hs_process *p = bpf_map_lookup_elem(&processes, &slot);
	if (!p)
		ATOMIC_ADD(&g.processes_lost, 1);
	return p;
}

#define ROW_IS_NEW (1ULL << 32)

/* The slot of a row, made if it is not there; 0, the slot of "others", where the table is full. */
__noinline u64 row_slot(u32 tgid, u32 dev, u64 ino)
{
	struct hs_row_key key = { .tgid = tgid, .dev = dev, .ino = ino };
	u32 *known = bpf_map_lookup_elem(&row_index, &key);
	if (known)
		return *known;
	u32 slot = 0;
	if (g.next_row + 1 < cfg.max_rows)
		slot = __sync_fetch_and_add(&g.next_row, 1) + 1;
	if (slot && slot < cfg.max_rows && !bpf_map_update_elem(&row_index, &key, &slot, BPF_NOEXIST))
		return slot | ROW_IS_NEW;
	known = bpf_map_lookup_elem(&row_index, &key);
	if (known)
		return *known;
	ATOMIC_ADD(&g.rows_lost, 1);
	return 0;
}
#endif

/* Without kernel functions, which programs on perf events may not call. */
static __always_inline struct task_state *known_state_plain(void)
{
#ifdef HOTSET_COMPAT
	return known_state();
#else
	return bpf_task_storage_get(&tasks, CURRENT(), 0, 0);
#endif
}

/* The row of a key, or that of "others" where it has none of its own. */
static __always_inline struct hs_row *row_by_key(struct hs_row_key *key)
{
#ifdef HOTSET_COMPAT
	struct hs_row_key others = {};
	struct hs_row *row = bpf_map_lookup_elem(&rows, key);
	return row ? row : bpf_map_lookup_elem(&rows, &others);
#else
	u32 *known = bpf_map_lookup_elem(&row_index, key), slot = known ? *known : 0;
	return bpf_map_lookup_elem(&rows, &slot);
#endif
}

/* Counters that only one thread can touch need no atomic addition; with one thread in the process that is so. */
static __always_inline int is_alone(struct task_struct *task)
{
	return LOAD(signal_struct, LOAD(task_struct, task, signal), nr_threads) == 1;
}

static __always_inline struct hs_file *file_entry(struct hs_file_key *key)
{
	struct hs_file *f = bpf_map_lookup_elem(&files, key);
	if (f)
		return f;
	struct hs_file zero = {};
	bpf_map_update_elem(&files, key, &zero, BPF_NOEXIST);
	f = bpf_map_lookup_elem(&files, key);
	if (!f)
		ATOMIC_ADD(&g.chunks_lost, 1);
	return f;
}

#endif
