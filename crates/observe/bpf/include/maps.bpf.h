/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All state that outlives one program. Every table has a bound and is allocated when it is created: growing a hash on
 * demand costs microseconds in these contexts and loses updates.
 */
#ifndef HOTSET_MAPS_H
#define HOTSET_MAPS_H

#include "state.bpf.h"

#ifdef HOTSET_COMPAT
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct task_state);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, struct hs_row_key);
	__type(value, struct hs_row);
} rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32); /* owner */
	__type(value, struct hs_process);
} processes SEC(".maps");

/* Owners handed out on each CPU: 5.10 has no atomic addition that says what was there before. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} owners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct task_state);
} empty_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hs_row);
} empty_row SEC(".maps");
#else
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* Rows stand in an array, so that a task reaches the row it used last without hashing. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct hs_row);
} rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct hs_row_key);
	__type(value, u32);
} row_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HS_PROCESSES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct hs_process);
} processes SEC(".maps");

/* What user space gave back (live): row slots, and the next owners of entries in `processes`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, u32);
} free_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HS_PROCESSES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, u32);
} free_owners SEC(".maps");
#endif

/* The owner that a PID stands for now. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HS_PROCESSES);
	__type(key, u32);
	__type(value, u32);
} process_index SEC(".maps");

/* Processes to follow from now on (attach). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, u32);
} roots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768); /* 32 GiB, swept of empty ones by user space */
	__type(key, struct hs_chunk_key);
	__type(value, struct hs_chunk);
} chunks SEC(".maps");

/* Never written: a chunk on the stack would be most of what a chain of calls may take. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hs_chunk);
} empty_chunk SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct hs_file_key);
	__type(value, struct hs_file);
} files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct request_key);
	__type(value, struct request);
} requests SEC(".maps");

/* Directories whose name was sent already. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, u8);
} nodes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} events SEC(".maps");

/* References to pages that are in the sample; user space makes it larger where it wants them. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} samples SEC(".maps");

/* What stands on a stack, from the stack pointer on: as much as chains are told apart by. */
struct stack_window {
	u64 words[HS_CHAIN_BYTES / 8];
};

/* The window is here and not with the task: hardened usercopy checks memory of the slab allocator at greater length. */
struct op_scratch {
	union {
		struct hs_paths paths;
		struct hs_lost lost;
		struct hs_stack stack;
		struct hs_code code;
	};
	struct hs_chains chains;
	struct stack_window window;
};

#ifdef HOTSET_RECORD
/* A ring for each CPU, of a recording only. */
struct op_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__array(values, struct op_ring);
} op_rings SEC(".maps");

/* Processes that were stopped until their records are read. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u32);
} stopped SEC(".maps");

/* Chains of calls by the place that they lead to: user space tells them, once it was sent a stack. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, struct hs_chains);
} site_chains SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct op_scratch);
} op_scratch SEC(".maps");
#else
/* Never made: nothing uses them. */
extern void *op_rings, *op_scratch, *site_chains, *stopped;
#endif

union scratch {
	struct hs_node node;
	struct hs_first first;
	struct hs_failed failed;
	struct hs_task_event task;
	struct hs_sample sample; /* never stands here: for its type to be in the object */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, union scratch);
} scratch SEC(".maps");

/* A place in map memory for NUMBER(), for functions that have none. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} numbers SEC(".maps");

const volatile struct hs_config cfg SEC(".rodata");
struct hs_globals g SEC(".bss");

/*
 * Rings are read every few ms; the reader is woken early only where one fills up: each time that so many bytes more wait, a
 * power of two. To wake it is an interrupt that this CPU sends itself, about a microsecond in a virtual machine: not for
 * each record while it reads. Records that others send meanwhile must not hide the moment, so some in a row wake it.
 */
static __always_inline u64 ring_wakeup(void *ring, u64 coming, u64 record, u64 bytes)
{
	u64 waiting = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + coming;
	return waiting >= bytes && (waiting & (bytes - 1)) < 4 * record ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void send_event(void *record, u64 size, u64 limit)
{
	barrier_value(size); /* or clang compares another register than the one it passes */
	if (size > limit)
		return;
	if (bpf_ringbuf_output(&events, record, size, ring_wakeup(&events, size, size, 1 << 20)))
		ATOMIC_ADD(&g.events_lost, 1);
}

/*
 * Around the use of memory that all programs on a CPU share: tasks that are preempted in the middle of a program (7.0) would
 * else write into each other's.
 */
#ifdef HOTSET_COMPAT
#define hold_cpu() ((void)0)
#define release_cpu() ((void)0)
#else
static __always_inline void hold_cpu(void)
{
	if (cfg.preemptible)
		bpf_preempt_disable();
}

static __always_inline void release_cpu(void)
{
	if (cfg.preemptible)
		bpf_preempt_enable();
}
#endif

static __always_inline u64 *number_slot(void)
{
	u32 zero = 0;
	return bpf_map_lookup_elem(&numbers, &zero);
}

static __always_inline union scratch *get_scratch(u32 which)
{
	return bpf_map_lookup_elem(&scratch, &which);
}

#endif
