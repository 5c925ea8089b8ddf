//! How much memory a program's file cache needs: what the page cache would do with the requests of a program at other limits.
//!
//! [`References`] are requests and their pages, which have dense numbers.
//!
//! The crate must not open files, read clocks or print. Nothing is random: the same references make the same numbers.

#![forbid(unsafe_code)]

mod references;

pub use references::{References, ReferencesError, Request, RequestKind};
