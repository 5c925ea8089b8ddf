//! The engine of `hotset bench` and `hotset lab`: the files that a command uses, cache states set on them and verified, commands
//! and probes run and timed, in rounds of a random order.
//!
//! A [`Plan`] says what to run; [`run`] runs it, and asks a [`Judge`] after each run whether it counts, and after each round
//! whether to go on. [`experiment`] does the same with cells of factors in place of commands, and [`replay`] with the steps of a
//! recording.
//!
//! It measures. It must not interpret: medians, intervals and answers are `hotset-analysis`'s. It must not depend on the
//! sensor (`hotset-observe`), which observes it from outside.

#![forbid(unsafe_code)]

mod candidates;
mod command;
pub mod experiment;
mod failures;
mod fileset;
mod hooks;
mod host;
mod leftover;
mod lock;
mod pages;
pub mod parameters;
mod planned;
pub mod probes;
mod program;
pub mod replay;
mod rounds;
mod runs;
mod schedule;
mod session;
mod set;
pub mod shell;
mod state;
mod stuck;
#[cfg(test)]
mod test_support;
mod timer;
mod words;

pub use candidates::{Candidate, from_paths, from_rows, from_traced};
pub use command::{Command, Input, Invocation, Output, Streams, Surroundings, Tail};
pub use failures::IgnoredFailures;
pub use fileset::{build, changed, leaves_files};
pub use hooks::{Hook, Hooks};
pub use host::HostLoad;
pub use leftover::cached_ranges;
pub use lock::{SessionLock, Waiting};
pub use planned::{CommandPlan, LabError, Learned};
pub use program::find_program;
pub use schedule::{Order, conditions};
pub use session::{Ended, Judge, Plan, run};
pub use state::{States, verify};
pub use timer::timer;
pub use words::Word;
