//! The kernel's two lists for pages of files, active and inactive, with refault distances.
//!
//! After mm/vmscan.c, mm/workingset.c and mm/swap.c of Linux 6.12, for a control group at its limit without swap. A new page
//! goes to the head of the inactive list, and is referenced by the read that brought it; a second read activates it
//! (`folio_mark_accessed()`); a write marks nothing. What is mapped is looked at when its page comes to the tail of a list: a
//! page that was used since goes round the inactive list once more, and is activated the second time
//! (`folio_check_references()`); code is activated the first time, and goes round the active list again where it was used
//! (`shrink_active_list()`). At the limit, at least 32 pages are reclaimed at once.
//!
//! Not modelled beyond what [`super`] says: shadow entries that are reclaimed themselves when there are many
//! (`count_shadow_nodes()`).

mod reclaim;

use super::lists::Lists;
use super::{Outcome, Policy, Touch};

const INACTIVE: usize = 0;
const ACTIVE_LIST: usize = 1;

const CACHED: u8 = 1;
const ACTIVE: u8 = 1 << 1;
/// `PG_referenced`.
const REFERENCED: u8 = 1 << 2;
/// `PG_workingset`: it was active once. A shadow entry keeps it.
const WORKINGSET: u8 = 1 << 3;
/// There is a shadow entry: the page was evicted.
const SHADOW: u8 = 1 << 4;
/// The accessed bit of its page table entry.
const YOUNG: u8 = 1 << 5;
const DIRTY: u8 = 1 << 6;
/// It is mapped as code.
const EXEC: u8 = 1 << 7;

/// How old the sizes of the lists are by which the kernel decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListSizes {
    /// As they are: before 6.12, `prepare_scan_control()` brings the group's statistics up to date before it reads them.
    Fresh,
    /// As they were when a work item last brought the statistics up to date, every 2 seconds (`FLUSH_TIME`, mm/memcontrol.c):
    /// from 6.12 on, `mem_cgroup_flush_stats_ratelimited()` leaves it at that.
    Refreshed {
        /// When it does so first, in nanoseconds after the beginning. It is not known of a run, and matters.
        first_ns: u64,
    },
}

impl ListSizes {
    /// The time between two updates, in nanoseconds.
    pub const REFRESH_NS: u64 = 2_000_000_000;
}

/// The statistics of the control group that reclaim decides by.
#[derive(Debug, Clone, Copy, Default)]
struct Stats {
    inactive: u64,
    active: u64,
    /// Pages that were activated when they came back (`WORKINGSET_ACTIVATE_FILE`).
    activated: u64,
}

/// Two lists at a limit. 5 bytes a page, and 8 to 16 more for each that is cached.
#[derive(Debug, Clone)]
pub struct Classic {
    flags: Vec<u8>,
    lists: Lists<2>,
    limit: u64,
    /// `lruvec->nonresident_age`: evictions and activations, by which refault distances are measured.
    age: u32,
    activated: u64,
    /// `lruvec->refaults`: the activations that the last reclaim knew of.
    activated_before: u64,
    /// Of the last update, where the sizes are not fresh.
    old: Option<Stats>,
    next_refresh_ns: u64,
}

impl Classic {
    /// For page numbers below `pages`; at least one page is cached.
    pub fn new(pages: u32, limit_pages: u64, sizes: ListSizes) -> Self {
        let (old, next_refresh_ns) = match sizes {
            ListSizes::Fresh => (None, u64::MAX),
            ListSizes::Refreshed { first_ns } => (Some(Stats::default()), first_ns),
        };
        Self {
            flags: vec![0; pages as usize],
            lists: Lists::new(pages),
            limit: limit_pages.max(1),
            age: 0,
            activated: 0,
            activated_before: 0,
            old,
            next_refresh_ns,
        }
    }

    fn current(&self) -> Stats {
        Stats {
            inactive: self.lists.len(INACTIVE),
            active: self.lists.len(ACTIVE_LIST),
            activated: self.activated,
        }
    }

    /// What the kernel believes.
    fn stats(&self) -> Stats {
        self.old.unwrap_or_else(|| self.current())
    }

    /// Whether a page comes back so soon that it would still be cached if it had had the room of the active list: its refault
    /// distance is at most the length of that list (`workingset_test_recent()`, mm/workingset.c).
    fn is_workingset(&self, page: u32) -> bool {
        let evicted = self.lists.shadow(page);
        u64::from(self.age.wrapping_sub(evicted)) <= self.stats().active
    }

