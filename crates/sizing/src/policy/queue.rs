//! One queue of pages: least recently used, where each use moves a page to the head, and first in, first out, where none does.

use super::lists::Lists;
use super::{Outcome, Policy, Touch};

const CACHED: u8 = 1;
const DIRTY: u8 = 2;
const EVICTED: u8 = 4;

/// Evicts the page that was not used for longest.
pub type Lru = Queue<true>;

/// Evicts the page that came first, however it was used since.
pub type Fifo = Queue<false>;

/// A queue whose last page is evicted. 5 bytes a page, and 8 to 16 more for each that is cached.
#[derive(Debug, Clone)]
pub struct Queue<const BY_USE: bool> {
    flags: Vec<u8>,
    lists: Lists<1>,
    limit: u64,
}

impl<const BY_USE: bool> Queue<BY_USE> {
    /// For page numbers below `pages`; at least one page is cached.
    pub fn new(pages: u32, limit_pages: u64) -> Self {
        let flags = vec![0; pages as usize];
        Self { flags, lists: Lists::new(pages), limit: limit_pages.max(1) }
    }
}

impl<const BY_USE: bool> Policy for Queue<BY_USE> {
    fn touch(&mut self, page: u32, touch: Touch) -> Outcome {
        let Some(&before) = self.flags.get(page as usize) else { return Outcome::UNKNOWN };
        let dirty = if touch.writes() { DIRTY } else { 0 };
        if before & CACHED != 0 {
            self.flags[page as usize] = before | dirty;
            if BY_USE {
                self.lists.remove(0, page);
                self.lists.push_head(0, page);
            }
            return Outcome::HIT;
        }
        let written = if self.cached() < self.limit { 0 } else { self.evict() };
        self.flags[page as usize] = CACHED | dirty;
        self.lists.push_head(0, page);
        Outcome::not_cached(touch, before & EVICTED != 0, written)
    }

    fn look(&self, page: u32) -> u32 {
        let flags = self.flags.get(page as usize).copied().unwrap_or(0);
        u32::from(flags) ^ self.lists.look(page)
    }

    fn remove(&mut self, page: u32) {
        let Some(flags) = self.flags.get_mut(page as usize) else { return };
        if std::mem::take(flags) & CACHED != 0 {
            self.lists.remove(0, page);
        }
    }

    fn sync(&mut self, page: u32) -> bool {
        let Some(flags) = self.flags.get_mut(page as usize) else { return false };
        let was_dirty = *flags & DIRTY != 0;
        *flags &= !DIRTY;
        was_dirty
    }

    fn has(&self, page: u32) -> bool {
        self.flags.get(page as usize).is_some_and(|flags| flags & CACHED != 0)
    }

    fn cached(&self) -> u64 {
        self.lists.len(0)
    }

    fn limit(&mut self) -> &mut u64 {
        &mut self.limit
    }

    fn evict(&mut self) -> u32 {
        let Some(page) = self.lists.pop_tail(0) else { return 0 };
        let flags = &mut self.flags[page as usize];
        let was_dirty = *flags & DIRTY != 0;
        *flags = EVICTED;
        u32::from(was_dirty)
    }

    fn check(&self) -> Result<(), String> {
        if self.cached() > self.limit {
            return Err(format!("{} pages at a limit of {}", self.cached(), self.limit));
        }
        self.lists.check(|page| (self.flags[page as usize] & CACHED != 0).then_some(0))
    }
}
