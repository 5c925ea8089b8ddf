/* SPDX-License-Identifier: GPL-2.0 */
/* The code that asks: a key for it, and what its chain of calls is found by where that is new. */
#ifndef HOTSET_SITE_H
#define HOTSET_SITE_H

#include "code.bpf.h"
#include "direct_map.bpf.h"

/* As much of the stack as can be read: the most, or by ever smaller steps what there is of it before it ends. */
static __always_inline u32 read_stack(char *to, u64 sp)
{
	u32 most = cfg.stack_bytes, have = 0;
	if (most > HS_STACK_BYTES)
		return 0;
	if (!bpf_probe_read_user(to, most, (void *)sp))
		return most;
#pragma unroll
	for (u32 step = HS_STACK_BYTES / 2; step >= 64; step /= 2) {
		barrier_value(have);
		if (step < most && have <= HS_STACK_BYTES - step && !bpf_probe_read_user(to + have, step, (void *)(sp + have)))
			have += step;
	}
	return have;
}

/* Code whose chain can't be told: more are looked for, or lead to its place and to one of its own, than are kept. */
#define NO_SITE 2

#define GUESSED_WORDS 64
#define NEAR_BITS 40
#define ADDRESS_BITS 47
#define LOWEST 4096

/* Its caller has filled in the process, the site and the place. Says whether user space will get it. */
RECORDS int send_stack(struct task_state *s, u64 ip, u64 sp, u64 bp)
{
	u32 zero = 0;
	struct op_scratch *sc = bpf_map_lookup_elem(&op_scratch, &zero);
	void *ring = op_ring();
	if (!s || !sc || !ring)
		return 0;
	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + 2 * HS_STACK_BYTES > bpf_ringbuf_query(ring, BPF_RB_RING_SIZE)) {
		ATOMIC_ADD(&g.stacks_lost, 1);
		return 0;
	}
	struct hs_stack *k = &sc->stack;
	k->type = HS_EVENT_STACK;
	k->tid = bpf_get_current_pid_tgid();
	k->tgid = s->tgid;
	k->time_ns = bpf_ktime_get_ns();
	k->ip = ip;
	k->sp = sp;
	k->bp = bp;
	k->stack_start = LOAD(mm_struct, LOAD(task_struct, CURRENT(), mm), start_stack);
	k->pad = 0;
	k->bytes = read_stack(k->stack, sp);
	u64 size = __builtin_offsetof(struct hs_stack, stack) + k->bytes;
	barrier_value(size);
	/* Its process may end soon: the reader is to look at it now. */
	if (size > sizeof(*k) || bpf_ringbuf_output(ring, k, size, BPF_RB_FORCE_WAKEUP)) {
		ATOMIC_ADD(&g.stacks_lost, 1);
		return 0;
	}
	return 1;
}

/* Says whether there is so much of the stack. */
static __always_inline int read_window(struct stack_window *w, u32 bytes, u64 sp)
{
	return bytes <= HS_CHAIN_BYTES && !bpf_probe_read_user(w, bytes, (void *)sp);
}

/* Whether a stack has the return addresses of a chain. */
RECORDS int has_calls(const struct stack_window *w, const struct hs_chain *c)
{
	if (!w || !c)
		return 0;
	u32 calls = c->calls;
#pragma unroll
	for (u32 i = 0; i < HS_CHAIN_CALLS; i++) {
		if (i < calls && w->words[c->at[i] / 8 & (HS_CHAIN_BYTES / 8 - 1)] != c->from[i])
			return 0;
	}
	return 1;
}

/* The same of the stack from `sp` on; not where it can't be read by way of the task's page tables. */
RECORDS int has_calls_directly(struct task_state *s, const struct hs_chain *c, u64 mm, u64 sp)
{
	if (!s || !c)
		return 0;
	u32 calls = c->calls;
	u64 tables = NUMBER(&s->scratch, LOAD(mm_struct, mm, pgd));
	u64 first = direct_page(tables, sp), second = first;
	if ((sp ^ (sp + c->bytes - 1)) >> 12)
		second = direct_page(tables, sp + c->bytes - 1);
	if (!first || !second)
		return 0;
#pragma unroll
	for (u32 i = 0; i < HS_CHAIN_CALLS; i++) {
		u64 at = sp + c->at[i];
		u64 page = (at ^ sp) >> 12 ? second : first;
		if (i < calls && load_number(page + (at & 4095)) != c->from[i])
			return 0;
	}
	return 1;
}

