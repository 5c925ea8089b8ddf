// SPDX-License-Identifier: GPL-2.0
/*
 * What occupies the page cache: walks over the kernel's lists of superblocks and of their inodes, run by BPF_PROG_RUN.
 *
 * Nothing is locked but RCU, under which neither list's members are freed. Every load tolerates faults. A member that is
 * taken off a list points to itself, which is how a walk knows that it lost its way. One build: the kernel functions that
 * this needs came with 6.2.
 */
#define HOTSET_KERNEL_SYMBOLS /* libbpf resolves them */
#include "superblocks.bpf.h"
#include "inode_list.bpf.h"
#include "inode_path.bpf.h"

char LICENSE[] SEC("license") = "GPL";
