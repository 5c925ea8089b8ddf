/* SPDX-License-Identifier: GPL-2.0 */
/* Finding the row of a (process, file), the entry of a process, and the state of a task. */
#ifndef HOTSET_ROWS_H
#define HOTSET_ROWS_H

#include "file.bpf.h"

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

static __always_inline struct task_state *known_state_of(struct task_struct *current)
{
	u32 tid = bpf_get_current_pid_tgid();
	struct task_state *s = bpf_map_lookup_elem(&tasks, &tid);
	if (s && !s->tgid)
		s->tgid = bpf_get_current_pid_tgid() >> 32;
	return s;
}

static __always_inline struct task_state *state_of(struct task_struct *current)
{
	struct task_state *s = known_state_of(current);
	if (s || cfg.scope == HS_SCOPE_TREE)
		return s;
	if (!in_scope(current))
		return NULL;
	u64 id = bpf_get_current_pid_tgid();
	return new_state(id, id >> 32);
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
	if (cfg.live || g.next_row < cfg.file_rows)
		*fresh = !bpf_map_update_elem(&rows, key, empty, BPF_NOEXIST);
	if (*fresh && !cfg.live)
		ATOMIC_ADD(&g.next_row, 1);
	row = bpf_map_lookup_elem(&rows, key);
	struct hs_row_key others = {};
	if (!row && !cfg.live) {
		others.owner = key->owner;
		bpf_map_update_elem(&rows, &others, empty, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&rows, &others);
	}
	if (row) {
		row->owner = key->owner;
	} else {
		others.owner = 0;
		ATOMIC_ADD(&g.rows_lost, 1);
		row = bpf_map_lookup_elem(&rows, &others);
	}
	return row;
}
#else
static __always_inline struct task_state *known_state_of(struct task_struct *current)
{
	struct task_state *s = bpf_task_storage_get(&tasks, current, 0, 0);
	if (s && !s->tgid)
		s->tgid = LOAD(task_struct, current, tgid);
	return s;
}

static __always_inline struct task_state *state_of(struct task_struct *current)
{
	struct task_state *s = known_state_of(current);
	if (s || cfg.scope == HS_SCOPE_TREE)
		return s;
	if (!in_scope(current))
		return NULL;
	s = bpf_task_storage_get(&tasks, current, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (s)
		s->tgid = LOAD(task_struct, current, tgid);
	else
		ATOMIC_ADD(&g.tasks_lost, 1);
	return s;
}

/* A slot that user space gave back; 0 where there is none. The head passes it only if nobody else took it meanwhile. */
static __always_inline u32 take_free(void *ring, u64 *head, u64 *tail, u32 mask)
{
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		u64 at = *(volatile u64 *)head;
		if (at >= *(volatile u64 *)tail)
			return 0;
		u32 index = at & mask;
		u32 *slot = bpf_map_lookup_elem(ring, &index);
		if (!slot)
			return 0;
		u32 got = *(volatile u32 *)slot;
		if (__sync_val_compare_and_swap(head, at, at + 1) == at)
			return got;
	}
	return 0;
}

#define ROW_IS_NEW (1ULL << 32)

/* The slot of a row, made if it is not there and the table holds fewer than `limit`; else 0. */
__noinline u64 slot_of(u32 owner, u32 dev, u64 ino, u32 generation, u32 limit)
{
	struct hs_row_key key = { .file = { .ino = ino, .dev = dev, .generation = generation }, .owner = owner };
	u32 *known = bpf_map_lookup_elem(&row_index, &key);
	if (known)
		return *known;
	u32 slot = 0;
	if (owner || !cfg.live) {
		/* Used ones first: user space walks all that were ever used, and remembers each. */
		if (cfg.live)
			slot = take_free(&free_rows, &g.free_rows_head, &g.free_rows_tail, cfg.free_mask);
		if (!slot && g.next_row + 1 < limit)
			slot = __sync_fetch_and_add(&g.next_row, 1) + 1;
	}
	struct hs_row *row = slot && slot < cfg.max_rows ? bpf_map_lookup_elem(&rows, &slot) : NULL;
	if (row) {
		row->file = key.file;
		/* User space takes a row for one that is in use when it has an owner: the index must lead to it by then. */
		if (!bpf_map_update_elem(&row_index, &key, &slot, BPF_NOEXIST)) {
			barrier();
			row->owner = owner;
			return slot | ROW_IS_NEW;
		}
		/* Another thread was first; user space finds the slot and gives it back. */
		row->owner = HS_NO_OWNER;
	}
	known = bpf_map_lookup_elem(&row_index, &key);
	return known ? *known : 0;
}

