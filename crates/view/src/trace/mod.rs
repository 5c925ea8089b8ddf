//! A trace as people see it: the text of `trace info`, and its page.

mod info;
mod page;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use hotset_analysis::trace::TraceSummary;
use hotset_analysis::trace::pictures::TracePictures;
use hotset_facts::trace::TraceHead;

pub use info::{info, info_picture_size};
pub use page::{trace_page, write_trace_html};

/// What is known of a trace after both passes.
#[derive(Debug, Clone, Copy)]
pub struct Trace<'a> {
    /// What it says of itself.
    pub head: &'a TraceHead,
    /// It in numbers.
    pub summary: &'a TraceSummary,
    /// Its pictures; none where only one pass was made.
    pub pictures: &'a TracePictures,
    /// The size of its file or files, where that is known.
    pub file_bytes: Option<u64>,
}
