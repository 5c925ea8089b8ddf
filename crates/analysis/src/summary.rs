//! One run, interpreted: everything that a view needs.

use std::cmp::Reverse;
use std::collections::HashSet;

use hotset_facts::{CostTable, FileRow, Io, Observed, ProcessRow, Profile};

use crate::directories::by_directory;
use crate::numbers::share;
use crate::rules::{self, RuleInput};
use crate::sites;
use crate::{DirectoryLookups, Finding, Gate, IoNumbers, Losses, Rest, RuleVerdict, TimeSplit};

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

/// Rows that stand for this share of the I/O time tell the story; what the others add is in the line below them.
const COVERAGE: f64 = 0.95;
/// A row below this share of the wall time tells nothing by itself.
const TELLING_SHARE_OF_WALL: f64 = 0.005;
/// The first rows tell something even if they are small.
const ALWAYS_TELLING: usize = 3;

/// A run with everything that follows from it. Views print this and compute nothing.
///
/// What follows from a single row is derived when it is asked for: a run can have tens of thousands of them, and a view
/// shows a dozen or writes them one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// What was observed.
    pub profile: Profile,
    /// What the totals say.
    pub totals: IoNumbers,
    /// Indices into `profile.files`, most I/O time first; ties by what came from the device, then by bytes.
    pub costliest_files: Vec<usize>,
    /// Indices into `profile.processes`, most I/O time first.
    pub costliest_processes: Vec<usize>,
    /// Processes whose parent is not among the processes: the command, or what an observation began with.
    pub root_processes: usize,
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
    /// What elementary operations cost on this host, as far as it was measured.
    pub costs: Observed<CostTable>,
    /// Which savings were worth a finding.
    pub gate: Gate,
    /// What was lost.
    pub losses: Losses,
}

impl Summary {
    /// What a file's counters say.
    pub fn file_numbers(&self, file: &FileRow) -> FileNumbers {
        let page_size = self.profile.environment.page_size_bytes;
        let cached = |pages: Observed<u64>| {
            let size_pages = file.size_bytes.value()?.div_ceil(page_size.max(1));
            share(pages.value()?, size_pages)
        };
        FileNumbers {
            io: self.io_numbers(&file.io()),
            cached_before: cached(file.cached_before),
            cached_after: cached(file.cached_after),
        }
    }

    /// What counters say.
    pub fn io_numbers(&self, io: &Io) -> IoNumbers {
        IoNumbers::of(io, self.profile.environment.page_size_bytes)
    }

    /// The files that cost most, at most so many.
    pub fn top_files(&self, at_most: usize) -> Vec<&FileRow> {
        self.files_by_cost().take(at_most).collect()
    }

    /// The processes that cost most, at most so many.
    pub fn top_processes(&self, at_most: usize) -> Vec<&ProcessRow> {
        self.processes_by_cost().take(at_most).collect()
    }

    /// How many of the costliest files tell the story: those that make up 95 % of the I/O time on files, and from the
    /// fourth on only those that took half a percent of the wall time. All where nobody measured the time.
    pub fn significant_files(&self) -> usize {
        self.telling(self.files_by_cost().map(|file| io_time_ns(&file.io())))
    }

    /// How many of the costliest processes tell the story, by the same rule.
    pub fn telling_processes(&self) -> usize {
        self.telling(self.processes_by_cost().map(|process| io_time_ns(&process.io)))
    }

    /// How many of these times, largest first, tell the story.
    fn telling(&self, times: impl Iterator<Item = u64> + Clone) -> usize {
        let all = times.clone().fold(0, u64::saturating_add);
        if all == 0 {
            return times.count();
        }
        let enough = COVERAGE * all as f64;
        let small = TELLING_SHARE_OF_WALL * self.profile.command.wall_ns as f64;
        let mut told: u64 = 0;
        times
            .enumerate()
            .take_while(|&(row, ns)| {
                let tells = (told as f64) < enough && (row < ALWAYS_TELLING || ns as f64 >= small);
                told = told.saturating_add(ns);
                tells
            })
            .count()
    }

    /// What the files beyond the `shown` costliest add up to.
    pub fn rest_of_files(&self, shown: usize) -> Rest {
        let rest = self.files_by_cost().skip(shown);
        Rest::of(rest.map(|file| self.io_numbers(&file.io())))
    }

    /// What the processes beyond the `shown` costliest add up to.
    pub fn rest_of_processes(&self, shown: usize) -> Rest {
        Rest::of(self.processes_by_cost().skip(shown).map(|process| self.io_numbers(&process.io)))
    }

