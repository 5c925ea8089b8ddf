//! Seeded randomness: the same seed gives the same requests.

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Fills `bytes` with what no file system can compress.
    pub(super) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

/// `count` distinct numbers below `slots` in random order.
pub(super) fn distinct(slots: u64, count: u64, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    let mut all: Vec<u64> = (0..slots).collect();
    let count = count.min(slots) as usize;
    for index in 0..count {
        let other = index + (random.next() % (all.len() - index) as u64) as usize;
        all.swap(index, other);
    }
    all.truncate(count);
    all
}
