//! Views of `hotset lab`: terminal tables, JSON (`hotset.lab/1`), HTML pages.
//!
//! Charts and tables are made from the factors of the cells: each experiment's file says which factor stands where, as a
//! list of `spec::ChartSpec`. Where it says nothing, `panel` chooses.

mod access;
mod buffer;
mod charts;
mod direct;
mod json;
mod load;
mod page;
mod panel;
mod reread;
mod spec;
mod table;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod words;

use hotset_analysis::lab::LabSummary;
use hotset_facts::Experiment;

pub use json::{SCHEMA, read_lab, sessions, write_lab_json};
pub use page::{lab_pages, write_lab_html};
pub use table::render_lab;

/// A run of an experiment, and what a reader calls it beside others.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Such as the file's name; empty where there is one run only.
    pub name: &'a str,
    /// What was measured.
    pub summary: &'a LabSummary,
}

/// What an experiment's own file wants to show.
fn specs(experiment: Experiment) -> Vec<spec::ChartSpec> {
    match experiment {
        Experiment::Reread => reread::charts(),
        Experiment::Buffer => buffer::charts(),
        Experiment::Access => access::charts(),
        Experiment::Load => load::charts(),
        Experiment::Direct => direct::charts(),
    }
}
