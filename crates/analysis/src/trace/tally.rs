//! One pass over all records of a trace.

use hotset_facts::trace::{Gap, OperationClass, TraceBatch, TraceLists, TraceRecord, TraceSource};

use super::counts::TraceCounts;
use super::failed::FailedTally;
use super::flame::FlameBuilder;
use super::kind::{KINDS, RequestKind, waited};
use super::latency::Latencies;
use super::operations::Operations;
use super::places::Places;
use super::sequence::{Positions, Sequence};
use super::summary::{
    KindLatency, LostRecords, TraceFileNumbers, TraceProcessNumbers, TraceRest, TraceSiteNumbers,
    TraceSummary,
};
use super::threads::{ThreadRow, Threads, TraceThreadNumbers};

/// Files, processes and call sites that are told apart; each takes about half a kilobyte.
const MOST: usize = 1 << 16;
/// Names that are kept of each list. Indices beyond have sums and no name.
const MOST_NAMED: usize = 1 << 20;
/// Gaps that are kept.
const MOST_GAPS: usize = 1 << 12;

#[derive(Debug, Default)]
struct FileRow {
    counts: TraceCounts,
    extent_bytes: u64,
    reads_in_order: Sequence,
    writes_in_order: Sequence,
}

/// Sums up a trace, batch by batch.
///
/// Whatever the trace holds, its memory is bounded: 65,536 files, processes and call sites each, 8,192 paths of failed
/// lookups, 4,096 threads. What finds no place is counted together, so that sums hold.
#[derive(Debug)]
pub struct Tally {
    tells_waits: bool,
    lists: TraceLists,
    from_ns: Option<u64>,
    to_ns: u64,
    operations: Operations,
    latencies: [Latencies; KINDS],
    files: Places<FileRow>,
    processes: Places<TraceCounts>,
    sites: Places<TraceCounts>,
    threads: Threads,
    positions: Positions,
    failed: FailedTally,
    lost_records: u64,
    gaps: u64,
}

impl Tally {
    /// Of a trace from this source: only a recording tells whether a thread waited.
    pub fn new(source: TraceSource) -> Self {
        Self {
            tells_waits: source == TraceSource::Recorded,
            lists: TraceLists::default(),
            from_ns: None,
            to_ns: 0,
            operations: Operations::new(),
            latencies: std::array::from_fn(|_| Latencies::default()),
            files: Places::new(MOST),
            processes: Places::new(MOST),
            sites: Places::new(MOST),
            threads: Threads::default(),
            positions: Positions::new(),
            failed: FailedTally::default(),
            lost_records: 0,
            gaps: 0,
        }
    }

    /// Counts the records of a batch, and learns what is new in its lists.
    pub fn add(&mut self, batch: &TraceBatch) {
        self.learn(&batch.added);
        self.failed.begin(batch);
        for record in &batch.records {
            self.count(record, batch);
        }
    }

    /// Learns names and gaps that come without records, such as those at the end of a file. Each must be told once: here, or
    /// in a batch.
    pub fn learn(&mut self, lists: &TraceLists) {
        extend(&mut self.lists.processes, &lists.processes);
        extend(&mut self.lists.files, &lists.files);
        extend(&mut self.lists.sites, &lists.sites);
        for gap in &lists.gaps {
            self.lost_records = self.lost_records.saturating_add(gap.records);
            self.gaps += 1;
            if self.lists.gaps.len() < MOST_GAPS {
                self.lists.gaps.push(*gap);
            }
        }
    }

    fn count(&mut self, record: &TraceRecord, batch: &TraceBatch) {
        let kind = RequestKind::of(record);
        let waits = self.tells_waits.then(|| waited(record, kind));
        let end_ns = record.start_ns.saturating_add(record.duration_ns.unwrap_or(0));
        self.from_ns = Some(self.from_ns.map_or(record.start_ns, |from| from.min(record.start_ns)));
        self.to_ns = self.to_ns.max(end_ns);
        self.operations.count(record, |counts| counts.count(record, kind, waits));
        if let Some(ns) = record.duration_ns {
            self.latencies[kind.at()].count(ns);
        }
        self.threads.count(record, end_ns, waits);
        if let Some(process) = record.process {
            self.processes.row(process.0).count(record, kind, waits);
        }
        if let Some(site) = record.site {
            self.sites.row(site.0).count(record, kind, waits);
        }
        if let Some(file) = record.file {
            let row = self.files.row(file.0);
            row.counts.count(record, kind, waits);
            count_place(row, record, &mut self.positions);
        }
        if kind == RequestKind::FailedLookup {
            self.failed.count(record, batch);
        }
    }