    /// Adds a page that is not cached.
    #[inline(never)]
    fn insert(&mut self, page: u32, before: u8, touch: Touch) -> Outcome {
        let written = if self.cached() < self.limit { 0 } else { self.reclaim() };
        let mut flags = CACHED | if touch.writes() { DIRTY } else { 0 };
        let was_evicted = before & SHADOW != 0;
        if was_evicted && !touch.writes() && self.is_workingset(page) {
            flags |= ACTIVE | before & WORKINGSET;
            self.age = self.age.wrapping_add(1);
            self.activated += 1;
        }
        let list = if flags & ACTIVE != 0 { ACTIVE_LIST } else { INACTIVE };
        self.flags[page as usize] = flags | Self::mark_of(touch);
        self.lists.push_head(list, page);
        Outcome::not_cached(touch, was_evicted, written)
    }

    /// What a use of a page that was not marked leaves.
    fn mark_of(touch: Touch) -> u8 {
        match touch {
            Touch::Read => REFERENCED,
            Touch::Fault => YOUNG,
            Touch::Code => YOUNG | EXEC,
            _ => 0,
        }
    }

    /// `folio_mark_accessed()` where it finds a page referenced and inactive.
    fn activate(&mut self, page: u32, flags: u8) {
        self.lists.remove(INACTIVE, page);
        self.lists.push_head(ACTIVE_LIST, page);
        self.flags[page as usize] = flags & !REFERENCED | ACTIVE;
        self.age = self.age.wrapping_add(1);
    }
}

impl Policy for Classic {
    #[inline]
    fn touch(&mut self, page: u32, touch: Touch) -> Outcome {
        let Some(&flags) = self.flags.get(page as usize) else { return Outcome::UNKNOWN };
        if flags & CACHED == 0 {
            return self.insert(page, flags, touch);
        }
        if touch == Touch::Read && flags & (REFERENCED | ACTIVE) == REFERENCED {
            self.activate(page, flags);
        } else {
            let dirty = if touch.writes() { DIRTY } else { 0 };
            self.flags[page as usize] = flags | Self::mark_of(touch) | dirty;
        }
        Outcome::HIT
    }

    fn look(&self, page: u32) -> u32 {
        let flags = self.flags.get(page as usize).copied().unwrap_or(0);
        u32::from(flags) ^ self.lists.look(page)
    }

    fn remove(&mut self, page: u32) {
        let Some(flags) = self.flags.get_mut(page as usize) else { return };
        let flags = std::mem::take(flags);
        if flags & CACHED != 0 {
            self.lists.remove(if flags & ACTIVE != 0 { ACTIVE_LIST } else { INACTIVE }, page);
        }
    }

    fn sync(&mut self, page: u32) -> bool {
        let Some(flags) = self.flags.get_mut(page as usize) else { return false };
        let was_dirty = *flags & DIRTY != 0;
        *flags &= !DIRTY;
        was_dirty
    }

    fn advance(&mut self, clock_ns: u64) {
        if clock_ns >= self.next_refresh_ns {
            self.old = Some(self.current());
            let late = (clock_ns - self.next_refresh_ns) / ListSizes::REFRESH_NS;
            self.next_refresh_ns += (late + 1) * ListSizes::REFRESH_NS;
        }
    }

    fn has(&self, page: u32) -> bool {
        self.flags.get(page as usize).is_some_and(|flags| flags & CACHED != 0)
    }

    fn cached(&self) -> u64 {
        self.lists.len(INACTIVE) + self.lists.len(ACTIVE_LIST)
    }

    fn limit(&mut self) -> &mut u64 {
        &mut self.limit
    }

    fn evict(&mut self) -> u32 {
        self.reclaim()
    }

    fn check(&self) -> Result<(), String> {
        if self.cached() > self.limit {
            return Err(format!("{} pages at a limit of {}", self.cached(), self.limit));
        }
        let both = |flags: u8| flags & CACHED != 0 && flags & SHADOW != 0;
        if let Some(page) = self.flags.iter().position(|&flags| both(flags)) {
            return Err(format!("page {page} is cached and has a shadow entry"));
        }
        let list_of = |flags: u8| match flags & (CACHED | ACTIVE) {
            0 => None,
            CACHED => Some(INACTIVE),
            _ => Some(ACTIVE_LIST),
        };
        self.lists.check(|page| list_of(self.flags[page as usize]))
    }
}
