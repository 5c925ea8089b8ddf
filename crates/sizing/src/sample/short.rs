//! The order of last uses of a few thousand pages, in four bytes a page.

/// What stands for a page: 26 bits of a mixed hash, and how many of the hash's highest bits are 0, which says of which samples it is.
/// Two of 8,000 pages have the same with a chance of one in eight.
type Key = u32;

const ZEROS_BITS: u32 = 6;
/// A hash of zeros is taken for one with a bit: no key of a page is that of a hole.
const MOST_ZEROS: u32 = 62;
/// What stands where a page was removed.
const HOLE: Key = Key::MAX;
/// So many keys are looked at at once, by the wide instructions of the CPU.
const AT_ONCE: usize = 32;

fn key(hash: u64) -> Key {
    let mixed = hash.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ (hash >> 29);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32;
    (mixed as Key) << ZEROS_BITS | hash.leading_zeros().min(MOST_ZEROS)
}

fn is_in(key: Key, exponent: u32) -> bool {
    key & ((1 << ZEROS_BITS) - 1) >= exponent.min(MOST_ZEROS)
}

/// Pages, the last one used first, and holes as in [`crate::distance::stack::Stack`]. The place of a page is its distance, so that nothing is
/// kept beside it. A use looks at and moves what was used since the page was: kilobytes, which take a microsecond at most.
#[derive(Debug)]
pub(super) struct Short {
    keys: Vec<Key>,
    holes: usize,
}

impl Clone for Short {
    /// With the same room: a vector's own clone has none, and would take twice as much as it needs when it grows.
    fn clone(&self) -> Self {
        let mut keys = Vec::with_capacity(self.keys.capacity());
        keys.extend_from_slice(&self.keys);
        Self { keys, holes: self.holes }
    }
}

impl Short {
    /// With room for so many pages, holes included.
    pub(super) fn new(most_pages: usize) -> Self {
        // One more is there before some are forgotten.
        Self { keys: Vec::with_capacity(most_pages + 1), holes: 0 }
    }

    /// The page with this hash is used: how many others were since it was last, none for a new one.
    pub(super) fn touch(&mut self, hash: u64) -> Option<u32> {
        let key = key(hash);
        let found = self.place(key);
        let hole = if self.holes > 0 { self.place(HOLE) } else { None };
        let filled = hole.filter(|&hole| found.is_none_or(|found| hole < found));
        if let (Some(_), Some(found)) = (filled, found) {
            self.keys[found] = HOLE;
        } else if filled.is_some() {
            self.holes -= 1;
        }
        match filled.or(found) {
            Some(place) => self.keys.copy_within(..place, 1),
            None => self.keys.insert(0, key),
        }
        self.keys[0] = key;
        found.map(|place| place as u32)
    }

    /// Leaves a hole where the page with this hash is, if it is.
    pub(super) fn remove(&mut self, hash: u64) {
        if let Some(place) = self.place(key(hash)) {
            self.keys[place] = HOLE;
            self.holes += 1;
        }
    }

    /// Keeps pages that are in the sample of one in 2^`exponent`, and of holes every second.
    pub(super) fn halve(&mut self, exponent: u32) {
        let mut holes = 0;
        self.keys.retain(|&key| {
            holes += usize::from(key == HOLE);
            if key == HOLE { holes % 2 == 1 } else { is_in(key, exponent) }
        });
        self.holes = holes.div_ceil(2);
    }

    /// Pages and holes.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn pages(&self) -> usize {
        self.keys.len() - self.holes
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.keys.capacity() * size_of::<Key>()
    }

    fn place(&self, key: Key) -> Option<usize> {
        let (groups, rest) = self.keys.as_chunks::<AT_ONCE>();
        // Without a way out of the loop over a group, so that compilers compare several at once.
        let has = |group: &[Key; AT_ONCE]| group.iter().fold(false, |has, &one| has | (one == key));
        let (start, group) = match groups.iter().position(has) {
            Some(number) => (number * AT_ONCE, &groups[number][..]),
            None => (groups.len() * AT_ONCE, rest),
        };
        group.iter().position(|&one| one == key).map(|at| start + at)
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::random::Random;

    use super::*;
    use crate::sample::{FileIdentity, Sampler, hash};

    #[test]
    fn it_counts_what_the_long_one_does() {
        let mut random = Random::new(1);
        let limits = crate::sample::limit_grid(1 << 20);
        let mut short = Sampler::of_sample(2, 700, &limits);
        let mut long = Sampler { exponent: 2, ..Sampler::fixed_rate(0, &limits) };
        for number in 0..60_000_u64 {
            let page = random.below(300 + number / 6).min(random.below(300 + number / 6));
            let hash = hash(FileIdentity::new(0, 5, 0), page);
            if random.below(20) == 0 {
                short.remove(hash);
                long.remove(hash);
            } else {
                short.touch(hash);
                long.touch(hash);
            }
            // The bound is in pages and holes there, and in pages here.
            long.raise(short.exponent());
            if number % 5_000 == 0 {
                assert_eq!(short.take(), long.take(), "after {number}");
                assert_eq!(short.pages(), long.pages());
            }
        }
        assert!(short.exponent() >= 4 && short.memory_bytes() <= 4 * 701, "{}", short.exponent());
    }

    #[test]
    fn keys_differ_where_hashes_do() {
        let of = |page| key(hash(FileIdentity::new(3, 9, 1), page));
        let mut keys: Vec<Key> = (0..8_192).map(of).collect();
        keys.sort_unstable();
        keys.dedup();
        assert!(keys.len() >= 8_190, "{}", keys.len());
        assert!(is_in(key(0), 62) && is_in(key(1), 64) && !is_in(key(1 << 40), 24));
    }
}
