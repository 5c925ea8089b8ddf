//! Reads whose read-ahead is simulated.

use std::collections::HashMap;

use super::{Bytes, PAGE_BYTES, ReferencesBuilder, TooMany};
use crate::read_ahead::{Layout, Opened, Opens, Reach, ReadAhead, ReadAheadRules};
use crate::references::RoomChange;

/// So many windows behind a page that is asked for, pages may be read ahead: one begins in the window of the page, and is marked there.
const WINDOWS: u64 = 2;

/// What is known of them.
#[derive(Debug, Clone)]
pub(super) struct Through {
    rules: ReadAheadRules,
    pub(super) opens: Opens,
    /// How far each file may be read ahead.
    reaches: HashMap<u32, Reach>,
}

impl ReferencesBuilder {
    /// Simulates what the kernel reads ahead of calls that [`Self::read_through`] adds, instead of what it read ahead when it was recorded. Has to be
    /// called before any request is added.
    ///
    /// A request takes 4 bytes more then, and page numbers are not used again: 5 bytes more for each page that the files have, and those that may be read ahead, for each limit that
    /// is simulated at the same time.
    pub fn simulate_read_ahead(&mut self, rules: ReadAheadRules) {
        self.ids.keep_keys();
        self.through = Some(Through { rules, opens: Opens::default(), reaches: HashMap::new() });
    }

    /// Adds a read through an open file description, which is a number of the caller's, of a file with so many pages. At most `window_pages` are read
    /// ahead at a time; of 0, or without [`Self::simulate_read_ahead`], nothing is.
    ///
    /// # Errors
    /// There are more files or pages than can be numbered.
    pub fn read_through(
        &mut self,
        bytes: &Bytes,
        description: u32,
        window_pages: u32,
        file_pages: u64,
    ) -> Result<(), TooMany> {
        let before = self.requests.len();
        self.read(bytes, description)?;
        let Some(through) = self.through.as_mut().filter(|_| window_pages > 0) else {
            return Ok(());
        };
        // Nothing is left of a request whose pages are all cached for others.
        if self.requests[before..].last().is_none_or(|last| last.pages == 0) {
            return Ok(());
        }
        let ends_a_page = bytes.end().is_multiple_of(PAGE_BYTES);
        let number = through.opens.number(description, window_pages);
        through.opens.set(self.requests.len() - 1, Opened { number, ends_a_page });
        let reach = through.reaches.entry(bytes.file).or_default();
        reach.pages = reach.pages.max(u64::from(window_pages) * WINDOWS);
        reach.end = reach.end.max(file_pages);
        Ok(())
    }

    /// Adds pages to those that a file has, of which no request is known: they are there to be read ahead.
    ///
    /// # Errors
    /// There are more files or pages than can be numbered.
    pub fn has_pages(
        &mut self,
        file: u32,
        pages: impl IntoIterator<Item = u64>,
    ) -> Result<(), TooMany> {
        pages.into_iter().try_for_each(|page| self.ids.number(file, page).map(drop))
    }
}

impl Through {
    /// Numbers pages in the order of their files, wherever their numbers stand.
    pub(super) fn lay_out(
        self,
        keys: &[u64],
        pages: &mut [u32],
        changes: &mut [(usize, RoomChange)],
    ) -> ReadAhead {
        let (layout, numbers) = Layout::of(keys, &self.reaches);
        let renumber = |page: &mut u32| *page = numbers.get(*page as usize).copied().unwrap_or(0);
        pages.iter_mut().for_each(renumber);
        for (_, change) in changes {
            if let RoomChange::Unused(pages) = change {
                pages.iter_mut().for_each(renumber);
            }
        }
        ReadAhead { rules: self.rules, opens: self.opens, layout }
    }
}
