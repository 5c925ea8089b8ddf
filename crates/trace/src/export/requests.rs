//! Which bytes of which file a record asks for.

use hotset_facts::trace::{FileIndex, TraceRecord};

/// The most bytes that Linux moves in one call (MAX_RW_COUNT, include/linux/fs.h, with pages of
/// 4,096 bytes).
pub(super) const LONGEST: u64 = 0x7fff_f000;

/// A range of a file that was read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) file: FileIndex,
    pub(super) offset: u64,
    /// Above 0, and at most [`LONGEST`].
    pub(super) bytes: u64,
}

/// The range that a read or write came to: what it returned, or what it asked for where that is not
/// known. The error says what is missing.
pub(super) fn request(record: &TraceRecord) -> Result<Request, &'static str> {
    let bytes = match record.result {
        Some(result) if result < 0 => return Err("requests that failed are left out"),
        Some(result) => Some(result.unsigned_abs()),
        None => record.asked_bytes,
    };
    let file = record.file.ok_or("requests of unknown files are left out")?;
    let offset = record.offset.ok_or("requests at an unknown offset are left out")?;
    let bytes = bytes.ok_or("requests of unknown size are left out")?;
    if bytes == 0 {
        return Err("requests that moved no bytes, as at the end of a file, are left out");
    }
    if bytes > LONGEST || offset.checked_add(bytes).is_none_or(|end| end > i64::MAX as u64) {
        return Err("requests of more bytes than Linux moves in one call are left out");
    }
    Ok(Request { file, offset, bytes })
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::Operation;

    use super::*;

    #[test]
    fn what_was_moved_counts_and_not_what_was_asked() {
        let asked = TraceRecord {
            file: Some(FileIndex(1)),
            offset: Some(10),
            asked_bytes: Some(100),
            ..TraceRecord::new(0, Operation::Pread)
        };
        let bytes = |record: &TraceRecord| request(record).map(|request| request.bytes);
        assert_eq!(bytes(&asked), Ok(100));
        assert_eq!(bytes(&TraceRecord { result: Some(7), ..asked }), Ok(7));
        for (wrong, word) in [
            (TraceRecord { result: Some(-5), ..asked }, "failed"),
            (TraceRecord { result: Some(0), ..asked }, "no bytes"),
            (TraceRecord { file: None, ..asked }, "files"),
            (TraceRecord { offset: None, ..asked }, "offset"),
            (TraceRecord { asked_bytes: None, ..asked }, "size"),
            (TraceRecord { asked_bytes: Some(u64::MAX), ..asked }, "more bytes"),
            (TraceRecord { offset: Some(u64::MAX), ..asked }, "more bytes"),
        ] {
            assert!(bytes(&wrong).expect_err(word).contains(word));
        }
    }
}
