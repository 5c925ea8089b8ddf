//! Which time slots still hold the last use of a page, and how many of them are later than a given one.
//!
//! A bit a slot, so that a stack distance is a count of bits, as in Bennett and Kruskal, "LRU stack processing" (1975). Over the
//! bits are four levels of nodes with sums, which say how many live slots of the node are before each child. A count is one sum
//! of each level. When a slot is freed, the sums behind it change: at most a cache line of each level, all of it at once.
//! Nothing is searched, and no branch depends on the slot, so that the CPU works on several references at a time. (A Fenwick
//! tree, the usual structure, changes fewer sums, but how many is different each time, which no CPU foresees: curves of a
//! million pages took 1.5 to 1.8 times as long with one.)

use super::sums::{LongSums, ShortSums};

/// Slots of a word, and of a node of each level.
const WORD: u32 = 64;
const LEAF: u32 = WORD * ShortSums::CHILDREN;
const MIDDLE: u32 = LEAF * ShortSums::CHILDREN;
const HIGH: u32 = MIDDLE * LongSums::CHILDREN;
const TOP: u32 = HIGH * LongSums::CHILDREN;
/// So many slots there are for each live one after [`Slots::renumbered`], at least. More of them are renumbered less often;
/// a slot takes a bit and a quarter.
const SLOTS_PER_LIVE: u32 = 8;
/// Fewer than there are numbers, of which tables keep some for themselves.
const MOST_SLOTS: u32 = u32::MAX - LEAF;

/// 2,048 slots.
#[derive(Debug, Clone, Copy)]
struct Leaf {
    sums: ShortSums,
    words: [u64; ShortSums::CHILDREN as usize],
}

/// Slots, of which the next free one is taken by each reference.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    /// All sums behind the newest slot mean nothing until what they are before begins.
    leaves: Vec<Leaf>,
    /// By leaf, of 65,536 slots: the last sum can't be more than 63,488.
    middle: Vec<ShortSums>,
    high: Vec<LongSums>,
    /// Not of a node above, but of all.
    top: Vec<LongSums>,
    live: u32,
    next: u32,
    end: u32,
    /// So many there are at least.
    least: u32,
}

impl Slots {
    /// As many as this, rounded up, and later at least as many.
    pub(crate) fn new(least: u32) -> Self {
        let least = least.clamp(LEAF, MOST_SLOTS);
        Self { least, ..Self::with_slots(least) }
    }

    fn with_slots(slots: u32) -> Self {
        let nodes = |of: u32| slots.div_ceil(of) as usize;
        let leaf = Leaf { sums: ShortSums::ZERO, words: [0; ShortSums::CHILDREN as usize] };
        Self {
            leaves: vec![leaf; nodes(LEAF)],
            middle: vec![ShortSums::ZERO; nodes(MIDDLE)],
            high: vec![LongSums::ZERO; nodes(HIGH)],
            top: vec![LongSums::ZERO; nodes(TOP)],
            live: 0,
            next: 0,
            end: slots.next_multiple_of(LEAF),
            least: 0,
        }
    }

    /// How many free slots are left; [`Slots::renumbered`] makes some.
    #[inline]
    pub(crate) fn room(&self) -> u32 {
        self.end - self.next
    }

    /// Takes the next free slot.
    #[inline]
    pub(crate) fn take_next(&mut self) -> u32 {
        let slot = self.begin_next();
        self.live += 1;
        slot
    }

    /// Frees a live slot and takes the next free one: how many live ones were later, and which it is.
    #[inline(always)]
    pub(crate) fn renew(&mut self, slot: u32) -> (u32, u32) {
        // The number of live ones stays. To change it back and forth for each reference would take time.
        let next = self.begin_next();
        (self.live - self.clear(slot), next)
    }

    /// How many live slots are later than this one.
    pub(crate) fn later(&self, slot: u32) -> u32 {
        self.live - self.up_to(slot)
    }

    /// Frees a live slot.
    pub(crate) fn free(&mut self, slot: u32) {
        self.clear(slot);
        self.live -= 1;
    }

    #[inline(always)]
    fn begin_next(&mut self) -> u32 {
        let slot = self.next;
        if slot.is_multiple_of(WORD) {
            self.begin_word(slot);
        }
        self.leaves[(slot / LEAF) as usize].words[word(slot)] |= 1 << (slot % WORD);
        self.next += 1;
        slot
    }

    /// What begins with this slot gets its sums: all live slots are before it.
    fn begin_word(&mut self, slot: u32) {
        let mut before = self.live;
        let top = &mut self.top[(slot / TOP) as usize];
        if slot.is_multiple_of(HIGH) {
            top.begin(slot / HIGH, before);
        }
        before -= top.before(slot / HIGH);
        let high = &mut self.high[(slot / HIGH) as usize];
        if slot.is_multiple_of(MIDDLE) {
            high.begin(slot / MIDDLE, before);
        }
        before -= high.before(slot / MIDDLE);
        let middle = &mut self.middle[(slot / MIDDLE) as usize];
        if slot.is_multiple_of(LEAF) {
            middle.begin(slot / LEAF, before);
        }
        before -= middle.before(slot / LEAF);
        self.leaves[(slot / LEAF) as usize].sums.begin(slot / WORD, before);
    }

