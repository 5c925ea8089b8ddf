//! Whatever bytes come in, importers refuse or read them; what goes out by one format comes back
//! the same.
#![allow(clippy::expect_used, reason = "helpers of tests")]

mod common;
mod possible;

use std::collections::HashMap;
use std::io::Cursor;
use std::path::PathBuf;

use hotset_facts::FileKind;
use hotset_facts::trace::{
    FileIndex, Operation, OperationClass, PathIndex, ProcessIndex, RecordFlags, RecordPages, Site,
    SiteIndex, SiteState, TraceBatch, TraceFile, TraceHead, TraceLists, TraceProcess, TraceRecord,
    TraceSource,
};
use hotset_trace::export::fio::FioLogs;
use hotset_trace::export::perfetto::Slices;
use hotset_trace::{export, import};
use possible::possible;
use proptest::prelude::*;

const LINES: [&str; 12] = [
    "7 1700000000.5 read(3</a>, \"x) = 5\", 10) = 5 <0.000010>\n",
    "7 1700000000.6 openat(AT_FDCWD</>, \"a\", O_RDWR|O_APPEND) = 3</a>\n",
    "7 1700000000.7 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3</a>, 0) = 0x7f00\n",
    "7 1700000000.8 clone( <unfinished ...>\n",
    "8 1700000000.9 <... read resumed>[{iov_base=\"\", iov_len=5}], 2) = 7\n",
    "8 1700000001.0 close_range(3, 4294967295, 0) = 0\n",
    "fio version 3 iolog\n",
    "12 f1 read 0 4096\n",
    "start_ns,op,offset,path,path_bytes\n",
    "5,pread64,\"0\",a,2f61\n",
    "  8,0 3 11 0.009507758 697 D W 223490 + 8 [a b]\n",
    "  8,0 3 12 0.019507758 0 C W 223490 + 8 [0]\n",
];

/// Lines of formats with bytes changed: nearer to what parsers take than bytes at random are.
fn nearly_right() -> impl Strategy<Value = Vec<u8>> {
    let lines = prop::collection::vec(prop::sample::select(LINES.to_vec()), 0..20);
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..10);
    (lines, changes).prop_map(|(lines, changes)| {
        let mut bytes = lines.concat().into_bytes();
        for (place, byte) in changes {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        bytes
    })
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![prop::collection::vec(any::<u8>(), 0..2000), nearly_right()]
}

fn pages() -> impl Strategy<Value = RecordPages> {
    let numbers = (
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
        any::<Option<u32>>(),
        any::<u32>(),
    );
    numbers.prop_map(|(pages, hits, ahead_hits, misses, zeros, read_ahead)| RecordPages {
        pages,
        hits,
        ahead_hits,
        misses,
        zeros,
        read_ahead,
    })
}

/// A record whose indices are below those of [`lists`].
fn record() -> impl Strategy<Value = TraceRecord> {
    let who =
        (any::<u64>(), any::<Option<u64>>(), prop::option::of(0_u32..3), any::<Option<u32>>());
    let what =
        (prop::sample::select(Operation::ALL.to_vec()), any::<bool>(), prop::option::of(0_u32..4));
    let how = (
        prop::option::of(0_u32..4),
        prop::option::of(0_u32..4),
        any::<Option<u64>>(),
        0_u32..1 << 18,
    );
    let range = (any::<Option<u64>>(), any::<Option<u64>>(), prop::option::of(-5000_i64..1 << 40));
    let cost = (
        prop::option::of(pages()),
        any::<Option<u64>>(),
        any::<Option<u64>>(),
        prop::option::of(0_u32..2),
    );
    (who, what, how, range, cost).prop_map(|(who, what, how, range, cost)| {
        let (operation, is_target, file) = what;
        let class = if is_target { OperationClass::Write } else { operation.class() };
        possible(TraceRecord {
            duration_ns: who.1,
            process: who.2.map(ProcessIndex),
            tid: who.3,
            class,
            file: file.map(FileIndex),
            path: how.0.map(PathIndex),
            new_path: how.1.map(PathIndex),
            description: how.2,
            flags: RecordFlags(how.3),
            offset: range.0,
            asked_bytes: range.1,
            result: range.2,
            pages: cost.0,
            device_read_bytes: cost.1,
            device_write_bytes: cost.2,
            site: cost.3.map(SiteIndex),
            ..TraceRecord::new(who.0, operation)
        })
    })
}

fn lists() -> TraceLists {
    let process = |(pid, comm): (u32, &str)| TraceProcess {
        pid,
        ppid: None,
        comm: comm.to_owned(),
        argv: Vec::new(),
    };
    let file = |path: &str| TraceFile {
        path: Some(PathBuf::from(path)),
        kind: FileKind::Regular,
        id: None,
        size_bytes: None,
        cached_pages: None,
    };
    TraceLists {
        processes: [(1, "a"), (1, "b,\"\""), (2, "c\nd")].map(process).to_vec(),
        files: ["/a", "/b c", "/d", "/e"].map(file).to_vec(),
        sites: vec![Site { frames: Vec::new(), state: SiteState::Lost }; 2],
        gaps: Vec::new(),
    }
}

fn batch(records: Vec<TraceRecord>) -> TraceBatch {
    let paths = [b"/a".to_vec(), b"/b \"c\",\r\n".to_vec(), b"/\xff\xfe".to_vec(), b" ".to_vec()];
    TraceBatch { records, paths: paths.to_vec(), added: TraceLists::default() }
}

fn head(source: TraceSource) -> TraceHead {
    TraceHead {
        hotset: "1".to_owned(),
        source,
        started_at: None,
        environment: None,
        command: None,
        cost: None,
        memory: None,
        memory_steps: Vec::new(),
        reclaim: None,
        not_measured: Vec::new(),
        lacks: Vec::new(),
    }
}

