//! How much memory a program's file cache needs: what the page cache would do with the requests of a program at other limits.
//!
//! [`ReferencesBuilder`] makes [`References`] of requests, in which pages have dense numbers.
//!
//! The crate must not open files, read clocks or print. Nothing is random: the same references make the same numbers.

#![forbid(unsafe_code)]

mod builder;
pub mod capacity;
pub mod distance;
pub mod evidence;
mod page_ids;
pub mod policy;
mod references;
pub mod sample;
mod simulate;
mod table;

pub use builder::{Bytes, PAGE_BYTES, ReferencesBuilder, TooMany};
pub use references::{References, ReferencesError, Request, RequestKind};
pub use simulate::{Costs, LimitOutcome, PolicyKind, simulate};
