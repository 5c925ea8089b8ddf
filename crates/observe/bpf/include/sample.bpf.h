/* SPDX-License-Identifier: GPL-2.0 */
/*
 * References to pages that are in the sample, sent to user space (cfg.sampling). Which pages these are is a matter of the file
 * and the index of the page alone, so that a page is in the sample always or never. It is the choice of hotset_sizing::sample,
 * where the reasons stand: of each aligned group of 2^k pages one page, at a place that is random by group. What is chosen for
 * a k is among what is chosen for each smaller one, and user space may change k at any time (g.sample_exponent).
 */
#ifndef HOTSET_SAMPLE_H
#define HOTSET_SAMPLE_H

#include "rows.bpf.h"

#ifdef HOTSET_RECORD
/* A recording has every reference. */
#define SAMPLING 0
#define sample_pages(owner, id, first, pages, kind) ((void)0)
#define sample_request(row, t, bytes, kind) ((void)0)
#else
#define SAMPLING cfg.sampling

/* Pages are chosen in groups of 2^7, which in turn are chosen in groups of 2^7, and so once more. */
#define SAMPLE_BITS 7
#define SAMPLE_LEVELS 3
#define SAMPLE_MASK ((1ULL << SAMPLE_BITS) - 1)
/* Groups of one request. A call moves at most 2 GiB; of more than the 512 MiB of the compat builds the sample is lost. */
#define SAMPLE_GROUPS ((1 << (31 - 12 - SAMPLE_BITS)) + 1)
#define SAMPLE_COMPAT_GROUPS 1024

/* SplitMix64, as in hotset_facts::random. */
#define RANDOM_STEP 0x9e3779b97f4a7c15ULL

static __always_inline u64 random_at(u64 index)
{
	u64 mixed = index * RANDOM_STEP + RANDOM_STEP;
	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
	return mixed ^ (mixed >> 31);
}

/* What stands for a device, and below for a generation. */
static __always_inline u64 sample_spread(u32 number)
{
	return number * RANDOM_STEP;
}

/* The random number of some pages of some files: its low bits say which are chosen. */
static __always_inline u64 sample_random(u64 device, u64 level, u64 ino, u64 index)
{
	return random_at((ino + device) * RANDOM_STEP + 4 * index + level);
}

/* The lowest 7 bits in the other order. */
static __always_inline u64 reversed7(u64 bits)
{
	return ((((bits << 1) * 0x80200802ULL) & 0x0884422110ULL) * 0x0101010101ULL >> 32) & 0xff;
}

/*
 * How far from the chosen page of its group a page is, in 7 bits of which the highest decides in pairs of pages, the next in
 * groups of four, and so on: each takes in, at random by group, bits that decide in larger groups.
 */
static __always_inline u64 sample_digit(u64 page, u64 random)
{
	u64 away = (page ^ random) & SAMPLE_MASK, mixed = away;
#pragma unroll
	for (u32 i = 1; i < SAMPLE_BITS; i++)
		mixed ^= (away >> i) & (random >> (SAMPLE_BITS * i));
	return reversed7(mixed & SAMPLE_MASK);
}

/*
 * The digit of a page at a level, verified apart and with a frame of its own: three of them in one function take more of the
 * stack than the callers of old kernels have left. Only a page in 2^7 comes this far where no more are in the sample.
 */
__noinline u64 sample_level(u64 ino, u64 device, u64 page, u32 level)
{
	u64 shift = SAMPLE_BITS * (level & 3), index = page >> shift;
	ino >>= shift;
	return sample_digit(index ^ ino, sample_random(device, level + 1, ino >> SAMPLE_BITS, index >> SAMPLE_BITS));
}

/* The hash of a page: in the samples of one in 2^k pages if its k highest bits are 0. */
static __always_inline u64 sample_hash(u64 ino, u32 dev, u32 generation, u64 page)
{
	u64 order = 0, device = sample_spread(dev), rest;
#pragma unroll
	for (u32 level = 0; level < SAMPLE_LEVELS; level++)
		order = order << SAMPLE_BITS | sample_level(ino, device, page, level);
	rest = sample_random(device + sample_spread(generation), 0, ino, page);
	return order << (64 - SAMPLE_BITS * SAMPLE_LEVELS) | rest >> (SAMPLE_BITS * SAMPLE_LEVELS);
}

static __always_inline void lose_samples(u32 owner, u64 references)
{
	struct hs_process *p = process_by_owner(owner);
	ATOMIC_ADD(&g.samples_lost, references);
	if (p)
		ATOMIC_ADD(&p->samples_lost, references);
}

/* What a function that is verified apart is told of a file, and of who refers to it: the owner, and above it the kind. */
#define SAMPLED_FILE u64 ino, u64 device, u64 who
#define sampled_device(id) ((u64)(id).dev << 32 | (id).generation)

