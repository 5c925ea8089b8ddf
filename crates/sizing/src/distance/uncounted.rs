//! Distances on their way into the counts.

use super::histogram::Distances;

/// So many references are looked at before the first of them is counted, so that what they need is fetched from memory at the
/// same time, instead of one after the other.
pub(super) const AHEAD: usize = 32;

/// Distances of up to [`AHEAD`] references. They are counted while the next references are looked at: the counts are at random
/// places too, and fetched with the rest.
#[derive(Debug)]
pub(super) struct Uncounted {
    distances: [Option<u32>; AHEAD],
    len: usize,
}

impl Uncounted {
    pub(super) fn new() -> Self {
        Self { distances: [None; AHEAD], len: 0 }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, distance: Option<u32>) {
        if let Some(place) = self.distances.get_mut(self.len) {
            *place = distance;
            self.len += 1;
        }
    }

    /// Counts the one at this place, if there is one.
    #[inline(always)]
    pub(super) fn count(&self, at: usize, distances: &mut Distances) {
        if let Some(&distance) = self.distances[..self.len].get(at) {
            distances.count(distance);
        }
    }

    /// Counts those from this place on, and keeps none.
    pub(super) fn count_rest(&mut self, from: usize, distances: &mut Distances) {
        (from..self.len).for_each(|at| self.count(at, distances));
        self.len = 0;
    }
}
