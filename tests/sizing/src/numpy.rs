//! The random numbers of numpy 1.17 and later, `numpy.random.default_rng(seed)`: SeedSequence and PCG64, bit by bit.

/// `numpy.random.Generator` with PCG64: a linear congruential generator of 128 bits, whose halves are mixed by XSL-RR (M.
/// O'Neill, "PCG", 2014).
pub(crate) struct Generator {
    state: u128,
    increment: u128,
    /// The high half of a number whose low half was used.
    half: Option<u32>,
}

impl Generator {
    pub(crate) fn new(seed: u32) -> Self {
        let [a, b, c, d] = seed_sequence(seed);
        let increment = (u128::from(c) << 64 | u128::from(d)) << 1 | 1;
        let mut generator = Self { state: 0, increment, half: None };
        generator.step();
        generator.state = generator.state.wrapping_add(u128::from(a) << 64 | u128::from(b));
        generator.step();
        generator
    }

    fn step(&mut self) {
        const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    fn next_u64(&mut self) -> u64 {
        self.step();
        let (high, low) = ((self.state >> 64) as u64, self.state as u64);
        (high ^ low).rotate_right((high >> 58) as u32)
    }

    fn next_u32(&mut self) -> u32 {
        self.half.take().unwrap_or_else(|| {
            let both = self.next_u64();
            self.half = Some((both >> 32) as u32);
            both as u32
        })
    }

    /// `random()`: from 0 to below 1.
    pub(crate) fn random(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// `integers(low, high)`, by Lemire's multiplication with rejection.
    pub(crate) fn integer(&mut self, low: u32, high: u32) -> u32 {
        let count = high - low;
        let mut product = u64::from(self.next_u32()) * u64::from(count);
        if (product as u32) < count {
            let threshold = (u32::MAX - (count - 1)) % count;
            while (product as u32) < threshold {
                product = u64::from(self.next_u32()) * u64::from(count);
            }
        }
        low + (product >> 32) as u32
    }

    /// `permutation(len)`: an exchange for each place from the last on, with one drawn by masking and rejection.
    pub(crate) fn permutation(&mut self, len: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..len).collect();
        for last in (1..len).rev() {
            let mask = u32::MAX >> last.leading_zeros();
            let other = std::iter::repeat_with(|| self.next_u32() & mask).find(|&one| one <= last);
            order.swap(last as usize, other.unwrap_or(last) as usize);
        }
        order
    }
}

/// `numpy.random.SeedSequence(seed).generate_state(4, numpy.uint64)`.
fn seed_sequence(seed: u32) -> [u64; 4] {
    let mut constant = 0x43b0_d7e5_u32;
    let mut hash = |value: u32| {
        let mixed = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        let mixed = mixed.wrapping_mul(constant);
        mixed ^ mixed >> 16
    };
    let mut pool = [hash(seed), hash(0), hash(0), hash(0)];
    for from in 0..4 {
        for to in (0..4).filter(|&to| to != from) {
            let (left, right) =
                (pool[to].wrapping_mul(0xca01_f9dd), hash(pool[from]).wrapping_mul(0x4973_f715));
            let mixed = left.wrapping_sub(right);
            pool[to] = mixed ^ mixed >> 16;
        }
    }
    let mut constant = 0x8b51_f9dd_u32;
    let mut word = |index: usize| {
        let mixed = pool[index % 4] ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        let mixed = mixed.wrapping_mul(constant);
        u64::from(mixed ^ mixed >> 16)
    };
    let mut words = [0; 4];
    for (index, out) in words.iter_mut().enumerate() {
        let low = word(2 * index);
        *out = low | word(2 * index + 1) << 32;
    }
    words
}
