//! What the processes say that they did.

use std::collections::BTreeMap;

use hotset_tests::PAGE;
use serde::Deserialize;

/// Calls, bytes and pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Requests {
    pub(crate) calls: u64,
    pub(crate) bytes: u64,
    pub(crate) pages: u64,
}

impl std::ops::Add for Requests {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            bytes: self.bytes + other.bytes,
            pages: self.pages + other.pages,
        }
    }
}

/// What was done to a file; `direct_…` by a descriptor with O_DIRECT.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Counts {
    pub(crate) read: Requests,
    pub(crate) write: Requests,
    pub(crate) direct_read: Requests,
    pub(crate) direct_write: Requests,
    pub(crate) syncs: u64,
    pub(crate) untold: u64,
    pub(crate) direct: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.read = self.read + other.read;
        self.write = self.write + other.write;
        self.direct_read = self.direct_read + other.direct_read;
        self.direct_write = self.direct_write + other.direct_write;
        self.syncs += other.syncs;
        self.untold += other.untold;
        self.direct += other.direct;
    }
}

/// One file of one process.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    pub(crate) dev: String,
    pub(crate) ino: u64,
    #[serde(flatten)]
    pub(crate) counts: Counts,
}

/// One process.
#[derive(Debug, Deserialize)]
pub(crate) struct Books {
    pub(crate) pid: u64,
    pub(crate) files: Vec<Line>,
    pub(crate) other_syncs: u64,
    pub(crate) lookups: u64,
    pub(crate) failed_lookups: u64,
    pub(crate) done: BTreeMap<String, u64>,
    pub(crate) device_read_bytes: u64,
    pub(crate) ring_direct_reads: u64,
    pub(crate) ring_direct_read_bytes: u64,
    pub(crate) major_faults: u64,
}

impl Books {
    /// All files together.
    pub(crate) fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        self.files.iter().for_each(|line| sum += line.counts);
        sum
    }

    /// By how much the results of a ring's direct reads may differ from what devices were read for them: all of it where
    /// they read holes, and a page at each end.
    pub(crate) fn ring_slack(&self) -> u64 {
        self.ring_direct_read_bytes + 2 * PAGE * self.ring_direct_reads
    }
}

/// By device and inode number, all processes together.
pub(crate) fn by_file(books: &[Books]) -> BTreeMap<(String, u64), Counts> {
    let mut files = BTreeMap::<_, Counts>::new();
    for line in books.iter().flat_map(|books| &books.files) {
        *files.entry((line.dev.clone(), line.ino)).or_default() += line.counts;
    }
    files
}
