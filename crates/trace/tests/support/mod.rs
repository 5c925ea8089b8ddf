//! Traces for tests, written and read.

#![allow(dead_code, clippy::expect_used, reason = "helpers of tests, each uses some")]

use hotset_facts::FileKind;
use hotset_facts::trace::{
    Gap, Operation, PathIndex, ProcessIndex, Site, SiteState, TraceBatch, TraceFile, TraceHead,
    TraceLists, TraceProcess, TraceRecord, TraceSource,
};
use hotset_trace::{Bytes, Columns, Finished, Known, Reader, TraceError, Writer};

pub(crate) fn head() -> TraceHead {
    TraceHead {
        hotset: "0.1.0".to_owned(),
        source: TraceSource::Recorded,
        started_at: None,
        environment: None,
        command: None,
        cost: None,
        memory: None,
        memory_steps: Vec::new(),
        reclaim: None,
        not_measured: Vec::new(),
        lacks: vec!["a sentence".to_owned()],
    }
}

pub(crate) fn process(pid: u32, comm: &str) -> TraceProcess {
    TraceProcess { pid, ppid: None, comm: comm.to_owned(), argv: vec![comm.into()] }
}

/// So many entries in each list.
pub(crate) fn lists(processes: u32, files: u32, sites: u32) -> TraceLists {
    let file = |number| TraceFile {
        path: Some(format!("/data/{number}").into()),
        kind: FileKind::Regular,
        id: None,
        size_bytes: Some(4096),
        cached_pages: None,
    };
    let site = |_| Site { frames: Vec::new(), state: SiteState::Lost };
    TraceLists {
        processes: (0..processes).map(|number| process(100 + number, "cat")).collect(),
        files: (0..files).map(file).collect(),
        sites: (0..sites).map(site).collect(),
        gaps: vec![Gap { tid: None, from_ns: 5, to_ns: 9, records: 3 }],
    }
}

/// A batch of lookups of one process, which began at these times.
pub(crate) fn lookups(starts: impl IntoIterator<Item = u64>) -> TraceBatch {
    let record = |start_ns| {
        let mut record = TraceRecord::new(start_ns, Operation::Newfstatat);
        record.process = Some(ProcessIndex(0));
        record.path = Some(PathIndex(0));
        record.duration_ns = Some(700);
        record.result = Some(-2);
        record
    };
    TraceBatch {
        records: starts.into_iter().map(record).collect(),
        paths: vec![b"/etc/ld.so.preload".to_vec()],
        added: TraceLists::default(),
    }
}

/// A whole trace of batches.
pub(crate) fn write(batches: &[TraceBatch]) -> Result<Vec<u8>, TraceError> {
    let mut writer = Writer::new(Vec::new(), &head(), None)?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(writer.finish(3, true)?.out)
}

/// A part that goes on from another.
pub(crate) fn part(
    number: u32,
    known: Known,
    batch: &TraceBatch,
    last: bool,
) -> Result<Finished<Vec<u8>>, TraceError> {
    let mut writer = Writer::next(Vec::new(), &head(), Some(number), known)?;
    writer.write(batch)?;
    writer.finish(0, last)
}

/// A record with its paths, which needs no batch.
pub(crate) type Whole = (TraceRecord, Option<Vec<u8>>, Option<Vec<u8>>);

/// The records of batches, each with its paths.
pub(crate) fn whole(batches: &[TraceBatch]) -> Vec<Whole> {
    let of = |batch: &TraceBatch| -> Vec<Whole> {
        let path = |index: Option<PathIndex>| {
            index.map(|index| batch.path(index).expect("a path of the batch").to_vec())
        };
        let one = |record: &TraceRecord| {
            let bare = TraceRecord { path: None, new_path: None, ..*record };
            (bare, path(record.path), path(record.new_path))
        };
        batch.records.iter().map(one).collect()
    };
    batches.iter().flat_map(of).collect()
}

/// All that a file holds.
pub(crate) fn read(bytes: &[u8]) -> Result<(TraceHead, TraceLists, Vec<Whole>), TraceError> {
    let reader = Reader::new(Bytes::copy_from_slice(bytes))?;
    let batches = reader.batches(Columns::ALL).collect::<Result<Vec<_>, _>>()?;
    Ok((reader.head().clone(), reader.lists().clone(), whole(&batches)))
}
