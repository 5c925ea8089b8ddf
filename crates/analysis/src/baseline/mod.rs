//! A session against a baseline: what earlier sessions of the same measured. `bench` and `lab` say what is the same, and how long
//! it took; what follows from these times is here, for both.
//!
//! Sessions differ as a whole: the same command on the same idle host is faster in one than in the other, by where memory happens
//! to lie and what the host's neighbours do, and more rounds don't help (Kalibera and Jones, ISMM 2013, call it the level of
//! repetition that varies most). So the unit of inference is the session here, and not the round, and the interval holds how
//! much sessions differ: by those of the baseline, and as long as these are few, by what was measured of others.

mod change;
mod estimate;
mod hosts;
mod student;
#[cfg(test)]
mod tests;

use std::time::SystemTime;

use hotset_facts::format::Time;
use serde::Serialize;

pub use change::{Change, ChangeVerdict, NotComparable};
pub(crate) use estimate::{Centre, Session, Terms, busy_share};
pub use estimate::{SESSION_SPREAD, SESSION_SPREAD_FREEDOM};
pub(crate) use hosts::on_other_file_systems;
pub use hosts::{HostDifference, HostPart, MeasuredOn, host_differences};

/// Of sessions in which nothing changed, at most this share may claim a slow-down, whatever the number of times that are compared.
pub const FALSE_CLAIMS: f64 = 0.01;

/// What is too slow.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailAbove {
    /// Slow-downs above this share are too much, such as 0.05 for 5 %; null where none is.
    pub wall: Option<f64>,
    /// The same of CPU time.
    pub cpu: Option<f64>,
}

/// What a session was compared with, and what came of it as a whole.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedWith {
    /// The baseline's name.
    pub name: String,
    /// How many of its sessions were compared with.
    pub sessions: usize,
    /// When the first of them began.
    #[serde(with = "Time")]
    #[cfg_attr(feature = "schema", schemars(with = "Time"))]
    pub first_at: SystemTime,
    /// When the last of them began.
    #[serde(with = "Time")]
    #[cfg_attr(feature = "schema", schemars(with = "Time"))]
    pub last_at: SystemTime,
    /// How this host differs from theirs.
    pub host_differences: Vec<HostDifference>,
    /// What was too much.
    pub fail_above: FailAbove,
    /// True where a slow-down above it is shown.
    pub failed: bool,
}

impl ComparedWith {
    /// Of sessions that began at these times; `now` where there is none of them. Nothing is too slow yet.
    pub(crate) fn of(
        name: &str,
        times: impl Iterator<Item = SystemTime> + Clone,
        now: SystemTime,
        host_differences: Vec<HostDifference>,
        fail_above: FailAbove,
    ) -> Self {
        Self {
            name: name.to_owned(),
            sessions: times.clone().count(),
            first_at: times.clone().min().unwrap_or(now),
            last_at: times.max().unwrap_or(now),
            host_differences,
            fail_above,
            failed: false,
        }
    }
}
