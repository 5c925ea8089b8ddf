//! Two runs of an experiment, cell by cell: two machines, two kernels, before and after.
//!
//! Nothing pairs the rounds of one run with those of another, so that the ratio is that of the medians, and its
//! interval is the widest that both cells' 95 % intervals allow. It holds the ratio of the true medians at least where
//! both intervals hold theirs: in 90 % of cases (Bonferroni).

use super::LabSummary;
use crate::bench::ConfidenceInterval;

/// A cell that two runs have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellComparison {
    /// Its place in the first one's cells.
    pub a: usize,
    /// Its place in the second one's.
    pub b: usize,
    /// The second one's median divided by the first one's.
    pub ratio: f64,
    /// The widest that the intervals allow; none where one of them lacks.
    pub interval: Option<ConfidenceInterval>,
    /// The two 95 % intervals overlap; none where one of them lacks.
    pub agree: Option<bool>,
}

/// The cells that both runs have a number of, in the order of the first. Cells are the same if their ids are.
pub fn compare_runs(a: &LabSummary, b: &LabSummary) -> Vec<CellComparison> {
    let one = |(at, cell): (usize, &hotset_facts::LabCell)| {
        let other = b
            .session
            .cells
            .iter()
            .position(|other| other.id == cell.id && other.unit == cell.unit)?;
        let (left, right) = (a.cells.get(at)?, b.cells.get(other)?);
        let (left_median, right_median) = (left.median?, right.median?);
        let ends = left.low.zip(left.high).zip(right.low.zip(right.high));
        let interval =
            ends.filter(|((low, _), _)| *low > 0.0).map(|((a_low, a_high), (b_low, b_high))| {
                ConfidenceInterval { low: b_low / a_high, high: b_high / a_low }
            });
        (left_median > 0.0).then_some(CellComparison {
            a: at,
            b: other,
            ratio: right_median / left_median,
            interval,
            agree: interval.map(|interval| interval.holds(1.0)),
        })
    };
    a.session.cells.iter().enumerate().filter_map(one).collect()
}

/// How many of the cells with intervals agree, and how many there are.
pub fn agreement(cells: &[CellComparison]) -> (usize, usize) {
    let with = cells.iter().filter_map(|cell| cell.agree);
    (with.clone().filter(|&agree| agree).count(), with.count())
}
