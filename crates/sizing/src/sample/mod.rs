//! Curves of least recently used in bounded memory, from samples of pages that can be merged.
//!
//! A page is in the sample if its hash is small, so that the references to it are all in the sample or none of them, and each
//! program and host chooses the same pages (C. Waldspurger and others, "Efficient MRC construction with SHARDS", FAST 2015).
//! [`hash()`] is such that they are spread evenly over each file.
//! Distances between sampled references are scaled by the rate. That the sample has more or fewer references than its rate says
//! is corrected by the exact number of references (SHARDS-adj): without it, errors were 2 to 80 times as large.
//!
//! Two ways to merge. Caches by themselves: [`Curve::add`] sums the counts at each limit, which is exact whatever the rates.
//! One cache for several programs: join the hashes of their references in order of time, each with [`is_sampled`] by the largest
//! exponent of all, and count them with one [`Sampler`].
//!
//! With 2,048 pages of 100,000, hit ratios were right to a point on average and three at worst, at limits of at least 16
//! sampled pages, that is 16 × 2^exponent pages; smaller limits can't be told apart.
//! Of eight recordings of programs, samples of at most 7,500 pages were 0.000 to 0.010 off on average where they began with all pages. One
//! in 2^4 was up to 0.012 off where it had 500 pages or more, and one in 2^7 up to 0.019 with 100 or more, but
//! 0.07 with 64: what is chosen of a few thousand pages says little of them (`loops sampled`, of `bench/`).
//! Where many references have nearly the same distance, as in loops, the curve has a cliff. A sample has it where it is, within a
//! few sampled pages, if pages are used in the order of their files. Kernel policies can't be sampled like this: their batches of
//! pages don't shrink with the sample.

mod choice;
mod curve;
mod short;

pub use choice::{DEFAULT_EXPONENT, FileIdentity, hash, is_sampled};
pub use curve::{Curve, DifferentLimits, limit_grid};

use self::short::Short;
use crate::distance::stack::Stack;
use crate::table::{ENTRY_BYTES, Load, Table};

/// At most so much of the table is taken: what is sampled is rare, and 2,048 pages fit into 32 KiB.
const LOAD: Load = Load { full: 85, growth: 150 };

/// Up to so many pages, [`Sampler::of_sample`] keeps them in four bytes each: a use moves what was used since, which takes time by their number.
const MOST_SHORT: u32 = 8_192;

const SHORT_PAGE_BYTES: usize = 4;
/// What others take: 16, and 4 where pages were removed.
const LONG_PAGE_BYTES: usize = 20;

/// Pages by their last use.
#[derive(Debug, Clone)]
enum Pages {
    /// In few bytes.
    Short(Short),
    /// In a time that does not depend on how many they are.
    Long { last: Table, stack: Stack },
}

/// Counts the distances of sampled references.
///
/// With a bound, memory is 16 bytes for each page of it, or 4 where they are a sample already and at most 8,192; and 8 bytes for each
/// limit.
#[derive(Debug, Clone)]
pub struct Sampler {
    /// One in 2^exponent pages is sampled.
    exponent: u32,
    most_pages: usize,
    pages: Pages,
    curve: Curve,
}

impl Sampler {
    /// Samples one in 2^`exponent` pages. `limits_pages` are where the curve is wanted.
    pub fn fixed_rate(exponent: u32, limits_pages: &[u64]) -> Self {
        Self {
            exponent,
            most_pages: usize::MAX,
            pages: Pages::Long { last: Table::new(LOAD), stack: Stack::new(0) },
            curve: Curve::new(limits_pages),
        }
    }

    /// Samples all pages until there are more than `most_pages`, and halves the rate then, as often as needed.
    pub fn bounded(most_pages: u32, limits_pages: &[u64]) -> Self {
        let most_pages = most_pages as usize;
        // One more is there before the rate is halved.
        let last = Table::for_keys(most_pages + 1, LOAD);
        let pages = Pages::Long { last, stack: Stack::new(0) };
        Self { most_pages, pages, ..Self::fixed_rate(0, limits_pages) }
    }

