/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A task's own memory, read where the kernel has all physical memory mapped (Documentation/arch/x86/x86_64/mm.rst): a walk
 * over four page tables and a load of each word take some 30 ns by perf's samples, and the helper for the memory of user
 * space 200 for a window of a stack. Nothing is locked: what is read by way of tables that change meanwhile is other memory,
 * or none. So whoever reads this way looks for what the helper has read there before, and asks the helper where it is not
 * found.
 */
#ifndef HOTSET_DIRECT_MAP_H
#define HOTSET_DIRECT_MAP_H

#include "op.bpf.h"

#ifdef HOTSET_COMPAT
static __always_inline u64 direct_page(u64 tables, u64 address)
{
	return 0;
}
#else
#define PRESENT 1
#define LARGE_PAGE (1 << 7)
#define LARGE_BYTES (2ULL << 20)
#define FRAME_BYTES 4096

static __always_inline u64 entry_of(u64 table, u64 address, u32 shift)
{
	return load_number(table + (address >> shift & 511) * 8);
}

/* What an entry of a page table leads to. */
static __always_inline u64 behind(u64 entry)
{
	return g.direct_map + (entry & ((1ULL << (cfg.physical_bits & 63)) - FRAME_BYTES));
}

/* Where the page with a user address is in the kernel's map; 0 where it is not in memory. */
static __always_inline u64 direct_page(u64 tables, u64 address)
{
	if (cfg.five_levels) {
		u64 top = entry_of(tables, address, 48);
		if (!(top & PRESENT))
			return 0;
		tables = behind(top);
	}
	u64 upper = entry_of(tables, address, 39);
	if (!(upper & PRESENT))
		return 0;
	u64 middle = entry_of(behind(upper), address, 30);
	if (!(middle & PRESENT) || (middle & LARGE_PAGE))
		return 0;
	u64 lower = entry_of(behind(middle), address, 21);
	if (!(lower & PRESENT))
		return 0;
	if (lower & LARGE_PAGE)
		return (behind(lower) & -LARGE_BYTES) | (address & (LARGE_BYTES - FRAME_BYTES));
	u64 page = entry_of(behind(lower), address, 12);
	return page & PRESENT ? behind(page) : 0;
}

#ifdef HOTSET_RECORD
/* Finds the map by one page of which both is known: where it is in it, and its page frame. */
SEC("syscall") int find_direct_map(struct hs_frame *known)
{
	/* Where packet sockets are a module, their types are not among the kernel's own. */
	if (!bpf_core_type_exists(struct packet_sock) || !cfg.physical_bits)
		return 0;
	/* What is on the way to a number. */
	u64 *slot = &g.direct_map;
	struct files_struct *files = LOAD(task_struct, CURRENT(), files);
	u64 open = NUMBER(slot, LOAD(fdtable, LOAD(files_struct, files, fdt), fd));
	u64 file = load_pointer(open + 8ULL * known->fd);
	struct sock *sk = LOAD(socket, LOAD(file, file, private_data), sk);
	u64 page = NUMBER(slot, LOAD(pgv, LOAD(packet_sock, sk, rx_ring.pg_vec), buffer));
	u64 begin = page - known->number * FRAME_BYTES;
	/* It begins where a page of the third level can. */
	g.direct_map = page && (s64)begin < 0 && !(begin & ((1 << 30) - 1)) ? begin : 0;
	return 0;
}
#endif
#endif

#endif
