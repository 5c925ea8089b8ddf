//! The sensor: BPF programs on tracepoints, their loading, the decoding of what they send, and sessions around both.
//!
//! - [`Session`] observes a command or processes until it is finished, and gives an [`Observation`].
//! - [`live::LiveSession`] observes for as long as it is asked, and gives a sample an interval.
//! - [`inodes`] lists what the kernel has cached, by programs that run once.
//!
//! The counting itself happens in the kernel (`bpf/`), by the rules of `docs/method.md`. This crate gives facts with losses
//! and reasons. It is the only one that knows BPF; it must not compute ratios, and must not print.

#![deny(clippy::undocumented_unsafe_blocks)]

mod again;
mod batch;
mod btf;
mod choose;
mod clear;
mod collector;
mod configure;
mod convert;
mod definitions;
mod direct_map;
mod elf;
mod error;
mod event;
mod facts;
mod features;
mod filebytes;
mod gather;
#[cfg(test)]
mod heap;
pub mod inodes;
mod large_tables;
pub mod live;
mod load;
mod memory;
#[cfg(test)]
mod mirror_tests;
mod names;
mod objects;
mod observation;
mod perf;
mod probe;
mod processes;
mod programs;
mod record;
mod recording;
mod relevant;
mod scope;
mod select;
mod sensor;
mod session;
mod side_by_side;
#[cfg(test)]
mod stack_tests;
mod syscalls;
mod tables;
#[cfg(test)]
mod whole_road_tests;

pub use error::ObserveError;
pub use facts::DRAIN_INTERVAL;
pub use load::loader_words;
pub use observation::{DEFAULT_FILES, DEFAULT_MAX_ROWS, Observation, Options, Scope};
pub use probe::sensor_capabilities;
pub use recording::{
    Chains, CodeMapping, RecordBatch, RecordLosses, RecordOptions, RecordingEnd, StackSample,
};
pub use session::Session;