/* Whether the stack from `sp` on is in a chain. */
static __always_inline int is_chain(struct task_state *s, const struct recent_chain *recent, u64 sp)
{
	if (recent->is_direct)
		return has_calls_directly(s, &recent->chain, recent->mm, sp);
	u32 zero = 0;
	struct op_scratch *sc = bpf_map_lookup_elem(&op_scratch, &zero);
	return sc && read_window(&sc->window, recent->chain.bytes, sp) && has_calls(&sc->window, &recent->chain);
}

/* The number of a site is given once: nothing else has it later. None is as small as NO_SITE and NO_ROOM. */
static __always_inline u64 new_site(u64 place)
{
	return hash64(bpf_ktime_get_ns(), place) | 9;
}

/*
 * What can be seen of a chain without unwinding: words at the top of the stack that point to code; where none is told of, to
 * the program, or to where libraries and code made at run time are. Among them are all return addresses; others in the same
 * chain have the same, unless some were data. Says a number for all of them.
 */
RECORDS u64 guess_chain(struct task_state *s, struct stack_window *w, u64 ip, u64 sp)
{
	/* A stack that ends sooner is like no other. */
	if (!s || !w || !read_window(w, 8 * GUESSED_WORDS, sp))
		return bpf_ktime_get_ns();
	struct mm_struct *mm = LOAD(task_struct, CURRENT(), mm);
	u64 begin = LOAD(mm_struct, mm, start_code), end = LOAD(mm_struct, mm, end_code), guess = 1;
	u32 is_told = REC(s)->code_count > 0;
	for (u32 i = 0; i < GUESSED_WORDS; i++) {
		u64 word = w->words[i];
		if (is_told ? word < LOWEST || word >> ADDRESS_BITS || !is_code(s, word) :
			      word - begin >= end - begin && (word ^ ip) >> NEAR_BITS)
			continue;
		guess = hash64(guess ^ word, i);
	}
	return guess;
}

static __always_inline u64 memory_of_task(struct task_state *s)
{
	return NUMBER(&s->scratch, LOAD(task_struct, CURRENT(), mm));
}

static __always_inline struct recent_chain *recent_chain(struct task_state *s, u64 ip, u64 sp)
{
	return &REC(s)->chains[hash64(ip, sp) >> 20 & (RECENT_CHAINS - 1)];
}

/* Not what is told by its place alone, for that is of more than these registers. */
static __always_inline void keep_recent(struct task_state *s, const struct hs_chain *c, u64 mm, u64 ip, u64 sp)
{
	if (!c->calls)
		return;
	struct recent_chain *recent = recent_chain(s, ip, sp);
	recent->ip = ip;
	recent->sp = sp;
	recent->mm = mm;
	__builtin_memcpy(&recent->chain, c, sizeof(recent->chain));
	recent->is_direct = g.direct_map && has_calls_directly(s, &recent->chain, mm, sp);
}

#define NO_ROOM HS_PENDING

/*
 * What user space was asked about a stack like this one, and has not answered: its site. Else a small number: where there is
 * room to ask, or NO_ROOM.
 */
RECORDS u64 asked_site(u64 place, u64 guess)
{
	u32 others = 0;
	u64 room = 0;
	struct hs_chains *known = bpf_map_lookup_elem(&site_chains, &place);
	if (!known)
		return 0;
	room = NO_ROOM;
#pragma unroll
	for (u32 i = 0; i < HS_PENDING; i++) {
		u64 site = known->pending[i].site;
		if (site && known->pending[i].guess == guess)
			return site;
		if (site)
			others++;
		else
			room = i;
	}
	return known->count + others < HS_CHAINS ? room : NO_ROOM;
}

/* The chain among those that are known of a place; 0 where it is none of them. */
RECORDS u64 known_site(struct task_state *s, u64 place, u64 mm, u64 ip, u64 sp)
{
	u32 zero = 0;
	struct op_scratch *sc = bpf_map_lookup_elem(&op_scratch, &zero);
	struct hs_chains *known = bpf_map_lookup_elem(&site_chains, &place);
	if (!s || !sc || !known)
		return 0;
	/* Where a stack ends sooner, none of them is its chain unless it has no calls. */
	u32 count = known->count, whole = read_window(&sc->window, known->bytes, sp);
	for (u32 i = 0; i < HS_CHAINS; i++) {
		if (i >= count)
			break;
		if (known->chain[i].calls && !(whole && has_calls(&sc->window, &known->chain[i])))
			continue;
		keep_recent(s, &known->chain[i], mm, ip, sp);
		return known->chain[i].site;
	}
	return 0;
}

