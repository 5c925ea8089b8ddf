//! How two conditions compare: the median of the ratios within rounds.
//!
//! Runs of one round share the state of the machine, so the round is the unit of inference and the ratio is taken
//! inside it (randomized multiple interleaved trials: Abedi and Brecht, ICPE 2017; effect size with an interval:
//! Kalibera and Jones, ISMM 2013). The interval is [`super::order`]'s exact one; bootstraps of the same median are too
//! narrow below 20 rounds.

use serde::Serialize;

use super::order::{ConfidenceInterval, median_interval, sorted};

/// What the rounds say about time B / time A.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioEstimate {
    /// The median over rounds of B / A. Of an even number, the geometric mean of the middle two, so that swapping A
    /// and B gives the reciprocal.
    pub ratio: f64,
    /// Its 95 % interval; null below six rounds.
    pub interval: Option<ConfidenceInterval>,
    /// Rounds in which both sides have a run.
    pub rounds: usize,
    /// True where every time of one side is above every time of the other, in so many rounds that chance does that to equal
    /// sides in less than 5 % of all sessions: four, by the exact rank-sum test.
    pub apart: bool,
}

/// Of 2n times in any order, two orders have all of one side first: with n = 4 that is 2 of 70, or 2.9 %; with 3 it is 10 %.
const MIN_APART: usize = 4;

hotset_facts::words! {
    /// Whether B is faster than A.
    pub enum Difference {
        /// B takes less time.
        Faster = "faster",
        /// B takes more time.
        Slower = "slower",
        /// The interval holds 1. It doesn't say that the two are equal: an effect below the smallest that the session
        /// could have seen may be there.
        NoDifferenceShown = "no difference shown",
        /// The interval doesn't hold 1, but the same command differed from itself by as much in this session, or the times are so
        /// short that the start of a process can explain the difference.
        WithinNoise = "within noise",
        /// Too few rounds for an interval.
        NoInterval = "no interval",
    }
}

impl RatioEstimate {
    /// From the times of A and B in each round. A round with a time of zero has no ratio. Nothing without a round.
    pub fn of(pairs: impl IntoIterator<Item = (u64, u64)>) -> Option<Self> {
        Self::of_reals(pairs.into_iter().map(|(a, b)| (a as f64, b as f64)))
    }

    /// The same from times that are no whole numbers, such as those of an operation.
    pub fn of_reals(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let pairs: Vec<(f64, f64)> =
            pairs.into_iter().filter(|&(a, b)| a > 0.0 && b > 0.0).collect();
        let ratios = sorted(pairs.iter().map(|(a, b)| b / a));
        let (below, above) = (ratios.len().checked_sub(1)? / 2, ratios.len() / 2);
        let (below, above) = (*ratios.get(below)?, *ratios.get(above)?);
        // The square root of a square isn't always the number.
        let ratio = if below == above { below } else { (below * above).sqrt() };
        let apart = pairs.len() >= MIN_APART && are_apart(&pairs);
        Some(Self { ratio, interval: median_interval(&ratios), rounds: ratios.len(), apart })
    }

    /// The same for A / B.
    pub fn swapped(self) -> Self {
        let interval = self.interval.map(|interval| interval.reciprocal());
        Self { ratio: 1.0 / self.ratio, interval, ..self }
    }

    /// What the interval says; where there is none, whether the times of both sides stand apart.
    pub fn difference(&self) -> Difference {
        match self.interval {
            None if self.apart && self.ratio < 1.0 => Difference::Faster,
            None if self.apart => Difference::Slower,
            None => Difference::NoInterval,
            Some(interval) if interval.high < 1.0 => Difference::Faster,
            Some(interval) if interval.low > 1.0 => Difference::Slower,
            Some(_) => Difference::NoDifferenceShown,
        }
    }

    /// The smallest effect that these rounds could have shown: half of the interval's width, such as 0.02 for 2 %.
    pub fn smallest_effect(&self) -> Option<f64> {
        self.interval.map(|interval| interval.half_width())
    }
}

/// True where the times of both sides don't overlap.
fn are_apart(pairs: &[(f64, f64)]) -> bool {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let times = pairs.iter().map(of);
        times.fold((f64::INFINITY, 0.0_f64), |(low, high), time| (low.min(time), high.max(time)))
    };
    let (a, b) = (range(|pair| pair.0), range(|pair| pair.1));
    a.1 < b.0 || b.1 < a.0
}

#[cfg(test)]
mod tests;
