//! Benchmark sessions: whether runs count, how conditions compare, when there is enough, and what explains a
//! difference.
//!
//! Runs are marked and never dropped: each figure of valid runs has the one of all runs beside it.

mod baseline;
mod compare;
mod condition;
mod decide;
mod doubt;
mod explain;
mod files;
mod gates;
mod order;
mod ratio;
#[cfg(test)]
mod recorded_tests;
mod samples;
mod summarise;
mod summary;
#[cfg(test)]
pub(crate) mod testing;
mod warmup;
mod warnings;

pub use baseline::{
    BaselineComparison, ConditionChange, DescribedBaseline, NotSaved, against, against_saved,
    describe, saved_session,
};
pub use compare::{Comparison, NoiseFloor, Pair, asked_for};
pub use condition::{ConditionNumbers, Spread, Times};
pub use decide::{Plan, decide};
pub use doubt::Doubt;
pub use explain::{ColdWarm, WaitSource};
pub use files::{FileDifference, IoDifference, IoKind, KindDifference};
pub use gates::{JudgedRun, judge};
pub(crate) use order::quantile;
pub use order::{ConfidenceInterval, MIN_ROUNDS, median, median_interval, sorted};
pub use ratio::{Difference, RatioEstimate};
pub use summarise::summarise_bench;
pub use summary::{BenchSummary, Warning};
pub use warmup::{Trend, trend, warmup_rounds};
pub(crate) use warnings::other_reasons;
pub use warnings::{About, BenchWarning};
