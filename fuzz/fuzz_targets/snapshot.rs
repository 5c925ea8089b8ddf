//! Snapshots: any bytes are refused with a place, or read and then written back as something that reads the same.
//!
//! A checksum would stop nearly every input at the first block, so the input is also taken as the payload of blocks that
//! are framed here.

#![no_main]

use hotset_snapshot::{Reader, Record, Writer, verify};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    check(&framed(bytes));
});

fn check(bytes: &[u8]) {
    match (records(bytes), verify(bytes)) {
        (Some(records), Ok(verified)) => {
            let mut writer =
                Writer::new(Vec::new(), &verified.header).expect("a header that was read");
            for fs in &verified.file_systems {
                writer.file_system(fs).expect("a file system that was read");
            }
            for record in &records {
                match record {
                    Record::File(file) => writer.file(file).expect("a file that was read"),
                    Record::Ranges(ranges) => writer.ranges(ranges).expect("ranges that were read"),
                }
            }
            let (again, totals) = writer.finish().expect("a snapshot that was read");
            assert_eq!(totals, verified.totals);
            assert_eq!(verify(&again[..]).expect("what was written").totals, totals);
        }
        (None, Err(error)) => assert!(!error.to_string().is_empty()),
        (read, verified) => panic!("{} but {verified:?}", read.is_some()),
    }
}

fn records(bytes: &[u8]) -> Option<Vec<Record>> {
    let mut reader = Reader::new(bytes).ok()?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().ok()? {
        records.push(record);
    }
    Some(records)
}

/// A snapshot of one block of records, which are these bytes; its trailer has the sums that the first bytes say.
fn framed(bytes: &[u8]) -> Vec<u8> {
    let (sums, records) = bytes.split_at(bytes.len().min(3));
    let mut out = b"\x89HSET\r\n\x1a\x01\x00\x00".to_vec();
    out.extend(crc32fast::hash(&out).to_le_bytes());
    block(&mut out, 0, 1, &[0x80, 0x20, 0, 0]);
    block(&mut out, 1, 2, records);
    let whole = crc32fast::hash(&out).to_le_bytes();
    let mut trailer: Vec<u8> = sums.iter().map(|byte| byte & 0x7f).collect();
    trailer.extend(whole);
    block(&mut out, 2, 3, &trailer);
    out
}

fn block(out: &mut Vec<u8>, number: u64, kind: u8, payload: &[u8]) {
    let mut head = vec![kind];
    head.extend((payload.len() as u32).to_le_bytes());
    let check = crc32fast::hash(&[&number.to_le_bytes(), &head[..]].concat());
    out.extend(head);
    out.extend(check.to_le_bytes());
    out.extend(payload);
    out.extend(crc32fast::hash(payload).to_le_bytes());
}
