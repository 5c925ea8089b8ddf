//! Curves of control groups over a span, as rows that add up.

use std::collections::BTreeMap;
use std::sync::Arc;

use hotset_facts::CurveCounts;
use hotset_facts::fleet::{CurveRow, IntervalKey, Workload};
use hotset_facts::{GroupCurve, LiveCurves};

/// What is simulated of a sample: the kernel's policies need more than that.
const POLICY: &str = "lru";

/// A group's references so far.
#[derive(Debug)]
struct Sum {
    counts: CurveCounts,
    exponent: u32,
    lost: u64,
}

/// References of groups in the span under way. Groups whose sample became smaller meanwhile have a row set for each of its sizes.
#[derive(Debug, Default)]
pub(super) struct SpanCurves {
    groups: BTreeMap<(Arc<str>, u32), Sum>,
    /// How long the span has been.
    length_ns: u64,
}

impl SpanCurves {
    pub(super) fn add(&mut self, curves: Option<&LiveCurves>, length_ns: u64) {
        self.length_ns = self.length_ns.saturating_add(length_ns);
        for curve in curves.iter().flat_map(|curves| &curves.groups) {
            let GroupCurve { group: Some(group), exponent, lost, counts, .. } = curve else {
                continue;
            };
            let sum = self.groups.entry((Arc::clone(group), *exponent)).or_insert_with(|| Sum {
                counts: CurveCounts {
                    limits: Arc::clone(&counts.limits),
                    weights: vec![0; counts.limits.len()],
                    weighted: 0,
                    weighted_first: 0,
                    references: 0,
                },
                exponent: *exponent,
                lost: 0,
            });
            sum.add(counts, *lost);
        }
    }

    /// The rows of the span, which begins anew; `key` is of its last interval.
    pub(super) fn take(
        &mut self,
        key: &IntervalKey,
        mut who: impl FnMut(&Arc<str>) -> Workload,
    ) -> Vec<CurveRow> {
        let Self { groups, length_ns } = std::mem::take(self);
        let key = IntervalKey { length_ns, ..key.clone() };
        let rows = groups.iter().flat_map(|((group, _), sum)| sum.rows(&key, &who(group)));
        rows.collect()
    }
}

impl Sum {
    fn add(&mut self, more: &CurveCounts, lost: u64) {
        // One session has one grid.
        for (sum, weight) in self.counts.weights.iter_mut().zip(&more.weights) {
            *sum = sum.saturating_add(*weight);
        }
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.counts.weighted, more.weighted);
        add(&mut self.counts.weighted_first, more.weighted_first);
        add(&mut self.counts.references, more.references);
        add(&mut self.lost, lost);
    }

    fn rows(&self, key: &IntervalKey, who: &Workload) -> Vec<CurveRow> {
        let empty = CurveRow {
            key: key.clone(),
            who: who.clone(),
            policy: POLICY.into(),
            sampling_period_pages: 1_u64.checked_shl(self.exponent).unwrap_or(u64::MAX),
            ..CurveRow::default()
        };
        let all = CurveRow {
            sampled_references: self.counts.weighted,
            sampled_first: self.counts.weighted_first,
            references: self.counts.references,
            lost_references: self.lost,
            ..empty.clone()
        };
        let limits = self.counts.limits.iter().zip(&self.counts.weights);
        let hits = limits.filter(|&(_, &weight)| weight > 0);
        let hits = hits.map(|(&limit_pages, &sampled_hits)| CurveRow {
            limit_pages,
            sampled_hits,
            ..empty.clone()
        });
        [all].into_iter().chain(hits).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(exponent: u32, weights: [u64; 3]) -> LiveCurves {
        let weighted = weights.iter().sum::<u64>() + 10;
        let counts = CurveCounts {
            limits: Arc::new([1, 2, 4]),
            weights: weights.to_vec(),
            weighted,
            weighted_first: 10,
            references: weighted + 3,
        };
        let group = Some(Arc::from("/a"));
        let group =
            GroupCurve { group, exponent, pages: 1, references: weighted + 3, lost: 1, counts };
        LiveCurves { groups: vec![group], exponent, groups_beyond: 0, unattributed: 0, lost: 1 }
    }

    #[test]
    fn spans_add_up_and_limits_without_hits_have_no_row() {
        let mut curves = SpanCurves::default();
        curves.add(Some(&curve(4, [5, 0, 7])), 60);
        curves.add(None, 60);
        curves.add(Some(&curve(4, [1, 0, 0])), 60);
        let rows = curves.take(&IntervalKey::default(), |_| Workload::default());
        let all: Vec<_> = rows.iter().map(|row| (row.limit_pages, row.sampled_hits)).collect();
        assert_eq!(all, [(0, 0), (1, 6), (4, 7)]);
        assert_eq!((rows[0].references, rows[0].sampled_references), (39, 33));
        assert_eq!((rows[0].sampled_first, rows[0].lost_references), (20, 2));
        assert!(rows.iter().all(|row| row.key.length_ns == 180));
        assert!(rows.iter().skip(1).all(|row| row.references == 0), "they would count twice");
        assert!(curves.take(&IntervalKey::default(), |_| Workload::default()).is_empty());
    }

    #[test]
    fn another_sample_is_another_set_of_rows() {
        let mut curves = SpanCurves::default();
        curves.add(Some(&curve(4, [1, 0, 0])), 60);
        curves.add(Some(&curve(5, [1, 0, 0])), 60);
        let rows = curves.take(&IntervalKey::default(), |_| Workload::default());
        let periods: Vec<_> = rows.iter().map(|row| row.sampling_period_pages).collect();
        assert_eq!(periods, [16, 16, 32, 32]);
    }
}
