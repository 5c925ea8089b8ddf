//! A trace in numbers and pictures: what each file, process, operation and call site cost, and when.
//!
//! Records come in batches and are forgotten: [`Tally`] and [`pictures::Pictures`] keep what their bounds allow, whatever a trace holds.
//! A sum is `None` where no record tells the number: an import knows no hits, and has none of them rather than 0.

mod counts;
mod failed;
mod flame;
pub(crate) mod kind;
mod latency;
pub(crate) mod open_files;
mod operations;
pub mod pictures;
mod places;
mod sequence;
mod summary;
mod tally;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
pub(crate) mod tests;
mod threads;

pub use counts::{KindCounts, TraceCounts, TracePages};
pub use failed::{FailedPath, FailedPaths};
pub use flame::{Flame, FlameNode, FlameWeight};
pub use kind::RequestKind;
pub use latency::{Latencies, LatencyNumbers};
pub use operations::{OperationErrors, OperationNumbers};
pub use sequence::Sequence;
pub use summary::{
    KindLatency, LostRecords, TraceFileNumbers, TraceProcessNumbers, TraceRest, TraceSiteNumbers,
    TraceSummary,
};
pub use tally::Tally;
pub use threads::TraceThreadNumbers;
