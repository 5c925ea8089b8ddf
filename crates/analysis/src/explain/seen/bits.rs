//! Pages of a part of a file, a bit each.

/// Pages of a part.
pub(in crate::explain) const PAGES: u64 = 512;
const WORDS: usize = 8;

/// Which pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::explain) struct Bits([u64; WORDS]);

impl Bits {
    /// Adds the pages from `from` to the one before `to`, both at most [`PAGES`].
    pub(in crate::explain) fn set(&mut self, from: u64, to: u64) {
        self.each(from, to, |word, mask| *word |= mask);
    }

    /// Takes them out.
    pub(in crate::explain) fn clear(&mut self, from: u64, to: u64) {
        self.each(from, to, |word, mask| *word &= !mask);
    }

    /// Whether a page is there.
    pub(in crate::explain) fn has(&self, page: u64) -> bool {
        self.count(page, page + 1) > 0
    }

    /// How many of these are there.
    pub(in crate::explain) fn count(&self, from: u64, to: u64) -> u64 {
        let mut pages = 0;
        let mut copy = *self;
        copy.each(from, to, |word, mask| pages += u64::from((*word & mask).count_ones()));
        pages
    }

    fn each(&mut self, from: u64, to: u64, mut with: impl FnMut(&mut u64, u64)) {
        for (at, word) in self.0.iter_mut().enumerate() {
            let first = at as u64 * 64;
            let (from, to) = (from.max(first) - first, to.min(first + 64).saturating_sub(first));
            if from < to {
                // `to` is from 1 to 64 here, and `from` is below 64.
                with(word, (u64::MAX >> (64 - to)) & (u64::MAX << from));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_range_is_set_counted_and_cleared() {
        for (from, to) in [(0, PAGES), (3, 4), (63, 65), (64, 128), (5, 5), (511, 512)] {
            let mut bits = Bits::default();
            bits.set(from, to);
            assert_eq!(bits.count(0, PAGES), to - from, "{from}..{to}");
            assert_eq!(bits.has(from), to > from);
            assert!(from == 0 || !bits.has(from - 1));
            bits.clear(from, to);
            assert_eq!(bits, Bits::default());
        }
    }
}
