//! What hotset says of a file or a process, wherever it says it.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use hotset_tests::books::Requests;
use hotset_tests::number;
use serde_json::Value;

/// What is judged: as an interval calls it, and where a row of a profile has it.
pub(crate) const COUNTERS: [(&str, &str); 17] = [
    ("read_calls", "/read/calls"),
    ("read_bytes", "/read/bytes"),
    ("read_pages", "/read/pages"),
    ("read_zeros", "/read/zeros"),
    ("read_misses", "/read/misses"),
    ("readahead_hits", "/read/readahead_hits"),
    ("write_calls", "/write/calls"),
    ("write_bytes", "/write/bytes"),
    ("write_pages", "/write/pages"),
    ("write_misses", "/write/misses"),
    ("fault_pages", "/mmap/pages_read"),
    ("direct_read_calls", "/direct/read_calls"),
    ("direct_read_bytes", "/direct/read_bytes"),
    ("direct_write_calls", "/direct/write_calls"),
    ("direct_write_bytes", "/direct/write_bytes"),
    ("readahead_pages", "/readahead/pages"),
    ("sync_calls", "/sync/calls"),
];
/// Bytes read from devices.
pub(crate) const DEVICE: (&str, &str) = ("device_read_bytes", "/device/read_bytes");

/// The counters of a row, or of several together.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Seen(BTreeMap<&'static str, u64>);

impl Seen {
    /// By what says the value of a counter of that name.
    pub(crate) fn by(value: impl Fn(&str) -> u64) -> Self {
        Self(COUNTERS.iter().chain([&DEVICE]).map(|(name, _)| (*name, value(name))).collect())
    }

    /// A row of a profile.
    pub(crate) fn in_profile(row: &Value) -> Self {
        let all = COUNTERS.iter().chain([&DEVICE]);
        Self(all.map(|(name, pointer)| (*name, number(row, pointer))).collect())
    }

    /// An object of a recording, which leaves out what is 0.
    pub(crate) fn in_interval(io: &Value) -> Self {
        Self::by(|name| if io[name].is_null() { 0 } else { number(io, &format!("/{name}")) })
    }

    /// A counter; 0 where there is no row.
    pub(crate) fn n(&self, name: &str) -> u64 {
        let known = COUNTERS.iter().chain([&DEVICE]).any(|(known, _)| *known == name);
        assert!(known, "no counter {name}");
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Calls, bytes and pages of a kind of request; those past the cache have no pages.
    pub(crate) fn requests(&self, kind: &str) -> Requests {
        let n = |what: &str| self.n(&format!("{kind}_{what}"));
        let pages = if kind.starts_with("direct") { 0 } else { n("pages") };
        Requests { calls: n("calls"), bytes: n("bytes"), pages }
    }
}

impl AddAssign<&Self> for Seen {
    fn add_assign(&mut self, other: &Self) {
        for (name, value) in &other.0 {
            *self.0.entry(name).or_default() += value;
        }
    }
}
