//! The cache state of many files, one cachestat(2) call each.

use std::collections::HashMap;

use hotset_facts::{Observed, Residency};
use rustix::io::Errno;

use super::raw::cachestat;
use super::residency::{ResidencyCause, by_mincore, from_cachestat};
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
        // The exact range matters: some file systems keep their own pages beyond the end (fs-verity).
        match cachestat(file.fd, 0, file.size_bytes) {
            Ok(answer) => {
                self.answered |= file.size_bytes > 0;
                if answer.cached == 0 && file.size_bytes > 0 && self.hides_pages(file) {
                    return by_mincore(file.fd, file.stat, file.size_bytes);
                }
                Ok(from_cachestat(file.size_bytes, &answer))
            }
            // The same rule as mincore(2)'s: where one refuses, the other lies.
            Err(Errno::PERM) if self.answered => Err(ResidencyCause::Denied),
            Err(Errno::NOSYS | Errno::PERM) => by_mincore(file.fd, file.stat, file.size_bytes),
            Err(errno) => Err(ResidencyCause::System { call: "cachestat", errno }),
        }
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
