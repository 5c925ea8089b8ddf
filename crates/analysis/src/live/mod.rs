//! Intervals, interpreted: what `stat`, `top` and `export` show.
//!
//! [`summarise_interval`] adds up one interval in one pass; [`History`] and [`Histories`] keep a bounded past of it;
//! [`Accumulated`] makes counters of it that never go backwards. Rows are handed out as numbers of
//! [`Interval::processes`](hotset_facts::Interval::processes) and [`Interval::files`](hotset_facts::Interval::files),
//! so that a caller can keep an interval and what follows from it together.

mod accumulated;
mod grown;
mod history;
mod interval;
mod numbers;
mod series;
mod stat;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use accumulated::{Accumulated, Counted, SeriesLimits};
pub use grown::{GrownLoss, LossWatch};
pub use history::{Histories, History, Item, Point};
pub use interval::{
    CgroupNumbers, CommandNumbers, FileNumbers, IntervalSummary, MountNumbers, ProcessNumbers,
    summarise_interval,
};
pub use numbers::LiveNumbers;
pub use series::{Series, SeriesSet};
pub use stat::{StatLine, StatScope, StatTotals};
