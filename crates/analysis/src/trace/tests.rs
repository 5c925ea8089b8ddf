use hotset_facts::trace::{
    FileIndex, Gap, Operation, ProcessIndex, RecordFlags, RecordPages, SiteIndex, TraceBatch,
    TraceLists, TraceRecord, TraceSource,
};
use proptest::prelude::*;

use super::pictures::{PictureSize, Pictures};
use super::testing::{batches, imported, passes};
use super::*;

const SMALL: PictureSize =
    PictureSize { files: 8, threads: 32, columns: 64, rows: 16, cells: usize::MAX };

fn of(source: TraceSource, records: Vec<TraceRecord>) -> TraceSummary {
    let mut tally = Tally::new(source);
    tally.add(&TraceBatch { records, ..TraceBatch::default() });
    tally.finish(10)
}

fn read(start_ns: u64, file: u32, offset: u64, pages: Option<(u32, u32)>) -> TraceRecord {
    let pages = pages.map(|(pages, misses)| RecordPages {
        pages,
        hits: pages - misses,
        misses,
        ..RecordPages::default()
    });
    TraceRecord {
        duration_ns: Some(10),
        tid: Some(1),
        file: Some(FileIndex(file)),
        offset: Some(offset),
        result: Some(8192),
        pages,
        ..TraceRecord::new(start_ns, Operation::Pread)
    }
}

#[test]
fn an_import_has_no_hits_rather_than_none_of_them() {
    let (summary, _) = passes(TraceSource::Strace, &imported(2_000), &SMALL);
    let totals = summary.totals;
    let unknown =
        (totals.read_pages, totals.fault_pages, totals.device_read_bytes, totals.waited_ns);
    assert_eq!(unknown, (None, None, None, None));
    assert!(totals.read_bytes.is_some_and(|bytes| bytes > 0) && totals.time_ns.is_some());
    assert!(totals.requests(RequestKind::ReadUnknown) > 0);
    assert_eq!(totals.requests(RequestKind::ReadCached), 0);
    assert!((summary.processes.is_empty(), summary.sites.is_empty()) == (true, true));
}

#[test]
fn nothing_is_no_span_and_no_rows() {
    let summary = of(TraceSource::Recorded, Vec::new());
    assert_eq!((summary.from_ns, summary.to_ns, summary.length_ns()), (None, None, 0));
    assert_eq!(summary.totals, TraceCounts::default());
    assert!(summary.files.is_empty() && summary.operations.is_empty());
    assert_eq!(Pictures::new(&summary, &SMALL).finish(), Default::default());
}

#[test]
fn a_file_has_what_its_records_tell() {
    let write = TraceRecord {
        duration_ns: Some(100),
        file: Some(FileIndex(3)),
        result: Some(5),
        device_write_bytes: Some(4096),
        ..TraceRecord::new(50, Operation::Write)
    };
    let records = vec![
        read(0, 3, 0, Some((2, 2))),
        read(20, 3, 8192, Some((2, 0))),
        read(40, 3, 0, None),
        write,
        TraceRecord { class: Operation::Read.class(), ..read(60, 9, 0, Some((1, 1))) },
    ];
    let summary = of(TraceSource::Recorded, records);
    assert_eq!((summary.from_ns, summary.to_ns), (Some(0), Some(150)));
    let file = &summary.files[0];
    let pages = file.counts.read_pages.unwrap();
    assert_eq!((file.index, file.counts.records), (3, 4));
    assert_eq!((pages.requests, pages.pages, pages.misses, pages.zeros), (2, 4, 2, None));
    assert_eq!(pages.device_share(), Some(0.5));
    assert_eq!((file.counts.read_bytes, file.counts.written_bytes), (Some(3 * 8192), Some(5)));
    assert_eq!((file.counts.time_ns, file.counts.waited_ns), (Some(130), Some(10)));
    assert_eq!(file.counts.device_write_bytes, Some(4096));
    assert_eq!(file.counts.costliest_kind().unwrap().kind, RequestKind::Write);
    let order = file.reads_in_order;
    assert_eq!((order.followed, order.sequential, file.extent_bytes), (2, 1, 16384));
    assert_eq!(order.share(), Some(0.5));
}

