//! Pure interpretation: facts in, a [`Summary`] out. Same input, same output.
//!
//! Every ratio, sum and verdict that a view prints is computed here, so that the terminal, the JSON and any other view
//! cannot disagree. Nothing here does I/O, reads a clock, starts a thread or prints.

#![forbid(unsafe_code)]

pub mod bench;
mod directories;
mod finding;
mod gate;
pub mod lab;
pub mod listing;
pub mod live;
mod losses;
mod numbers;
mod rules;
mod summary;
mod system;
#[cfg(test)]
mod testing;
mod time;
pub mod top;

pub use directories::DirectoryLookups;
pub use finding::{Evidence, Finding, Number, Saving, Severity};
pub use gate::Gate;
pub use losses::Losses;
pub use numbers::{IoNumbers, ReadNumbers, Rest, WriteNumbers};
pub use rules::{Outcome, RULES, Rule, RuleInput, RuleVerdict, Verdict};
pub use summary::{FileNumbers, LookupNumbers, Summary, summarise};
pub use system::{
    CacheOrder, CachePart, CachedFileNumbers, SystemNumbers, cached_file_numbers,
    file_systems_by_pages, sort_cached_files, system_numbers,
};
pub use time::{Slice, SliceKind, TimeSplit};
