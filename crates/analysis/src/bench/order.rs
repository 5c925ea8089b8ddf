//! Order statistics: quantiles, and the exact interval of a median.
//!
//! The interval is the distribution-free one between two order statistics: that the median of a continuous
//! distribution lies outside depends on a binomial count only, whatever the distribution (Conover, "Practical
//! Nonparametric Statistics", 3rd ed., 1999, section 3.2). Hoefler and Belli, "Scientific Benchmarking of Parallel
//! Computing Systems" (SC 2015), ask for such intervals where normality can't be assumed.

use serde::Serialize;

/// A coverage of at least this is claimed.
const CONFIDENCE: f64 = 0.95;

/// Fewer samples than this have no 95 % interval of their median at all: the range of five holds it with 93.75 %.
pub const MIN_ROUNDS: usize = 6;

/// An interval with at least 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfidenceInterval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl ConfidenceInterval {
    /// Half of the interval's width relative to its geometric centre, such as 0.02 for 2 %. For ratios it is the same
    /// whichever side is called A.
    pub fn half_width(&self) -> f64 {
        if self.low > 0.0 { (self.high / self.low).sqrt() - 1.0 } else { f64::INFINITY }
    }

    /// True if the value lies inside or on an end.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The interval of the reciprocals.
    pub fn reciprocal(&self) -> Self {
        Self { low: 1.0 / self.high, high: 1.0 / self.low }
    }
}

/// How many samples lie below the lower end of the median's interval, and as many above its upper end; nothing below
/// [`MIN_ROUNDS`].
fn trimmed(samples: usize) -> Option<usize> {
    let n = samples as f64;
    let mut ln_probability = -n * std::f64::consts::LN_2;
    let mut cumulative = 0.0;
    let mut found = None;
    for i in 0..samples / 2 {
        cumulative += ln_probability.exp();
        if cumulative > (1.0 - CONFIDENCE) / 2.0 {
            break;
        }
        found = Some(i);
        ln_probability += ((n - i as f64) / (i as f64 + 1.0)).ln();
    }
    found
}

/// The samples sorted, without those that are no numbers.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The interval of the median of sorted samples; none below [`MIN_ROUNDS`].
pub fn median_interval(sorted: &[f64]) -> Option<ConfidenceInterval> {
    let trimmed = trimmed(sorted.len())?;
    let low = *sorted.get(trimmed)?;
    let high = *sorted.get(sorted.len() - 1 - trimmed)?;
    Some(ConfidenceInterval { low, high })
}

/// The quantile of sorted samples, linear between neighbours (type 7 of Hyndman and Fan, as numpy and R have it).
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = *sorted.get(place.floor() as usize)?;
    let above = *sorted.get(place.ceil() as usize)?;
    Some(below + (above - below) * place.fract())
}

/// The median of any samples.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    quantile(&sorted(values), 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // The sign test's critical values at 2.5 % on each side.
        let table = [
            (5, None),
            (6, Some(0)),
            (8, Some(0)),
            (9, Some(1)),
            (10, Some(1)),
            (12, Some(2)),
            (15, Some(3)),
            (20, Some(5)),
            (25, Some(7)),
            (50, Some(17)),
            (100, Some(39)),
        ];
        for (samples, expected) in table {
            assert_eq!(trimmed(samples), expected, "{samples}");
        }
        assert_eq!(trimmed(0), None);
        assert!(trimmed(5000).is_some_and(|k| (2400..2500).contains(&k)), "{:?}", trimmed(5000));
    }

    #[test]
    fn quantiles_are_linear() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&values, 0.25), Some(1.75));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(median([3.0, f64::NAN, 1.0]), Some(2.0));
        assert_eq!(median([]), None);
    }

    #[test]
    fn a_half_width_is_the_same_from_both_sides() {
        let interval = ConfidenceInterval { low: 0.98, high: 1.03 };
        let other = interval.reciprocal();
        assert!((interval.half_width() - other.half_width()).abs() < 1e-12);
        assert!(interval.holds(1.0) && other.holds(1.0) && !interval.holds(1.04));
    }
}
