//! Counters by the names that they have in JSON.

use hotset_facts::{NamedCounter, Observed, Unit};

/// What differs between runs of the same program that do the same: it depends on the kernel's random places of memory, on what
/// else the host does, or on what was before.
const VARIES: [&str; 19] = [
    "cached_after",
    "cached_before",
    "command.max_rss_bytes",
    "dropped_pages",
    "evicted_pages",
    "files.dropped_pages",
    "files.evicted_pages",
    "lookups.failed_unnamed",
    "minor_faults",
    "mmap.faults",
    "mmap.minor_faults",
    "operations.device_read",
    "operations.minor_fault",
    "operations.page_in",
    "operations.page_out",
    "operations.writeback",
    "processes.minor_faults",
    "records",
    "size_bytes",
];

/// Whether a counter differs between runs that do the same: times, minor faults, and what tells of the host more than of the program.
/// Its difference is told, and makes no two runs different.
pub fn varies(name: &str, unit: Unit) -> bool {
    unit == Unit::Nanoseconds || VARIES.binary_search(&name).is_ok()
}

/// Counters of a run, a file, a process or a path. One that is not there is 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters(Vec<NamedCounter>);

impl Counters {
    /// All of these, those that are 0 too.
    pub(super) fn all(counters: impl IntoIterator<Item = NamedCounter>) -> Self {
        Self(counters.into_iter().collect())
    }

    /// Those that are not 0: a run has tens of thousands of rows, and most counters of most of them are.
    pub(super) fn not_zero(counters: impl IntoIterator<Item = NamedCounter>) -> Self {
        let some = counters.into_iter().filter(|one| one.value != Observed::Value(0));
        Self(some.collect())
    }

    /// A counter's value; `None` where there is none of this name, which of a row says that it is 0.
    pub fn get(&self, name: &str) -> Option<Observed<u64>> {
        self.0.iter().find(|one| one.name == name).map(|one| one.value)
    }

    /// All of them, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = &NamedCounter> {
        self.0.iter()
    }

    /// Adds those of another row. A sum never hides a gap.
    pub(super) fn add(&mut self, other: &Self) {
        for more in &other.0 {
            match self.0.iter_mut().find(|one| one.name == more.name) {
                Some(sum) => sum.value = sum.value.zip_with(more.value, u64::saturating_add),
                None => self.0.push(*more),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::Reason;

    use super::*;

    #[test]
    fn the_list_is_in_order() {
        assert!(VARIES.is_sorted());
        assert!(varies("minor_faults", Unit::Count) && !varies("mmap.major_faults", Unit::Count));
        assert!(varies("sync.time_ns", Unit::Nanoseconds));
    }

    #[test]
    fn sums_keep_what_is_missing() {
        let count = |value| NamedCounter::new("read.calls", Unit::Count, value);
        let mut sum = Counters::not_zero([count(Observed::Value(0))]);
        assert_eq!(sum.get("read.calls"), None);
        sum.add(&Counters::all([count(Observed::Value(3))]));
        sum.add(&Counters::all([count(Observed::Value(4))]));
        assert_eq!(sum.get("read.calls"), Some(Observed::Value(7)));
        let lost = Observed::Missing(Reason::lost("the ring was full"));
        sum.add(&Counters::all([count(lost)]));
        assert_eq!(sum.get("read.calls"), Some(lost));
    }
}
