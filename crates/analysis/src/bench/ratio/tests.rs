use super::*;
use crate::bench::testing::noisy;
use hotset_facts::random::Random;

fn random_pairs(rng: &mut Random, rounds: usize) -> Vec<(u64, u64)> {
    (0..rounds).map(|_| (noisy(rng, 5e7, 0.05), noisy(rng, 6e7, 0.1))).collect()
}

#[test]
fn the_interval_covers_the_true_ratio_as_often_as_it_claims() {
    // Skewed noise with long delays, and a drift that doubles all times over the session: both sides of a round share
    // the drift. Both sides have the same distribution up to the ratio, so the median of the ratios is the true one.
    const SESSIONS: usize = 4000;
    let mut rng = Random::new(20_261_121);
    for rounds in 6..=20 {
        let mut covered = 0;
        for _ in 0..SESSIONS {
            let pairs = (0..rounds).map(|round| {
                let drift = 1.0 + f64::from(round) / f64::from(rounds);
                (noisy(&mut rng, 5e7 * drift, 0.05), noisy(&mut rng, 6e7 * drift, 0.05))
            });
            let estimate = RatioEstimate::of(pairs.collect::<Vec<_>>());
            let interval = estimate.and_then(|estimate| estimate.interval);
            covered += usize::from(interval.is_some_and(|interval| interval.holds(1.2)));
        }
        let coverage = covered as f64 / SESSIONS as f64;
        // Three standard errors of the simulation below what is claimed.
        assert!(coverage >= 0.95 - 0.0103, "{rounds} rounds: {coverage}");
        assert!(coverage < 0.999, "{rounds} rounds: {coverage}");
    }
}

#[test]
fn scaling_both_sides_changes_nothing() {
    let mut rng = Random::new(1);
    for rounds in 1..40 {
        let pairs = random_pairs(&mut rng, rounds);
        // By powers of two, so that the division is the same to the last bit.
        let scaled = pairs.iter().map(|&(a, b)| (a * 8, b * 8));
        assert_eq!(RatioEstimate::of(pairs.iter().copied()), RatioEstimate::of(scaled));
    }
}

#[test]
fn scaling_one_side_scales_the_ratio() {
    let mut rng = Random::new(2);
    for rounds in 1..40 {
        let pairs = random_pairs(&mut rng, rounds);
        let one = RatioEstimate::of(pairs.iter().copied()).map(|e| (e.ratio, e.interval));
        let two = RatioEstimate::of(pairs.iter().map(|&(a, b)| (a, b * 3)));
        let (Some((ratio, interval)), Some(two)) = (one, two) else { panic!("no estimate") };
        assert!((two.ratio / ratio - 3.0).abs() < 1e-9);
        let low =
            |interval: Option<ConfidenceInterval>| interval.map_or(1.0, |interval| interval.low);
        let factor = if interval.is_some() { 3.0 } else { 1.0 };
        assert!((low(two.interval) / low(interval) - factor).abs() < 1e-9);
    }
}

#[test]
fn swapping_the_sides_gives_the_reciprocal() {
    let mut rng = Random::new(3);
    for rounds in 1..40 {
        let pairs = random_pairs(&mut rng, rounds);
        let one = RatioEstimate::of(pairs.iter().copied());
        let two = RatioEstimate::of(pairs.iter().map(|&(a, b)| (b, a)));
        let (Some(one), Some(two)) = (one, two) else { panic!("no estimate") };
        assert!((one.ratio * two.ratio - 1.0).abs() < 1e-12);
        let swapped = two.interval.map(|interval| interval.reciprocal());
        assert_eq!(one.interval.is_some(), swapped.is_some());
        if let (Some(a), Some(b)) = (one.interval, swapped) {
            assert!((a.low / b.low - 1.0).abs() < 1e-12 && (a.high / b.high - 1.0).abs() < 1e-12);
        }
        let other_way = match two.difference() {
            Difference::Faster => Difference::Slower,
            Difference::Slower => Difference::Faster,
            same => same,
        };
        assert_eq!(one.difference(), other_way);
    }
}

#[test]
fn the_order_of_rounds_does_not_matter() {
    let mut rng = Random::new(4);
    let mut pairs = random_pairs(&mut rng, 15);
    let before = RatioEstimate::of(pairs.iter().copied());
    rng.shuffle(&mut pairs);
    assert_eq!(RatioEstimate::of(pairs), before);
}

#[test]
fn few_or_broken_rounds() {
    assert_eq!(RatioEstimate::of([]), None);
    assert_eq!(RatioEstimate::of([(0, 5), (5, 0)]), None, "a time of zero has no ratio");
    let five = RatioEstimate::of([(10, 20); 5]);
    assert_eq!(five.map(|e| (e.ratio, e.interval)), Some((2.0, None)));
    assert_eq!(five.map(|e| e.difference()), Some(Difference::Slower), "they stand apart");
    let three = RatioEstimate::of([(10, 20); 3]);
    assert_eq!(three.map(|e| e.difference()), Some(Difference::NoInterval));
    let six = RatioEstimate::of([(10, 20); 6]);
    assert_eq!(six.map(|e| e.difference()), Some(Difference::Slower));
    let same = RatioEstimate::of([(10, 10); 6]);
    assert_eq!(same.map(|e| e.difference()), Some(Difference::NoDifferenceShown));
    assert_eq!(same.and_then(|e| e.smallest_effect()), Some(0.0));
}

#[test]
fn few_rounds_tell_a_difference_where_the_times_stand_apart() {
    let of = |pairs: &[(u64, u64)]| RatioEstimate::of(pairs.iter().copied()).expect("pairs");
    // 4.18 ms from the cache, 120 ms from the device.
    let cold = [(4_180, 120_000), (4_300, 118_000), (4_100, 131_000), (4_200, 119_000)];
    assert_eq!(of(&cold).interval, None);
    assert_eq!(of(&cold).difference(), Difference::Slower);
    let warm: Vec<(u64, u64)> = cold.iter().map(|&(a, b)| (b, a)).collect();
    assert_eq!(of(&warm).difference(), Difference::Faster);
    assert_eq!(of(&cold[..3]).difference(), Difference::NoInterval, "chance does it in 10 %");
    let overlapping = [(100, 110), (101, 112), (109, 111), (113, 115)];
    assert_eq!(of(&overlapping).difference(), Difference::NoInterval, "slower in each round");
}

#[test]
fn equal_sides_stand_apart_as_seldom_as_claimed() {
    const SESSIONS: usize = 20_000;
    let mut rng = Random::new(20_261_122);
    for rounds in [4, 5] {
        let mut claimed = 0;
        for _ in 0..SESSIONS {
            let pairs = (0..rounds).map(|round| {
                let drift = 1.0 + f64::from(round) * 0.05;
                (noisy(&mut rng, 5e7 * drift, 0.05), noisy(&mut rng, 5e7 * drift, 0.05))
            });
            let estimate = RatioEstimate::of(pairs.collect::<Vec<_>>()).expect("pairs");
            claimed += usize::from(estimate.difference() != Difference::NoInterval);
        }
        assert!(claimed as f64 / (SESSIONS as f64) < 0.05, "{rounds} rounds: {claimed}");
    }
}
