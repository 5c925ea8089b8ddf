//! Stack distances of anything that has a 64-bit number.

use std::hint::black_box;

use super::histogram::Distances;
use super::stack::Stack;
use super::uncounted::{AHEAD, Uncounted};
use crate::table::{Load, NEW, NONE, Table};

/// At most half is taken, so that nearly every key stands at its home.
const LOAD: Load = Load { full: 50, growth: 200 };

/// Keys in the order of their last use. Memory: about 26 to 50 bytes a key, and 4 for the distances.
#[derive(Debug, Clone)]
pub struct HashedStack {
    last: Table,
    stack: Stack,
    distances: Distances,
}

impl Default for HashedStack {
    fn default() -> Self {
        Self { last: Table::new(LOAD), stack: Stack::new(0), distances: Distances::default() }
    }
}

impl HashedStack {
    /// Begins without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a reference, and returns its distance; none for a first reference.
    pub fn touch(&mut self, key: u64) -> Option<u32> {
        if self.stack.is_full(1) {
            self.renumber();
        }
        let last = self.last.value(key);
        let (distance, slot) = self.stack.touch(*last);
        *last = slot;
        self.distances.count(distance);
        distance
    }

    /// Counts many references: the same as each by itself, but several times as fast.
    pub fn touch_all(&mut self, keys: &[u64]) {
        let mut uncounted = Uncounted::new();
        let mut places = [0; AHEAD];
        for keys in keys.chunks(AHEAD) {
            if self.stack.is_full(keys.len()) {
                self.renumber();
            }
            // From here on, no key changes its place.
            self.last.reserve(keys.len());
            let mut seen = 0;
            for (at, (&key, place)) in keys.iter().zip(&mut places).enumerate() {
                *place = self.last.home(key);
                seen ^= self.last.look(*place);
                uncounted.count(at, &mut self.distances);
            }
            black_box(seen);
            uncounted.count_rest(keys.len(), &mut self.distances);
            self.find_all(keys, &mut places);
            for &place in &places[..keys.len()] {
                let last = self.last.value_at(place);
                let (distance, slot) = self.stack.touch(if *last == NEW { NONE } else { *last });
                *last = slot;
                uncounted.push(distance);
            }
        }
        uncounted.count_rest(0, &mut self.distances);
    }

    /// Finds the places of keys in the table, given their homes, and looks at what their next references need.
    fn find_all(&mut self, keys: &[u64], places: &mut [usize; AHEAD]) {
        let mut seen = 0;
        for (&key, place) in keys.iter().zip(places) {
            *place = self.last.find_or_add(*place, key);
            seen ^= self.stack.look(*self.last.value_at(*place));
        }
        black_box(seen);
    }

    /// Takes a key out, so that it no longer counts for the distance of others; its next reference is a first one.
    pub fn remove(&mut self, key: u64) {
        if let Some(last) = self.last.remove(key) {
            self.stack.remove(last);
        }
    }

    /// Keys that are in the stack.
    pub fn len(&self) -> usize {
        self.last.len()
    }

    /// Whether no key is in the stack.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The references so far.
    pub fn into_distances(self) -> Distances {
        self.distances
    }

    #[cold]
    fn renumber(&mut self) {
        let last = &mut self.last;
        self.stack.renumber(|new| last.values_mut().for_each(|last| *last = new(*last)));
    }
}
