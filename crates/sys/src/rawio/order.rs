//! In which order the blocks of a file are read.

use std::str::FromStr;

use hotset_facts::random;

use super::JobError;
use super::words::words;

/// An order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// From the start.
    Sequential,
    /// From the last block to the first.
    Reverse,
    /// Each block once, in a random order.
    Random,
    /// Some blocks far more often than others: the block of rank k with a probability in proportion to 1 / k^0.99 (the
    /// skew of YCSB), ranks scattered over the file.
    Zipf,
    /// A block's length from any byte on, drawn anew each time: unaligned, and some bytes more than once.
    Offsets,
}

/// The exponent of Cooper et al., "Benchmarking cloud serving systems with YCSB", SoCC 2010.
const SKEW: f64 = 0.99;

impl Order {
    /// How many bytes the places are apart that a block may begin at.
    pub fn step_bytes(self, block_bytes: u32) -> u64 {
        match self {
            Self::Offsets => 1,
            _ => u64::from(block_bytes),
        }
    }

    /// How many places there are for a block in a file; for [`Order::Offsets`], in its first 4 GiB.
    pub fn places(self, block_bytes: u32, file_bytes: u64) -> u32 {
        let block = u64::from(block_bytes.max(1));
        let places = match self {
            Self::Offsets => (file_bytes + 1).saturating_sub(block),
            _ => file_bytes / block,
        };
        u32::try_from(places).unwrap_or(u32::MAX)
    }

    /// The numbers of the places that are read, `operations` of them or, where each is read once, as many as there are. The
    /// same for a seed.
    pub fn blocks(self, blocks: u32, operations: u32, seed: u64) -> Vec<u32> {
        let some = operations.min(blocks);
        match self {
            Self::Sequential => (0..some).collect(),
            Self::Reverse => (blocks - some..blocks).rev().collect(),
            Self::Random => {
                let mut all = shuffled(blocks, seed);
                all.truncate(some as usize);
                all
            }
            Self::Zipf => zipf(blocks, operations, seed),
            Self::Offsets => {
                let mut random = random::Random::new(seed);
                let draw = |_| (random.unit() * f64::from(blocks)) as u32;
                if blocks == 0 { Vec::new() } else { (0..operations).map(draw).collect() }
            }
        }
    }
}

words!(Order, "order", "sequential" => Sequential, "reverse" => Reverse, "random" => Random,
    "zipf" => Zipf, "offsets" => Offsets);

/// Pages that these blocks touch, each counted once. Their places are `step_bytes` apart.
pub fn touched_pages(numbers: &[u32], step_bytes: u64, block_bytes: u64, file_bytes: u64) -> u64 {
    let page = crate::page_size();
    let mut seen = vec![false; crate::pages_of(file_bytes) as usize];
    for &number in numbers {
        let start = u64::from(number) * step_bytes;
        for index in start / page..crate::pages_of(start + block_bytes) {
            if let Some(seen) = seen.get_mut(index as usize) {
                *seen = true;
            }
        }
    }
    seen.into_iter().filter(|&seen| seen).count() as u64
}

fn shuffled(count: u32, seed: u64) -> Vec<u32> {
    let mut all: Vec<u32> = (0..count).collect();
    random::Random::new(seed).shuffle(&mut all);
    all
}

fn zipf(blocks: u32, operations: u32, seed: u64) -> Vec<u32> {
    let places = shuffled(blocks, seed);
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=blocks)
        .map(|rank| {
            sum += f64::from(rank).powf(-SKEW);
            sum
        })
        .collect();
    let mut random = random::Random::new(seed ^ 0x5a5a_5a5a);
    let draw = |_| {
        let drawn = random.unit() * sum;
        let rank = sums.partition_point(|&sum| sum <= drawn).min(places.len().saturating_sub(1));
        places.get(rank).copied().unwrap_or(0)
    };
    if blocks == 0 { Vec::new() } else { (0..operations).map(draw).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_is_what_it_says() {
        assert_eq!(Order::Sequential.blocks(5, 3, 1), [0, 1, 2]);
        assert_eq!(Order::Reverse.blocks(5, 3, 1), [4, 3, 2]);
        let random = Order::Random.blocks(1000, 2000, 1);
        let mut sorted = random.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
        assert_ne!(random, sorted);
        assert_eq!(random, Order::Random.blocks(1000, 2000, 1));
        assert_ne!(random, Order::Random.blocks(1000, 2000, 2));
        assert_eq!(Order::Random.blocks(1000, 10, 1), random[..10]);
        assert!(Order::Zipf.blocks(0, 5, 1).is_empty());
    }

    #[test]
    fn offsets_are_any_bytes_with_repetition() {
        assert_eq!(Order::Offsets.places(1000, 4096), 3097, "the last one ends with the file");
        assert_eq!([Order::Offsets.places(5000, 4096), Order::Random.places(1000, 4096)], [0, 4]);
        assert_eq!([Order::Offsets.step_bytes(1000), Order::Zipf.step_bytes(1000)], [1, 1000]);
        let drawn = Order::Offsets.blocks(500, 10_000, 1);
        assert_eq!(drawn.len(), 10_000, "more than there are");
        let seen: std::collections::HashSet<u32> = drawn.iter().copied().collect();
        assert_eq!((seen.len(), drawn.iter().max()), (500, Some(&499)));
        assert!(
            drawn.iter().any(|offset| offset % 2 == 1) && Order::Offsets.blocks(0, 5, 1).is_empty()
        );
    }

    #[test]
    fn zipf_draws_each_rank_as_often_as_its_law_says() {
        let drawn = Order::Zipf.blocks(1000, 100_000, 3);
        let mut counts = vec![0_u32; 1000];
        drawn.iter().for_each(|&block| counts[block as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let total: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-SKEW)).sum();
        for rank in [1_usize, 2, 10] {
            let wants = 100_000.0 * (rank as f64).powf(-SKEW) / total;
            let is = f64::from(counts[rank - 1]);
            // Six standard deviations of a binomial count.
            assert!((is - wants).abs() < 6.0 * wants.sqrt(), "{rank}: {is} for {wants}");
        }
    }

    #[test]
    fn pages_are_counted_once() {
        let page = crate::page_size();
        assert_eq!(touched_pages(&[0, 1, 2, 3], page / 4, page / 4, 10 * page), 1);
        assert_eq!(touched_pages(&[0, 3], page / 2, page / 2, 10 * page), 2);
        // A block across an edge of pages.
        assert_eq!(touched_pages(&[1], page / 2 + 1, page / 2 + 1, 10 * page), 2);
        assert_eq!(touched_pages(&[0], 20 * page, 20 * page, 10 * page), 10);
        // From any byte on.
        assert_eq!(touched_pages(&[1, page as u32], 1, page, 10 * page), 2);
    }
}