/*
 * The slot of a row, made if it is not there. What a process does to a run's files beyond the bound is one row; slot 0, which
 * is everybody's, is for what finds no room even so.
 */
__noinline u64 row_slot(u32 owner, u32 dev, u64 ino, u32 generation)
{
	u64 found = slot_of(owner, dev, ino, generation, cfg.file_rows);
	if (!found && owner && !cfg.live)
		found = (u32)slot_of(owner, 0, 0, 0, cfg.max_rows);
	if (!found)
		ATOMIC_ADD(&g.rows_lost, 1);
	return found;
}
#endif

/* The current task's, where it is observed and was before. */
static __always_inline struct task_state *known_state(void)
{
	return known_state_of(CURRENT());
}

/* The same, made where the task is to be observed. */
static __always_inline struct task_state *current_state(void)
{
	return state_of(CURRENT());
}

/* The id of the current task's control group. */
static __always_inline u64 cgroup_of(struct task_struct *task)
{
	void *set = LOAD(task_struct, task, cgroups);
	if (!cfg.cgroup_v1) {
		void *group = LOAD(css_set, set, dfl_cgrp);
		return LOAD(kernfs_node, LOAD(cgroup, group, kn), id);
	}
	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		return 0;
	u64 number = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
	u64 css = load_pointer((u64)set + bpf_core_field_offset(struct css_set, subsys) + 8 * number);
	if (!css)
		return 0;
	return LOAD(kernfs_node, LOAD(cgroup, LOAD(cgroup_subsys_state, css, cgroup), kn), id);
}

/* What changes in a process's life: asked at first sight, at exec, and whenever it meets a new file. */
static __always_inline void describe(struct hs_process *p, struct task_struct *task)
{
	p->uid = LOAD(cred, LOAD(task_struct, task, cred), uid.val);
	p->cgroup = cgroup_of(task);
	void *leader = LOAD(task_struct, task, group_leader);
	bpf_probe_read_kernel(p->comm, sizeof(p->comm),
			      (void *)((u64)leader + bpf_core_field_offset(struct task_struct, comm)));
}

static __always_inline struct hs_process *process_by_owner(u32 owner)
{
#ifdef HOTSET_COMPAT
	return bpf_map_lookup_elem(&processes, &owner);
#else
	u32 slot = owner & HS_OWNER_SLOT;
	struct hs_process *p = bpf_map_lookup_elem(&processes, &slot);
	return p && p->owner == owner && owner ? p : NULL;
#endif
}

#ifdef HOTSET_COMPAT
static __always_inline u32 new_owner(struct hs_process **p)
{
	struct hs_process zero = {};
	u32 key = 0, *count = bpf_map_lookup_elem(&owners, &key);
	if (!count)
		return 0;
	/* 4,096 CPUs, a million processes on each; an owner that is used again after that is long free. */
	u32 owner = ++*count << 12 | ((bpf_get_smp_processor_id() + 1) & 4095);
	if (bpf_map_update_elem(&processes, &owner, &zero, BPF_NOEXIST))
		return 0;
	*p = bpf_map_lookup_elem(&processes, &owner);
	return owner;
}

