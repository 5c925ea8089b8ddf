//! How much memory a program needs, by a recording of it.

mod caveats;
mod chart;
#[cfg(test)]
mod chart_tests;
mod csv;
mod curve;
mod emit;
mod page;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod verified;
mod words;

use std::path::Path;

use hotset_analysis::size::{SizeLimit, SizeSummary};
use hotset_facts::trace::TraceHead;

pub(crate) use caveats::caveats;
pub use csv::size_csv;
pub use emit::{NotEmitted, SizeForm, emit_size};
pub use page::write_size_html;
pub(crate) use page::{size_beside, size_page};
pub use text::render_size;
pub(crate) use words::policy_word;

/// A recording and what its need is.
#[derive(Debug, Clone, Copy)]
pub struct SizedTrace<'a> {
    /// Where it is; none where it is not kept.
    pub path: Option<&'a Path>,
    /// What it is of.
    pub head: &'a TraceHead,
    /// What it needs.
    pub summary: &'a SizeSummary,
}

/// Limits in ascending order, each once: those that were simulated, with the one that is enough and the one below which it thrashes.
fn rows(summary: &SizeSummary) -> Vec<SizeLimit> {
    let mut limits = summary.limits.clone();
    limits.extend(summary.enough);
    limits.extend(summary.thrash);
    limits.sort_by_key(|limit| limit.cache_bytes);
    limits.dedup_by_key(|limit| limit.cache_bytes);
    limits
}
