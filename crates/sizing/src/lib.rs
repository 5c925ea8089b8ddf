//! How much memory a program's file cache needs.
//!
//! Of the requests of a program ([`ReferencesBuilder`]), [`simulate()`] says what the cache would do at other limits of memory, by
//! the kernel's own replacement policies ([`policy`]): hits, misses, refaults, pages written, time. [`evidence`] says which
//! policy a kernel has, how well it was predicted in runs of real kernels, and what was never compared. [`capacity`] says how
//! many pages a limit in bytes leaves for files.
//!
//! [`distance`] has exact curves of least recently used for any limit in one pass, [`sample`] the same in bounded memory, of
//! samples that can be merged.
//!
//! The crate must not open files, read clocks or print; the only threads that it starts are those of [`simulate()`], which
//! end in it. Nothing is random: the same references make the same numbers.

#![forbid(unsafe_code)]

mod ahead;
mod builder;
pub mod capacity;
pub mod distance;
pub mod evidence;
mod index_nodes;
mod page_ids;
pub mod policy;
mod read_ahead;
mod references;
pub mod sample;
mod simulate;
mod table;

pub use builder::{Bytes, PAGE_BYTES, ReferencesBuilder, TooMany};
pub use read_ahead::ReadAheadRules;
pub use references::{References, ReferencesError, Request, RequestKind, RoomChange};
pub use simulate::{Costs, LimitOutcome, PolicyKind, simulate};
