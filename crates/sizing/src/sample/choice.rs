//! Which pages are in a sample.
//!
//! Each page has a hash, and is in the sample of one in 2^k pages if the k highest bits of it are 0. Every program and every host
//! makes the same hashes, the sensor in the kernel too (`sample.bpf.h`), so that samples can be joined, and what is in the sample
//! of a k is in those of all smaller ones.
//!
//! The k highest bits choose one page of each aligned group of 2^k pages of a file: the highest bit one of two neighbours, the
//! next one of the two that were chosen of four, and so on, each time at random by what stands above, as by a coin for each
//! group. A page is in the sample as often as if pages were drawn one by one, and so are two pages of different groups; but of N
//! pages in a row there are N / 2^k, give or take one. Neighbours in the numbers of inodes are taken together too: of the first pages
//! of 2^k files that were made one after the other, one is in the sample. The limit at which a loop fits into the cache is
//! therefore found where it is, while single draws miss it by some percent, and neither is better for pages that are used at random.
//! For requests of many pages the sensor has one page to look at for each 128.
//!
//! The coins of 128 pages come of one random number: it says which of them is chosen (a shift of the digits, which are seven bits),
//! and how each bit is turned by those above it (a random linear scramble: J. Matoušek, "On the L2-discrepancy for anchored
//! boxes", Journal of Complexity 14, 1998), which makes any two pages as independent as coins of their own would. So it goes on
//! with groups of 128 groups, and once more, up to one page of 2^21; the bits behind are random by page.

use hotset_facts::random::Random;

/// Pages are chosen by so many bits at a time.
const DIGIT_BITS: u32 = 7;
const DIGIT: u64 = (1 << DIGIT_BITS) - 1;
/// So often.
const LEVELS: u32 = 3;

/// What a sample has where nothing else is asked for: one in 2^7 pages. It takes less than 40 ns of a warm read of one page, and 2,048
/// pages of it are 1 GiB.
pub const DEFAULT_EXPONENT: u32 = 7;

/// Spreads numbers that follow each other: 2^64 divided by the golden ratio, as in the generator.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// What tells files apart, and which of them are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    device: u64,
    ino: u64,
    generation: u64,
}

impl FileIdentity {
    /// A file by its device as the kernel numbers it, the number of its inode, and its generation. Of a recording, the number of the
    /// file in it may stand for that of the inode, with zeros beside it.
    pub fn new(kernel_dev: u32, ino: u64, generation: u32) -> Self {
        let spread = |number: u32| u64::from(number).wrapping_mul(SPREAD);
        Self { device: spread(kernel_dev), ino, generation: spread(generation) }
    }
}

/// The random number of some pages of some files, by the numbers of both.
fn random(device: u64, level: u32, ino: u64, index: u64) -> u64 {
    let files = ino.wrapping_add(device).wrapping_mul(SPREAD);
    Random::at(files.wrapping_add(index.wrapping_mul(4)).wrapping_add(level.into()))
}

/// Seven bits of which the highest is decided in pairs of pages. All are 0 for the page that is chosen of 128.
fn digit(index: u64, random: u64) -> u64 {
    let away = (index ^ random) & DIGIT;
    let turned = |bits: u64, by: u32| bits ^ (away >> by & random >> (DIGIT_BITS * by));
    let mixed = (1..DIGIT_BITS).fold(away, turned) & DIGIT;
    mixed.reverse_bits() >> (u64::BITS - DIGIT_BITS)
}

/// The hash by which pages are chosen: of a file's identity, which must be the same wherever samples are merged, and of the
/// index of a page in it. It never changes, because samples are kept.
pub fn hash(file: FileIdentity, page: u64) -> u64 {
    let order = (0..LEVELS).fold(0, |order, level| {
        let (index, ino) = (page >> (DIGIT_BITS * level), file.ino >> (DIGIT_BITS * level));
        let random = random(file.device, level + 1, ino >> DIGIT_BITS, index >> DIGIT_BITS);
        order << DIGIT_BITS | digit(index ^ ino, random)
    });
    let ordered = DIGIT_BITS * LEVELS;
    let rest = random(file.device.wrapping_add(file.generation), 0, file.ino, page);
    order << (u64::BITS - ordered) | rest >> ordered
}

/// Whether a page with this hash is in the samples of a rate of one in 2^`exponent` pages. What is in the sample of an
/// exponent is in those of all smaller ones.
pub fn is_sampled(hash: u64, exponent: u32) -> bool {
    exponent == 0 || hash.checked_shr(64_u32.saturating_sub(exponent)).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ino: u64, page: u64) -> u64 {
        hash(FileIdentity::new(8 << 20, ino, 77), page)
    }

    #[test]
    fn one_page_of_each_group_is_chosen() {
        for exponent in 1..=12 {
            let pages = 1_u64 << exponent;
            for group in [0, 1, 77, 1 << 30] {
                let all = group * pages..(group + 1) * pages;
                let chosen = all.clone().filter(|&page| is_sampled(of(5, page), exponent)).count();
                assert_eq!(chosen, 1, "group {group} of {pages}");
                // The same of the third pages of neighbouring files.
                let chosen = all.filter(|&ino| is_sampled(of(ino, 2), exponent)).count();
                assert_eq!(chosen, 1, "files from {group} · {pages} on");
            }
        }
        // Beyond 2^21 pages, a page has the chance that single draws have.
        let most = |ino| (0..1 << 7).map(|page| of(ino << 21, page).leading_zeros()).max();
        let above_18 = (0..1_u64 << 12).filter(|&ino| most(ino) >= Some(18)).count();
        assert!((1..=12).contains(&above_18), "{above_18} of 4,096 · 2^7 / 2^18 = 2");
    }

    /// How often both of two pages are in the sample of one in eight.
    fn both(first: u64, second: u64) -> usize {
        let is_in = |ino, page| is_sampled(of(ino, page), 3);
        (0..64_000_u64).filter(|&ino| is_in(ino << 9, first) && is_in(ino << 9, second)).count()
    }

    #[test]
    fn two_pages_of_different_groups_are_as_independent_as_single_draws() {
        // 1,000 expected, with a standard deviation of 31.
        for second in [8, 9, 15, 16, 23, 40, 64, 72, 127, 128, 136, 1 << 20] {
            let found = both(0, second);
            assert!((880..1120).contains(&found), "{second}: {found}");
        }
        assert!((1..8).all(|second| both(0, second) == 0), "of one group there is one");
    }

    #[test]
    fn hashes_are_those_that_were_kept_and_differ() {
        let kept =
            [2_359_467_653_541_165_893, 6_971_152_130_585_341_012, 17_990_342_514_701_080_209];
        assert_eq!([of(0, 0), of(1, 2), of(1 << 40, 1 << 40)], kept);
        let other = hash(FileIdentity::new(8 << 20, 1, 78), 2);
        assert_eq!((other >> 43, other == of(1, 2)), (of(1, 2) >> 43, false), "by generation");
        let pages = (0..1_000).flat_map(|ino| (0..1_000).map(move |page| of(ino, page)));
        let mut all: Vec<u64> = pages.collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 1_000_000);
    }
}
