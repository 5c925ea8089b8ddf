//! How much page cache control groups needed since a session began.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hotset_facts::LiveCurves;
use hotset_sizing::PAGE_BYTES;

use crate::live::RecentReferences;

/// The share of the hits of unlimited cache that a need is for.
const SHARE: f64 = 0.99;

/// Groups that are remembered, at most: twice as many as a session has curves for at a time. Beyond that, those without a curve in the last
/// interval are forgotten, so that a host whose containers come and go for weeks takes no more memory.
const MOST_GROUPS: usize = 512;

/// Needs by the path of the group.
#[derive(Debug, Clone, Default)]
pub struct GroupNeeds(HashMap<Arc<str>, RecentReferences>);

impl GroupNeeds {
    /// Adds an interval.
    pub fn add(&mut self, curves: &LiveCurves) {
        if self.0.len() > MOST_GROUPS {
            let now: HashSet<&Arc<str>> =
                curves.groups.iter().filter_map(|curve| curve.group.as_ref()).collect();
            self.0.retain(|group, _| now.contains(group));
        }
        for curve in &curves.groups {
            let Some(group) = &curve.group else { continue };
            self.0.entry(Arc::clone(group)).or_default().add(curve);
        }
    }

    /// Bytes of page cache with 99 % of the hits that the group could have had; none where too little was sampled to tell.
    pub fn of(&self, group: &str) -> Option<u64> {
        let pages = self.0.get(group)?.need_pages(SHARE)?;
        Some(pages.saturating_mul(PAGE_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::{CurveCounts, GroupCurve};

    use super::*;

    fn curves(group: Option<&str>, pages: u64) -> LiveCurves {
        let counts = CurveCounts {
            limits: [1_000, 5_000, 20_000].into(),
            weights: vec![0, 100_000, 0],
            weighted: 105_000,
            weighted_first: 5_000,
            references: 105_000,
        };
        let group = group.map(Arc::from);
        let curve = GroupCurve { group, exponent: 4, pages, references: 105_000, lost: 0, counts };
        LiveCurves { groups: vec![curve], exponent: 4, groups_beyond: 0, unattributed: 0, lost: 0 }
    }

    #[test]
    fn a_need_is_that_of_all_intervals_and_rests_on_enough() {
        let mut needs = GroupNeeds::default();
        needs.add(&curves(Some("/a"), 300));
        needs.add(&curves(Some("/a"), 310));
        needs.add(&curves(Some("/few"), 40));
        needs.add(&curves(None, 300));
        assert_eq!(needs.of("/a"), Some(5_000 * PAGE_BYTES));
        assert_eq!((needs.of("/few"), needs.of("/b")), (None, None));
    }

    #[test]
    fn groups_that_are_gone_are_forgotten_when_there_are_many() {
        let mut needs = GroupNeeds::default();
        for number in 0..10_000 {
            needs.add(&curves(Some("/stays"), 300));
            needs.add(&curves(Some(&format!("/{number}")), 300));
        }
        assert!(needs.0.len() <= MOST_GROUPS + 2, "{}", needs.0.len());
        assert!(needs.of("/9999").is_some() && needs.of("/1").is_none());
    }
}
