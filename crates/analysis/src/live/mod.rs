//! Intervals, interpreted: what `stat`, `top` and `export` show.
//!
//! [`summarise_interval`] adds up one interval in one pass; [`Accumulated`] makes counters of intervals that never go
//! backwards; [`StatLine`] is what a line of `stat` holds; [`findings_of_group`] asks the rules about a control group.

mod accumulated;
mod curves;
mod findings;
mod grown;
mod interval;
mod numbers;
mod series;
mod stat;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use accumulated::{Accumulated, Counted, SeriesLimits};
pub use curves::{CurveSeries, CurveSet, CurveTotals, RecentReferences, WINDOW_MINUTES};
pub use findings::{
    GroupSpan, LIVE_RULES, LiveRule, SpanFile, SpanHost, findings_of_group, gate as span_gate,
};
pub use grown::{GrownLoss, LossWatch};
pub use interval::{IntervalSummary, summarise_interval};
pub use numbers::LiveNumbers;
pub use series::{Series, SeriesSet};
pub use stat::{StatLine, StatScope, StatTotals};