#[test]
fn what_is_not_shown_is_in_the_rest() {
    let records: Vec<_> =
        (0..30).map(|file| read(u64::from(file), file, 0, Some((2, 1)))).collect();
    let summary = of(TraceSource::Recorded, records);
    assert_eq!((summary.files.len(), summary.other_files.rows), (10, 20));
    assert!(!summary.other_files.at_least);
    assert_eq!(summary.other_files.counts.read_bytes, Some(20 * 8192));
}

#[test]
fn lists_and_gaps_may_come_without_records() {
    let mut tally = Tally::new(TraceSource::Recorded);
    let gap = |records| Gap { tid: None, from_ns: 0, to_ns: 1, records };
    tally.learn(&TraceLists { gaps: vec![gap(3), gap(40)], ..TraceLists::default() });
    let lost = tally.finish(1).lost;
    assert_eq!((lost.records, lost.gaps, lost.largest), (43, 2, vec![gap(40)]));
}

#[test]
fn the_fixture_is_a_plausible_trace() {
    let all = batches(6_000);
    assert_eq!(all, batches(6_000), "the same each time");
    let (summary, pictures) = passes(TraceSource::Recorded, &all, &SMALL);
    let records: usize = all.iter().map(|batch| batch.records.len()).sum();
    assert_eq!(summary.totals.records, records as u64);
    assert!((5_000..9_000).contains(&records), "{records}");
    for kind in RequestKind::ALL {
        let has = summary.totals.requests(*kind) > 0;
        let lacks = [RequestKind::ReadUnknown, RequestKind::Kernel, RequestKind::Other];
        assert_eq!(has, !lacks.contains(kind), "{}", kind.as_str());
    }
    let loaded = summary.files.iter().find(|file| file.index == 2).unwrap();
    assert!(loaded.reads_in_order.share().unwrap() > 0.98);
    let database = summary.files.iter().find(|file| file.index == 0).unwrap();
    assert!(database.reads_in_order.share().unwrap() < 0.1);
    assert_eq!((summary.lost.records, pictures.files.len()), (317, 5));
    // Worker threads, the loader, and two without whole stacks. Starting up waits for nothing.
    assert_eq!(summary.flame.nodes.iter().filter(|node| node.caller.is_none()).count(), 4);
}

#[test]
fn sums_of_rows_are_the_totals() {
    let (summary, pictures) = passes(TraceSource::Recorded, &batches(6_000), &SMALL);
    let by_operation: u64 = summary.operations.iter().map(|row| row.counts.records).sum();
    assert_eq!(by_operation, summary.totals.records);
    let by_process: u64 = summary.processes.iter().map(|row| row.counts.records).sum();
    assert_eq!(by_process, summary.totals.records);
    let failed = summary.totals.requests(RequestKind::FailedLookup);
    assert_eq!((summary.failed_lookups.calls, failed > 100), (failed, true));
    for picture in &pictures.files {
        let file = summary.files.iter().find(|file| file.index == picture.index).unwrap();
        for layer in &picture.layers {
            assert_eq!(layer.requests, file.counts.requests(layer.kind), "{}", layer.kind.as_str());
        }
    }
}

#[test]
fn a_lane_is_as_long_as_its_thread() {
    let (summary, pictures) = passes(TraceSource::Recorded, &batches(6_000), &SMALL);
    assert_eq!(pictures.threads.len(), summary.threads.len());
    for lane in &pictures.threads {
        let sum = |of: fn(&pictures::LaneCell) -> u64| lane.columns.iter().map(of).sum::<u64>();
        let all = sum(|cell| cell.device_ns + cell.sync_ns + cell.request_ns + cell.outside_ns);
        assert_eq!(all, lane.thread.to_ns - lane.thread.from_ns, "{}", lane.thread.tid);
        // No request of the fixture is inside of another, so nothing was cut.
        let requests = sum(|cell| cell.device_ns + cell.sync_ns + cell.request_ns);
        assert_eq!(Some(requests), lane.thread.time_ns);
    }
}

