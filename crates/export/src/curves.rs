//! What control groups need: their curves, and the memory that each has, for as many groups as have series.

use std::collections::HashMap;
use std::sync::Arc;

use hotset_analysis::live::{CurveSet, SeriesSet};
use hotset_facts::Interval;
use hotset_sys::cgroup::GroupUsage;
use hotset_view::metrics::GroupMemoryNumbers;

/// Curves and memory, as of the last interval.
#[derive(Default)]
pub(super) struct GroupCurves {
    pub(super) set: CurveSet,
    memory: HashMap<Arc<str>, Memory>,
    pub(super) multi_gen_lru: bool,
}

struct Memory {
    now: GroupUsage,
    /// Refaults when it was first looked at: the kernel counts from when the group was made.
    refaulted_before: Option<u64>,
}

impl GroupCurves {
    /// Adds an interval; `series` has no group that is gone.
    pub(super) fn add(
        &mut self,
        interval: &Interval,
        series: &SeriesSet<Arc<str>>,
        usage: impl Fn(&str) -> Option<GroupUsage>,
    ) {
        let Some(curves) = &interval.curves else { return };
        self.set.add(curves, interval.ended_after_ns, series);
        // It can be switched while the kernel runs.
        self.multi_gen_lru = hotset_sys::environment::reclaim().multi_gen_lru;
        let mut before = std::mem::take(&mut self.memory);
        for (path, _) in self.set.groups() {
            let Some(now) = usage(path) else { continue };
            let known = before.remove(path).map(|memory| memory.refaulted_before);
            let refaulted_before = known.unwrap_or(now.refaulted_pages);
            self.memory.insert(Arc::clone(path), Memory { now, refaulted_before });
        }
    }

    /// The memory of a group; nothing where the kernel does not account it.
    pub(super) fn memory(&self, path: &str) -> Option<GroupMemoryNumbers> {
        let Memory { now, refaulted_before } = self.memory.get(path)?;
        let grown = now.refaulted_pages.zip(*refaulted_before);
        Some(GroupMemoryNumbers {
            limit_bytes: now.limit_bytes,
            used_bytes: now.used_bytes,
            file_bytes: now.file_bytes,
            refaulted_pages: grown.map(|(now, before)| now.saturating_sub(before)),
        })
    }
}

#[cfg(test)]
mod tests {
    use hotset_analysis::live::testing::interval;
    use hotset_facts::{CurveCounts, GroupCurve, LiveCurves, LiveIo};

    use super::*;

    fn curve(path: &str) -> GroupCurve {
        let counts = CurveCounts {
            limits: Arc::new([256]),
            weights: vec![0],
            weighted: 0,
            weighted_first: 0,
            references: 9,
        };
        let group = Some(Arc::from(path));
        GroupCurve { group, exponent: 4, pages: 0, references: 9, lost: 0, counts }
    }

    #[test]
    fn refaults_count_from_the_first_look_and_end_with_the_series() {
        let mut set = SeriesSet::new(1);
        set.begin(std::time::SystemTime::UNIX_EPOCH);
        set.add(&Arc::from("/a"), &LiveIo { read_pages: 1, ..LiveIo::default() });
        let mut curves = GroupCurves::default();
        let mut work = interval(Vec::new());
        let usage = |refaults| GroupUsage {
            limit_bytes: None,
            used_bytes: 5,
            file_bytes: 4,
            refaulted_pages: Some(refaults),
        };
        let add = |curves: &mut GroupCurves, work: &Interval, set: &_, refaults| {
            curves.add(work, set, |_| Some(usage(refaults)));
            curves.memory("/a").map(|memory| memory.refaulted_pages)
        };
        assert_eq!(add(&mut curves, &work, &set, 1_000), None, "no curves");
        let (groups, exponent) = (vec![curve("/a"), curve("/b")], 4);
        let seen = LiveCurves { groups, exponent, groups_beyond: 0, unattributed: 0, lost: 0 };
        work.curves = Some(seen);
        assert_eq!(add(&mut curves, &work, &set, 1_000), Some(Some(0)));
        assert_eq!(add(&mut curves, &work, &set, 1_005), Some(Some(5)));
        assert_eq!(curves.memory("/b"), None, "it has no series");
        set.retain(|_| false);
        assert_eq!(add(&mut curves, &work, &set, 1_009), None);
    }
}