    /// Counts what is the sample of one in 2^`exponent` pages already, with the same bound.
    pub fn of_sample(exponent: u32, most_pages: u32, limits_pages: &[u64]) -> Self {
        if most_pages > MOST_SHORT {
            return Self { exponent, ..Self::bounded(most_pages, limits_pages) };
        }
        let most_pages = most_pages as usize;
        let pages = Pages::Short(Short::new(most_pages));
        Self { exponent, most_pages, pages, curve: Curve::new(limits_pages) }
    }

    /// How many pages [`Sampler::of_sample`] may have at most to take no more than so many bytes.
    pub fn most_pages_in(bytes: usize) -> u32 {
        let most = |pages: usize| u32::try_from(pages).unwrap_or(u32::MAX);
        let short = most((bytes / SHORT_PAGE_BYTES).saturating_sub(1));
        if short > MOST_SHORT { most(bytes / LONG_PAGE_BYTES).max(MOST_SHORT) } else { short }
    }

    /// Counts a reference to the page with this [`hash`].
    #[inline]
    pub fn touch(&mut self, hash: u64) {
        self.count(1);
        self.touch_sampled(hash);
    }

    /// Counts references, whether they are in the sample or not; those that are come in [`Sampler::touch_sampled`].
    #[inline]
    pub fn count(&mut self, references: u64) {
        self.curve.count(references);
    }

    /// Counts the distance of a reference that was or will be counted, if it is in the sample.
    #[inline]
    pub fn touch_sampled(&mut self, hash: u64) {
        if is_sampled(hash, self.exponent) {
            self.touch_page(hash);
        }
    }

    fn touch_page(&mut self, hash: u64) {
        let distance = match &mut self.pages {
            Pages::Short(short) => short.touch(hash),
            Pages::Long { last, stack } => {
                if stack.is_full(1) {
                    renumber(last, stack);
                }
                let last = last.value(hash);
                let (distance, slot) = stack.touch(*last);
                *last = slot;
                distance
            }
        };
        let weight = 1_u64.checked_shl(self.exponent).unwrap_or(u64::MAX);
        self.curve
            .count_sampled(distance.map(|pages| u64::from(pages).saturating_mul(weight)), weight);
        while self.held() > self.most_pages && self.exponent < u64::BITS {
            self.halve();
        }
    }

    /// What counts against the bound.
    #[inline]
    fn held(&self) -> usize {
        match &self.pages {
            Pages::Short(short) => short.len(),
            Pages::Long { last, .. } => last.len(),
        }
    }

    /// Samples one in 2^`exponent` pages from now on, where it was more.
    pub fn raise(&mut self, exponent: u32) {
        while self.exponent < exponent.min(u64::BITS) {
            self.halve();
        }
    }

    /// A page leaves the cache: the next reference to it is a first one.
    pub fn remove(&mut self, hash: u64) {
        match &mut self.pages {
            Pages::Short(short) => short.remove(hash),
            Pages::Long { last, stack } => {
                if let Some(last) = last.remove(hash) {
                    stack.remove(last);
                }
            }
        }
    }

    /// What was counted since it was taken last. The pages stay, so that the next references to them are no first ones.
    pub fn take(&mut self) -> Curve {
        self.curve.take()
    }

    /// One in 2^exponent pages is sampled now.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// Pages in the sample.
    pub fn pages(&self) -> usize {
        match &self.pages {
            Pages::Short(short) => short.pages(),
            Pages::Long { last, .. } => last.len(),
        }
    }

    /// What it takes of memory, in bytes, without the curve.
    pub fn memory_bytes(&self) -> usize {
        match &self.pages {
            Pages::Short(short) => short.memory_bytes(),
            Pages::Long { last, stack } => last.capacity() * ENTRY_BYTES + stack.memory_bytes(),
        }
    }

    fn halve(&mut self) {
        self.exponent += 1;
        match &mut self.pages {
            Pages::Short(short) => short.halve(self.exponent),
            Pages::Long { last, stack } => {
                let is_out = |(hash, _): &(u64, u32)| !is_sampled(*hash, self.exponent);
                let out: Vec<(u64, u32)> = last.iter().filter(is_out).collect();
                for (hash, slot) in out {
                    last.remove(hash);
                    stack.forget(slot);
                }
                stack.halve_holes();
            }
        }
    }
}

#[cold]
fn renumber(last: &mut Table, stack: &mut Stack) {
    stack.renumber(|new| last.values_mut().for_each(|last| *last = new(*last)));
}
