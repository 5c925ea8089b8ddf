//! What is no trace, or a damaged one, is told as that, with the place.

#![allow(clippy::expect_used, reason = "helpers of tests")]

mod support;

use hotset_trace::{Bytes, Column, Columns, Reader, TraceError};

use support::{head, lists, lookups, read, write};

fn trace() -> Vec<u8> {
    let mut batch = lookups(0..1000);
    batch.added = lists(1, 0, 0);
    write(&[batch]).expect("written")
}

fn error(bytes: &[u8]) -> String {
    read(bytes).expect_err("an error").to_string()
}

#[test]
fn other_files_are_named_as_what_they_are() {
    for (bytes, wanted) in [
        (&b""[..], "an empty file"),
        (b"{\"schema\": 1}", "JSON of 13 bytes"),
        (b"\x89HSET\r\n\x1a\x01\x00\x00", "a hotset snapshot"),
        (b"PARE....PARE", "an encrypted Parquet file"),
        (b"hello, world", "begins with \"hell\""),
    ] {
        let error = error(bytes);
        assert!(error.contains(wanted) && error.contains("hotset record"), "{error}");
    }
}

#[test]
fn every_cut_is_an_error() {
    let bytes = trace();
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err(), "cut at byte {end}");
    }
    assert!(error(&bytes[..bytes.len() - 1]).contains("cut off"));
}

#[test]
fn every_changed_bit_is_an_error_or_no_difference() {
    let bytes = trace();
    let wanted = read(&bytes).expect("read");
    let mut ignored = 0;
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        match read(&changed) {
            Ok(found) => {
                assert_eq!(found, wanted, "byte {at}");
                ignored += 1;
            }
            Err(error) => assert!(!error.to_string().is_empty(), "byte {at}"),
        }
    }
    // The columns that are derived from others, and the mark before the checksum of the footer.
    assert!(ignored < bytes.len() / 4, "{ignored} of {} bytes make no difference", bytes.len());
}

#[test]
fn a_damaged_column_is_named_and_others_are_still_read() {
    let bytes = trace();
    let reader = Reader::new(Bytes::from(bytes.clone())).expect("read");
    assert!(reader.is_checked());
    // The column of paths: its dictionary holds the only one as it is.
    let at = bytes.windows(7).position(|window| window == b"preload").expect("a path");
    let mut changed = bytes;
    changed[at] ^= 1;
    let reader = Reader::new(Bytes::from(changed)).expect("its footer is whole");
    let error = reader.batches(Columns::ALL).find_map(Result::err).expect("damaged").to_string();
    assert!(error.contains("row group 0, column path (bytes "), "{error}");
    assert!(error.contains("CRC-32"), "{error}");
    let without = Columns::of(&[Column::Result]);
    assert_eq!(
        reader.batches(without).map(|batch| batch.expect("read").records.len()).sum::<usize>(),
        1000
    );
}

#[test]
fn a_damaged_footer_is_told_before_anything_is_read() {
    let mut bytes = trace();
    let at = bytes.windows(14).rposition(|window| window == b"hotset.trace/1").expect("a schema");
    bytes[at + 13] = b'2';
    assert!(error(&bytes).contains("damaged at the footer"), "{}", error(&bytes));
}

#[test]
fn another_version_is_named() {
    let mut bytes = trace();
    let at = bytes.windows(14).rposition(|window| window == b"hotset.trace/1").expect("a schema");
    bytes[at + 13] = b'2';
    // As another version would write it: its checksum is right.
    let footer_end = bytes.len() - 8;
    let size = u32::from_le_bytes(bytes[footer_end..footer_end + 4].try_into().expect("4 bytes"));
    let footer = footer_end - size as usize;
    let sum = crc32fast::hash(&bytes[footer..footer_end]);
    bytes[footer - 4..footer].copy_from_slice(&sum.to_le_bytes());
    let error = Reader::new(Bytes::from(bytes)).err().expect("another version");
    assert!(matches!(error, TraceError::Version { .. }), "{error}");
    let error = error.to_string();
    assert!(error.contains("hotset.trace/2") && error.contains("hotset.trace/1"), "{error}");
}

#[test]
fn the_head_and_totals_come_back() {
    let reader = Reader::new(Bytes::from(trace())).expect("read");
    assert_eq!(reader.head(), &head());
    assert_eq!((reader.totals().records, reader.totals().lost), (1000, 3));
    assert_eq!(reader.part(), None);
    assert_eq!(reader.lists(), &lists(1, 0, 0));
}