static __always_inline void forget_owner(struct hs_process *p, u32 owner)
{
	bpf_map_delete_elem(&processes, &owner);
}
#else
static __always_inline u32 new_owner(struct hs_process **p)
{
	u32 owner = 0;
	if (g.next_process + 1 < HS_PROCESSES)
		owner = __sync_fetch_and_add(&g.next_process, 1) + 1;
	else if (cfg.live)
		owner = take_free(&free_owners, &g.free_owners_head, &g.free_owners_tail, HS_OWNER_SLOT);
	/* Several CPUs may pass the end at once: the first generation has no more slots than this. */
	u32 slot = owner & HS_OWNER_SLOT;
	*p = slot ? bpf_map_lookup_elem(&processes, &slot) : NULL;
	return *p ? owner : 0;
}

static __always_inline void forget_owner(struct hs_process *p, u32 owner)
{
	/* User space finds the slot and gives it back. */
	p->tgid = 0;
	p->ended = 1;
	barrier();
	p->owner = owner;
}
#endif

/* The owner that stands for a process, made at first sight. 0 where the table is full. */
__noinline u32 owner_of(u32 tgid)
{
	u32 *known = bpf_map_lookup_elem(&process_index, &tgid);
	if (known)
		return *known;
	struct hs_process *p = NULL;
	u32 owner = new_owner(&p);
	if (owner && p) {
		p->tgid = tgid;
		p->ended = 0;
		if (cfg.live) {
			struct task_struct *task = CURRENT();
			p->ppid = LOAD(task_struct, LOAD(task_struct, task, real_parent), tgid);
			describe(p, task);
		}
		/* User space takes an entry with an owner for a process: one of a thread that came second must not look so. */
		if (!bpf_map_update_elem(&process_index, &tgid, &owner, BPF_NOEXIST)) {
			barrier();
			p->owner = owner;
			return owner;
		}
		forget_owner(p, owner);
		known = bpf_map_lookup_elem(&process_index, &tgid);
		if (known)
			return *known;
	}
	ATOMIC_ADD(&g.processes_lost, 1);
	return 0;
}

static __always_inline u32 owner(struct task_state *s)
{
	if (!s->owner)
		s->owner = owner_of(s->tgid);
	return s->owner;
}

static __always_inline struct hs_process *process_of(struct task_state *s)
{
	return process_by_owner(owner(s));
}

/* Without kernel functions, which programs on perf events may not call. */
static __always_inline struct task_state *known_state_plain(void)
{
#ifdef HOTSET_COMPAT
	return known_state();
#else
	return bpf_task_storage_get(&tasks, CURRENT(), 0, 0);
#endif
}

/* The row of a key, or where it has none of its own that of its process's others, or of everybody's. */
static __always_inline struct hs_row *row_by_key(struct hs_row_key *key)
{
#ifdef HOTSET_COMPAT
	struct hs_row_key others = { .owner = key->owner };
	struct hs_row *row = bpf_map_lookup_elem(&rows, key);
	if (!row && !cfg.live)
		row = bpf_map_lookup_elem(&rows, &others);
	others.owner = 0;
	return row ? row : bpf_map_lookup_elem(&rows, &others);
#else
	struct hs_row_key others = { .owner = key->owner };
	u32 *known = bpf_map_lookup_elem(&row_index, key);
	if (!known && !cfg.live)
		known = bpf_map_lookup_elem(&row_index, &others);
	u32 slot = known ? *known : 0;
	return bpf_map_lookup_elem(&rows, &slot);
#endif
}

/* The same, made where there is none: whoever names it comes later. */
static __always_inline struct hs_row *row_made(struct hs_row_key *key)
{
#ifdef HOTSET_COMPAT
	u32 fresh = 0;
	return row_lookup(key, &fresh);
#else
	u32 slot = row_slot(key->owner, key->file.dev, key->file.ino, key->file.generation);
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
