//! Records into bytes.

use hotset_facts::PageRange;

use crate::types::{FileSystem, Header, SavedFile, Totals};

/// The first byte of a record.
pub(crate) const FILE: u8 = 1;
/// Ranges of the file before.
pub(crate) const RANGES: u8 = 2;
/// A file system.
pub(crate) const FILE_SYSTEM: u8 = 3;

/// Seven bits a byte, the low ones first, the high bit where more follow; as few bytes as will do.
pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Signed numbers near 0 become small unsigned ones: 0, -1, 1, -2.
fn signed(out: &mut Vec<u8>, value: i64) {
    varint(out, (value << 1 ^ value >> 63) as u64);
}

fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    varint(out, bytes.len() as u64);
    out.extend(bytes);
}

pub(crate) fn header(header: &Header) -> Vec<u8> {
    let mut out = Vec::new();
    varint(&mut out, header.page_size);
    varint(&mut out, header.created_s);
    bytes(&mut out, header.kernel.as_bytes());
    out
}

pub(crate) fn file_system(out: &mut Vec<u8>, fs: &FileSystem) {
    out.push(FILE_SYSTEM);
    varint(out, fs.dev.major.into());
    varint(out, fs.dev.minor.into());
    bytes(out, fs.kind.as_bytes());
    bytes(out, &fs.mount);
    // No UUID is empty, so 0 tells that there is none.
    bytes(out, fs.uuid.as_deref().unwrap_or_default().as_bytes());
}

/// `previous` is the path of the file before in this block, empty for the first.
pub(crate) fn file(out: &mut Vec<u8>, file: &SavedFile, previous: &[u8]) {
    let shared = previous.iter().zip(&file.path).take_while(|(a, b)| a == b).count();
    out.push(FILE);
    varint(out, file.file_system.into());
    varint(out, shared as u64);
    bytes(out, &file.path[shared..]);
    varint(out, file.ino);
    varint(out, file.size_bytes);
    signed(out, file.mtime.seconds);
    varint(out, file.mtime.nanos.into());
    varint(out, file.users);
}

/// `end` is where the file's last range ended. The ranges were checked.
pub(crate) fn ranges(out: &mut Vec<u8>, ranges: &[PageRange], end: Option<u64>) {
    out.push(RANGES);
    varint(out, ranges.len() as u64);
    let mut end = end.unwrap_or(0);
    for range in ranges {
        varint(out, range.first - end);
        varint(out, range.count - 1);
        end = range.end();
    }
}

pub(crate) fn trailer(totals: &Totals, check: u32) -> Vec<u8> {
    let mut out = Vec::new();
    for number in [totals.files, totals.ranges, totals.pages] {
        varint(&mut out, number);
    }
    out.extend(check.to_le_bytes());
    out
}