    fn files_by_cost(&self) -> impl Iterator<Item = &FileRow> + Clone {
        self.costliest_files.iter().filter_map(|&index| self.profile.files.get(index))
    }

    fn processes_by_cost(&self) -> impl Iterator<Item = &ProcessRow> + Clone {
        self.costliest_processes.iter().filter_map(|&index| self.profile.processes.get(index))
    }
}

fn io_time_ns(io: &Io) -> u64 {
    io.time.as_value().map_or(0, hotset_facts::TimeIo::total_ns)
}

/// Interprets a run: `costs` are this host's prices, `gate` says which savings are worth a finding.
pub fn summarise(profile: Profile, costs: Observed<CostTable>, gate: Gate) -> Summary {
    let page_size = profile.environment.page_size_bytes;
    let time = TimeSplit::of(&profile);
    let by_directory = by_directory(&profile);
    let input =
        RuleInput { profile: &profile, costs, gate, time: &time, by_directory: &by_directory };
    let (mut findings, verdicts) = rules::check_all(&input);
    if let Some(sites) = &profile.sites {
        sites::name_sites(&mut findings, sites);
    }
    Summary {
        totals: IoNumbers::of(&profile.totals, page_size),
        costliest_files: costliest(profile.files.iter().map(|f| f.io()), page_size),
        costliest_processes: costliest(profile.processes.iter().map(|p| p.io), page_size),
        root_processes: root_processes(&profile.processes),
        time,
        lookups: lookup_numbers(&profile),
        by_directory,
        findings,
        verdicts,
        costs,
        gate,
        losses: Losses::of(&profile),
        profile,
    }
}

fn root_processes(processes: &[ProcessRow]) -> usize {
    let pids: HashSet<_> = processes.iter().map(|process| process.pid).collect();
    processes.iter().filter(|process| !pids.contains(&process.ppid)).count()
}

fn lookup_numbers(profile: &Profile) -> Observed<LookupNumbers> {
    match &profile.lookups {
        Observed::Value(lookups) => Observed::Value(LookupNumbers {
            failed_share: share(lookups.counters.failed, lookups.counters.calls),
        }),
        Observed::Missing(reason) => Observed::Missing(*reason),
    }
}

fn costliest(rows: impl Iterator<Item = Io>, page_size: u64) -> Vec<usize> {
    let known = |value: Observed<u64>| value.value().unwrap_or(0);
    let mut keyed: Vec<([u64; 4], usize)> = rows
        .enumerate()
        .map(|(index, io)| {
            let numbers = IoNumbers::of(&io, page_size);
            let cost = [
                known(numbers.io_time_ns),
                known(numbers.brought_in_bytes),
                known(numbers.read_bytes),
                known(numbers.written_bytes),
            ];
            (cost, index)
        })
        .collect();
    // Equal costs keep their order.
    keyed.sort_unstable_by_key(|&(cost, index)| (Reverse(cost), index));
    keyed.into_iter().map(|(_, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{file, run_of};
    use hotset_facts::TimeIo;

    fn run(times: &[u64]) -> Summary {
        let row = |&hit_ns: &u64| {
            let mut row = file("/a", 1);
            row.io.edit(|io| io.time = Observed::Value(TimeIo { hit_ns, ..TimeIo::default() }));
            row
        };
        let none = Observed::Missing(hotset_facts::Reason::not_measured("no cost table"));
        let mut profile = run_of(times.iter().map(row).collect());
        profile.command.wall_ns = 1_000;
        summarise(profile, none, Gate::default())
    }

    #[test]
    fn few_rows_tell_where_few_cost() {
        assert_eq!(run(&[1, 900, 1, 90, 8]).significant_files(), 2);
        assert_eq!(run(&[1, 900, 1, 90, 8]).costliest_files, [1, 3, 4, 0, 2]);
        assert_eq!(run(&[10; 40]).significant_files(), 38);
        assert_eq!(run(&[10_000, 100, 60, 50, 40, 900, 0]).significant_files(), 2);
        let mut slow = run(&[10; 40]);
        slow.profile.command.wall_ns = 11_000;
        assert_eq!(slow.significant_files(), 3, "each a thousandth of the wall time");
        assert_eq!(run(&[0; 40]).significant_files(), 40, "no times: every row");
        assert_eq!(run(&[]).significant_files(), 0);
    }

    #[test]
    fn the_rest_is_what_is_not_shown() {
        let rest = run(&[1, 900, 1, 90, 8]).rest_of_files(2);
        assert_eq!((rest.rows, rest.io_time_ns.value()), (3, Some(10)));
    }
}
