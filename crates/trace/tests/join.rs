//! Parts of a recording read as one trace, and become one file.

#![allow(clippy::expect_used, reason = "helpers of tests")]

mod support;

use hotset_facts::trace::{ProcessIndex, TraceBatch};
use hotset_trace::{Bytes, Columns, Known, Parts, Reader, TraceError, join};

use support::{lists, lookups, part, read, whole};

/// Three parts. Each adds a process, and the last has records of all of them.
fn parts() -> (Vec<Vec<u8>>, Vec<TraceBatch>) {
    let (mut files, mut batches, mut known) = (Vec::new(), Vec::new(), Known::default());
    for number in 0..3_u32 {
        let mut batch = lookups((0..500).map(|at| u64::from(number) * 1000 + at));
        batch.added = lists(1, 0, 0);
        for (at, record) in batch.records.iter_mut().enumerate() {
            record.process = Some(ProcessIndex(at as u32 % (number + 1)));
        }
        let finished = part(number, known, &batch, number == 2).expect("written");
        known = finished.known;
        files.push(finished.out);
        batches.push(batch);
    }
    (files, batches)
}

fn open(files: &[&Vec<u8>]) -> Result<Parts<Bytes>, TraceError> {
    Parts::new(files.iter().map(|bytes| Bytes::copy_from_slice(bytes)))
}

fn refusal(files: &[&Vec<u8>]) -> String {
    open(files).err().expect("refused").to_string()
}

#[test]
fn parts_are_read_and_joined_as_one_trace() {
    let (files, batches) = parts();
    let parts = open(&files.iter().collect::<Vec<_>>()).expect("parts");
    assert!(parts.ended());
    assert_eq!((parts.totals().records, parts.lists().processes.len()), (1500, 3));
    let read_parts: Vec<_> = parts.batches(Columns::ALL).collect::<Result<_, _>>().expect("read");
    assert_eq!(whole(&read_parts), whole(&batches));

    let joined = join(&parts, Vec::new()).expect("joined");
    assert!(joined.ended);
    assert_eq!(joined.bytes, joined.out.len() as u64);
    let (_, found_lists, found) = read(&joined.out).expect("read");
    assert_eq!(found, whole(&batches));
    assert_eq!(&found_lists, parts.lists());
    let reader = Reader::new(Bytes::from(joined.out)).expect("read");
    assert_eq!((reader.part(), reader.totals()), (None, parts.totals()));
    assert!(reader.is_checked());
}

#[test]
fn a_part_holds_only_what_was_added_to_it() {
    let (files, _) = parts();
    let last = Reader::new(Bytes::from(files[2].clone())).expect("read");
    assert_eq!(last.lists().processes.len(), 1);
    assert_eq!(last.part().map(|part| (part.number, part.last)), Some((2, true)));
}

#[test]
fn without_its_last_part_a_recording_did_not_end() {
    let (files, _) = parts();
    let parts = open(&[&files[0], &files[1]]).expect("parts");
    let joined = join(&parts, Vec::new()).expect("joined");
    assert_eq!((joined.ended, joined.totals.records), (false, 1000));
}

#[test]
fn parts_that_are_no_whole_are_named() {
    let (files, _) = parts();
    let trace = support::write(&[]).expect("written");
    for (given, wanted) in [
        (vec![], "no part"),
        (vec![&files[1]], "part 0 is missing: part 1 is in its place"),
        (vec![&files[0], &files[2]], "part 1 is missing: part 2 is in its place"),
        (vec![&files[0], &files[0]], "part 0 is there twice"),
        (vec![&files[0], &files[1], &files[0]], "part 0 comes after part 1"),
        (vec![&trace], "input 0 is a whole trace"),
    ] {
        let error = refusal(&given);
        assert!(error.starts_with(wanted), "{error}");
    }
}

#[test]
fn a_damaged_part_is_named() {
    let (mut files, _) = parts();
    let cut = files[1].len() - 20;
    let short = files[1][..cut].to_vec();
    assert!(refusal(&[&files[0], &short]).starts_with("part 1: the trace is cut off"));
    files[1][40] ^= 1;
    let parts = open(&files.iter().collect::<Vec<_>>()).expect("its footer is whole");
    let error = join(&parts, Vec::new()).expect_err("damaged").to_string();
    assert!(error.starts_with("part 1: the trace is damaged at row group 0, column "), "{error}");
}