/* Sends a reference to a page, if it is in the sample. */
__noinline int sample_page(SAMPLED_FILE, u64 page)
{
	if (!SAMPLING)
		return 0;
	u64 exponent = *(volatile u64 *)&g.sample_exponent & 63, first_bits = exponent < SAMPLE_BITS ? exponent : SAMPLE_BITS;
	/* Most pages are not in it by the first digit alone. */
	if (sample_level(ino, sample_spread(device >> 32), page, 0) >> (SAMPLE_BITS - first_bits))
		return 0;
	u64 hash = sample_hash(ino, device >> 32, device, page);
	if (exponent && hash >> ((64 - exponent) & 63))
		return 0;
	struct hs_sample *sample = bpf_ringbuf_reserve(&samples, sizeof(*sample), 0);
	if (!sample) {
		lose_samples(who, 1);
		return 0;
	}
	sample->hash = hash;
	sample->owner = who;
	sample->kind = who >> 32;
	bpf_ringbuf_submit(sample, ring_wakeup(&samples, 0, sizeof(*sample), HS_SAMPLE_WAKE));
	return 0;
}

/*
 * The same of each of the pages [first, end), which are of one group. In the compat builds it stands apart for the verifier,
 * which walks through the loops around it; in the other one it does not, for no more than eight functions may call each other.
 */
#ifdef HOTSET_COMPAT
__noinline
#else
static __always_inline
#endif
	int
	sample_each(SAMPLED_FILE, u64 first, u64 end)
{
	if (!SAMPLING)
		return 0;
	for (u32 i = 0; i <= SAMPLE_MASK; i++) {
		if (first + i >= end)
			break;
		sample_page(ino, device, who, first + i);
	}
	return 0;
}

struct sample_walk {
	u64 ino, device, who, next, end, by_group;
};

/* The page of a group that is in the samples of up to one in 2^7 pages. */
static __always_inline u64 sampled_of_group(u64 ino, u32 dev, u64 group)
{
	u64 random = sample_random(sample_spread(dev), 1, ino >> SAMPLE_BITS, group);
	return group << SAMPLE_BITS | ((random ^ ino) & SAMPLE_MASK);
}

/* The chosen page of the next group, or all of its pages. */
static __always_inline long sample_step(struct sample_walk *w)
{
	u64 first = w->next, stop = (first | SAMPLE_MASK) + 1;
	if (first >= w->end)
		return 1;
	if (stop > w->end)
		stop = w->end;
	w->next = stop;
	if (w->by_group) {
		u64 page = sampled_of_group(w->ino, w->device >> 32, first >> SAMPLE_BITS);
		if (page >= first && page < stop)
			sample_page(w->ino, w->device, w->who, page);
	} else {
		sample_each(w->ino, w->device, w->who, first, stop);
	}
	return 0;
}

#ifndef HOTSET_COMPAT
static long sample_callback(u32 i, struct sample_walk *w)
{
	return sample_step(w);
}
#endif

/* The pages [first, end) of several groups, or of one where more than one page of a group is in the sample. */
__noinline int sample_range(SAMPLED_FILE, u64 first, u64 end)
{
	if (!SAMPLING)
		return 0;
	u64 exponent = *(volatile u64 *)&g.sample_exponent;
	struct sample_walk w = { .ino = ino, .device = device, .who = who, .next = first, .end = end };
	w.by_group = exponent >= SAMPLE_BITS;
#ifdef HOTSET_COMPAT
	for (u32 i = 0; i < SAMPLE_COMPAT_GROUPS; i++) {
		if (sample_step(&w))
			break;
	}
#else
	bpf_loop(SAMPLE_GROUPS, sample_callback, &w, 0);
#endif
	if (w.next < end)
		lose_samples(who, ((end - w.next) >> (exponent & 63)) + 1);
	return 0;
}

/*
 * Sends what is in the sample of the pages [first, first + pages) of a file, to which an owner's request refers. In the compat
 * builds a request's stand apart, because what they keep would be too much for the stack of their callers.
 */
#ifdef HOTSET_COMPAT
static __always_inline void sample_pages(u32 owner, const struct hs_file_key *id, u64 first, u64 pages, u32 kind)
{
	if (SAMPLING)
		sample_range(id->ino, sampled_device(*id), owner | (u64)kind << 32, first, first + pages);
}

/* The same of a request. */

APART int sample_request(const struct hs_row *row, const struct target *t, u64 bytes, u32 kind)
{
	if (SAMPLING && row && t)
		sample_pages(row->owner, &t->id, t->pos >> 12, pages_of(t->pos, bytes), kind);
	return 0;
}
#else
static __always_inline void sample_pages(u32 owner, const struct hs_file_key *id, u64 first, u64 pages, u32 kind)
{
	if (!SAMPLING)
		return;
	u64 who = owner | (u64)kind << 32, ino = id->ino, device = sampled_device(*id), group = first >> SAMPLE_BITS;
	/* Most requests are of one group. */
	if (*(volatile u64 *)&g.sample_exponent >= SAMPLE_BITS && (first + pages - 1) >> SAMPLE_BITS == group) {
		u64 page = sampled_of_group(ino, device >> 32, group);
		if (page - first < pages)
			sample_page(ino, device, who, page);
		return;
	}
	if (pages == 1)
		sample_page(ino, device, who, first);
	else
		sample_range(ino, device, who, first, first + pages);
}

static __always_inline void sample_request(const struct hs_row *row, const struct target *t, u64 bytes, u32 kind)
{
	if (SAMPLING)
		sample_pages(row->owner, &t->id, t->pos >> 12, pages_of(t->pos, bytes), kind);
}
#endif
#endif

#endif
