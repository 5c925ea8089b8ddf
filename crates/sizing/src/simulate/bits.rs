//! A set of page numbers.

/// A bit for each page number; none where the set stays empty.
#[derive(Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// An empty set for page numbers below `pages`, or for none if it `is_unused`.
    pub(super) fn new(pages: u32, is_unused: bool) -> Self {
        let words = if is_unused { 0 } else { pages.div_ceil(64) };
        Self(vec![0; words as usize])
    }

    #[inline]
    pub(super) fn has(&self, page: u32) -> bool {
        self.0.get(page as usize / 64).is_some_and(|word| word & 1 << (page % 64) != 0)
    }

    /// Adds a page; whether it was none of them.
    pub(super) fn add(&mut self, page: u32) -> bool {
        let Some(word) = self.0.get_mut(page as usize / 64) else { return false };
        let was_none = *word & 1 << (page % 64) == 0;
        *word |= 1 << (page % 64);
        was_none
    }

    /// Takes a page out; whether it was one of them.
    #[inline]
    pub(super) fn take(&mut self, page: u32) -> bool {
        let Some(word) = self.0.get_mut(page as usize / 64) else { return false };
        let was = *word & 1 << (page % 64) != 0;
        *word &= !(1 << (page % 64));
        was
    }
}