/* Of a chain that is not known, user space is sent the stack, once until it has told the chain. */
RECORDS u64 site_of_place(struct task_state *s, u64 mm, u64 ip, u64 sp, u64 bp)
{
	u32 zero = 0;
	u64 from = 0;
	struct op_scratch *sc = bpf_map_lookup_elem(&op_scratch, &zero);
	if (!s || !sc)
		return 0;
	bpf_probe_read_user(&from, sizeof(from), (void *)sp);
	/* The same addresses in another process, or after an exec, are other code. */
	u64 place = hash64(hash64(ip, from), hash64(sp, mm ^ (u64)s->tgid << 32));
	u64 site = known_site(s, place, mm, ip, sp);
	if (site)
		return site;
	tell_code(s);
	u64 guess = guess_chain(s, &sc->window, ip, sp), room = asked_site(place, guess);
	if (room == NO_ROOM) {
		/* More lead here than are kept: those that look alike have a place of their own. */
		place = hash64(place, guess);
		site = known_site(s, place, mm, ip, sp);
		if (site)
			return site;
		room = asked_site(place, guess);
	}
	if (room >= NO_ROOM)
		return room == NO_ROOM ? NO_SITE : room;
	u32 process = owner(s);
	site = new_site(place);
	sc->stack.owner = process;
	sc->stack.site = site;
	sc->stack.place = place;
	if (!send_stack(s, ip, sp, bp))
		return NO_SITE;
	struct hs_chains *known = bpf_map_lookup_elem(&site_chains, &place);
	if (known) {
		struct hs_pending *pending = &known->pending[room & (HS_PENDING - 1)];
		pending->guess = guess;
		pending->site = site;
		return site;
	}
	__builtin_memset(&sc->chains, 0, __builtin_offsetof(struct hs_chains, chain));
	sc->chains.pending[0].site = site;
	sc->chains.pending[0].guess = guess;
	bpf_map_update_elem(&site_chains, &place, &sc->chains, BPF_NOEXIST);
	return site;
}

/* The site of the code that the task's registers stand in; 0 where nobody wants to know it. */
RECORDS u64 site_of(struct task_state *s, u64 ip, u64 sp, u64 bp)
{
	if (!cfg.stack_bytes || !s)
		return 0;
	u64 site, mm = memory_of_task(s);
	struct recent_chain *recent = recent_chain(s, ip, sp);
	hold_cpu();
	/* A look into the task's own memory spares most of those into the table, and a read of the stack. */
	if (recent->ip == ip && recent->sp == sp && recent->mm == mm && is_chain(s, recent, sp))
		site = recent->chain.site;
	else
		site = site_of_place(s, mm, ip, sp, bp);
	release_cpu();
	return site;
}

/* Of a task that is in the kernel for itself: its registers stand at the top of its kernel stack (entered_by_fault). */
RECORDS u64 site_of_task(struct task_state *s)
{
	struct task_struct *task = CURRENT();
	if (!cfg.stack_bytes || !s || (LOAD(task_struct, task, flags) & (PF_IO_WORKER | PF_KTHREAD)))
		return 0;
	/* In an exec, the registers are those of the program that ends. */
	if (s->kind == HS_EXEC || s->kind == HS_EXECAT)
		return 0;
	u64 regs = NUMBER(&s->scratch, LOAD(task_struct, task, stack)) + 16384 - sizeof(struct pt_regs);
	u64 ip = load_number(regs + __builtin_offsetof(struct pt_regs, ip));
	u64 sp = load_number(regs + __builtin_offsetof(struct pt_regs, sp));
	return site_of(s, ip, sp, load_number(regs + __builtin_offsetof(struct pt_regs, bp)));
}

/*
 * The same of a fault that found its page in the cache, where the instruction had one before: a program that begins has
 * hundreds of these, nearly each at another instruction, and they cost next to nothing.
 */
static __always_inline u64 site_of_cached_fault(struct task_state *s)
{
	if (!cfg.stack_bytes)
		return 0;
	u64 regs = NUMBER(&s->scratch, LOAD(task_struct, CURRENT(), stack)) + 16384 - sizeof(struct pt_regs);
	u64 ip = load_number(regs + __builtin_offsetof(struct pt_regs, ip));
	u64 *known = &REC(s)->faults[hash64(ip, 0) >> 32 & (RECENT_FAULTS - 1)];
	if (*known == ip)
		return site_of_task(s);
	*known = ip;
	return 0;
}

#endif
