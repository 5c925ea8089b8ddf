//! The counts of a sample at limits.

use std::sync::Arc;

use hotset_facts::CurveCounts;

/// Limits of which each is 2^(1/8) times the one before, up to `most_pages`, in pages: the same for everybody, so that counts
/// at them can be added.
pub fn limit_grid(most_pages: u64) -> Vec<u64> {
    let steps = 0..8 * u64::BITS;
    let at = |step: u32| (f64::from(step) / 8.0).exp2().round() as u64;
    let mut limits: Vec<u64> = steps.map(at).take_while(|&limit| limit <= most_pages).collect();
    limits.dedup();
    limits
}

/// Curves that were counted at other limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the curves have other limits; only counts at the same limits can be added")]
pub struct DifferentLimits;

/// References and estimated hits at some limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curve(CurveCounts);

impl From<CurveCounts> for Curve {
    fn from(counts: CurveCounts) -> Self {
        Self(counts)
    }
}

impl Curve {
    pub(super) fn new(limits_pages: &[u64]) -> Self {
        let mut limits = limits_pages.to_vec();
        limits.sort_unstable();
        limits.dedup();
        Self::empty(limits.into())
    }

    fn empty(limits: Arc<[u64]>) -> Self {
        let weights = vec![0; limits.len()];
        Self(CurveCounts { limits, weights, weighted: 0, weighted_first: 0, references: 0 })
    }

    #[inline]
    pub(super) fn count(&mut self, references: u64) {
        self.0.references = self.0.references.saturating_add(references);
    }

    /// Counts a sampled reference that stands for `weight` of them, with its scaled distance.
    pub(super) fn count_sampled(&mut self, distance: Option<u64>, weight: u64) {
        let counts = &mut self.0;
        counts.weighted = counts.weighted.saturating_add(weight);
        let Some(distance) = distance else {
            counts.weighted_first = counts.weighted_first.saturating_add(weight);
            return;
        };
        let first = counts.limits.partition_point(|&limit| limit <= distance);
        if let Some(sum) = counts.weights.get_mut(first) {
            *sum = sum.saturating_add(weight);
        }
    }

    pub(super) fn take(&mut self) -> Self {
        let empty = Self::empty(Arc::clone(&self.0.limits));
        std::mem::replace(self, empty)
    }

    /// The plain counts, which can be kept and made a curve again.
    pub fn into_counts(self) -> CurveCounts {
        self.0
    }

    /// The limits in pages, ascending.
    pub fn limits(&self) -> &[u64] {
        &self.0.limits
    }

    /// All references: exact.
    pub fn references(&self) -> u64 {
        self.0.references
    }

    /// Estimated hits at each limit. What the sample has too many or too few of is taken from or added to those with the
    /// shortest distance, because it comes of pages that are used very often and happen to be in the sample or not.
    pub fn hits(&self) -> Vec<u64> {
        let mut sum = i128::from(self.0.references) - i128::from(self.0.weighted);
        let at = |weight: &u64| {
            sum += i128::from(*weight);
            sum.clamp(0, i128::from(self.0.references)) as u64
        };
        self.0.weights.iter().map(at).collect()
    }

    /// Estimated first references: misses at any limit.
    pub fn first_references(&self) -> u64 {
        self.0.weighted_first.min(self.0.references)
    }

    /// Estimated misses at a limit, first references included: a sum of what each sampled reference stands for, which only grows.
    /// The limit must be one of [`Curve::limits`], or counts as the next smaller one.
    pub fn misses_at(&self, limit_pages: u64) -> u64 {
        let hits = self.0.limits.iter().zip(&self.0.weights);
        let hits = hits.take_while(|&(&limit, _)| limit <= limit_pages);
        let hits = hits.fold(0_u64, |sum, (_, weight)| sum.saturating_add(*weight));
        self.0.weighted.saturating_sub(hits)
    }

