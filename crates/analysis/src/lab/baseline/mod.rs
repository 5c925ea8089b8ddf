//! A session of an experiment against a baseline: what it keeps of one, which cells are the same, and how their times compare.
//! What follows from these times is [`crate::baseline`]'s.

mod compare;
mod known;
mod save;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use compare::{LabTerms, against, against_saved};
pub use known::{CELL_SPREAD, cell_medians};
pub use save::{LabNotSaved, few_rounds, saved_session};

use crate::baseline::{Change, ChangeVerdict, ComparedWith, NotComparable};
use crate::bench::sorted;

/// How a session of an experiment compares with a baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabComparison {
    /// What it was compared with: the sessions of this experiment.
    #[serde(flatten)]
    pub with: ComparedWith,
    /// Each cell of this session but the second of two equal ones.
    pub cells: Vec<CellChange>,
    /// The ids of cells that the baseline has and this session lacks.
    pub only_in_baseline: Vec<String>,
    /// What else differs: the size, versions of runtimes, files of the user's.
    pub fact_differences: Vec<FactDifference>,
}

impl LabComparison {
    /// The cells of which a time shows this, those that differ most first.
    pub fn that_are(
        &self,
        verdict: ChangeVerdict,
        time: fn(&CellChange) -> &Change,
    ) -> Vec<&CellChange> {
        let mut found: Vec<&CellChange> =
            self.cells.iter().filter(|one| time(one).verdict == verdict).collect();
        let away = |one: &CellChange| time(one).ratio.map_or(0.0, |ratio| ratio.ln().abs());
        found.sort_by(|a, b| away(b).total_cmp(&away(a)));
        found
    }

    /// The cells of which a time is not comparable for a reason.
    pub fn not_comparable(
        &self,
        reason: NotComparable,
        time: fn(&CellChange) -> &Change,
    ) -> Vec<&CellChange> {
        self.cells.iter().filter(|one| time(one).reason == Some(reason)).collect()
    }

    /// The cells whose slow-down is shown to be above what was too much.
    pub fn above_limit(&self, time: fn(&CellChange) -> &Change) -> usize {
        self.cells.iter().filter(|one| time(one).above_limit).count()
    }

    /// The smallest slow-downs that could have been shown, of the cells that show no difference: the least and the largest of these;
    /// none where no slow-down could.
    pub fn smallest_effects(&self, time: fn(&CellChange) -> &Change) -> Option<(f64, f64)> {
        let effects = self.that_are(ChangeVerdict::NoDifferenceShown, time);
        let effects = sorted(effects.into_iter().filter_map(|one| time(one).smallest_effect()));
        Some((*effects.first()?, *effects.last()?))
    }

    /// True where some wall time could be compared.
    pub fn compares(&self) -> bool {
        self.cells.iter().any(|one| one.wall.verdict != ChangeVerdict::NotComparable)
    }
}

/// How a cell compares with the same one of the baseline. Times are in the cell's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellChange {
    /// The cell, by its place in `cells` of the session.
    pub cell: usize,
    /// How the wall times compare.
    pub wall: Change,
    /// How the CPU times compare, user and system.
    pub cpu: Change,
}

/// Something beside the cells that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactDifference {
    /// What it is: `python`.
    pub what: String,
    /// As it was in the baseline.
    pub baseline: String,
    /// As it is now.
    pub now: String,
}
