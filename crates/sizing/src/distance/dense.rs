//! Stack distances of pages with dense numbers.

use std::hint::black_box;

use super::histogram::Distances;
use super::stack::Stack;
use super::uncounted::{AHEAD, Uncounted};
use crate::table::NONE;

/// Pages in the order of their last use. Memory: about 6 bytes a page, and 4 for the distances.
#[derive(Debug, Clone)]
pub struct DenseStack {
    /// The slot of the last use of each page.
    last: Vec<u32>,
    stack: Stack,
    distances: Distances,
}

impl DenseStack {
    /// For page numbers below `pages`.
    pub fn new(pages: u32) -> Self {
        let last = vec![NONE; pages as usize];
        Self { last, stack: Stack::new(pages), distances: Distances::below(pages as usize) }
    }

    /// Counts a reference, and returns its distance; none for a first reference, and for a page that is not below the number
    /// given to [`DenseStack::new`].
    pub fn touch(&mut self, page: u32) -> Option<u32> {
        if self.stack.is_full(1) {
            self.renumber();
        }
        let last = self.last.get_mut(page as usize)?;
        let (distance, slot) = self.stack.touch(*last);
        *last = slot;
        self.distances.count(distance);
        distance
    }

    /// Counts many references: the same as each by itself, but several times as fast.
    pub fn touch_all(&mut self, pages: &[u32]) {
        let mut uncounted = Uncounted::new();
        for pages in pages.chunks(AHEAD) {
            if self.stack.is_full(pages.len()) {
                self.renumber();
            }
            let mut seen = 0;
            for (at, &page) in pages.iter().enumerate() {
                seen ^= self.look(page);
                uncounted.count(at, &mut self.distances);
            }
            black_box(seen);
            uncounted.count_rest(pages.len(), &mut self.distances);
            for &page in pages {
                if let Some(last) = self.last.get_mut(page as usize) {
                    let (distance, slot) = self.stack.touch(*last);
                    *last = slot;
                    uncounted.push(distance);
                }
            }
        }
        uncounted.count_rest(0, &mut self.distances);
    }

    /// Looks at what the next reference to a page needs, so that it is in the CPU's cache then.
    fn look(&self, page: u32) -> u64 {
        let last = self.last.get(page as usize).copied().unwrap_or(NONE);
        self.stack.look(last)
    }

    /// Takes a page out, so that it no longer counts for the distance of others; its next reference is a first one.
    pub fn remove(&mut self, page: u32) {
        if let Some(last) = self.last.get_mut(page as usize)
            && *last != NONE
        {
            self.stack.remove(*last);
            *last = NONE;
        }
    }

    /// The references so far.
    pub fn into_distances(self) -> Distances {
        self.distances
    }

    #[cold]
    fn renumber(&mut self) {
        let last = &mut self.last;
        self.stack.renumber(|new| {
            last.iter_mut().filter(|last| **last != NONE).for_each(|last| *last = new(*last));
        });
    }
}
