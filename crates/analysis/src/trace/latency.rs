//! How long requests took, in buckets that are narrow beside what they hold.

use serde::Serialize;

/// Buckets of an octave.
const STEPS: u64 = 16;
/// Its logarithm to base 2.
const STEP_BITS: u32 = STEPS.ilog2();
/// Below `STEPS` each nanosecond has a bucket of its own; above, each of the remaining octaves has `STEPS`.
const BUCKETS: usize = (STEPS as usize) * (65 - STEP_BITS as usize);

/// A histogram of times. A bucket is a sixteenth of an octave's beginning wide, so that its middle, which a percentile is
/// given as, is at most 1/32 (3.2 %) off; the smallest and the largest time are exact. Buckets of this kind are those of
/// HdrHistogram.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Latencies {
    /// Requests by bucket; as long as the largest bucket in use.
    buckets: Vec<u64>,
    requests: u64,
    total_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

/// A histogram in the numbers that a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyNumbers {
    /// Requests that were timed.
    pub requests: u64,
    /// How long they took together, in nanoseconds.
    pub total_ns: u64,
    /// The shortest, exact.
    pub min_ns: u64,
    /// Half of them took at most this long. Off by at most 3.2 %, as are the other percentiles.
    pub p50_ns: u64,
    /// Nine of ten took at most this long.
    pub p90_ns: u64,
    /// Of a hundred, all but one took at most this long.
    pub p99_ns: u64,
    /// The longest, exact.
    pub max_ns: u64,
}

impl Latencies {
    /// Counts a request.
    pub(super) fn count(&mut self, ns: u64) {
        let at = bucket(ns);
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, 0);
        }
        self.buckets[at] += 1;
        self.min_ns = if self.requests == 0 { ns } else { self.min_ns.min(ns) };
        self.max_ns = self.max_ns.max(ns);
        self.requests += 1;
        self.total_ns = self.total_ns.saturating_add(ns);
    }

    /// Requests that were timed.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The time that `share` of the requests (from 0 to 1) did not exceed, by nearest rank; `None` without requests.
    pub fn percentile(&self, share: f64) -> Option<u64> {
        let rank = ((share.clamp(0.0, 1.0) * self.requests as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let at = self.buckets.iter().position(|requests| {
            seen += requests;
            seen >= rank
        })?;
        let (low, high) = bounds(at);
        Some((low + (high - low) / 2).clamp(self.min_ns, self.max_ns))
    }

    /// The numbers of a table; `None` without requests.
    pub fn numbers(&self) -> Option<LatencyNumbers> {
        Some(LatencyNumbers {
            requests: self.requests,
            total_ns: self.total_ns,
            min_ns: self.min_ns,
            p50_ns: self.percentile(0.5)?,
            p90_ns: self.percentile(0.9)?,
            p99_ns: self.percentile(0.99)?,
            max_ns: self.max_ns,
        })
    }

    /// Requests between the shortest and the longest time, four buckets to the octave: the middle of each in nanoseconds
    /// (their geometric mean), and how many. Empty buckets between others are there.
    pub fn quarters(&self) -> Vec<(f64, u64)> {
        const JOINED: usize = STEPS as usize / 4;
        let joined = self.buckets.chunks(JOINED).enumerate();
        joined
            .map(|(at, requests)| {
                let (low, _) = bounds(at * JOINED);
                let (_, high) = bounds(at * JOINED + JOINED - 1);
                let middle = ((low.max(1)) as f64 * (high.saturating_add(1)) as f64).sqrt();
                (middle, requests.iter().sum())
            })
            .skip_while(|(_, requests)| *requests == 0)
            .collect()
    }
}

/// Where a time is counted.
fn bucket(ns: u64) -> usize {
    if ns < STEPS {
        return ns as usize;
    }
    let octave = ns.ilog2() - STEP_BITS;
    let step = (ns >> octave) - STEPS;
    (u64::from(octave + 1) * STEPS + step) as usize
}

/// The smallest and the largest time of a bucket, in nanoseconds.
fn bounds(bucket: usize) -> (u64, u64) {
    let bucket = bucket.min(BUCKETS - 1) as u64;
    if bucket < STEPS {
        return (bucket, bucket);
    }
    let (octave, step) = (bucket / STEPS - 1, bucket % STEPS);
    let low = (STEPS + step) << octave;
    (low, low + ((1 << octave) - 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(times: &[u64]) -> Latencies {
        let mut all = Latencies::default();
        times.iter().for_each(|&ns| all.count(ns));
        all
    }

    #[test]
    fn buckets_follow_each_other_without_holes() {
        assert_eq!(bounds(0), (0, 0));
        for at in 1..BUCKETS {
            let ((low, high), (_, before)) = (bounds(at), bounds(at - 1));
            assert_eq!((low, bucket(low), bucket(high)), (before + 1, at, at));
        }
        assert_eq!((bucket(u64::MAX), bounds(BUCKETS - 1).1), (BUCKETS - 1, u64::MAX));
    }

    #[test]
    fn ends_are_exact_and_nothing_has_no_numbers() {
        let all = of(&[7, 1_000_003, 40]);
        let numbers = all.numbers();
        let ends = numbers.map(|one| (one.min_ns, one.max_ns, one.total_ns, one.requests));
        assert_eq!(ends, Some((7, 1_000_003, 1_000_050, 3)));
        assert_eq!(
            all.percentile(1.0),
            Some(bounds(bucket(1_000_003)).0.midpoint(bounds(bucket(1_000_003)).1).min(1_000_003))
        );
        assert_eq!((of(&[]).numbers(), of(&[]).percentile(0.5)), (None, None));
        assert_eq!(of(&[]).quarters(), []);
    }

    proptest! {
        #[test]
        fn a_percentile_is_at_most_a_32th_off(
            mut times in prop::collection::vec(any::<u64>().prop_flat_map(|ns| (0..64u32).prop_map(move |by| ns >> by)), 1..200),
            share in 0.0f64..=1.0,
        ) {
            let found = of(&times).percentile(share).unwrap();
            times.sort_unstable();
            let rank = ((share * times.len() as f64).ceil() as usize).max(1);
            let exact = times[rank - 1];
            prop_assert!(found.abs_diff(exact) <= exact / 32 + 1, "{found} for {exact}");
        }

        #[test]
        fn quarters_keep_every_request(times in prop::collection::vec(0u64..1 << 40, 0..100)) {
            let all = of(&times).quarters();
            prop_assert_eq!(all.iter().map(|(_, requests)| requests).sum::<u64>(), times.len() as u64);
            prop_assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
