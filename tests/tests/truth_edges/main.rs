//! Ways to do I/O that are rare, or easy to count wrong, against what the workload and the kernel say.

mod dropped;
mod identity;
mod limited;
mod memory;
mod syncs;
mod written;
