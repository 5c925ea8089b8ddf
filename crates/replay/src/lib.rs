//! A recording as steps that can be done again.
//!
//! [`PlanBuilder`] takes the records of a trace, batch by batch, and makes a [`ReplayPlan`] of them: what each thread did, in its
//! order; between threads, who has to wait for whom, by what they share (an open file description, bytes of a file, a name);
//! which files are only read and which are written, so that these are copies. Nothing is said of time: a replay goes as fast as
//! it can.
//!
//! [`changes`] makes another plan of it: of what the program would do if the programmer changed something, such as reading through a
//! buffer. Both plans can be run, and the difference is what the change is worth.
//! [`pattern()`] shows that difference in a few requests.
//!
//! The crate must not open files, read clocks or do steps: `hotset-sys` does them.

#![forbid(unsafe_code)]

mod build;
pub mod changes;
mod pattern;
mod ranges;

pub use build::PlanBuilder;
pub use hotset_facts::replay::ReplayPlan;
pub use pattern::pattern;
