//! What the articles that asked these questions published. Their machines aren't ours: the figures stand beside a
//! result, and are never a target.

use hotset_facts::{Experiment, LabCell, Level};

use super::answer::TWIN;

/// A level that is known when hotset is built: in published figures, and in what a chart shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownLevel {
    /// A whole number.
    Number(u64),
    /// A name.
    Name(&'static str),
}

/// A published figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReferenceFigure {
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
    pub here: &'static [(&'static str, KnownLevel)],
}

impl KnownLevel {
    /// True if it is this level.
    pub fn is(&self, level: &Level) -> bool {
        match (self, level) {
            (Self::Number(known), Level::Number(number)) => known == number,
            (Self::Name(known), Level::Name(name)) => known == name,
            _ => false,
        }
    }
}

impl ReferenceFigure {
    /// True if the cell measures the same.
    pub fn is_like(&self, cell: &LabCell) -> bool {
        let has = |(name, wanted): &(&str, KnownLevel)| {
            cell.level(name).is_some_and(|level| wanted.is(level))
        };
        // The second of two equal cells is there for the noise, and would be listed twice.
        !self.here.is_empty() && cell.level(TWIN).is_none() && self.here.iter().all(has)
    }
}

/// The published figures of an experiment.
pub fn references(experiment: Experiment) -> &'static [ReferenceFigure] {
    match experiment {
        Experiment::Access => super::access::FIGURES,
        Experiment::Load => super::load::reference::FIGURES,
        Experiment::Reread => super::reread::reference::FIGURES,
        Experiment::Buffer => super::buffer::reference::FIGURES,
        Experiment::Direct => super::direct::FIGURES,
    }
}
