//! How much memory a program needs, by a recording of it.

mod caveats;
#[cfg(test)]
mod tests;
mod text;
mod verified;
mod words;

use std::path::Path;

use hotset_analysis::size::SizeSummary;
use hotset_facts::trace::TraceHead;

pub(crate) use caveats::caveats;
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