#[test]
fn a_file_of_little_time_has_no_picture_unless_none_took_more() {
    let all = batches(6_000);
    let (summary, pictures) = passes(TraceSource::Recorded, &all, &SMALL);
    let share = |index: u32| {
        let row = summary.files.iter().find(|row| row.index == index);
        row.and_then(|row| summary.time_share(&row.counts)).unwrap()
    };
    assert!(pictures.files.iter().all(|picture| share(picture.index) >= 0.02));
    let unseen = |row: &&TraceFileNumbers| {
        let has_room = row.extent_bytes > 1 << 20;
        has_room && !pictures.files.iter().any(|picture| picture.index == row.index)
    };
    let left: Vec<f64> = summary.files.iter().filter(unseen).map(|row| share(row.index)).collect();
    assert!(!left.is_empty() && left.iter().all(|share| *share < 0.02), "{left:?}");
    // The costliest has one, whatever its share.
    let mut diluted = summary.clone();
    diluted.totals.time_ns = Some(u64::MAX);
    assert_eq!(Pictures::new(&diluted, &SMALL).finish().files.len(), 1);
}

#[test]
fn a_picture_with_too_many_cells_is_drawn_coarser_and_keeps_its_requests() {
    let all = batches(6_000);
    let (_, fine) = passes(TraceSource::Recorded, &all, &SMALL);
    let (_, coarse) = passes(TraceSource::Recorded, &all, &PictureSize { cells: 40, ..SMALL });
    for (fine, coarse) in fine.files.iter().zip(&coarse.files) {
        let cells: usize = coarse.layers.iter().map(|layer| layer.cells.len()).sum();
        assert!(cells <= 40, "{cells}");
        for (a, b) in fine.layers.iter().zip(&coarse.layers) {
            assert_eq!((a.requests, a.bytes), (b.requests, b.bytes));
            let pages = |layer: &pictures::GridLayer| {
                layer.cells.iter().map(|cell| u64::from(cell.pages)).sum::<u64>()
            };
            assert_eq!(pages(a), pages(b));
        }
    }
}

/// Any record, with numbers that no file system has.
pub(crate) fn any_record() -> impl Strategy<Value = TraceRecord> {
    let place = (any::<u64>(), prop::option::of(any::<u64>()), prop::option::of(any::<u64>()));
    let who = (prop::option::of(any::<u32>()), prop::option::of(any::<u32>()), any::<u32>());
    let pages = prop::option::of((
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
        prop::option::of(any::<u32>()),
    ));
    let what = (prop::sample::select(Operation::ALL), prop::option::of(any::<i64>()), any::<u32>());
    (place, who, pages, what).prop_map(|(place, who, pages, what)| TraceRecord {
        duration_ns: place.1,
        offset: place.2,
        tid: who.0,
        file: who.1.map(FileIndex),
        process: who.1.map(ProcessIndex),
        site: who.0.map(SiteIndex),
        description: place.1,
        result: what.1,
        flags: RecordFlags(what.2),
        device_read_bytes: place.2,
        pages: pages.map(|(pages, hits, misses, zeros)| RecordPages {
            pages,
            hits,
            misses,
            zeros,
            ahead_hits: hits,
            read_ahead: misses,
        }),
        ..TraceRecord::new(place.0, what.0)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_record_is_too_strange(records in prop::collection::vec(any_record(), 0..60)) {
        let number = records.len() as u64;
        let batch = TraceBatch { records, ..TraceBatch::default() };
        let (summary, pictures) = passes(TraceSource::Recorded, &[batch], &SMALL);
        prop_assert_eq!(summary.totals.records, number);
        prop_assert!(pictures.files.len() <= SMALL.files && pictures.threads.len() <= SMALL.threads);
    }
}
