//! Views of `hotset lab`: terminal tables, JSON (`hotset.lab/1`), HTML pages.
//!
//! No experiment is known here: each hands its numbers and its charts over, as a [`LabResult`]. Charts and tables are made
//! from the factors of the cells, and a [`ChartSpec`] says which factor stands where. Where there is none, `panel` chooses.

mod baseline;
mod charts;
mod kept;
mod page;
mod panel;
mod spec;
mod table;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod words;

use hotset_analysis::lab::{LabSummary, PublishedFigure};

pub use crate::wire::{lab_baseline_json, read_lab, read_lab_baseline, write_lab_json};
pub use kept::lab_baseline_text;
pub use page::{lab_pages, write_lab_html};
pub use spec::{ChartSpec, Scale, Shape, Shown};
pub use table::render_lab;

/// An experiment in numbers, and how it wants to be shown.
#[derive(Debug, Clone)]
pub struct LabResult {
    /// What was measured.
    pub summary: LabSummary,
    /// What the experiment asks.
    pub question: &'static str,
    /// Its charts and tables.
    pub charts: &'static [ChartSpec<'static>],
    /// What others measured of the same.
    pub published: &'static [PublishedFigure],
}

/// A run of an experiment, and what a reader calls it beside others.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Such as the file's name; empty where there is one run only.
    pub name: &'a str,
    /// What was measured.
    pub result: &'a LabResult,
}

impl<'a> Named<'a> {
    /// Its numbers.
    fn summary(&self) -> &'a LabSummary {
        &self.result.summary
    }
}
