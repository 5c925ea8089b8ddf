//! What is written, and what is not.

#![allow(clippy::expect_used, reason = "helpers of tests")]

mod support;

use hotset_facts::trace::{FileIndex, PathIndex, ProcessIndex, SiteIndex, TraceRecord};
use hotset_trace::{Bytes, Column, Columns, Reader, Writer};

use support::{head, lists, lookups, read, whole, write};

/// Rows of a row group.
const GROUP: u64 = 122_880;

#[test]
fn a_record_that_points_nowhere_is_refused_with_its_batch() {
    type Set = fn(&mut TraceRecord);
    let set: [(Set, &str); 5] = [
        (|record| record.process = Some(ProcessIndex(1)), "record 3, process: index 1;"),
        (|record| record.file = Some(FileIndex(0)), "record 3, file: index 0;"),
        (|record| record.site = Some(SiteIndex(9)), "record 3, site: index 9;"),
        (|record| record.path = Some(PathIndex(1)), "record 3, path: index 1;"),
        (|record| record.new_path = Some(PathIndex(2)), "record 3, new_path: index 2;"),
    ];
    for (set, wanted) in set {
        let mut writer = Writer::new(Vec::new(), &head(), None).expect("begun");
        let mut batch = lookups([1, 2]);
        batch.added = lists(1, 0, 0);
        writer.write(&batch).expect("written");
        let mut wrong = lookups([3, 4]);
        set(&mut wrong.records[1]);
        let error = writer.write(&wrong).expect_err("refused").to_string();
        assert!(error.starts_with(wanted), "{error}");
        let bytes = writer.finish(0, true).expect("finished").out;
        assert_eq!(read(&bytes).expect("read").2, whole(&[batch]));
    }
}

#[test]
fn row_groups_are_closed_when_full_and_sorted_within() {
    let mut writer = Writer::new(Vec::new(), &head(), None).expect("begun");
    let mut batch = lookups((0..GROUP + 1000).rev());
    batch.added = lists(1, 0, 0);
    writer.write(&batch).expect("written");
    assert_eq!(writer.rows(), GROUP + 1000);
    assert!(writer.bytes_written() > 1000);
    let finished = writer.finish(0, true).expect("finished");
    assert_eq!(
        (finished.totals.records, finished.bytes),
        (GROUP + 1000, finished.out.len() as u64)
    );
    let starts: Vec<u64> =
        read(&finished.out).expect("read").2.iter().map(|(record, ..)| record.start_ns).collect();
    let wanted: Vec<u64> = (1000..GROUP + 1000).chain(0..1000).collect();
    assert!(starts == wanted, "each row group by itself");
}

#[test]
fn paths_that_take_much_memory_end_a_row_group_early() {
    let mut batch = lookups(0..3);
    batch.added = lists(1, 0, 0);
    batch.paths = (0..3_u8).map(|at| vec![b'a' + at; 3 << 20]).collect();
    for (at, record) in batch.records.iter_mut().enumerate() {
        record.path = Some(PathIndex(at as u32));
    }
    let bytes = write(&[batch.clone(), lookups(4..5)]).expect("written");
    let wanted = whole(&[batch, lookups(4..5)]);
    assert!(read(&bytes).expect("read").2 == wanted);
}

#[test]
fn a_trace_without_records_is_one() {
    let bytes = write(&[]).expect("written");
    assert_eq!(read(&bytes).expect("read").2, []);
}

#[test]
fn columns_that_are_not_asked_for_are_not_measured() {
    let mut batch = lookups(0..10);
    batch.added = lists(1, 0, 0);
    let bytes = write(&[batch.clone()]).expect("written");
    let reader = Reader::new(Bytes::from(bytes)).expect("read");
    assert!(Column::ALL.iter().all(|column| reader.has(*column)));
    let read: Vec<_> =
        reader.batches(Columns::of(&[Column::DurationNs])).collect::<Result<_, _>>().expect("read");
    let wanted = TraceRecord { process: None, path: None, result: None, ..batch.records[0] };
    assert_eq!(read[0].records[0], wanted);
    assert!(read[0].paths.is_empty());
}

#[test]
fn what_does_not_fit_is_written_as_the_largest() {
    let mut batch = lookups([0]);
    batch.added = lists(1, 0, 0);
    batch.records[0].asked_bytes = Some(u64::MAX);
    batch.records[0].tid = Some(u32::MAX);
    batch.records[0].result = Some(i64::MIN);
    let (record, ..) = read(&write(&[batch]).expect("written")).expect("read").2[0].clone();
    assert_eq!(record.asked_bytes, Some(i64::MAX as u64));
    assert_eq!(record.tid, Some(i32::MAX as u32));
    assert_eq!(record.result, Some(i64::MIN + 1));
}
