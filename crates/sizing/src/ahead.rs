//! A look at what will be used soon.

use std::hint::black_box;

use crate::policy::Policy;

/// So many pages are looked at before the first of them is used, so that what is known of them is fetched from memory at
/// the same time, instead of one after the other.
const AHEAD: usize = 32;
/// Of a very large request, the last pages would be out of the CPU's cache again when they are used.
const MOST_AHEAD: usize = 1024;

/// Pages that will be used.
pub(crate) struct Ahead<'a> {
    /// Those that were not looked at.
    rest: &'a [u32],
    /// How many were, and are still to be used.
    looked: usize,
}

impl<'a> Ahead<'a> {
    /// None was looked at yet.
    pub(crate) fn of(pages: &'a [u32]) -> Self {
        Self { rest: pages, looked: 0 }
    }

    /// So many pages are used now.
    #[inline]
    pub(crate) fn pass(&mut self, pages: usize, policy: &impl Policy) {
        if self.looked < pages {
            self.look(pages, policy);
        }
        self.looked -= pages;
    }

    fn look(&mut self, pages: usize, policy: &impl Policy) {
        let (next, rest) = self.rest.split_at((pages - self.looked + AHEAD).min(self.rest.len()));
        let near = next.iter().take(MOST_AHEAD);
        black_box(near.fold(0, |seen, &page| seen ^ policy.look(page)));
        self.rest = rest;
        self.looked += next.len();
    }
}
