//! Ways to do I/O that are rare, or easy to count wrong, against what the workload and the kernel say.

mod aio;
mod at_once;
mod cached_direct;
mod copied;
mod devices;
mod direct;
mod dropped;
mod faults;
mod foreign;
mod identity;
mod layers;
mod lent;
mod limited;
mod memory;
mod script;
mod syncs;
mod uring;
mod vectors;
mod written;
mod zeros;
