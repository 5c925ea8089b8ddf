//! What happens between a plan and a profile: a program is run, or what runs already is attached to, and the facts of it come out.
//!
//! - [`run()`] runs a command under the sensor, or without it where it can't be had; [`run_without_sensor`] where none is wanted;
//!   [`run_limited`] under a memory limit, from cold files.
//! - [`Checker`] runs commands one after the other under one sensor.
//! - [`record()`] and [`record_running`] write every request into a trace besides.
//! - [`attach`] observes a process, a control group or the host for a while; [`Who`] finds whom a user means, [`Scoped`] holds them.
//! - [`interval`] takes intervals, at their time: what `stat`, `top` and `export` share.
//! - [`largest_unmapped_files`] says what is cached of files that nobody has mapped, whoever read them.
//! - [`Learner`] finds out which files a command uses; [`LabSensor`] is the sensor of the experiments.
//!
//! It knows the sensor (`hotset-observe`) and the engine (`hotset-lab`). It must not print, read arguments, or decide what is
//! shown: what is to be told meanwhile goes to a [`Say`].

#![forbid(unsafe_code)]

mod attached;
mod cached;
mod checked;
mod children;
mod fallback;
pub mod interval;
mod learn;
mod limited;
mod need;
mod record;
mod recording;
mod run;
mod scoped;
mod sensor;
mod sites;
mod traced;
mod who;

use std::fmt::Display;

pub use attached::{AttachOptions, attach};
pub use cached::largest_unmapped_files;
pub use checked::{CheckError, CheckOptions, CheckedRun, Checker, Killed};
pub use children::RunError;
pub use fallback::run_without_sensor;
pub use learn::{LearnError, Learner};
pub use limited::{Limited, LimitedError, run_limited};
pub use need::sample_need;
pub use record::{
    JoinedTrace, RecordOptions, Recorded, WriteTraceError, Written, join_parts, part_path,
    parts_of, record, record_running,
};
pub use run::{RunOptions, run};
pub use scoped::Scoped;
pub use sensor::LabSensor;
pub use sites::{Named as NamedSites, STACK_BYTES};
pub use who::{Named, Who};

/// Tells the user something while it happens.
pub type Say = fn(&dyn Display);
