//! The references of the last hour, or nearly that.

use hotset_facts::GroupCurve;
use hotset_sizing::sample::Curve;

use super::TOLD_SAMPLED_PAGES;

/// What is said to be recent was referenced in as many minutes at most, and three quarters of them at least: an hour is long enough for
/// the work of a few minutes to come by again, and a scrape of any usual interval sees every value. How long ago a page was used
/// before that does not matter: the sample remembers pages, not time.
pub const WINDOW_MINUTES: u64 = 60;
const SLOTS: u64 = 4;
const SLOT_NS: u64 = WINDOW_MINUTES * 60 * 1_000_000_000 / SLOTS;

/// Fewer pages in the sample say little of all of them: curves of recordings were up to 0.019 off with 100 or more, and 0.07 with 64
/// (`hotset_sizing::sample`).
const FEWEST_SAMPLED_PAGES: u64 = 100;

/// The share of hits that is looked for must leave as many sampled references beyond it: with fewer than ten, the limit that they
/// need is that of single references.
const FEWEST_BEYOND: f64 = 10.0;

/// In which slot of the window a time is, in nanoseconds since a session began.
pub(super) fn slot(ns: u64) -> u64 {
    ns / SLOT_NS
}

/// Curves by slot.
#[derive(Debug, Clone, Default)]
pub(super) struct Window {
    /// Those that have any, the oldest first: number, exponent, counts.
    slots: Vec<(u64, u32, Curve)>,
}

impl Window {
    /// Forgets what is too old in slot `now`.
    pub(super) fn turn(&mut self, now: u64) {
        self.slots.retain(|(number, ..)| number + SLOTS > now);
    }

    pub(super) fn add(&mut self, now: u64, exponent: u32, curve: &Curve) {
        match self.slots.last_mut() {
            Some((number, most, sum)) if *number == now => {
                *most = exponent.max(*most);
                // Can't fail: one session has one list of limits.
                let _ = sum.add(curve);
            }
            _ => self.slots.push((now, exponent, curve.clone())),
        }
    }

    pub(super) fn sum(&self, sampled_pages: u64) -> RecentReferences {
        let mut all = self.slots.iter();
        let mut sum = all.next().map(|(_, _, curve)| curve.clone());
        if let Some(sum) = &mut sum {
            for (_, _, curve) in all {
                let _ = sum.add(curve);
            }
        }
        let exponent = self.slots.iter().map(|(_, exponent, _)| *exponent).max().unwrap_or(0);
        RecentReferences { curve: sum, exponent, sampled_pages }
    }
}

/// References to pages in a time, and what cache they needed.
#[derive(Debug, Clone, Default)]
pub struct RecentReferences {
    curve: Option<Curve>,
    exponent: u32,
    sampled_pages: u64,
}

impl RecentReferences {
    /// Adds an interval of the same group.
    pub(crate) fn add(&mut self, group: &GroupCurve) {
        (self.exponent, self.sampled_pages) = (self.exponent.max(group.exponent), group.pages);
        Curve::from(group.counts.clone()).add_to(&mut self.curve);
    }

    /// References in the sample that were not the first to their page, about: what a need rests on.
    pub fn sampled_reuses(&self) -> u64 {
        let reuses = self.curve.as_ref().map_or(0, Curve::sampled_reuses);
        reuses.checked_shr(self.exponent).unwrap_or(0)
    }

    /// The smallest cache, in pages, that has so large a share (0 to 1) of the hits of a cache without a limit, by exact LRU; up to
    /// 9 % too much, because limits are eight for each doubling. `None` where the sample is too small to tell.
    pub fn need_pages(&self, share: f64) -> Option<u64> {
        let beyond = self.sampled_reuses() as f64 * (1.0 - share);
        if self.sampled_pages < FEWEST_SAMPLED_PAGES || beyond < FEWEST_BEYOND {
            return None;
        }
        let need = self.curve.as_ref()?.enough(share)?;
        (need >= TOLD_SAMPLED_PAGES.checked_shl(self.exponent)?).then_some(need)
    }
}

#[cfg(test)]
mod tests {
    use hotset_sizing::sample::{Sampler, limit_grid};

    use super::*;

    #[test]
    fn a_window_holds_so_many_curves_and_no_more() {
        let mut sampler = Sampler::of_sample(0, 10, &limit_grid(1 << 20));
        let mut window = Window::default();
        for minute in 0..600 {
            let now = slot(minute * 60 * 1_000_000_000);
            window.turn(now);
            sampler.touch(7);
            window.add(now, 0, &sampler.take());
            // The slot under way is not whole.
            let spanned = window.sum(1).curve.map_or(0, |sum| sum.references());
            assert!(window.slots.len() <= SLOTS as usize && spanned <= WINDOW_MINUTES);
            assert!(minute < WINDOW_MINUTES || spanned > WINDOW_MINUTES * 3 / SLOTS, "{spanned}");
        }
    }
}
