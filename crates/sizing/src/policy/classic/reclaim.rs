//! What is evicted when the limit is reached: mm/vmscan.c.

use super::{
    ACTIVE, ACTIVE_LIST, Classic, DIRTY, EXEC, INACTIVE, REFERENCED, SHADOW, Stats, WORKINGSET,
    YOUNG,
};
use std::hint::black_box;

use crate::policy::Policy;

/// `SWAP_CLUSTER_MAX`: pages that are scanned together, and that a reclaim is to yield at least.
const BATCH: u64 = 32;
/// `DEF_PRIORITY`: the first attempt scans this power of two of each list.
const FIRST_PRIORITY: u32 = 12;

impl Classic {
    /// `inactive_is_low()`: the larger the lists, the smaller the share that is to be inactive.
    fn inactive_is_low(stats: Stats) -> bool {
        let gib = (stats.inactive + stats.active) >> 18;
        let ratio = if gib > 0 { (10 * gib).isqrt() } else { 1 };
        stats.inactive * ratio < stats.active
    }

    /// Whether pages may be deactivated (`prepare_scan_control()`): the inactive list is short, or pages were activated as they
    /// came back since the last reclaim, so that the active ones may be stale.
    fn may_deactivate(&self) -> bool {
        let stats = self.stats();
        stats.activated != self.activated_before || Self::inactive_is_low(stats)
    }

    /// `try_to_free_mem_cgroup_pages()`: how many dirty pages were evicted.
    #[inline(never)]
    pub(super) fn reclaim(&mut self) -> u32 {
        let mut written = 0;
        // The second time, pages are deactivated in any case; the third time nothing can have a young page table entry left, and the fourth
        // time no code can still be active.
        for force in [false, true, true, true] {
            let before = self.cached();
            written += self.shrink(force);
            self.activated_before = self.stats().activated;
            if self.cached() < before {
                break;
            }
        }
        written
    }

    /// `do_try_to_free_pages()` with `shrink_lruvec()`: scans more and more of both lists until there are enough pages.
    fn shrink(&mut self, force: bool) -> u32 {
        let (target, mut written) = (self.cached().saturating_sub(BATCH), 0);
        for priority in (0..=FIRST_PRIORITY).rev() {
            let deactivates = force || self.may_deactivate();
            let mut inactive = self.lists.len(INACTIVE) >> priority;
            let mut active = self.lists.len(ACTIVE_LIST) >> priority;
            while inactive > 0 || active > 0 {
                let scan = inactive.min(BATCH);
                inactive -= scan;
                written += self.shrink_inactive(scan);
                let scan = active.min(BATCH);
                active -= scan;
                if deactivates {
                    self.shrink_active(scan);
                }
                if self.cached() <= target {
                    return written;
                }
            }
        }
        written
    }

    /// `shrink_inactive_list()`: evicts pages at the tail, but for mapped ones that were used.
    fn shrink_inactive(&mut self, scan: u64) -> u32 {
        let mut isolated = [0; BATCH as usize];
        let len = self.isolate(INACTIVE, scan, &mut isolated);
        let (mut kept_len, mut written) = (0, 0);
        for at in 0..len {
            let page = isolated[at];
            let flags = self.flags[page as usize];
            if flags & YOUNG == 0 {
                written += u32::from(flags & DIRTY != 0);
                self.flags[page as usize] = flags & WORKINGSET | SHADOW;
                self.lists.set_shadow(page, self.age);
                self.age = self.age.wrapping_add(1);
                continue;
            }
            let kept_flags = (flags & !YOUNG) | REFERENCED;
            if flags & (REFERENCED | EXEC) != 0 {
                self.flags[page as usize] = kept_flags | ACTIVE;
                self.lists.push_head(ACTIVE_LIST, page);
            } else {
                self.flags[page as usize] = kept_flags;
                isolated[kept_len] = page;
                kept_len += 1;
            }
        }
        for &page in &isolated[..kept_len] {
            self.lists.push_head(INACTIVE, page);
        }
        written
    }

    /// Takes so many pages off the tail of a list, at most a batch, and looks at them: what is known of them is fetched from
    /// memory at the same time, instead of one after the other. How many there were.
    fn isolate(&mut self, list: usize, scan: u64, isolated: &mut [u32; BATCH as usize]) -> usize {
        let mut len = 0;
        for place in isolated.iter_mut().take(scan as usize) {
            let Some(page) = self.lists.pop_tail(list) else { break };
            *place = page;
            len += 1;
        }
        black_box(isolated[..len].iter().fold(0, |seen, &page| seen ^ self.look(page)));
        len
    }

    /// `shrink_active_list()`: deactivates pages at the tail, used or not, but for code that was used.
    fn shrink_active(&mut self, scan: u64) {
        let mut isolated = [0; BATCH as usize];
        let len = self.isolate(ACTIVE_LIST, scan, &mut isolated);
        for &page in &isolated[..len] {
            let flags = &mut self.flags[page as usize];
            let is_code_in_use = *flags & (YOUNG | EXEC) == YOUNG | EXEC;
            *flags &= !YOUNG;
            if is_code_in_use {
                self.lists.push_head(ACTIVE_LIST, page);
                continue;
            }
            *flags = *flags & !ACTIVE | WORKINGSET;
            self.lists.push_head(INACTIVE, page);
        }
    }
}
