//! Path lookups of an interval, for the rows of its groups.

use std::collections::HashMap;
use std::sync::Arc;

use hotset_facts::Interval;

/// Calls that resolve a path, and how many of them failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub(super) calls: u64,
    pub(super) failed: u64,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.failed = self.failed.saturating_add(other.failed);
    }
}

/// What was looked up in an interval and has no row yet.
pub(super) struct Lookups {
    of_nobody: Counts,
    by_group: HashMap<Arc<str>, Counts>,
}

impl Lookups {
    /// None where lookups were not counted.
    pub(super) fn of(interval: &Interval) -> Option<Self> {
        let mut lookups = Self { of_nobody: Counts::default(), by_group: HashMap::new() };
        for group in interval.lookups.as_ref()? {
            let counts = Counts { calls: group.calls, failed: group.failed };
            match &group.cgroup {
                Some(path) => lookups.by_group.entry(Arc::clone(path)).or_default().add(counts),
                None => lookups.of_nobody.add(counts),
            }
        }
        Some(lookups)
    }

    /// The groups that looked something up.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Arc<str>> {
        self.by_group.keys()
    }

    /// What a group looked up, which is in no other row from now on.
    pub(super) fn take(&mut self, path: &str) -> Counts {
        self.by_group.remove(path).unwrap_or_default()
    }

    /// Everything that was not taken.
    pub(super) fn sum(&self) -> Counts {
        let mut sum = self.of_nobody;
        self.by_group.values().for_each(|counts| sum.add(*counts));
        sum
    }
}

#[cfg(test)]
mod tests {
    use hotset_analysis::live::testing;
    use hotset_facts::LiveLookups;

    use super::*;

    #[test]
    fn what_has_no_row_of_its_own_is_in_the_rest() {
        let of = |path: Option<&str>, calls| LiveLookups {
            cgroup: path.map(Arc::from),
            calls,
            failed: calls / 2,
        };
        let counted = vec![of(Some("/a"), 8), of(None, 2), of(Some("/b"), 4)];
        let mut interval = testing::interval(Vec::new());
        assert!(Lookups::of(&interval).is_none(), "nobody asked");
        interval.lookups = Some(counted);
        let mut lookups = Lookups::of(&interval).expect("counted");
        assert_eq!(lookups.sum(), Counts { calls: 14, failed: 7 });
        assert_eq!(lookups.take("/a"), Counts { calls: 8, failed: 4 });
        assert_eq!(lookups.take("/idle"), Counts::default());
        assert_eq!(lookups.sum(), Counts { calls: 6, failed: 3 });
    }
}