    /// Frees a live slot, and returns how many live ones there are up to it, with it.
    #[inline(always)]
    fn clear(&mut self, slot: u32) -> u32 {
        let leaf = &mut self.leaves[(slot / LEAF) as usize];
        let live = &mut leaf.words[word(slot)];
        let in_word = up_to_in_word(*live, slot);
        *live &= !(1 << (slot % WORD));
        let in_leaf = leaf.sums.take_one(slot / WORD);
        let in_middle = self.middle[(slot / MIDDLE) as usize].take_one(slot / LEAF);
        let in_high = self.high[(slot / HIGH) as usize].take_one(slot / MIDDLE);
        let top = (slot / TOP) as usize;
        let in_all = self.top[top].take_one(slot / HIGH);
        for sums in &mut self.top[top + 1..] {
            sums.take_one_from_all();
        }
        in_word + in_leaf + in_middle + in_high + in_all
    }

    /// Live slots up to this one, with it.
    #[inline]
    fn up_to(&self, slot: u32) -> u32 {
        let leaf = &self.leaves[(slot / LEAF) as usize];
        up_to_in_word(leaf.words[word(slot)], slot)
            + leaf.sums.before(slot / WORD)
            + self.middle[(slot / MIDDLE) as usize].before(slot / LEAF)
            + self.high[(slot / HIGH) as usize].before(slot / MIDDLE)
            + self.top[(slot / TOP) as usize].before(slot / HIGH)
    }

    /// Reads what it takes to free a slot, so that it is in the CPU's cache then; any slot may be asked for.
    #[inline]
    pub(crate) fn look(&self, slot: u32) -> u64 {
        let leaf = self.leaves.get((slot / LEAF) as usize);
        leaf.map_or(0, |leaf| leaf.words[word(slot)] ^ u64::from(leaf.sums.before(slot / WORD)))
    }

    /// The same order of live slots from slot 0 on without gaps; [`Slots::rank`] of the old ones are the new ones.
    pub(crate) fn renumbered(&self) -> Self {
        let wanted = self.live.saturating_mul(SLOTS_PER_LIVE).clamp(self.least, MOST_SLOTS);
        let mut new = Self { least: self.least, ..Self::with_slots(wanted) };
        (0..self.live).for_each(|_| _ = new.take_next());
        new
    }

    /// The place of a live slot among all, from 0.
    #[inline]
    pub(crate) fn rank(&self, slot: u32) -> u32 {
        self.up_to(slot) - 1
    }

    /// Bytes of memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.leaves.capacity() * size_of::<Leaf>()
            + self.middle.capacity() * size_of::<ShortSums>()
            + (self.high.capacity() + self.top.capacity()) * size_of::<LongSums>()
    }
}

/// Which word of its leaf a slot is in.
#[inline(always)]
fn word(slot: u32) -> usize {
    (slot / WORD % ShortSums::CHILDREN) as usize
}

/// Live slots of a word up to this one, with it.
#[inline(always)]
fn up_to_in_word(live: u64, slot: u32) -> u32 {
    (live << (WORD - 1 - slot % WORD)).count_ones()
}

#[cfg(test)]
mod tests {
    use hotset_facts::random::Random;

    use super::*;

    /// Each live slot has as many later ones as a walk over all of them counts.
    fn check(slots: &Slots, is_live: &[bool]) {
        let mut later = 0;
        for (slot, _) in is_live.iter().enumerate().rev().filter(|(_, is_live)| **is_live) {
            assert_eq!(slots.later(slot as u32), later, "slot {slot}");
            later += 1;
        }
        assert_eq!(slots.live, later);
    }

    #[test]
    fn counts_hold_over_nodes_of_all_levels() {
        let mut random = Random::new(3);
        let mut slots = Slots::new(TOP + 2 * HIGH + MIDDLE);
        let mut is_live = Vec::new();
        while slots.room() > 0 {
            let freed = random.below(2 * is_live.len() as u64 + 1) as usize;
            let one_of_those = is_live.get_mut(freed).filter(|is_live| **is_live);
            match one_of_those {
                Some(is_live) => {
                    *is_live = false;
                    let before = slots.later(freed as u32);
                    assert_eq!(slots.renew(freed as u32).0, before);
                }
                None => _ = slots.take_next(),
            }
            is_live.push(true);
            if is_live.len().is_multiple_of(5 * HIGH as usize) {
                check(&slots, &is_live);
            }
        }
        check(&slots, &is_live);
        let renumbered = slots.renumbered();
        assert_eq!(renumbered.live, slots.live);
        let ranks = (0..).zip(&is_live).filter(|(_, is_live)| **is_live);
        for (rank, (slot, _)) in (0..).zip(ranks) {
            assert_eq!(slots.rank(slot), rank);
        }
        check(&renumbered, &vec![true; renumbered.live as usize]);
    }
}
