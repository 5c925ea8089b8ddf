//! What a directory costs that is searched in vain.

use super::{Cells, operations, within_rounds};
use hotset_analysis::bench::ConfidenceInterval;
use hotset_analysis::lab::{LabAnswer, words};

/// The difference between the longest and the shortest path, divided by the lookups that it adds.
pub(super) fn cost_of_a_miss(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let names = [("runtime", runtime), ("what", "search"), ("how", "path"), ("state", "warm")];
    let directories = |cell: &&hotset_facts::LabCell| cell.number("directories");
    let none = cells.all(&names).min_by_key(directories)?;
    let most = cells.all(&names).max_by_key(directories)?;
    let more = most.number("directories")?.checked_sub(none.number("directories")?)?;
    let misses = more.checked_mul(operations(most)?).filter(|&misses| misses > 0)?;
    let cost = within_rounds(none, most, |none, most| (most - none) / misses as f64)?;
    let (rounds, cost, interval) = (words::rounds(cost.rounds), cost.value, cost.interval);
    Some(LabAnswer {
        question: format!(
            "{runtime}: what does a directory of the search path cost that doesn't have the file?"
        ),
        answer: format!(
            "{} for each file and directory: {more} directories before the right one add {} to 100 files.",
            words::time(cost),
            words::time(cost * misses as f64),
        ),
        number: format!("{} a miss", words::time(cost)),
        confidence: match interval {
            Some(ConfidenceInterval { low, high }) => {
                format!(
                    "95 % interval {} to {}, from {rounds}",
                    words::time(low),
                    words::time(high)
                )
            }
            None => format!("no 95 % interval, from {rounds}"),
        },
        evidence: vec![none.id.clone(), most.id.clone()],
    })
}
