//! How the repetitions of one process become samples.

use hotset_facts::{Factor, WantedState};

use super::expects::Expects;
use super::plan::name;

/// How a run of a cell becomes samples.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Splits {
    /// One sample: the sum of all repetitions and all operations.
    #[default]
    Whole,
    /// A cell for each part, with one sample a run: first and later reads of one process.
    Parts(Vec<Part>),
}

/// Some of the repetitions, which are a cell of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Added to the factors of the cell, or in the place of those of the same name: `("which", Name("first"))`.
    pub factors: Vec<Factor>,
    /// The state that it begins in; none where that follows from the cell's, and from what it may read from the device.
    pub state: Option<WantedState>,
    /// The first repetition of it, from 0.
    pub from: usize,
    /// The repetition after its last one; to the end where there is none.
    pub to: Option<usize>,
    /// What they come to.
    pub sample: PartSample,
    /// What the sample of this part must show, as to what it comes to. The cell's own expectations are of the whole run and
    /// are not asked of parts.
    pub expects: Expects,
}

impl Part {
    /// The first repetition of a process.
    pub fn first(expects: Expects) -> Self {
        Self::of("first", 0, Some(1), PartSample::Sum, expects)
    }

    /// The median of its later ones.
    pub fn later(expects: Expects) -> Self {
        Self::of("later", 1, None, PartSample::Median, expects)
    }

    /// The mean of its later ones.
    pub fn later_mean(expects: Expects) -> Self {
        Self::of("later-mean", 1, None, PartSample::Sum, expects)
    }

    /// The repetition at this place, with factors of its own, which begins with what the one before it left.
    pub fn at(place: usize, factors: Vec<Factor>, expects: Expects) -> Self {
        let (from, to, sample) = (place, Some(place + 1), PartSample::Sum);
        let state = (place > 0).then_some(WantedState::AsIs);
        Self { factors, state, from, to, sample, expects }
    }

    fn of(
        which: &str,
        from: usize,
        to: Option<usize>,
        sample: PartSample,
        expects: Expects,
    ) -> Self {
        Self { factors: vec![name("which", which)], state: None, from, to, sample, expects }
    }
}

/// What several repetitions come to in one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartSample {
    /// The sum of times, bytes and faults, with the repetitions as its operations: their mean, where the unit is ns/op.
    Sum,
    /// The repetition with the median time (of an even number, the shorter of the middle two), with the device bytes and
    /// faults of that very repetition, and one operation.
    Median,
}
