//! What asking for the time costs.

use std::hint::black_box;
use std::time::Instant;

const PAIRS: u32 = 100_000;
const ROUNDS: u32 = 5;

/// Nanoseconds of two readings of the monotonic clock, in a loop that does nothing else: the best of five rounds, as
/// noise only adds.
pub fn clock_pair_ns() -> u64 {
    let rounds = (0..ROUNDS).map(|_| {
        let started = Instant::now();
        for _ in 0..PAIRS {
            let before = black_box(Instant::now());
            black_box(before.elapsed());
        }
        started.elapsed().as_nanos() as u64 / u64::from(PAIRS)
    });
    rounds.min().unwrap_or(0)
}
