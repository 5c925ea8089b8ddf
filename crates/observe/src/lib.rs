//! The sensor: BPF programs on tracepoints, their loading, the decoding of what they say, and sessions around both.
//!
//! This is the only crate that knows BPF. It gives facts (`hotset-facts`) with losses and reasons, computes no ratio and
//! prints nothing. The counting itself happens in the kernel (`bpf/`), by the rules of `docs/method.md`.

#![deny(clippy::undocumented_unsafe_blocks)]

mod batch;
mod btf;
mod collector;
mod convert;
mod error;
mod facts;
mod features;
mod filebytes;
mod gather;
pub mod inodes;
pub mod live;
mod load;
mod names;
mod people;
mod perf;
mod probe;
mod record;
mod scope;
mod select;
mod sensor;
mod session;
mod syscalls;
mod tables;

pub use error::ObserveError;
pub use facts::DRAIN_INTERVAL;
pub use load::loader_words;
pub use probe::sensor_capabilities;
pub use session::{DEFAULT_MAX_ROWS, Observation, Options, Scope, Session};
