//! Interpretation: facts in, a [`Summary`] out. Same input, same output.
//!
//! Every ratio, sum and verdict that a view shows is computed here, so that the terminal, the JSON and the pages can't
//! disagree. `rules` has one file a question, `bench` compares commands by round, `baseline` sessions
//! with earlier ones, `diff` compares two runs, `lab` answers the questions of experiments,
//! `live` and `top` sum intervals up, `listing` and `system` tell what is cached, `trace` sums up
//! recordings, `explain` finds in them what could be spared, `replay` says what replays of them show, and `size` how much memory they
//! need.
//!
//! It must not do I/O, read a clock, start a thread or print; `clippy.toml` forbids the calls. It must not put a sentence into
//! a number's place: words that belong to one view are that view's.

#![forbid(unsafe_code)]

pub mod baseline;
pub mod bench;
pub mod check;
pub mod diff;
mod directories;
pub mod explain;
mod finding;
#[cfg(any(test, feature = "testing"))]
pub mod fixtures;
mod gate;
pub mod lab;
pub mod listing;
pub mod live;
mod losses;
mod numbers;
pub mod replay;
mod rules;
pub mod sites;
pub mod size;
mod summary;
mod system;
#[cfg(test)]
mod testing;
mod time;
pub mod top;
pub mod trace;

pub use directories::DirectoryLookups;
pub use finding::{Evidence, Finding, Number, Saving, Severity};
pub use gate::Gate;
pub use losses::Losses;
pub use numbers::{IoNumbers, ReadNumbers, Rest, WriteNumbers};
pub use rules::{Answer, Outcome, RULES, Rule, RuleInput, RuleVerdict};
pub use sites::SiteShare;
pub use summary::{FileNumbers, LookupNumbers, Summary, summarise};
pub use system::{
    CachePart, CachedFileNumbers, SystemNumbers, cached_file_numbers, file_systems_by_pages,
    sort_cached_files, system_numbers,
};
pub use time::{Slice, SliceKind, TimeSplit};
