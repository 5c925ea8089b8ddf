//! Random numbers that are the same for the same seed, on every machine and in every version.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

/// What the state grows by.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// Begins with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The generator's number at this place of the sequence of seed 0, from 0 on.
    #[inline]
    pub fn at(index: u64) -> u64 {
        Self(index.wrapping_mul(STEP)).number()
    }

    /// The next 64 bits.
    #[inline]
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, and 0 where that is 0, by Lemire's multiplication. Its bias is below 2^-32 for bounds of 32
    /// bits, which is nothing for samples and blocks.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(bound)) >> 64) as u64
    }

    /// A number below `bound`, which must not be 0, each equally likely: what would favour the small ones is drawn again.
    /// The orders of rounds are made by this one, and their seeds stand in results.
    pub fn below_exactly(&mut self, bound: u64) -> u64 {
        let surplus = (u64::MAX % bound + 1) % bound;
        loop {
            let drawn = self.number();
            if drawn <= u64::MAX - surplus {
                return drawn % bound;
            }
        }
    }

    /// From 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Every order of the items is as likely as every other (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        // The reference implementation's first numbers for seed 1234567, and for seed 0.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.number(), 6_457_827_717_110_365_317);
        assert_eq!(random.number(), 3_203_168_211_198_807_973);
        let mut zero = Random::new(0);
        let numbers = [zero.number(), zero.number(), zero.number()];
        assert_eq!(numbers, [0, 1, 2].map(Random::at));
        assert_eq!(numbers[0], 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn both_draws_stay_below_their_bound_and_differ() {
        let mut random = Random::new(1);
        assert!((0..1000).all(|_| random.below(7) < 7 && random.below_exactly(7) < 7));
        assert_eq!((random.below(0), random.below(1), random.below_exactly(1)), (0, 0, 0));
        // Results hold seeds of both: neither sequence may change.
        let below: Vec<u64> = (0..6).map(|seed| Random::new(seed).below(100)).collect();
        let exactly: Vec<u64> = (0..6).map(|seed| Random::new(seed).below_exactly(100)).collect();
        assert_eq!(below, [88, 56, 59, 11, 43, 38]);
        assert_eq!(exactly, [35, 65, 10, 53, 78, 18]);
    }

    #[test]
    fn every_order_comes_up() {
        let mut random = Random::new(7);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|&count| (850..1150).contains(&count)), "{seen:?}");
    }
}
