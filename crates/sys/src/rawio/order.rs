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
}

/// The exponent of Cooper et al., "Benchmarking cloud serving systems with YCSB", SoCC 2010.
const SKEW: f64 = 0.99;

impl Order {
    /// The numbers of the blocks that are read, `operations` of them or as many as there are, from `blocks` blocks. The
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
        }
    }
}

words!(Order, "order", "sequential" => Sequential, "reverse" => Reverse, "random" => Random,
    "zipf" => Zipf);

/// Pages that these blocks touch, each counted once.
pub fn touched_pages(numbers: &[u32], block_bytes: u64, file_bytes: u64) -> u64 {
    let page = crate::page_size();
    let mut seen = vec![false; crate::pages_of(file_bytes) as usize];
    for &number in numbers {
        let start = u64::from(number) * block_bytes;
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
        assert_eq!(touched_pages(&[0, 1, 2, 3], page / 4, 10 * page), 1);
        assert_eq!(touched_pages(&[0, 3], page / 2, 10 * page), 2);
        // A block across an edge of pages.
        assert_eq!(touched_pages(&[1], page / 2 + 1, 10 * page), 2);
        assert_eq!(touched_pages(&[0], 20 * page, 10 * page), 10);
    }
}
