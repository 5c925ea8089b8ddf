//! Explanations of a recording: text, page, JSON (`hotset.explanation/1`), and files that can be applied.

mod emit;
mod page;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod words;

use hotset_analysis::explain::Explained;
use hotset_facts::trace::{TraceHead, TraceLists};

pub use emit::{emitted, restore_drop_in, setting_file, settings_to_write};
pub use page::{explained_page, write_explained_html};
pub use text::render_explained;

/// An explanation, and the recording that it is of.
#[derive(Debug, Clone, Copy)]
pub struct ExplainedTrace<'a> {
    /// Where the recording is; none of one that is not kept.
    pub path: Option<&'a std::path::Path>,
    /// What it says of itself.
    pub head: &'a TraceHead,
    /// What its records point into: call sites have their names there.
    pub lists: &'a TraceLists,
    /// What was found and proved.
    pub explained: &'a Explained,
}
