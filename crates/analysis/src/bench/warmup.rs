//! Whether the first rounds of a condition differ from the rest.
//!
//! Two segments with a mean each are fitted to the logarithms by least squares; how good the best split would
//! be by chance is found by shuffling the series. A simple form of the changepoint analysis of Barrett et al., "Virtual
//! Machine Warmup Blows Hot and Cold" (OOPSLA 2017), whose labels these are. One slow first round alone can't be told
//! from one slow round anywhere: 1 round in 15 is the slowest by chance.

use hotset_facts::Warmup;

use super::order::{median, quantile, sorted};
use hotset_facts::random::Random;

/// What the series of rounds of one condition looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trend {
    /// No change that chance doesn't explain.
    Flat,
    /// The first so many rounds took longer than the rest.
    Warmup(usize),
    /// The rounds after the first so many take longer than those.
    Slowdown(usize),
    /// The level changed too late to call what was before it a warm-up.
    Unsettled,
}

impl Trend {
    /// The word for scripts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Warmup(_) => "warm-up",
            Self::Slowdown(_) => "slowdown",
            Self::Unsettled => "unsettled",
        }
    }
}

/// Chance does as well as the best split less often than this. Lower than is usual, because many series are looked at
/// in a session and rounds are taken out on the strength of it.
const SIGNIFICANCE: f64 = 0.01;
const PERMUTATIONS: usize = 1999;
/// A change among fewer rounds can't reach that significance.
const MIN_SERIES: usize = 10;
/// A warm-up is over after this share of the series, or it is none.
const MAX_WARMUP: f64 = 1.0 / 3.0;
/// Times further from the quartiles than so many times their distance count as if they were at that fence.
const FENCE: f64 = 3.0;
/// A change by less than this is no news, however certain.
const MIN_CHANGE: f64 = 0.02;

/// The trend in a series of wall times in order of rounds; the same seed gives the same answer.
pub fn trend(wall_ns: &[u64], seed: u64) -> Trend {
    if wall_ns.len() < MIN_SERIES || wall_ns.contains(&0) {
        return Trend::Flat;
    }
    let series = tamed(wall_ns);
    let Some((first, gain)) = best_split(&series) else { return Trend::Flat };
    let (before, after) = wall_ns.split_at(first);
    let change = change(before, after);
    if change.abs() < MIN_CHANGE || chance_of(&series, gain, seed) >= SIGNIFICANCE {
        return Trend::Flat;
    }
    if change > 0.0 {
        Trend::Slowdown(first)
    } else if first as f64 <= MAX_WARMUP * wall_ns.len() as f64 {
        Trend::Warmup(first)
    } else {
        Trend::Unsettled
    }
}

/// Rounds at the start that are kept out of the estimates: those that were asked for, or the longest warm-up that was
/// found in any condition, since a round is taken out of all of them.
pub fn warmup_rounds(warmup: Warmup, trends: &[Trend]) -> u32 {
    match warmup {
        Warmup::Rounds(rounds) => rounds,
        Warmup::Detect => {
            let rounds = |trend: &Trend| match trend {
                Trend::Warmup(first) => *first as u32,
                _ => 0,
            };
            trends.iter().map(rounds).max().unwrap_or(0)
        }
    }
}

/// Logarithms, cut off at wide fences around the quartiles: one long delay must not decide where the split is.
fn tamed(wall_ns: &[u64]) -> Vec<f64> {
    let series: Vec<f64> = wall_ns.iter().map(|&ns| (ns as f64).ln()).collect();
    let sorted = sorted(series.iter().copied());
    match (quantile(&sorted, 0.25), quantile(&sorted, 0.75)) {
        (Some(low), Some(high)) => {
            let fence = FENCE * (high - low);
            series.into_iter().map(|value| value.clamp(low - fence, high + fence)).collect()
        }
        _ => series,
    }
}

