//! The kernel's multi-gen LRU for pages of files.
//!
//! After mm/vmscan.c, mm/workingset.c, mm/swap.c and include/linux/mm_inline.h of Linux 6.12, for a control group at its limit
//! without swap. Pages stand in up to four generations. A page that is read comes into an old one, and further reads put it into
//! higher tiers. The oldest generation is evicted, but for pages in tiers that came back too often after they had been evicted
//! (`tiers`): these move on to the next generation. A new generation begins where the youngest has too many pages or the
//! second oldest too few.
//!
//! Mapped pages come into the youngest generation, and are looked at when a generation begins and when they are to be evicted.
//! That part is rough: the kernel looks at neighbours in the page table too, and passes over parts of it. That dirty pages move
//! on instead of being written at once is not modelled.

mod reclaim;
mod tiers;
mod uses;

use super::lists::Lists;
use super::{Outcome, Policy, Touch};
use tiers::Tiers;
use uses::Uses;

/// `MIN_NR_GENS` and `MAX_NR_GENS`.
const MIN_GENERATIONS: u64 = 2;
const MAX_GENERATIONS: u64 = 4;
const LISTS: usize = MAX_GENERATIONS as usize;
/// One more than the number of the generation's list; 0 for a page that is not cached.
const GENERATION: u8 = 0b111;
const DIRTY: u8 = 1 << 6;
/// The accessed bit of its page table entry.
const YOUNG: u8 = 1 << 7;
/// Of a page that is not cached: there is a shadow entry, because it was evicted.
const SHADOW: u8 = YOUNG;
/// Of a page that was evicted: its accesses beyond the first, which its shadow entry keeps.
const REFS: u8 = uses::MASK;
const REFS_SHIFT: u32 = REFS.trailing_zeros();

/// Generations at a limit. 5 bytes a page, and 8 to 16 more for each that is cached.
#[derive(Debug, Clone)]
pub struct Mglru {
    /// [`GENERATION`], [`uses::MASK`], [`DIRTY`], [`YOUNG`] or [`SHADOW`].
    flags: Vec<u8>,
    lists: Lists<LISTS>,
    limit: u64,
    /// The number of the youngest and of the oldest generation.
    max_seq: u64,
    min_seq: u64,
    tiers: Tiers,
    /// Whether any page was used through a mapping, so that page tables are worth a look.
    has_faults: bool,
}

fn list_of(seq: u64) -> usize {
    (seq % MAX_GENERATIONS) as usize
}

/// The flags of a page in this generation.
fn generation(seq: u64) -> u8 {
    list_of(seq) as u8 + 1
}

/// The list of a page that is cached.
fn list_by(flags: u8) -> Option<usize> {
    usize::from(flags & GENERATION).checked_sub(1)
}

impl Mglru {
    /// For page numbers below `pages`; at least one page is cached.
    pub fn new(pages: u32, limit_pages: u64) -> Self {
        Self {
            flags: vec![0; pages as usize],
            lists: Lists::new(pages),
            limit: limit_pages.max(1),
            // `lru_gen_init_lruvec()`
            max_seq: MIN_GENERATIONS + 1,
            min_seq: 0,
            tiers: Tiers::default(),
            has_faults: false,
        }
    }

    fn generations(&self) -> u64 {
        self.max_seq - self.min_seq + 1
    }

    /// Puts a page into a generation, with no uses.
    fn move_to(&mut self, seq: u64, page: u32, is_tail: bool) {
        let kept = self.flags[page as usize] & (DIRTY | YOUNG);
        self.flags[page as usize] = kept | generation(seq);
        if is_tail {
            self.lists.push_tail(list_of(seq), page);
        } else {
            self.lists.push_head(list_of(seq), page);
        }
    }

    /// Adds a page that is not cached.
    #[inline(never)]
    fn insert(&mut self, page: u32, before: u8, touch: Touch) -> Outcome {
        let written = if self.cached() < self.limit { 0 } else { self.reclaim() };
        let is_young = touch.is_young();
        let was_evicted = before & SHADOW != 0;
        let mut uses = Uses::NONE;
        // `lru_gen_refault()`
        if was_evicted && !touch.writes() && self.lists.shadow(page) == self.min_seq as u32 {
            let refs = (before & REFS) >> REFS_SHIFT;
            self.tiers.refaulted(refs);
            if is_young || refs >= 3 {
                uses = Uses::RESTORED;
            }
        }
        // `lru_gen_add_folio()`
        let seq = if is_young {
            self.max_seq
        } else if self.min_seq + MIN_GENERATIONS >= self.max_seq {
            self.min_seq
        } else {
            self.min_seq + 1
        };
        let marks = Self::marked(uses.flags(), touch);
        self.flags[page as usize] = marks | generation(seq);
        self.lists.push_head(list_of(seq), page);
        Outcome::not_cached(touch, was_evicted, written)
    }

    /// Flags after a use.
    fn marked(flags: u8, touch: Touch) -> u8 {
        match touch {
            Touch::Read => flags & !uses::MASK | Uses::of(flags).next().flags(),
            Touch::Fault | Touch::Code => flags | YOUNG,
            Touch::WriteWhole | Touch::WritePart => flags | DIRTY,
            Touch::ReadSamePage | Touch::RandomFault => flags,
        }
    }
}

impl Policy for Mglru {
    #[inline]
    fn touch(&mut self, page: u32, touch: Touch) -> Outcome {
        let Some(flags) = self.flags.get_mut(page as usize) else { return Outcome::UNKNOWN };
        self.has_faults |= touch.is_young();
        if *flags & GENERATION == 0 {
            let before = *flags;
            return self.insert(page, before, touch);
        }
        *flags = Self::marked(*flags, touch);
        Outcome::HIT
    }

    fn look(&self, page: u32) -> u32 {
        let flags = self.flags.get(page as usize).copied().unwrap_or(0);
        u32::from(flags) ^ self.lists.look(page)
    }

    fn remove(&mut self, page: u32) {
        let Some(flags) = self.flags.get_mut(page as usize) else { return };
        if let Some(list) = list_by(std::mem::take(flags)) {
            self.lists.remove(list, page);
        }
    }

    fn sync(&mut self, page: u32) -> bool {
        let Some(flags) = self.flags.get_mut(page as usize) else { return false };
        let was_dirty = *flags & DIRTY != 0;
        *flags &= !DIRTY;
        was_dirty
    }

    fn has(&self, page: u32) -> bool {
        self.flags.get(page as usize).is_some_and(|flags| flags & GENERATION != 0)
    }

    fn cached(&self) -> u64 {
        (0..LISTS).map(|list| self.lists.len(list)).sum()
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
        if !(MIN_GENERATIONS..=MAX_GENERATIONS).contains(&self.generations()) {
            return Err(format!("there are {} generations", self.generations()));
        }
        let seqs = self.min_seq..=self.max_seq;
        let is_open = |list: usize| seqs.clone().any(|seq| list_of(seq) == list);
        if let Some(list) = (0..LISTS).find(|&list| !is_open(list) && self.lists.len(list) > 0) {
            return Err(format!("list {list} has pages, but is of no generation"));
        }
        self.lists.check(|page| list_by(self.flags[page as usize]))
    }
}
