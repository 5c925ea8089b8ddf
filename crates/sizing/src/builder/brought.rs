//! Which pages the kernel read beside those that were asked for, where a recording tells how many.
//!
//! It reads those of a window that are not cached. How large the window was, no record says: it is the smallest that has so many pages
//! which were not requested before.

use std::ops::Range;

use super::held::is_in;
use super::{ReferencesBuilder, TooMany};
use crate::references::RequestKind;

/// Pages of a window, at least, that are looked at: a window of 1 MiB.
const WINDOW_PAGES: u64 = 256;
/// The same, by the pages that were read.
const WINDOW_BY_PAGES: u64 = 4;

impl ReferencesBuilder {
    /// Adds that the kernel read pages of a file beside those that were asked for.
    ///
    /// # Errors
    /// There are more files or pages than can be numbered.
    pub fn ahead(
        &mut self,
        file: u32,
        pages: impl IntoIterator<Item = u64>,
    ) -> Result<(), TooMany> {
        self.push(file, pages, RequestKind::Ahead, false)
    }

    /// Whether a page was in no request so far, nor is cached for others.
    fn is_new(&self, file: u32, page: u64) -> bool {
        let held = self.held.get(&file).map_or(&[][..], Vec::as_slice);
        self.ids.known(file, page).is_none() && !is_in(held, page)
    }

    /// So many pages of a file that were read ahead, from `from` on: the next ones that were not there. Where so many can't be found, because
    /// some had been evicted meanwhile, the next ones.
    pub fn brought_ahead(&self, file: u32, from: Range<u64>, count: u64) -> Vec<u64> {
        let next = from.clone().take(most_pages(count) as usize);
        let new = next.filter(|&page| self.is_new(file, page)).take(count as usize);
        let new: Vec<u64> = new.collect();
        if (new.len() as u64) < count { from.take(count as usize).collect() } else { new }
    }

    /// So many pages of a file with `end` pages that were read around a mapped one, of a window with as many pages before as behind it
    /// (`do_sync_mmap_readahead()`, mm/filemap.c). The page itself is among them.
    pub fn brought_around(&self, file: u32, page: u64, end: u64, count: u64) -> Vec<u64> {
        let window = |half: u64| {
            let first = page.saturating_sub(half);
            first..first.saturating_add(2 * half).min(end).max(first)
        };
        let is_new = |page: u64| u64::from(self.is_new(file, page));
        let mut half = count.div_ceil(2).max(1);
        let mut seen = window(half);
        let mut new: u64 = seen.clone().map(is_new).sum();
        while new < count && 2 * half < most_pages(count) {
            half += 1;
            let larger = window(half);
            new += (larger.start..seen.start).chain(seen.end..larger.end).map(is_new).sum::<u64>();
            seen = larger;
        }
        if new < count {
            return window(count.div_ceil(2)).collect();
        }
        seen.filter(|&page| is_new(page) == 1).take(count as usize).collect()
    }
}

fn most_pages(count: u64) -> u64 {
    count.saturating_mul(WINDOW_BY_PAGES).saturating_add(WINDOW_PAGES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(file: u32, pages: impl IntoIterator<Item = u64>) -> ReferencesBuilder {
        let mut builder = ReferencesBuilder::new();
        builder.ahead(file, pages).expect("there is room");
        builder
    }

    #[test]
    fn pages_that_were_there_are_not_read_ahead() {
        let builder = with(1, [2, 3, 5]);
        assert_eq!(builder.brought_ahead(1, 1..100, 4), [1, 4, 6, 7]);
        assert_eq!(builder.brought_ahead(2, 1..100, 2), [1, 2]);
        // At the end of the file, those that were evicted and came again.
        assert_eq!(builder.brought_ahead(1, 3..6, 2), [3, 4]);
        assert_eq!(builder.brought_ahead(1, 6..6, 2), [0; 0]);
    }

    #[test]
    fn a_window_has_as_many_pages_before_as_behind() {
        let all = |from: u64, to: u64| (from..to).collect::<Vec<u64>>();
        assert_eq!(with(1, []).brought_around(1, 20, 100, 8), all(16, 24));
        assert_eq!(with(1, []).brought_around(1, 2, 100, 8), all(0, 8));
        assert_eq!(with(1, []).brought_around(1, 98, 100, 8), all(92, 100));
        assert_eq!(with(1, 18..20).brought_around(1, 20, 100, 8), [15, 16, 17, 20, 21, 22, 23, 24]);
        let mut held = ReferencesBuilder::new();
        held.hold(1, Vec::from_iter([21..22, 98..99]));
        assert_eq!(held.brought_around(1, 20, 100, 4), [17, 18, 19, 20]);
        // All were there before, and were evicted.
        assert_eq!(with(1, 0..100).brought_around(1, 20, 100, 8), all(16, 24));
    }
}
