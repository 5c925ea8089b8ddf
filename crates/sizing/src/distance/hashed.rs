//! Stack distances of anything that has a 64-bit number.

use std::hint::black_box;

use super::histogram::Distances;
use super::stack::Stack;
use crate::table::{Load, Table};

/// At most half is taken, so that nearly every key stands at its home.
const LOAD: Load = Load { full: 50, growth: 200 };

/// So many keys are looked at before the first of them is counted: their places in the table are fetched from memory at the
/// same time, instead of one after the other.
const AHEAD: usize = 16;

/// Keys in the order of their last use. Memory: about 26 to 50 bytes a key, and 4 for the distances.
#[derive(Debug, Clone)]
pub struct HashedStack {
    last: Table,
    stack: Stack,
    distances: Distances,
}

impl Default for HashedStack {
    fn default() -> Self {
        Self { last: Table::new(LOAD), stack: Stack::default(), distances: Distances::default() }
    }
}

impl HashedStack {
    /// Begins without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a reference, and returns its distance; none for a first reference.
    pub fn touch(&mut self, key: u64) -> Option<u32> {
        if self.stack.is_full() {
            self.renumber();
        }
        let last = self.last.value(key);
        let (distance, slot) = self.stack.touch(*last);
        *last = slot;
        self.distances.count(distance);
        distance
    }

    /// Counts many references: the same as each by itself, but faster.
    pub fn touch_all(&mut self, keys: &[u64]) {
        for keys in keys.chunks(AHEAD) {
            black_box(keys.iter().fold(0, |seen, &key| seen ^ self.last.look(key)));
            for &key in keys {
                self.touch(key);
            }
        }
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
