//! The engine of `hotset bench`: which files a command uses, cache states set on them and verified, the command run and
//! timed, in rounds of a random order.
//!
//! Whether a run counts and whether to go on is asked of a [`Judge`]: nothing here interprets.

#![forbid(unsafe_code)]

mod candidates;
mod command;
pub mod experiment;
mod fileset;
mod hooks;
mod host;
mod lock;
mod pages;
pub mod parameters;
pub mod probes;
mod runs;
mod schedule;
mod session;
mod set;
mod state;
mod stuck;
#[cfg(test)]
mod test_support;
mod timer;

pub use candidates::{Candidate, from_paths, from_rows, from_traced};
pub use command::{Command, Input, Invocation, Output, Ran, Streams, Tail};
pub use fileset::{build, changed};
pub use hooks::{Hook, Hooks};
pub use host::HostLoad;
pub use lock::{SessionLock, Waiting};
pub use schedule::{Order, conditions};
pub use session::{CommandPlan, Decision, Judge, LabError, Plan, Progress, run};
pub use state::{States, verify};
pub use timer::timer;
