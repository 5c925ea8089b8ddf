//! Whose doing it is: files, call sites and processes with most of what a rule saw.

use std::cmp::Reverse;
use std::collections::HashMap;

use hotset_facts::trace::{FileIndex, ProcessIndex, SiteIndex, TraceLists, TraceRecord};

use super::{FileShare, TraceSiteShare};

/// Rows of each kind that a rule tells apart.
const MOST: usize = 1 << 14;
/// A finding names at most this many files, and as many call sites.
const NAMED: usize = 3;

/// Records and nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    records: u64,
    time_ns: u64,
}

impl Part {
    fn order(self) -> (u64, u64) {
        (self.time_ns, self.records)
    }
}

/// Parts by the place in a list, bounded.
#[derive(Debug, Default)]
struct Parts {
    rows: HashMap<u32, Part>,
    has_others: bool,
}

impl Parts {
    fn count(&mut self, index: u32, time_ns: u64) {
        if self.rows.len() >= MOST && !self.rows.contains_key(&index) {
            self.has_others = true;
            return;
        }
        let part = self.rows.entry(index).or_default();
        part.records += 1;
        part.time_ns = part.time_ns.saturating_add(time_ns);
    }

    /// The largest first.
    fn sorted(&self) -> Vec<(u32, Part)> {
        let mut all: Vec<(u32, Part)> =
            self.rows.iter().map(|(&index, &part)| (index, part)).collect();
        all.sort_unstable_by_key(|&(index, part)| (Reverse(part.order()), index));
        all
    }

    /// The share of it that these have, 0 to 1: of the time, or of the records where none took any.
    fn share(&self, of: Part, is: impl Fn(u32) -> bool) -> f64 {
        let these = self.rows.iter().filter(|&(&index, _)| is(index));
        let sum = these.fold(Part::default(), |sum, (_, part)| Part {
            records: sum.records + part.records,
            time_ns: sum.time_ns.saturating_add(part.time_ns),
        });
        match of.time_ns {
            0 => sum.records as f64 / of.records.max(1) as f64,
            all => sum.time_ns as f64 / all as f64,
        }
    }
}

/// Records that a finding is about, by file, call site and process.
#[derive(Debug, Default)]
pub(super) struct Blame {
    files: Parts,
    sites: Parts,
    processes: Parts,
    /// How many records.
    pub(super) records: u64,
    /// How long they took together, in nanoseconds.
    pub(super) time_ns: u64,
}

impl Blame {
    /// Counts a record of which `time_ns` could be spared.
    pub(super) fn count(&mut self, record: &TraceRecord, time_ns: u64) {
        self.records += 1;
        self.time_ns = self.time_ns.saturating_add(time_ns);
        if let Some(FileIndex(file)) = record.file {
            self.files.count(file, time_ns);
        }
        if let Some(SiteIndex(site)) = record.site {
            self.sites.count(site, time_ns);
        }
        if let Some(ProcessIndex(process)) = record.process {
            self.processes.count(process, time_ns);
        }
    }

    /// How many files there are; at least, where there were too many.
    pub(super) fn file_count(&self) -> u64 {
        self.files.rows.len() as u64 + u64::from(self.files.has_others)
    }

    /// The files with most of it, and how many others there are.
    pub(super) fn files(&self, lists: &TraceLists) -> (Vec<FileShare>, u64) {
        let share = |(index, part): (u32, Part)| FileShare {
            file: Some(FileIndex(index)),
            path: lists.file(FileIndex(index)).and_then(|file| file.path.clone()),
            records: part.records,
            time_ns: part.time_ns,
        };
        let named: Vec<FileShare> =
            self.files.sorted().into_iter().take(NAMED).map(share).collect();
        let more = self.file_count().saturating_sub(named.len() as u64);
        (named, more)
    }

    /// The call sites with most of it.
    pub(super) fn sites(&self) -> Vec<TraceSiteShare> {
        let share = |(index, part): (u32, Part)| TraceSiteShare {
            site: SiteIndex(index),
            records: part.records,
            time_ns: part.time_ns,
        };
        self.sites.sorted().into_iter().take(NAMED).map(share).collect()
    }

    /// The share of it that is about these files, 0 to 1.
    pub(super) fn share_of_files(&self, is: impl Fn(FileIndex) -> bool) -> f64 {
        self.files.share(self.all(), |index| is(FileIndex(index)))
    }

    /// The share of it that these processes have, 0 to 1.
    pub(super) fn share_of_processes(&self, is: impl Fn(ProcessIndex) -> bool) -> f64 {
        self.processes.share(self.all(), |index| is(ProcessIndex(index)))
    }

    fn all(&self) -> Part {
        Part { records: self.records, time_ns: self.time_ns }
    }

    /// The processes with most of it.
    pub(super) fn processes(&self) -> impl Iterator<Item = ProcessIndex> {
        self.processes.sorted().into_iter().take(NAMED).map(|(index, _)| ProcessIndex(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotset_facts::trace::Operation;

    fn record(file: u32) -> TraceRecord {
        let place = (Some(FileIndex(file)), Some(SiteIndex(file)));
        TraceRecord { file: place.0, site: place.1, ..TraceRecord::new(0, Operation::Read) }
    }

    #[test]
    fn those_with_most_time_are_named_and_the_others_counted() {
        let mut blame = Blame::default();
        for (file, ns) in [(4, 10), (7, 90), (7, 5), (1, 20), (2, 11)] {
            blame.count(&record(file), ns);
        }
        let (files, more) = blame.files(&TraceLists::default());
        let named: Vec<_> =
            files.iter().map(|share| (share.file.unwrap().0, share.records)).collect();
        assert_eq!((named, more), (vec![(7, 2), (1, 1), (2, 1)], 1));
        assert_eq!(
            blame.sites()[0],
            TraceSiteShare { site: SiteIndex(7), records: 2, time_ns: 95 }
        );
        assert_eq!((blame.records, blame.time_ns), (5, 136));
    }

    #[test]
    fn a_share_is_of_all_of_it_also_of_what_is_known_of_no_file() {
        let mut blame = Blame::default();
        [(1, 30), (2, 10), (1, 20)].into_iter().for_each(|(file, ns)| {
            blame.count(&record(file), ns);
        });
        blame.count(&TraceRecord::new(0, Operation::Read), 40);
        assert_eq!(blame.share_of_files(|file| file.0 == 1), 0.5);
        assert_eq!(blame.share_of_processes(|_| true), 0.0);
        let mut untimed = Blame::default();
        (0..4).for_each(|file| untimed.count(&record(file % 2), 0));
        assert_eq!(untimed.share_of_files(|file| file.0 == 1), 0.5);
    }

    #[test]
    fn files_beyond_the_bound_are_one_more() {
        let mut blame = Blame::default();
        (0..MOST as u32 + 100).for_each(|file| blame.count(&record(file), 1));
        assert_eq!(blame.file_count(), MOST as u64 + 1);
        assert_eq!(blame.records, MOST as u64 + 100);
    }
}
