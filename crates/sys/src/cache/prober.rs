//! The cache state of many files, one cachestat(2) call each.

use std::collections::HashMap;

use hotset_facts::{Observed, Residency, ResidencySource};

use super::residency::{ResidencyCause, decide};
use super::stacked::hides_pages;
use crate::tree::Found;

/// Asks about the files of a walk, and remembers what holds for all of them. One a thread.
///
/// The answers are those of [`super::residency()`].
#[derive(Debug, Default)]
pub struct Prober {
    /// Whether cachestat(2) told this process anything yet, and so isn't kept from it by an old seccomp filter.
    answered: bool,
    /// By device of directory and file: whether the pages lie elsewhere.
    hiding: HashMap<(u64, u64), bool>,
    last: Option<((u64, u64), bool)>,
}

impl Prober {
    /// One that knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How much of `file` is cached, or why nobody can tell.
    pub fn state(&mut self, file: &Found<'_>) -> Observed<Residency> {
        match self.residency(file) {
            Ok(state) => Observed::Value(state),
            Err(cause) => Observed::Missing(cause.reason()),
        }
    }

    /// How much of `file` is cached.
    ///
    /// # Errors
    /// As [`super::residency()`].
    pub fn residency(&mut self, file: &Found<'_>) -> Result<Residency, ResidencyCause> {
        let (fd, size_bytes, answered) = (file.fd, file.size_bytes, self.answered);
        let state = decide(fd, file.stat, size_bytes, answered, || self.hides_pages(file));
        let by_cachestat =
            |state: &Residency| size_bytes > 0 && state.source == ResidencySource::Cachestat;
        self.answered |= state.as_ref().is_ok_and(by_cachestat);
        state
    }

    fn hides_pages(&mut self, file: &Found<'_>) -> bool {
        let place = (file.place_dev, file.stat.st_dev);
        if let Some((known, hides)) = self.last
            && known == place
        {
            return hides;
        }
        let hides = *self.hiding.entry(place).or_insert_with(|| hides_pages(file.fd));
        self.last = Some((place, hides));
        hides
    }
}