    /// The trace in numbers, with at most `top` rows of each list, and the rest of it in sums.
    pub fn finish(self, top: usize) -> TraceSummary {
        let lists = self.lists;
        let totals = self.operations.totals();
        let (files, other_files) = rows(self.files, top, |row: &FileRow| &row.counts);
        let (processes, other_processes) = rows(self.processes, top, |counts| counts);
        let (sites, flame, other_sites) = sites(self.sites, &lists, top);
        let mut threads = self.threads.finish();
        let other_threads = threads.len().saturating_sub(top) as u64;
        threads.truncate(top);
        TraceSummary {
            from_ns: self.from_ns,
            to_ns: self.from_ns.map(|_| self.to_ns),
            totals,
            latencies: latencies(self.latencies),
            files: files.into_iter().map(|(index, row)| file(index, row, &lists)).collect(),
            other_files,
            processes: processes
                .into_iter()
                .map(|(index, counts)| {
                    let process = lists.processes.get(index as usize).cloned();
                    TraceProcessNumbers { index, process, counts }
                })
                .collect(),
            other_processes,
            threads: threads.into_iter().map(|(tid, row)| thread(tid, &row, &lists)).collect(),
            other_threads,
            operations: self.operations.finish(),
            failed_lookups: self.failed.finish(top),
            sites,
            other_sites,
            flame,
            lost: lost(self.lost_records, self.gaps, lists.gaps, top),
        }
    }
}

fn extend<T: Clone>(known: &mut Vec<T>, more: &[T]) {
    let room = MOST_NAMED.saturating_sub(known.len());
    known.extend(more.iter().take(room).cloned());
}

/// How far a file is used, and whether in order.
fn count_place(row: &mut FileRow, record: &TraceRecord, positions: &mut Positions) {
    let Some(offset) = record.offset else { return };
    let bytes = match record.class {
        OperationClass::Read | OperationClass::Write => record.result,
        OperationClass::Fault => Some(4096),
        _ => return,
    };
    let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok()).filter(|&bytes| bytes > 0);
    let Some(bytes) = bytes else { return };
    row.extent_bytes = row.extent_bytes.max(offset.saturating_add(bytes));
    let writes = record.class == OperationClass::Write;
    if record.class == OperationClass::Fault {
        return;
    }
    if let Some(sequential) = positions.follow(record, writes) {
        let order = if writes { &mut row.writes_in_order } else { &mut row.reads_in_order };
        order.count(sequential);
    }
}

/// The costliest rows, and what the others come to.
fn rows<T: Default>(
    places: Places<T>,
    top: usize,
    counts: impl Fn(&T) -> &TraceCounts,
) -> (Vec<(u32, T)>, TraceRest) {
    let (mut rows, others) = places.finish();
    rows.sort_by_cached_key(|(index, row)| (std::cmp::Reverse(counts(row).cost()), *index));
    let mut rest = TraceRest::default();
    for (_, row) in rows.get(top..).unwrap_or_default() {
        rest.rows += 1;
        rest.counts.add(counts(row));
    }
    if let Some(others) = others {
        rest.rows += 1;
        rest.at_least = true;
        rest.counts.add(counts(&others));
    }
    rows.truncate(top);
    (rows, rest)
}

fn file(index: u32, row: FileRow, lists: &TraceLists) -> TraceFileNumbers {
    let FileRow { counts, extent_bytes, reads_in_order, writes_in_order } = row;
    let file = lists.files.get(index as usize).cloned();
    TraceFileNumbers { index, file, counts, extent_bytes, reads_in_order, writes_in_order }
}

fn thread(tid: u32, row: &ThreadRow, lists: &TraceLists) -> TraceThreadNumbers {
    let process = row.process.and_then(|process| lists.process(process));
    TraceThreadNumbers {
        tid,
        comm: process.map(|process| process.comm.clone()),
        pid: process.map(|process| process.pid),
        records: row.records,
        time_ns: row.time_ns,
        waited_ns: row.waited_ns,
        from_ns: row.from_ns,
        to_ns: row.to_ns,
    }
}

/// The costliest call sites, all of them as a tree, and what the others come to.
fn sites(
    places: Places<TraceCounts>,
    lists: &TraceLists,
    top: usize,
) -> (Vec<TraceSiteNumbers>, super::flame::Flame, TraceRest) {
    let (all, others) = rows(places, usize::MAX, |counts| counts);
    let mut flame = FlameBuilder::default();
    for (index, counts) in &all {
        if let Some(site) = lists.sites.get(*index as usize) {
            flame.add(site, counts);
        }
    }
    let mut rest = others;
    for (_, counts) in all.get(top..).unwrap_or_default() {
        rest.rows += 1;
        rest.counts.add(counts);
    }
    let shown = all.into_iter().take(top).map(|(index, counts)| {
        let site = lists.sites.get(index as usize).cloned();
        TraceSiteNumbers { index, site, counts }
    });
    (shown.collect(), flame.finish(), rest)
}

fn latencies(all: [Latencies; KINDS]) -> Vec<KindLatency> {
    let all = RequestKind::ALL.iter().zip(all);
    all.filter_map(|(&kind, histogram)| {
        Some(KindLatency { kind, numbers: histogram.numbers()?, histogram })
    })
    .collect()
}

fn lost(records: u64, gaps: u64, mut largest: Vec<Gap>, top: usize) -> LostRecords {
    largest.sort_by_key(|gap| (std::cmp::Reverse(gap.records), gap.from_ns));
    largest.truncate(top);
    LostRecords { records, gaps, largest }
}
