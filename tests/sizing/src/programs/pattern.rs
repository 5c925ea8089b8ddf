//! Which page comes next.

use crate::numpy::Generator;
use crate::sequences::Zipf;

/// An order in which pages come, from 0 to below a number.
pub(super) enum Pattern {
    /// Few of them often, in no order.
    Zipf { ranks: Zipf, order: Vec<u32> },
    /// All of them as often, in no order.
    Uniform { pages: u32 },
    /// One after the other, again and again.
    Loop { pages: u32, next: u32 },
}

impl Pattern {
    /// Zipf's distribution; the same seed makes the same pages popular.
    pub(super) fn zipf(exponent: f64, pages: u32, seed: u32) -> Self {
        let order = Generator::new(seed).permutation(pages);
        Self::Zipf { ranks: Zipf::new(exponent, pages), order }
    }

    pub(super) fn uniform(pages: u32) -> Self {
        Self::Uniform { pages }
    }

    pub(super) fn from(first: u32, pages: u32) -> Self {
        Self::Loop { pages, next: first }
    }

    pub(super) fn next(&mut self, random: &mut Generator) -> u32 {
        match self {
            Self::Zipf { ranks, order } => order[ranks.draw(random)],
            Self::Uniform { pages } => random.integer(0, *pages),
            Self::Loop { pages, next } => {
                let page = *next;
                *next = (page + 1) % *pages;
                page
            }
        }
    }
}
