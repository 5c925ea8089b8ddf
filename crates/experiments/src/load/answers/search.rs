//! What a failed lookup in a directory costs.

use hotset_analysis::lab::ConstLevel::Name;
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, words};

/// The difference between the longest and the shortest path, divided by the lookups that it adds.
pub(super) fn cost_of_a_miss(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let searches =
        cells.with(&[("what", Name("search")), ("how", Name("path")), ("state", Name("warm"))]);
    let directories = |one: &&MeasuredCell<'_>| one.cell.number("directories");
    let none = searches.all().iter().min_by_key(directories)?;
    let most = searches.all().iter().max_by_key(directories)?;
    let more = directories(&most)?.checked_sub(directories(&none)?)?;
    let operations = most.cell.samples.first()?.operations;
    let misses = more.checked_mul(operations).filter(|&misses| misses > 0)?;
    let cost = none.paired_with(most, |none, most| (most - none) / misses as f64)?;
    Some(LabAnswer {
        question: format!("{runtime}: what does one failed search-path lookup cost?"),
        answer: format!(
            "{} per file and directory: {more} directories searched before the right one add {} to loading 100 files.",
            words::time(cost.ns),
            words::time(cost.ns * misses as f64),
        ),
        number: format!("{} per failed lookup", words::time(cost.ns)),
        confidence: cost.confidence,
        evidence: vec![none.id(), most.id()],
    })
}
