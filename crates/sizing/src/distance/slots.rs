//! Which time slots still hold the last use of a page, and how many of them are later than a given one.
//!
//! A bit a slot, and a Fenwick tree (binary indexed tree; P. Fenwick, "A new data structure for cumulative frequency tables",
//! 1994) over blocks of 256 bits. A stack distance is a count of bits, as in Bennett and Kruskal, "LRU stack processing" (1975).

/// Words of 64 slots in a block.
const WORDS: usize = 4;
const BLOCK: u32 = WORDS as u32 * 64;
const FIRST_SLOTS: u32 = 8 * BLOCK;
/// So many slots there are for each live one after [`Slots::renumbered`], at least. More of them are renumbered less often;
/// a slot takes a bit.
const SLOTS_PER_LIVE: u32 = 8;

/// Slots, of which the next free one is taken by each reference.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    words: Vec<u64>,
    /// Live slots by block, without those of the newest block: at `i`, counted from 1, those of the `i & -i` blocks up to it.
    tree: Vec<u32>,
    /// Live slots of the newest block.
    newest: u32,
    live: u32,
    next: u32,
    end: u32,
}

impl Default for Slots {
    fn default() -> Self {
        Self::with_slots(FIRST_SLOTS)
    }
}

impl Slots {
    fn with_slots(slots: u32) -> Self {
        let blocks = slots.div_ceil(BLOCK);
        Self {
            words: vec![0; blocks as usize * WORDS],
            tree: vec![0; blocks as usize + 1],
            newest: 0,
            live: 0,
            next: 0,
            end: blocks * BLOCK,
        }
    }

    /// Whether there is no free slot left; [`Slots::renumbered`] makes some.
    pub(crate) fn is_full(&self) -> bool {
        self.next == self.end
    }

    /// Takes the next free slot.
    pub(crate) fn take_next(&mut self) -> u32 {
        let slot = self.next;
        if slot.is_multiple_of(BLOCK) {
            // The newest block is complete, and another begins.
            if let Some(complete) = (slot / BLOCK).checked_sub(1) {
                self.add(complete, self.newest);
            }
            self.newest = 0;
        }
        self.words[slot as usize / 64] |= 1 << (slot % 64);
        self.newest += 1;
        self.live += 1;
        self.next += 1;
        slot
    }

    /// How many live slots are later than this one.
    pub(crate) fn later(&self, slot: u32) -> u32 {
        self.live - self.up_to(slot)
    }

    /// Frees a live slot, and returns how many live ones are later.
    #[inline]
    pub(crate) fn free(&mut self, slot: u32) -> u32 {
        let block = slot / BLOCK;
        let later = self.later(slot);
        self.words[slot as usize / 64] &= !(1 << (slot % 64));
        self.live -= 1;
        if block == self.next.saturating_sub(1) / BLOCK {
            self.newest -= 1;
        } else {
            self.add(block, u32::MAX);
        }
        later
    }

    /// The word of a slot, so that it is in the CPU's cache when it is asked for; any slot may be asked for.
    #[inline]
    pub(crate) fn look(&self, slot: u32) -> u64 {
        self.words.get(slot as usize / 64).copied().unwrap_or(0)
    }

    /// Live slots up to this one, with it.
    fn up_to(&self, slot: u32) -> u32 {
        let mut sum = 0;
        let mut at = slot / BLOCK;
        while at > 0 {
            sum += self.tree[at as usize];
            at &= at - 1;
        }
        sum + self.up_to_in_block(slot)
    }

    fn up_to_in_block(&self, slot: u32) -> u32 {
        let (first, last) = ((slot / BLOCK) as usize * WORDS, slot as usize / 64);
        let whole: u32 = self.words[first..last].iter().map(|word| word.count_ones()).sum();
        whole + (self.words[last] & u64::MAX >> (63 - slot % 64)).count_ones()
    }

    /// Adds to a block's count; `u32::MAX` takes one away.
    fn add(&mut self, block: u32, count: u32) {
        let mut at = block + 1;
        while let Some(sum) = self.tree.get_mut(at as usize) {
            *sum = sum.wrapping_add(count);
            at += at & at.wrapping_neg();
        }
    }

    /// The same order of live slots from slot 0 on without gaps, and what turns old slots into new ones.
    pub(crate) fn renumbered(&self) -> (Self, Ranks<'_>) {
        let mut before = Vec::with_capacity(self.words.len() / WORDS);
        let mut sum = 0;
        for block in self.words.chunks_exact(WORDS) {
            before.push(sum);
            sum += block.iter().map(|word| word.count_ones()).sum::<u32>();
        }
        let wanted = self.live.saturating_mul(SLOTS_PER_LIVE).clamp(FIRST_SLOTS, u32::MAX - BLOCK);
        let mut new = Self::with_slots(wanted);
        (0..self.live).for_each(|_| _ = new.take_next());
        (new, Ranks { slots: self, before })
    }

    /// Bytes of memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>() + self.tree.capacity() * size_of::<u32>()
    }
}

/// The place of each live slot among all, from 0.
pub(crate) struct Ranks<'a> {
    slots: &'a Slots,
    before: Vec<u32>,
}

impl Ranks<'_> {
    pub(crate) fn of(&self, slot: u32) -> u32 {
        self.before[(slot / BLOCK) as usize] + self.slots.up_to_in_block(slot) - 1
    }
}
