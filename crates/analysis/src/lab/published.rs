//! What the articles that asked these questions published. Their machines aren't ours: the figures stand beside a
//! result, and are never a target.

use hotset_facts::{LabCell, Level};

/// A level that is known when hotset is built: in published figures, and in what a chart shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConstLevel {
    /// A whole number.
    Number(u64),
    /// A name.
    Name(&'static str),
}

/// A published figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedFigure {
    /// Who published it.
    pub source: &'static str,
    /// On which machine it was measured, as far as the source says.
    pub machine: &'static str,
    /// What was measured, in the source's sense.
    pub what: &'static str,
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// The factors of the cells that measure the same here; empty where none does.
    pub here: &'static [(&'static str, ConstLevel)],
    /// Those of other cells that do, where none of these was measured.
    pub or_here: &'static [(&'static str, ConstLevel)],
}

impl ConstLevel {
    /// True if it is this level.
    pub fn is(&self, level: &Level) -> bool {
        match (self, level) {
            (Self::Number(known), Level::Number(number)) => known == number,
            (Self::Name(known), Level::Name(name)) => known == name,
            _ => false,
        }
    }
}

impl PublishedFigure {
    /// The places among these cells of those that measure the same.
    pub fn like(&self, cells: &[LabCell]) -> Vec<usize> {
        let of = |wanted: &[(&str, ConstLevel)]| -> Vec<usize> {
            let has = |cell: &LabCell| {
                wanted
                    .iter()
                    .all(|(name, known)| cell.level(name).is_some_and(|level| known.is(level)))
            };
            // The second of two equal cells is there for the noise, and would be listed twice.
            let is_like = |cell: &LabCell| !wanted.is_empty() && !cell.is_twin() && has(cell);
            let places = cells.iter().enumerate().filter(|(_, cell)| is_like(cell));
            places.map(|(place, _)| place).collect()
        };
        match of(self.here) {
            found if found.is_empty() => of(self.or_here),
            found => found,
        }
    }
}
