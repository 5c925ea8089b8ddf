//! Synthetic runs for tests.

use std::path::PathBuf;

use hotset_facts::{
    CostTable, DeviceIo, DirectIo, FailedLookup, FileId, FileRow, Io, LookupCounters, Lookups,
    MmapIo, Observed, Profile, ReadIo, ReadaheadIo, Reason, SyncIo, TimeIo, WriteIo,
};

pub(crate) use crate::fixtures::{costs, process, profile};
use crate::rules::{Answer, RuleInput};
use crate::{Finding, Gate, TimeSplit};

/// `n` seconds in nanoseconds.
pub(crate) fn second(n: u64) -> u64 {
    n * 1_000_000_000
}

/// The same with `count` processes.
pub(crate) fn with_processes(count: u32) -> Profile {
    Profile { processes: (1..=count).map(process).collect(), ..profile() }
}

/// A file with nothing done to it.
pub(crate) fn file(path: &str, size_bytes: u64) -> FileRow {
    let mut row = FileRow::new(FileId::default(), Reason::not_measured("not in this test"));
    row.path = Observed::Value(PathBuf::from(path));
    row.size_bytes = Observed::Value(size_bytes);
    row.opens = Observed::Value(1);
    row.evicted_pages = Observed::Value(0);
    row.dropped_pages = Observed::Value(0);
    row.dropped_by_run_pages = Observed::Value(0);
    row.processes = 1;
    row.io = Io::zero().into();
    row
}

/// A file that was read.
pub(crate) fn read_file(path: &str, size_bytes: u64, read: ReadIo) -> FileRow {
    let mut row = file(path, size_bytes);
    row.io.edit(|io| io.read = Observed::Value(read));
    row
}

/// A file that was written.
pub(crate) fn written_file(path: &str, write: WriteIo) -> FileRow {
    let mut row = file(path, write.bytes);
    row.io.edit(|io| io.write = Observed::Value(write));
    row
}

/// A run whose totals are the sum of these files.
pub(crate) fn run_of(files: Vec<FileRow>) -> Profile {
    let mut profile = profile();
    for file in &files {
        profile.totals.add(&file.io());
    }
    profile.files = files;
    profile
}

/// A path that was asked for in vain.
pub(crate) fn failed_lookup(path: &str, calls: u64) -> FailedLookup {
    FailedLookup { path: PathBuf::from(path), calls }
}

fn absurd_io() -> Io {
    const MAX: u64 = u64::MAX;
    let max = Observed::Value(MAX);
    Io {
        read: Observed::Value(ReadIo {
            calls: MAX,
            bytes: MAX,
            pages: MAX,
            zeros: max,
            misses: MAX,
            readahead_hits: MAX,
            refaults: MAX,
            sequential_calls: max,
            time_ns: MAX,
            ..ReadIo::default()
        }),
        write: Observed::Value(WriteIo {
            calls: MAX,
            bytes: MAX,
            pages: MAX,
            new_pages: MAX,
            misses: max,
            dirtied_pages: max,
            sequential_calls: max,
            time_ns: MAX,
            ..WriteIo::default()
        }),
        mmap: MmapIo {
            faults: max,
            minor_faults: max,
            major_faults: max,
            pages_read: max,
            zeros: max,
        },
        direct: Observed::Value(DirectIo {
            read_calls: MAX,
            read_bytes: MAX,
            reread_bytes: MAX,
            write_calls: MAX,
            write_bytes: MAX,
            time_ns: MAX,
            reread_time_ns: MAX,
        }),
        readahead: Observed::Value(ReadaheadIo { pages: MAX, wasted_pages: MAX }),
        sync: Observed::Value(SyncIo { calls: MAX, time_ns: MAX }),
        device: DeviceIo { read_bytes: max, write_bytes: max },
        time: Observed::Value(TimeIo {
            hit_ns: MAX,
            wait_ns: MAX,
            miss_ns: MAX,
            fault_ns: max,
            direct_ns: MAX,
            write_ns: MAX,
            sync_ns: MAX,
            lookup_ns: MAX,
        }),
    }
}

/// A run with the largest value in every counter: no sensor gives it, and nothing may panic on it.
pub(crate) fn absurd() -> Profile {
    const MAX: u64 = u64::MAX;
    let max = Observed::Value(MAX);
    let io = absurd_io();
    let mut profile = with_processes(2);
    let mut row = file("/absurd", MAX);
    row.opens = max;
    row.cached_before = max;
    row.evicted_pages = max;
    row.io = io.into();
    profile.files = vec![row.clone(), FileRow { size_bytes: Observed::Value(0), ..row }];
    profile.totals = io;
    profile.environment.page_size_bytes = 0;
    profile.command.wall_ns = 0;
    profile.processes[0].io = io;
    let counters = LookupCounters { calls: 1, failed: MAX, time_ns: max, failed_time_ns: max };
    let failed_paths = vec![failed_lookup("/a/b", MAX), failed_lookup("/a/c", MAX)];
    profile.lookups = Observed::Value(Lookups { counters, failed_paths, failed_unnamed: MAX });
    profile
}

/// A run that rules can be asked about.
pub(crate) struct Run {
    pub(crate) profile: Profile,
    pub(crate) costs: Observed<CostTable>,
}

impl Run {
    /// With the usual prices.
    pub(crate) fn new(profile: Profile) -> Self {
        Self { profile, costs: Observed::Value(costs()) }
    }

    /// With no prices.
    pub(crate) fn without_costs(profile: Profile) -> Self {
        Self { profile, costs: Observed::Missing(Reason::not_measured("no cost table")) }
    }

    /// What a rule says.
    pub(crate) fn ask(&self, check: fn(&RuleInput<'_>) -> Answer) -> Answer {
        let time = TimeSplit::of(&self.profile);
        let by_directory = crate::directories::by_directory(&self.profile);
        check(&RuleInput {
            profile: &self.profile,
            costs: self.costs,
            gate: Gate::default(),
            time: &time,
            by_directory: &by_directory,
        })
    }

    /// The finding of a rule, or a panic that says what came instead.
    pub(crate) fn finding(&self, check: fn(&RuleInput<'_>) -> Answer) -> Finding {
        match self.ask(check) {
            Ok(Some(finding)) => finding,
            other => panic!("no finding but {other:?}"),
        }
    }
}
