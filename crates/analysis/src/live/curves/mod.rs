//! Curves of control groups since a session began, as counters that sum, and what their caches needed lately.
//!
//! A group has a curve of its own where it has a series in the [`SeriesSet`] of groups. Memory is 9 KiB for each, in five curves.

mod recent;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use hotset_facts::{GroupCurve, LiveCurves};
use hotset_sizing::sample::Curve;

use super::SeriesSet;
pub use recent::{RecentReferences, WINDOW_MINUTES};
use recent::{Window, slot};

/// A limit of fewer pages in the sample than this can't be told from others (`hotset_sizing::sample`).
const TOLD_SAMPLED_PAGES: u64 = 16;

/// Sums of sampled references. Nothing here goes backwards.
#[derive(Debug, Clone, Default)]
pub struct CurveTotals {
    curve: Option<Curve>,
    exponent: u32,
}

impl CurveTotals {
    fn add(&mut self, exponent: u32, curve: &Curve) {
        self.exponent = self.exponent.max(exponent);
        curve.add_to(&mut self.curve);
    }

    /// All references that were not lost, in the sample or not: exact.
    pub fn references(&self) -> u64 {
        self.curve.as_ref().map_or(0, Curve::references)
    }

    /// How many of them a cache of so many pages would have missed, by exact LRU; `None` where the limit is too small for the sample.
    pub fn misses_at(&self, limit_pages: u64) -> Option<u64> {
        let told = limit_pages >= TOLD_SAMPLED_PAGES.checked_shl(self.exponent)?;
        told.then(|| self.curve.as_ref().map_or(0, |curve| curve.misses_at(limit_pages)))
    }

    /// First references, which any cache misses.
    pub fn first_references(&self) -> u64 {
        self.curve.as_ref().map_or(0, Curve::first_references)
    }
}

/// A control group's references.
#[derive(Debug, Clone)]
pub struct CurveSeries {
    /// Since its series began.
    pub totals: CurveTotals,
    /// Where its counters were zero.
    pub since: SystemTime,
    window: Window,
    exponent: u32,
    sampled_pages: u64,
}

impl CurveSeries {
    fn new(since: SystemTime) -> Self {
        let (totals, window) = (CurveTotals::default(), Window::default());
        Self { totals, since, window, exponent: 0, sampled_pages: 0 }
    }

    fn add(&mut self, slot: u64, curve: &GroupCurve) {
        (self.exponent, self.sampled_pages) = (curve.exponent, curve.pages);
        let counts = Curve::from(curve.counts.clone());
        self.totals.add(curve.exponent, &counts);
        self.window.add(slot, curve.exponent, &counts);
    }

    /// One in so many pages is in the sample now.
    pub fn sampling_period_pages(&self) -> u64 {
        1_u64.checked_shl(self.exponent).unwrap_or(u64::MAX)
    }

    /// So many pages hold all that the group used since its sample began, with three standard deviations of their estimated number: a
    /// cache as large evicts none of them, whatever the kernel's policy.
    pub fn most_pages(&self) -> u64 {
        let sampled = self.sampled_pages as f64;
        let most = (sampled + 3.0 * sampled.sqrt()).ceil() as u64;
        most.max(TOLD_SAMPLED_PAGES).saturating_mul(self.sampling_period_pages())
    }

    /// What was referenced lately.
    pub fn recent(&self) -> RecentReferences {
        self.window.sum(self.sampled_pages)
    }
}

/// The references of all control groups.
#[derive(Debug, Clone, Default)]
pub struct CurveSet {
    groups: HashMap<Arc<str>, CurveSeries>,
    /// Of groups without a series.
    other: CurveTotals,
    /// Groups that had no curve in the last interval, because there were as many as there is memory for.
    pub groups_beyond: u64,
    /// Sampled references whose group is not known, or has no curve.
    pub unattributed: u64,
    /// Sampled references that were lost.
    pub lost: u64,
}

impl CurveSet {
    /// Adds an interval that ended so many nanoseconds after the session began. `series` are those of the groups, without those that
    /// are gone; whose has ended meanwhile is forgotten.
    pub fn add(&mut self, curves: &LiveCurves, ended_after_ns: u64, series: &SeriesSet<Arc<str>>) {
        self.groups.retain(|path, group| {
            series.get(path).is_some_and(|series| series.since == group.since)
        });
        let slot = slot(ended_after_ns);
        self.groups.values_mut().for_each(|group| group.window.turn(slot));
        for curve in &curves.groups {
            let found = curve.group.as_ref().and_then(|path| series.get(path));
            match found {
                Some(found) => {
                    let group = self.groups.entry(Arc::clone(&found.key));
                    group.or_insert_with(|| CurveSeries::new(found.since)).add(slot, curve);
                }
                None => self.other.add(curve.exponent, &Curve::from(curve.counts.clone())),
            }
        }
        self.groups_beyond = curves.groups_beyond;
        self.unattributed = self.unattributed.saturating_add(curves.unattributed);
        self.lost = self.lost.saturating_add(curves.lost);
    }

    /// Groups with a curve of their own, by path, in no particular order.
    pub fn groups(&self) -> impl Iterator<Item = (&Arc<str>, &CurveSeries)> {
        self.groups.iter()
    }

    /// The sums of all other groups that have a curve.
    pub fn other(&self) -> &CurveTotals {
        &self.other
    }
}

#[cfg(test)]
mod tests;
