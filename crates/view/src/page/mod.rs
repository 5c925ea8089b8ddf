//! One self-contained HTML page: answers, and for each question a chart with its table.
//!
//! The page is a file that opens from disk, offline: scripts and styles stand in it, and its security policy allows
//! nothing to be fetched. Without scripts, and for those who can't see the charts, the tables hold every number.
//!
//! Charts are drawn by uPlot: 50 KB of script without dependencies, where Apache ECharts is 700 KB and Plotly 1.2 MB; it
//! draws thousands of points at once and leaves marks, legend and keyboard to us, where shapes, dashes and words for
//! screen readers need own work anyway. `assets/uplot/README.md` tells how to update it.
//!
//! The markup is written with maud: it escapes whatever isn't marked as markup, and needs half the crates that askama does.

mod assets;
mod data;
pub(crate) mod host;
mod html;
mod model;
mod pattern;
pub mod picture;
#[cfg(test)]
pub(crate) mod testing;

use std::io::{self, Write};

pub use model::{
    Answer, Axis, Chart, ChartKind, Column, Entry, MarkArea, MarkLine, Page, PageWarning, Point,
    Section, Series, Spread, Table, TableOf, Unit,
};

/// A value, or that nobody knows it.
pub(crate) fn or_unknown<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "unknown".to_owned(), text)
}

/// Writes the page as a whole HTML document.
///
/// # Errors
/// Only those of `out`.
pub fn write_page(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(html::document(page).into_string().as_bytes())
}

#[cfg(test)]
mod tests;
