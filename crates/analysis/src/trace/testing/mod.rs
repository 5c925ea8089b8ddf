//! A trace made by hand, for the tests of whoever reads or shows one: a database that reads at random and syncs, a loader
//! that reads in order, faults, failed lookups, call sites, and records that were lost.

mod lists;
mod workload;

use std::time::{Duration, SystemTime};

use hotset_facts::trace::{
    Gap, Operation, PathIndex, TraceBatch, TraceHead, TraceLists, TraceRecord, TraceSource,
};
use hotset_facts::{Command, ExitStatus, Feature, NotMeasured, Observed, Target};

use super::pictures::{PictureSize, Pictures, TracePictures};
use super::{Tally, TraceSummary};
use crate::fixtures::host;
use workload::Event;

/// Records of a batch.
const BATCH: usize = 4096;

/// What the fixture is of.
pub fn head() -> TraceHead {
    TraceHead {
        hotset: "0.1.0".to_owned(),
        source: TraceSource::Recorded,
        started_at: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)),
        environment: Some(host()),
        command: Some(Command {
            target: Target::Command,
            argv: ["shopd", "--data", "/srv/shop", "--workers", "4"].map(Into::into).into(),
            exit: Observed::Value(ExitStatus::Code(0)),
            wall_ns: 12_000_000_000,
            user_ns: Observed::Value(6_300_000_000),
            system_ns: Observed::Value(1_200_000_000),
            max_rss_bytes: Observed::Value(212 << 20),
            still_running: 0,
        }),
        cost: None,
        memory: None,
        memory_steps: Vec::new(),
        reclaim: None,
        not_measured: vec![NotMeasured::lacking(Feature::IoUring)],
        lacks: Vec::new(),
    }
}

/// Twelve seconds of it, about `records` records; the same for the same number.
pub fn batches(records: usize) -> Vec<TraceBatch> {
    let mut events = workload::events(records);
    // Records come in the order in which they ended.
    events.sort_by_key(|event| {
        let record = &event.record;
        (record.start_ns + record.duration_ns.unwrap_or(0), record.tid, record.start_ns)
    });
    let mut all: Vec<TraceBatch> = events.chunks(BATCH).map(batch).collect();
    if let Some(first) = all.first_mut() {
        first.added = lists::lists();
    }
    if let Some(last) = all.last_mut() {
        let at = |ms: u64| ms * 1_000_000;
        last.added.gaps.extend([
            Gap { tid: Some(4102), from_ns: at(7_100), to_ns: at(7_220), records: 310 },
            Gap { tid: None, from_ns: at(9_000), to_ns: at(9_004), records: 7 },
        ]);
    }
    all
}

/// As an import has it: no pages, no sleeps, no processes, no call sites.
pub fn imported(records: usize) -> Vec<TraceBatch> {
    let mut all = batches(records);
    for batch in &mut all {
        batch.added.gaps.clear();
        batch.added.processes.clear();
        batch.added.sites.clear();
        for record in &mut batch.records {
            *record = TraceRecord {
                flags: Default::default(),
                pages: None,
                device_read_bytes: None,
                device_write_bytes: None,
                process: None,
                site: None,
                ..*record
            };
        }
        let is_call = |record: &TraceRecord| {
            !matches!(record.operation, Operation::MinorFault | Operation::MajorFault)
        };
        batch.records.retain(is_call);
    }
    all
}

/// The head of an import.
pub fn imported_head() -> TraceHead {
    TraceHead {
        source: TraceSource::Strace,
        started_at: None,
        environment: None,
        command: None,
        cost: None,
        memory: None,
        memory_steps: Vec::new(),
        reclaim: None,
        not_measured: Vec::new(),
        lacks: vec!["strace does not show page faults".to_owned()],
        ..head()
    }
}

/// Both passes over a trace.
pub fn passes(
    source: TraceSource,
    batches: &[TraceBatch],
    size: &PictureSize,
) -> (TraceSummary, TracePictures) {
    let mut tally = Tally::new(source);
    batches.iter().for_each(|batch| tally.add(batch));
    let summary = tally.finish(100);
    let mut pictures = Pictures::new(&summary, size);
    batches.iter().for_each(|batch| pictures.add(batch));
    (summary, pictures.finish())
}

fn batch(events: &[Event]) -> TraceBatch {
    let mut out = TraceBatch { added: TraceLists::default(), ..TraceBatch::default() };
    for event in events {
        let mut record = event.record;
        record.path = event.path.as_ref().map(|path| {
            let known = out.paths.iter().position(|known| known == path.as_bytes());
            let at = known.unwrap_or_else(|| {
                out.paths.push(path.clone().into_bytes());
                out.paths.len() - 1
            });
            PathIndex(at as u32)
        });
        out.records.push(record);
    }
    out
}