fn only(batch: &TraceBatch) -> [Result<TraceBatch, std::convert::Infallible>; 1] {
    [Ok(batch.clone())]
}

/// What a record says, with its indices resolved: those of another trace may differ.
fn meaning(
    record: &TraceRecord,
    batch: &TraceBatch,
    lists: &TraceLists,
) -> (TraceRecord, Vec<Option<Vec<u8>>>) {
    let path =
        |index: Option<PathIndex>| index.and_then(|index| batch.path(index)).map(<[u8]>::to_vec);
    let process = record.process.and_then(|process| lists.process(process));
    let process = process.map(|process| format!("{} {}", process.pid, process.comm).into_bytes());
    let resolved = vec![path(record.path), path(record.new_path), process];
    let plain = TraceRecord {
        process: None,
        file: None,
        path: None,
        new_path: None,
        site: None,
        ..*record
    };
    (plain, resolved)
}

proptest! {
    #[test]
    fn no_bytes_make_an_importer_panic(bytes in any_bytes()) {
        for format in import::FORMATS {
            let _ = (format.looks_like)(&bytes);
            if let Ok(imported) = common::import(format.name, &bytes) {
                let made: usize = imported.batches.iter().map(|batch| batch.records.len()).sum();
                prop_assert_eq!(imported.summary.records, made as u64);
                for (record, batch) in imported.records() {
                    let _ = common::line(record, batch, &imported.lists);
                    let file = record.file.map(|file| file.0 as usize);
                    prop_assert!(file.is_none_or(|file| file < imported.lists.files.len()));
                }
            }
        }
    }

    #[test]
    fn csv_comes_back_the_same(records in prop::collection::vec(record(), 0..30)) {
        let (batch, lists) = (batch(records), lists());
        let mut text = Vec::new();
        export::csv::export(only(&batch), &lists, &mut text).expect("written");
        let back = common::import("csv", &text).expect("read");
        prop_assert_eq!(back.summary.refused, 0, "{:?}", back.summary.first_refused);
        let before = batch.records.iter().map(|record| meaning(record, &batch, &lists));
        let before: Vec<_> = before.collect();
        let after = back.records().map(|(record, batch)| meaning(record, batch, &back.lists));
        let after: Vec<_> = after.collect();
        prop_assert_eq!(before, after);
        // The same files, processes and sites have the same numbers as each other, and others have
        // others.
        let mut again = Vec::new();
        export::csv::export(back.infallible(), &back.lists, &mut again).expect("written");
        let once_more = common::import("csv", &again).expect("read");
        prop_assert_eq!(&once_more.batches, &back.batches);
        let both = batch.records.iter().zip(back.records());
        let same = both.filter_map(|(old, (new, _))| old.file.zip(new.file));
        let same: HashMap<_, _> = same.collect();
        let numbers: std::collections::HashSet<_> = same.values().collect();
        prop_assert_eq!(numbers.len(), same.len());
        for (old, (new, _)) in batch.records.iter().zip(back.records()) {
            prop_assert_eq!(old.file.map(|file| same.get(&file).copied()), new.file.map(Some));
        }
    }

    #[test]
    fn exporters_take_every_record(records in prop::collection::vec(record(), 0..60)) {
        let (batch, lists, head) = (batch(records), lists(), head(TraceSource::Recorded));
        let count = batch.records.len() as u64;
        for logs in [FioLogs::One, FioLogs::PerThread] {
            let told = export::fio::export(only(&batch), &lists, logs, |_| Ok(Vec::new()));
            prop_assert_eq!(told.expect("written").records, count);
        }
        for slices in [Slices::Slow, Slices::All] {
            let told = export::perfetto::export(only(&batch), &head, &lists, slices, Vec::new());
            let told = told.expect("written");
            let lost: u64 = told.losses.iter().map(|loss| loss.records).sum();
            prop_assert_eq!(told.written + lost, count);
        }
        let told = export::pprof::export(only(&batch), &head, &lists, Vec::new());
        prop_assert_eq!(told.expect("written").records, count);
    }

    /// Against a quadratic reference.
    #[test]
    fn an_access_knows_the_next_of_its_page(
        requests in prop::collection::vec((0_u32..3, 0_u64..40_000, 1_u64..20_000), 0..50)
    ) {
        let records = requests.iter().map(|(file, offset, bytes)| TraceRecord {
            file: Some(FileIndex(*file)),
            offset: Some(*offset),
            result: Some(i64::try_from(*bytes).expect("small")),
            ..TraceRecord::new(0, Operation::Pread)
        });
        let batch = batch(records.collect());
        let mut out = Cursor::new(Vec::new());
        let told = export::oracle::export(only(&batch), &mut out).expect("written");
        let expected: Vec<u64> = requests.iter().flat_map(|(file, offset, bytes)| {
            let pages = offset / 4096..=(offset + bytes - 1) / 4096;
            pages.map(move |page| u64::from(*file) << 40 | page)
        }).collect();
        prop_assert_eq!(told.written, expected.len() as u64);
        let bytes = out.into_inner();
        prop_assert_eq!(bytes.len(), expected.len() * 24);
        for (number, (access, object)) in bytes.chunks(24).zip(&expected).enumerate() {
            prop_assert_eq!(&access[4..12], &object.to_le_bytes());
            let next = expected[number + 1..].iter().position(|other| other == object);
            let next = next.map_or(-1, |after| i64::try_from(number + 1 + after).expect("small"));
            prop_assert_eq!(&access[16..], &next.to_le_bytes());
        }
    }
}
