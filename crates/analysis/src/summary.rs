//! One run, interpreted: everything that a view needs.

use std::cmp::Reverse;

use hotset_facts::{CostTable, Observed, Profile};

use crate::directories::by_directory;
use crate::numbers::share;
use crate::rules::{self, RuleInput};
use crate::{
    DirectoryLookups, Finding, Gate, IoNumbers, Losses, RestOfFiles, RuleVerdict, TimeSplit,
};

/// What follows from a file's row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FileNumbers {
    /// From its counters.
    pub io: IoNumbers,
    /// Its cached share when the run first touched it, 0 to 1.
    pub cached_before: Option<f64>,
    /// Its cached share when the report was made, 0 to 1.
    pub cached_after: Option<f64>,
}

/// What follows from the path lookups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LookupNumbers {
    /// Failed lookups as a share of all, 0 to 1.
    pub failed_share: Option<f64>,
}

/// A run with everything that follows from it. Views print this and compute nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// What was observed.
    pub profile: Profile,
    /// What the totals say.
    pub totals: IoNumbers,
    /// What each file's counters say, in the order of `profile.files`.
    pub files: Vec<FileNumbers>,
    /// What each process's counters say, in the order of `profile.processes`.
    pub processes: Vec<IoNumbers>,
    /// Indices into `profile.files`, most I/O time first; ties by what came from the device, then by bytes.
    pub costliest_files: Vec<usize>,
    /// Indices into `profile.processes`, most I/O time first.
    pub costliest_processes: Vec<usize>,
    /// Where the time went.
    pub time: TimeSplit,
    /// What the lookups say.
    pub lookups: Observed<LookupNumbers>,
    /// Directories with failed lookups, most failed first.
    pub by_directory: Vec<DirectoryLookups>,
    /// What should be changed, the largest saving first, information last.
    pub findings: Vec<Finding>,
    /// The rules that found nothing, and those that could not tell.
    pub verdicts: Vec<RuleVerdict>,
    /// Which savings were worth a finding.
    pub gate: Gate,
    /// What was lost.
    pub losses: Losses,
}

impl Summary {
    /// What the files beyond the `shown` costliest add up to.
    pub fn rest_of_files(&self, shown: usize) -> RestOfFiles {
        let rest = self.costliest_files.iter().skip(shown);
        RestOfFiles::of(rest.filter_map(|&index| self.files.get(index)).map(|file| &file.io))
    }
}

/// Interprets a run: `costs` are this host's prices, `gate` says which savings are worth a finding.
pub fn summarise(profile: Profile, costs: Observed<CostTable>, gate: Gate) -> Summary {
    let page_size = profile.environment.page_size_bytes;
    let files: Vec<FileNumbers> =
        profile.files.iter().map(|file| file_numbers(file, page_size)).collect();
    let processes: Vec<IoNumbers> =
        profile.processes.iter().map(|process| IoNumbers::of(&process.io, page_size)).collect();
    let time = TimeSplit::of(&profile);
    let by_directory = by_directory(&profile);
    let input =
        RuleInput { profile: &profile, costs, gate, time: &time, by_directory: &by_directory };
    let (findings, verdicts) = rules::check_all(&input);
    Summary {
        totals: IoNumbers::of(&profile.totals, page_size),
        costliest_files: costliest(files.iter().map(|file| &file.io)),
        costliest_processes: costliest(processes.iter()),
        files,
        processes,
        time,
        lookups: lookup_numbers(&profile),
        by_directory,
        findings,
        verdicts,
        gate,
        losses: Losses::of(&profile),
        profile,
    }
}

fn file_numbers(file: &hotset_facts::FileRow, page_size: u64) -> FileNumbers {
    let cached = |pages: Observed<u64>| {
        let size_pages = file.size_bytes.value()?.div_ceil(page_size.max(1));
        share(pages.value()?, size_pages)
    };
    FileNumbers {
        io: IoNumbers::of(&file.io, page_size),
        cached_before: cached(file.cached_before),
        cached_after: cached(file.cached_after),
    }
}

fn lookup_numbers(profile: &Profile) -> Observed<LookupNumbers> {
    match &profile.lookups {
        Observed::Value(lookups) => Observed::Value(LookupNumbers {
            failed_share: share(lookups.counters.failed, lookups.counters.calls),
        }),
        Observed::Missing(reason) => Observed::Missing(*reason),
    }
}

fn costliest<'a>(rows: impl Iterator<Item = &'a IoNumbers>) -> Vec<usize> {
    let known = |value: Observed<u64>| value.value().unwrap_or(0);
    let mut keyed: Vec<(usize, [u64; 4])> = rows
        .map(|io| {
            [
                known(io.io_time_ns),
                known(io.brought_in_bytes),
                known(io.read_bytes),
                known(io.written_bytes),
            ]
        })
        .enumerate()
        .collect();
    keyed.sort_by_key(|&(_, cost)| Reverse(cost));
    keyed.into_iter().map(|(index, _)| index).collect()
}
