//! A time of the baseline and of this session: what shows, or why nothing can.

use serde::Serialize;

use super::estimate::{Session, Terms, estimate};
use crate::bench::ConfidenceInterval;

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
    /// Why a condition or cell has no interval.
    pub enum NotComparable {
        /// The baseline has no such command in this state, or no such cell.
        NotInBaseline = "not in the baseline",
        /// A median has no interval below six runs or rounds.
        TooFewRuns = "too few valid runs",
        /// The same of sessions of the baseline.
        TooFewRunsThen = "too few valid runs in the baseline",
        /// Times depend on the file system, and it has another type than in the baseline.
        OtherFileSystem = "on another file system",
        /// A cell of an experiment read or wrote another amount than in the baseline, or files of another size.
        OtherWork = "other work than in the baseline",
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
    /// The interval of that: its lower end is above the true ratio in at most 1 of 100 sessions, all conditions or cells taken
    /// together, and so is its upper end below it.
    pub interval: Option<ConfidenceInterval>,
    /// What sessions of the same are taken to differ by: a standard deviation, such as 0.012 for 1.2 %.
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
    /// What follows from the times of these sessions. `limit`: a slow-down above this share is too much.
    pub(crate) fn of(then: &[Session], now: Session, terms: Terms, limit: Option<f64>) -> Self {
        let now_ns = now.centre.log.exp();
        let Some(found) = estimate(then, now, terms) else {
            return Self::none(NotComparable::TooFewRunsThen, Some(now_ns));
        };
        let interval = found.interval;
        let verdict = if interval.low > 1.0 {
            ChangeVerdict::Slower
        } else if interval.high < 1.0 {
            ChangeVerdict::Faster
        } else {
            ChangeVerdict::NoDifferenceShown
        };
        Self {
            verdict,
            reason: None,
            baseline_ns: Some(found.baseline),
            now_ns: Some(now_ns),
            ratio: Some(found.ratio),
            interval: Some(interval),
            session_spread: Some(found.spread),
            busy: Some(found.busy),
            waiting: found.waiting,
            above_limit: limit.is_some_and(|limit| interval.low > 1.0 + limit),
        }
    }

    /// Nothing to say, for this reason; `now_ns` is the median now where it is known.
    pub(crate) fn none(reason: NotComparable, now_ns: Option<f64>) -> Self {
        Self {
            verdict: ChangeVerdict::NotComparable,
            reason: Some(reason),
            baseline_ns: None,
            now_ns,
            ratio: None,
            interval: None,
            session_spread: None,
            busy: None,
            waiting: 1.0,
            above_limit: false,
        }
    }

    /// The smallest slow-down that could have been shown, such as 0.04 for 4 %.
    pub fn smallest_effect(&self) -> Option<f64> {
        let (ratio, interval) = (self.ratio?, self.interval?);
        (interval.low > 0.0).then(|| ratio / interval.low - 1.0)
    }
}
