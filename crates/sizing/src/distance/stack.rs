//! The order of last uses, with what removed pages leave in it.

use std::collections::BinaryHeap;

use super::slots::Slots;
use crate::table::NONE;

/// Slots of last uses, and holes between them.
///
/// A removed page leaves a hole: caches that had the page have free room now, smaller ones do not. The next page that comes
/// from below the hole, or is new, fills it, because it is a miss just for caches that end between the two; the caches that
/// had this page too keep the free room, which is now a hole where the page was. (Without holes, pages that were evicted
/// would count as cached after a removal.)
#[derive(Debug, Clone)]
pub(crate) struct Stack {
    slots: Slots,
    /// Slots without a page, the latest first.
    holes: BinaryHeap<u32>,
}

impl Stack {
    /// With at least so many slots.
    pub(crate) fn new(slots: u32) -> Self {
        Self { slots: Slots::new(slots), holes: BinaryHeap::new() }
    }

    /// Whether slots must be [`Stack::renumber`]ed before so many uses.
    #[inline(always)]
    pub(crate) fn is_full(&self, uses: usize) -> bool {
        (self.slots.room() as usize) < uses
    }

    /// A page whose last use has this slot, [`NONE`] for a new one, is used again: its distance, and its new slot.
    #[inline(always)]
    pub(crate) fn touch(&mut self, last: u32) -> (Option<u32>, u32) {
        if !self.holes.is_empty() {
            return self.touch_with_holes(last);
        }
        if last == NONE {
            return (None, self.slots.take_next());
        }
        let (distance, slot) = self.slots.renew(last);
        (Some(distance), slot)
    }

    #[cold]
    fn touch_with_holes(&mut self, last: u32) -> (Option<u32>, u32) {
        let distance = (last != NONE).then(|| self.slots.later(last));
        match self.holes.peek().copied() {
            // The hole is above the page, or the page is new.
            Some(hole) if last == NONE || hole > last => {
                self.holes.pop();
                self.slots.free(hole);
                if last != NONE {
                    self.holes.push(last);
                }
            }
            _ => self.slots.free(last),
        }
        (distance, self.slots.take_next())
    }

    /// The page whose last use has this slot is removed.
    pub(crate) fn remove(&mut self, last: u32) {
        self.holes.push(last);
    }

    /// The page whose last use has this slot is forgotten, as if it had never been.
    pub(crate) fn forget(&mut self, last: u32) {
        self.slots.free(last);
    }

    /// Forgets every second hole, as half of the pages are forgotten.
    pub(crate) fn halve_holes(&mut self) {
        let holes = std::mem::take(&mut self.holes).into_sorted_vec();
        holes.iter().skip(1).step_by(2).for_each(|&hole| self.slots.free(hole));
        self.holes = holes.into_iter().step_by(2).collect();
    }

    /// Looks at what the next use needs, so that it is in the CPU's cache then. What it returns means nothing.
    #[inline(always)]
    pub(crate) fn look(&self, last: u32) -> u64 {
        self.slots.look(last)
    }

    /// Bytes of memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.memory_bytes() + self.holes.capacity() * size_of::<u32>()
    }

    /// Numbers the slots anew, without gaps: calls `each` with a function that turns old slots into new ones.
    pub(crate) fn renumber(&mut self, each: impl FnOnce(&dyn Fn(u32) -> u32)) {
        let new = self.slots.renumbered();
        each(&|slot| self.slots.rank(slot));
        let holes = std::mem::take(&mut self.holes).into_vec();
        self.holes = holes.into_iter().map(|hole| self.slots.rank(hole)).collect();
        self.slots = new;
    }
}
