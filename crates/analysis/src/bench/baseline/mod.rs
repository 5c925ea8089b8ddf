//! A session against a baseline: what earlier sessions of the same commands measured.
//!
//! Sessions differ as a whole: the same command on the same idle host is faster in one than in the other, by where memory happens
//! to lie and what the host's neighbours do, and more rounds don't help (Kalibera and Jones, ISMM 2013, call it the level of
//! repetition that varies most). So the unit of inference is the session here, and not the round, and the interval holds how
//! much sessions differ: by those of the baseline, and as long as these are few, by what was measured of other commands.

mod compare;
mod describe;
mod estimate;
mod hosts;
mod save;
mod student;
#[cfg(test)]
mod tests;

use hotset_facts::format::Time;
use serde::Serialize;
use std::time::SystemTime;

pub use compare::{against, against_saved};
pub use describe::{DescribedBaseline, describe};
pub use estimate::{SESSION_SPREAD, SESSION_SPREAD_FREEDOM};
pub use hosts::{HostDifference, HostPart, host_differences};
pub use save::{NotSaved, saved_session};

use super::order::ConfidenceInterval;

/// Of sessions in which nothing changed, at most this share may claim a slow-down, whatever the number of their conditions.
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

/// How a session compares with a baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BaselineComparison {
    /// The baseline's name.
    pub name: String,
    /// How many sessions it has.
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
    /// Each condition of this session that was asked for.
    pub conditions: Vec<ConditionChange>,
    /// What the baseline has and this session lacks: its command and state.
    pub only_in_baseline: Vec<String>,
}

/// How a condition compares with the same one of the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConditionChange {
    /// The condition, by its place in `conditions` of the session.
    pub condition: usize,
    /// What the baseline ran under this name, where that was something else: its words. Null where it was the same.
    pub other_command: Option<String>,
    /// How the wall times compare.
    pub wall: Change,
    /// How the CPU times compare, user and system.
    pub cpu: Change,
}

hotset_facts::words! {
    /// What a comparison with a baseline shows.
    pub enum ChangeVerdict {
        /// The interval is above 1.
        Slower = "slower",
        /// The interval is below 1.
        Faster = "faster",
        /// The interval holds 1.
        NoDifferenceShown = "no difference shown",
        /// There is no interval, for the reason beside.
        NotComparable = "not comparable",
    }
}

hotset_facts::words! {
    /// Why a condition has no interval.
    pub enum NotComparable {
        /// The baseline has no such command in this state.
        NotInBaseline = "not in the baseline",
        /// A median has no interval below six runs.
        TooFewRuns = "too few valid runs",
        /// The same of sessions of the baseline.
        TooFewRunsThen = "too few valid runs in the baseline",
        /// A cold start depends on the device, and its file system has another type than in the baseline.
        OtherFileSystem = "on another file system",
    }
}

/// Times of the baseline and of this session, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// What it says.
    pub verdict: ChangeVerdict,
    /// Why it says nothing; null where it does.
    pub reason: Option<NotComparable>,
    /// The geometric mean of the medians of the baseline's sessions; null where there is none.
    pub baseline_ns: Option<f64>,
    /// The median now; null where no run is valid.
    pub now_ns: Option<f64>,
    /// The second divided by the first.
    pub ratio: Option<f64>,
    /// The interval of that: its lower end is above the true ratio in at most 1 of 100 sessions, all conditions taken together, and so is
    /// its upper end below it.
    pub interval: Option<ConfidenceInterval>,
    /// What sessions of the same command are taken to differ by: a standard deviation, such as 0.012 for 1.2 %.
    pub session_spread: Option<f64>,
    /// The largest share of the host's CPUs that other programs used during one of the sessions, this one among them. It makes the
    /// interval wider.
    pub busy: Option<f64>,
    /// How much of a difference a busier host may explain, as a factor that the nearer end of the interval was moved by: 1 where
    /// tasks waited for a CPU as much as in the baseline.
    pub waiting: f64,
    /// True where it is shown to be above what was too much.
    pub above_limit: bool,
}

impl Change {
    /// The smallest slow-down that could have been shown, such as 0.04 for 4 %.
    pub fn smallest_effect(&self) -> Option<f64> {
        let (ratio, interval) = (self.ratio?, self.interval?);
        (interval.low > 0.0).then(|| ratio / interval.low - 1.0)
    }
}