/// By how much the later rounds take longer, as a share.
fn change(before: &[u64], after: &[u64]) -> f64 {
    let middle = |part: &[u64]| median(part.iter().map(|&ns| ns as f64));
    middle(after).zip(middle(before)).map_or(0.0, |(after, before)| after / before - 1.0)
}

/// The length of the first segment in the best split, and by how much it lowers the sum of squares.
fn best_split(series: &[f64]) -> Option<(usize, f64)> {
    let (n, total) = (series.len() as f64, series.iter().sum::<f64>());
    let mut best: Option<(usize, f64)> = None;
    let mut sum = 0.0;
    for (i, value) in series.iter().enumerate().take(series.len().saturating_sub(1)) {
        sum += value;
        let first = (i + 1) as f64;
        let rest = n - first;
        let between = sum / first - (total - sum) / rest;
        let gain = between * between * first * rest / n;
        if best.is_none_or(|(_, most)| gain > most) {
            best = Some((i + 1, gain));
        }
    }
    best
}

/// How often a shuffled series has a split as good as this.
fn chance_of(series: &[f64], gain: f64, seed: u64) -> f64 {
    let mut rng = Random::new(seed);
    let mut shuffled = series.to_vec();
    let mut as_good = 0;
    for _ in 0..PERMUTATIONS {
        rng.shuffle(&mut shuffled);
        // Summing in another order may lose the last bits.
        as_good += usize::from(
            best_split(&shuffled).is_some_and(|(_, found)| found >= gain * (1.0 - 1e-12)),
        );
    }
    (as_good + 1) as f64 / (PERMUTATIONS + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::noisy;

    fn series(rounds: usize, seed: u64, factor: impl Fn(usize) -> f64) -> Vec<u64> {
        let mut rng = Random::new(seed);
        (0..rounds).map(|round| noisy(&mut rng, 5e7 * factor(round), 0.01)).collect()
    }

    #[test]
    fn a_warm_up_is_found_and_its_length() {
        for first in [3, 4, 5] {
            let slow = |round| if round < first { 1.6 } else { 1.0 };
            let found = (0..100)
                .filter(|&seed| trend(&series(15, seed, slow), seed) == Trend::Warmup(first));
            let found = found.count();
            // One series in two has a delay or more, which can hide a step or move it.
            assert!(found >= 50, "{first}: {found}");
        }
    }

    #[test]
    fn noise_is_flat() {
        let flat = (0..1000).filter(|&seed| trend(&series(15, seed, |_| 1.0), 1) == Trend::Flat);
        // 1 % of them may be called otherwise; three standard errors above that.
        let flat = flat.count();
        assert!(flat >= 980, "{flat}");
    }

    #[test]
    fn later_changes_have_other_names() {
        let late = |round| if round < 9 { 1.6 } else { 1.0 };
        assert_eq!(trend(&series(16, 2, late), 1), Trend::Unsettled);
        let slower = |round| if round < 9 { 1.0 } else { 1.6 };
        assert_eq!(trend(&series(16, 2, slower), 1), Trend::Slowdown(9));
    }

    #[test]
    fn what_is_too_short_or_broken_is_flat() {
        assert_eq!(trend(&[9, 1, 1, 1, 1, 1, 1], 1), Trend::Flat);
        assert_eq!(trend(&[0; 20], 1), Trend::Flat);
        assert_eq!(trend(&[5; 20], 1), Trend::Flat);
        assert_eq!(trend(&[], 1), Trend::Flat);
    }

    #[test]
    fn one_first_delay_is_no_warm_up() {
        let mut times = series(15, 3, |_| 1.0);
        times[0] *= 4;
        assert_eq!(trend(&times, 3), Trend::Flat);
    }

    #[test]
    fn forced_rounds_win() {
        let trends = [Trend::Flat, Trend::Warmup(2), Trend::Slowdown(7), Trend::Warmup(3)];
        assert_eq!(warmup_rounds(Warmup::Detect, &trends), 3);
        assert_eq!(warmup_rounds(Warmup::Rounds(1), &trends), 1);
        assert_eq!(warmup_rounds(Warmup::Detect, &[]), 0);
    }
}