    /// Adds these counts to a sum that may have none yet. One session has one list of limits; counts at others are left out.
    pub fn add_to(&self, sum: &mut Option<Self>) {
        match sum {
            Some(sum) => {
                let _ = sum.add(self);
            }
            None => *sum = Some(self.clone()),
        }
    }

    /// The smallest limit, in pages, that has so large a share (0 to 1) of the hits that a cache without a limit would have; none
    /// without hits, and where they are beyond the largest limit.
    pub fn enough(&self, share: f64) -> Option<u64> {
        let best = self.0.references.saturating_sub(self.first_references());
        let wanted = (best as f64 * share).ceil().max(1.0) as u64;
        let found = self.hits().iter().position(|&hits| hits >= wanted)?;
        self.0.limits.get(found).copied()
    }

    /// References with a distance among the sampled ones, each as many as it stands for.
    pub fn sampled_reuses(&self) -> u64 {
        self.0.weighted.saturating_sub(self.0.weighted_first)
    }

    /// Adds the counts of another cache, of the same or another rate.
    ///
    /// # Errors
    /// It was counted at other limits.
    pub fn add(&mut self, other: &Self) -> Result<(), DifferentLimits> {
        if self.0.limits != other.0.limits {
            return Err(DifferentLimits);
        }
        for (weight, more) in self.0.weights.iter_mut().zip(&other.0.weights) {
            *weight = weight.saturating_add(*more);
        }
        self.0.weighted = self.0.weighted.saturating_add(other.0.weighted);
        self.0.weighted_first = self.0.weighted_first.saturating_add(other.0.weighted_first);
        self.0.references += other.0.references;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_eight_limits_for_each_doubling() {
        let grid = limit_grid(1 << 20);
        assert!(grid.windows(2).all(|pair| pair[0] < pair[1]), "{grid:?}");
        assert_eq!((grid[0], grid.last()), (1, Some(&(1 << 20))));
        let from = |limit| grid.iter().position(|&one| one == limit).expect("a power of two");
        assert_eq!(from(1 << 20) - from(1 << 12), 64);
        assert!(limit_grid(u64::MAX).len() > 400 && limit_grid(0).is_empty());
    }

    #[test]
    fn misses_grow_and_enough_is_a_share_of_the_best() {
        let mut curve = Curve::new(&[10, 100, 1_000]);
        curve.count(100);
        for distance in [None, Some(5), Some(50), Some(500), Some(5_000)] {
            curve.count_sampled(distance, 20);
        }
        let misses = [10, 99, 100, 1_000, u64::MAX].map(|limit| curve.misses_at(limit));
        assert_eq!((misses, curve.misses_at(0)), ([80, 80, 60, 40, 40], 100));
        // Of the 80 hits that there can be, 20 are beyond the largest limit.
        let enough = [0.0, 0.25, 0.26, 0.75, 0.76].map(|share| curve.enough(share));
        assert_eq!(enough, [Some(10), Some(10), Some(100), Some(1_000), None]);
        assert_eq!((curve.sampled_reuses(), Curve::new(&[10]).enough(0.5)), (80, None));
    }

    #[test]
    fn the_exact_number_corrects_the_sample() {
        let mut curve = Curve::new(&[10, 100, 10]);
        curve.count(100);
        // The sample stands for 80 references: 20 more have the shortest distance.
        for distance in [None, Some(5), Some(50), Some(500)] {
            curve.count_sampled(distance, 20);
        }
        assert_eq!((curve.limits(), curve.hits()), (&[10, 100][..], vec![40, 60]));
        let taken = curve.take();
        let mut sum = taken.clone();
        assert_eq!(sum.add(&taken), Ok(()));
        assert_eq!(
            (sum.hits(), sum.references(), sum.first_references()),
            (vec![80, 120], 200, 40)
        );
        assert_eq!((curve.hits(), curve.references()), (vec![0, 0], 0));
        assert_eq!(sum.add(&Curve::new(&[10])), Err(DifferentLimits));
        // A sample that stands for more than there is can't make hits of nothing.
        curve.count_sampled(Some(1), 5);
        assert_eq!(curve.hits(), [0, 0]);
    }
}
