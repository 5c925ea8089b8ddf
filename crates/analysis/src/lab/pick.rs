//! The cells that answers rest on.

use hotset_facts::{LabCell, LabSession};

use super::answer::{TWIN, compare};
use super::numbers::CellNumbers;
use super::reference::KnownLevel;
use crate::bench::RatioEstimate;

/// A cell that was measured, with its numbers.
#[derive(Clone, Copy)]
pub(super) struct Picked<'a> {
    pub(super) cell: &'a LabCell,
    pub(super) numbers: &'a CellNumbers,
    /// Its median.
    pub(super) median: f64,
}

impl Picked<'_> {
    pub(super) fn id(&self) -> String {
        self.cell.id.clone()
    }

    /// The time of `other` divided by this one's, by rounds.
    pub(super) fn to(&self, other: &Self) -> Option<RatioEstimate> {
        compare(self.cell, other.cell)
    }
}

/// All cells of a session with a number.
pub(super) struct Cells<'a>(Vec<Picked<'a>>);

impl<'a> Cells<'a> {
    pub(super) fn of(session: &'a LabSession, numbers: &'a [CellNumbers]) -> Self {
        let told = session.cells.iter().zip(numbers).filter_map(|(cell, numbers)| {
            let median = numbers.median.filter(|_| cell.level(TWIN).is_none())?;
            Some(Picked { cell, numbers, median })
        });
        Self(told.collect())
    }

    /// Those with all of these levels.
    pub(super) fn with(&self, wanted: &[(&str, KnownLevel)]) -> Self {
        let has = |picked: &&Picked<'a>| {
            wanted
                .iter()
                .all(|(name, known)| picked.cell.level(name).is_some_and(|level| known.is(level)))
        };
        Self(self.0.iter().filter(has).copied().collect())
    }

    /// The only one with all of these levels; none where there are several.
    pub(super) fn one(&self, wanted: &[(&str, KnownLevel)]) -> Option<Picked<'a>> {
        match self.with(wanted).0.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// All, in the order of the session.
    pub(super) fn all(&self) -> &[Picked<'a>] {
        &self.0
    }

    /// The levels of a factor that are numbers, smallest first.
    pub(super) fn numbers(&self, name: &str) -> Vec<u64> {
        let mut levels: Vec<u64> =
            self.0.iter().filter_map(|picked| picked.cell.number(name)).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// The levels of a factor that are names, in the order of the session.
    pub(super) fn names(&self, name: &str) -> Vec<&'a str> {
        let mut levels = Vec::new();
        for level in self.0.iter().filter_map(|picked| picked.cell.name(name)) {
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
        levels
    }
}
