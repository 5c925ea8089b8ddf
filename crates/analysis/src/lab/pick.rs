//! The cells that answers rest on.

use hotset_facts::{LabCell, LabSession};

use super::answer::{PairedTime, compare};
use super::numbers::CellNumbers;
use super::published::ConstLevel;
use crate::bench::RatioEstimate;

/// A cell that was measured, with its numbers.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredCell<'a> {
    /// The cell.
    pub cell: &'a LabCell,
    /// The same in numbers.
    pub numbers: &'a CellNumbers,
    /// Its median.
    pub median: f64,
}

impl MeasuredCell<'_> {
    /// The cell's id.
    pub fn id(&self) -> String {
        self.cell.id.clone()
    }

    /// The time of `other` divided by this one's, by rounds.
    pub fn to(&self, other: &Self) -> Option<RatioEstimate> {
        compare(self.cell, other.cell)
    }

    /// What a function of this one's time and that of `other` comes to, by rounds.
    pub fn paired_with(&self, other: &Self, ns: impl Fn(f64, f64) -> f64) -> Option<PairedTime> {
        PairedTime::of(self.cell, other.cell, ns)
    }
}

/// All cells of a session with a number.
#[derive(Debug)]
pub struct Cells<'a>(Vec<MeasuredCell<'a>>);

impl<'a> Cells<'a> {
    /// From a session and its cells in numbers. The second of two equal cells is left out.
    pub fn of(session: &'a LabSession, numbers: &'a [CellNumbers]) -> Self {
        let told = session.cells.iter().zip(numbers).filter_map(|(cell, numbers)| {
            let median = numbers.median.filter(|_| !cell.is_twin())?;
            Some(MeasuredCell { cell, numbers, median })
        });
        Self(told.collect())
    }

    /// Those with all of these levels.
    pub fn with(&self, wanted: &[(&str, ConstLevel)]) -> Self {
        let has = |picked: &&MeasuredCell<'a>| {
            wanted
                .iter()
                .all(|(name, known)| picked.cell.level(name).is_some_and(|level| known.is(level)))
        };
        Self(self.0.iter().filter(has).copied().collect())
    }

    /// The only one with all of these levels; none where there are several.
    pub fn one(&self, wanted: &[(&str, ConstLevel)]) -> Option<MeasuredCell<'a>> {
        match self.with(wanted).0.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// The first one with all of these levels.
    pub fn first(&self, wanted: &[(&str, ConstLevel)]) -> Option<MeasuredCell<'a>> {
        self.with(wanted).0.first().copied()
    }

    /// Those with this name for the level of a factor.
    pub fn named(&self, factor: &str, name: &str) -> Self {
        Self(
            self.0
                .iter()
                .filter(|picked| picked.cell.name(factor) == Some(name))
                .copied()
                .collect(),
        )
    }

    /// All, in the order of the session.
    pub fn all(&self) -> &[MeasuredCell<'a>] {
        &self.0
    }

    /// The levels of a factor that are numbers, smallest first.
    pub fn numbers(&self, name: &str) -> Vec<u64> {
        let mut levels: Vec<u64> =
            self.0.iter().filter_map(|picked| picked.cell.number(name)).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// The levels of a factor that are names, in the order of the session.
    pub fn names(&self, name: &str) -> Vec<&'a str> {
        let mut levels = Vec::new();
        for level in self.0.iter().filter_map(|picked| picked.cell.name(name)) {
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
        levels
    }
}
