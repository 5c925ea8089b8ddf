//! What is evicted when the limit is reached, and when a generation begins: mm/vmscan.c.

use super::tiers::Tiers;
use super::uses::Uses;
use super::{
    DIRTY, MAX_GENERATIONS, MIN_GENERATIONS, Mglru, REFS_SHIFT, SHADOW, YOUNG, list_by, list_of,
};
use crate::policy::Policy;

/// `MIN_LRU_BATCH`: so many pages are evicted together.
const BATCH: usize = 64;
/// `MAX_LRU_BATCH`: so many are looked at for them at most.
const MAX_SCAN: u64 = 64 * BATCH as u64;
/// `SWAP_CLUSTER_MAX`: what a reclaim is to yield at least.
const TARGET: u64 = 32;
/// `DEF_PRIORITY`: the first attempt scans this power of two of all pages.
const FIRST_PRIORITY: u32 = 12;
/// `MAX_RECLAIM_RETRIES` (mm/memcontrol.c): attempts before the kernel gives up.
const RETRIES: u32 = 16;

impl Mglru {
    /// Whether a generation should begin, and how many pages there are to scan (`should_run_aging()`).
    fn should_age(&self) -> (bool, u64) {
        if self.generations() < MIN_GENERATIONS + 1 {
            return (true, 0);
        }
        let total = self.cached();
        if self.generations() > MIN_GENERATIONS + 1 {
            return (false, total);
        }
        let young = self.lists.len(list_of(self.max_seq));
        let old = self.lists.len(list_of(self.max_seq - MIN_GENERATIONS));
        let is_uneven = young * MIN_GENERATIONS > total || old * (MIN_GENERATIONS + 2) < total;
        (is_uneven, total)
    }

    /// Begins a generation (`try_to_inc_max_seq()` and `inc_max_seq()`).
    fn age(&mut self) {
        if self.has_faults {
            self.look_at_page_tables();
        }
        if self.generations() == MAX_GENERATIONS {
            while let Some(page) = self.lists.pop_tail(list_of(self.min_seq)) {
                self.move_to(self.min_seq + 1, page, true);
            }
            self.tiers.next_generation();
            self.min_seq += 1;
        }
        self.max_seq += 1;
    }

    /// Mapped pages that were used join the youngest generation (`walk_mm()` and `folio_update_gen()`).
    fn look_at_page_tables(&mut self) {
        for page in 0..self.flags.len() as u32 {
            let flags = self.flags[page as usize];
            if let (Some(list), true) = (list_by(flags), flags & YOUNG != 0) {
                self.lists.remove(list, page);
                self.flags[page as usize] &= !YOUNG;
                self.move_to(self.max_seq, page, false);
            }
        }
    }

    /// Passes over empty generations (`try_to_inc_min_seq()`): whether there were any.
    fn pass_empty(&mut self) -> bool {
        let before = self.min_seq;
        let mut seq = before;
        while seq + MIN_GENERATIONS <= self.max_seq && self.lists.len(list_of(seq)) == 0 {
            seq += 1;
        }
        if seq > before {
            self.tiers.next_generation();
            self.min_seq = seq;
        }
        seq > before
    }

    /// Takes pages that may be evicted out of the oldest generation, and moves those on that are protected (`scan_folios()` and
    /// `sort_folio()`). How many were scanned.
    fn isolate(&mut self, isolated: &mut [u32; BATCH]) -> (usize, u64) {
        if self.generations() == MIN_GENERATIONS {
            return (0, 0);
        }
        let last_tier = self.tiers.last_evicted();
        let (mut len, mut scanned) = (0, 0);
        while let Some(page) = self.lists.pop_tail(list_of(self.min_seq)) {
            scanned += 1;
            let refs = Uses::of(self.flags[page as usize]).refs();
            if Tiers::of(refs) > last_tier || refs == 4 {
                self.tiers.protected(refs);
                self.move_to(self.min_seq + 1, page, true);
            } else {
                isolated[len] = page;
                len += 1;
            }
            if scanned == MAX_SCAN || len == BATCH {
                break;
            }
        }
        (len, if len > 0 || scanned == MAX_SCAN { scanned } else { 0 })
    }

    /// `evict_folios()`: how many pages were scanned, and how many dirty ones evicted.
    fn evict(&mut self) -> (u64, u32) {
        let mut isolated = [0; BATCH];
        let (len, mut scanned) = self.isolate(&mut isolated);
        scanned += u64::from(self.pass_empty());
        if self.generations() == MIN_GENERATIONS {
            scanned = 0;
        }
        let mut written = 0;
        for &page in &isolated[..len] {
            let flags = self.flags[page as usize];
            if flags & YOUNG != 0 {
                self.flags[page as usize] = flags & !YOUNG;
                self.move_to(self.max_seq, page, false);
                continue;
            }
            written += u32::from(flags & DIRTY != 0);
            // `lru_gen_eviction()`
            let refs = Uses::of(flags).isolated_refs();
            self.tiers.evicted(refs);
            self.flags[page as usize] = SHADOW | refs << REFS_SHIFT;
            self.lists.set_shadow(page, self.min_seq as u32);
        }
        (scanned, written)
    }

    /// `try_to_shrink_lruvec()` at one priority: how many dirty pages were evicted.
    fn shrink(&mut self, priority: u32) -> u32 {
        let (mut scanned, mut written) = (0, 0);
        loop {
            let (ages, total) = self.should_age();
            if ages && priority != FIRST_PRIORITY {
                self.age();
                return written;
            }
            let wanted = total >> priority;
            if wanted == 0 {
                return written;
            }
            let (now, dirty) = self.evict();
            scanned += now;
            written += dirty;
            if now == 0 || scanned >= wanted {
                return written;
            }
        }
    }

    /// `try_to_free_mem_cgroup_pages()`, again where it frees nothing: how many dirty pages were evicted.
    #[inline(never)]
    pub(super) fn reclaim(&mut self) -> u32 {
        let before = self.cached();
        let mut written = 0;
        for _ in 0..RETRIES {
            for priority in (0..=FIRST_PRIORITY).rev() {
                written += self.shrink(priority);
                if self.cached() + TARGET <= before {
                    return written;
                }
            }
            if self.cached() < before {
                return written;
            }
        }
        written
    }
}
