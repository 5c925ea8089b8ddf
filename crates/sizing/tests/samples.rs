//! Samples against exact counts.

use hotset_facts::random::Random;
use hotset_sizing::distance::DenseStack;
use hotset_sizing::sample::{FileIdentity, Sampler, hash, is_sampled, limit_grid};

fn file(number: u64) -> FileIdentity {
    FileIdentity::new(0, number, 0)
}

const PAGES: u32 = 100_000;
const REFERENCES: usize = 1_000_000;

/// Ranks by Zipf's distribution, page 0 the most frequent.
fn zipf(exponent: f64) -> Vec<u32> {
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=PAGES)
        .map(|rank| {
            sum += f64::from(rank).powf(-exponent);
            sum
        })
        .collect();
    let mut random = Random::new(3);
    let mut draw = || {
        let drawn = random.unit() * sum;
        (sums.partition_point(|&sum| sum < drawn) as u32).min(PAGES - 1)
    };
    (0..REFERENCES).map(|_| draw()).collect()
}

fn uniform() -> Vec<u32> {
    let mut random = Random::new(5);
    (0..REFERENCES).map(|_| random.below(u64::from(PAGES)) as u32).collect()
}

/// Limits below this one are not compared: there are too few sampled pages in them.
const FEWEST: u64 = 1024;

/// Mean and largest difference of the hit ratio from the exact one, in points.
fn errors(mut sampler: Sampler, pages: &[u32]) -> (f64, f64) {
    pages.iter().for_each(|&page| sampler.touch(hash(file(1), page.into())));
    let curve = sampler.take();
    let mut stack = DenseStack::new(PAGES);
    stack.touch_all(pages);
    let exact = stack.into_distances().hits_at(curve.limits());
    let points = |hits: u64| hits as f64 / pages.len() as f64 * 100.0;
    let pairs = curve.limits().iter().zip(exact.iter().zip(curve.hits()));
    let errors: Vec<f64> = pairs
        .filter(|(limit, _)| **limit >= FEWEST)
        .map(|(_, (&exact, sampled))| (points(exact) - points(sampled)).abs())
        .collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    (mean, errors.iter().copied().fold(0.0, f64::max))
}

/// Fails unless the errors of three sizes of samples are at most so large.
#[track_caller]
fn assert_errors(pages: &[u32], most: [(f64, f64); 3]) {
    let limits = limit_grid(1 << 17);
    let samplers = [
        Sampler::fixed_rate(4, &limits),
        Sampler::bounded(8192, &limits),
        Sampler::bounded(2048, &limits),
    ];
    for (sampler, (mean, worst)) in samplers.into_iter().zip(most) {
        let found = errors(sampler, pages);
        assert!(found.0 <= mean && found.1 <= worst, "{found:.2?} > {:?}", (mean, worst));
    }
}

#[test]
fn errors_are_a_point_or_two() {
    assert_errors(&zipf(0.8), [(1.1, 2.3), (0.9, 1.9), (0.8, 1.9)]);
    assert_errors(&zipf(1.0), [(0.8, 2.0), (0.6, 1.5), (0.6, 1.4)]);
    assert_errors(&uniform(), [(0.6, 0.9), (0.6, 0.8), (2.5, 3.3)]);
}

#[test]
fn a_sample_has_the_cliff_of_a_loop_where_it_is() {
    for (file, length) in [(1, 50_000), (2, 77_777), (3, 123_456)] {
        let pages = (0..REFERENCES as u64).map(|at| at % length);
        let limits: Vec<u64> = (0..1400).map(|step| step * 100).collect();
        let mut sampler = Sampler::bounded(2048, &limits);
        pages.for_each(|page| sampler.touch(hash(self::file(file), page)));
        let sampled = 1 << sampler.exponent();
        let hits = sampler.take().hits();
        let all = REFERENCES as u64 - length;
        // Below the cliff nothing hits, above it all that can: within two pages of the sample.
        let cliff = hits.iter().position(|&hits| hits > all / 2).map(|index| limits[index]);
        assert!(cliff.is_some_and(|limit| limit.abs_diff(length) <= 2 * sampled), "{cliff:?}");
        let pairs = hits.iter().zip(&limits);
        let mut below = pairs.filter(|(_, limit)| **limit < length - 2 * sampled);
        assert!(below.all(|(&hits, _)| hits < all / 10));
    }
}

#[test]
fn memory_is_bounded() {
    let mut sampler = Sampler::bounded(2048, &[1000]);
    assert!(sampler.memory_bytes() <= 32 << 10);
    let mut random = Random::new(1);
    let mut most = 0;
    for _ in 0..300_000 {
        sampler.touch(random.number());
        most = most.max(sampler.pages());
        assert!(
            sampler.pages() <= 2048 && sampler.memory_bytes() <= 32 << 10,
            "{}",
            sampler.memory_bytes()
        );
    }
    assert_eq!(most, 2048);
    // Of 300,000 pages, one in 256 is about 1,172.
    assert_eq!(sampler.exponent(), 8);
}

#[test]
fn samples_of_unequal_rates_are_brought_to_the_smaller() {
    let hashes: Vec<u64> = (0..10_000).map(|page| hash(file(7), page)).collect();
    let few: Vec<u64> = hashes.iter().copied().filter(|&hash| is_sampled(hash, 5)).collect();
    let many = hashes.iter().copied().filter(|&hash| is_sampled(hash, 2));
    let brought: Vec<u64> = many.filter(|&hash| is_sampled(hash, 5)).collect();
    assert_eq!(few, brought);
    assert!((250..375).contains(&few.len()), "{}", few.len());
    assert!(hashes.iter().all(|&hash| is_sampled(hash, 0)));
    assert!(!is_sampled(1, 64) && is_sampled(0, 64) && !is_sampled(1, 1000));
}

#[test]
fn caches_by_themselves_are_added_and_state_is_carried_on() {
    let limits = limit_grid(1 << 16);
    let (first, second) = (zipf(0.8), zipf(1.0));
    let count = |pages: &[u32], file| {
        let mut sampler = Sampler::fixed_rate(3, &limits);
        pages.iter().for_each(|&page| sampler.touch(hash(self::file(file), page.into())));
        sampler.take()
    };
    let mut sum = count(&first, 1);
    let other = count(&second, 2);
    let summed: Vec<u64> = sum.hits().iter().zip(other.hits()).map(|(a, b)| a + b).collect();
    sum.add(&other).expect("the same limits");
    assert_eq!(sum.references(), 2 * REFERENCES as u64);
    // But for the smallest limits, where a sample has too many references and its hits are none.
    let from = limits.iter().position(|&limit| limit >= FEWEST).expect("larger limits");
    assert_eq!(sum.hits()[from..], summed[from..]);
    // What is taken hour by hour is in sum what is taken at the end.
    let mut sampler = Sampler::fixed_rate(3, &limits);
    let mut sum = sampler.take();
    for hour in first.chunks(REFERENCES / 7) {
        hour.iter().for_each(|&page| sampler.touch(hash(file(1), page.into())));
        sum.add(&sampler.take()).expect("the same limits");
    }
    assert_eq!(sum, count(&first, 1));
}

#[test]
fn removed_pages_are_first_references() {
    let mut sampler = Sampler::fixed_rate(0, &[10]);
    for _ in 0..3 {
        sampler.touch(5);
        sampler.remove(5);
        sampler.remove(6);
    }
    let curve = sampler.take();
    assert_eq!((curve.hits(), curve.first_references(), sampler.pages()), (vec![0], 3, 0));
}
