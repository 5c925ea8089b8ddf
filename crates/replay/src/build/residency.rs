//! Which bytes of a file were cached before anybody asked for them: a replay begins with the same.

use hotset_facts::trace::{Operation, OperationClass, TraceRecord};

use crate::ranges::Ranges;

/// A base page (docs/trace-format.md).
const PAGE_BYTES: u64 = 4096;

/// What is known of the pages of one file. Ranges are in pages.
#[derive(Debug, Clone, Default)]
pub(super) struct Residency {
    /// Pages that some request was about.
    seen: Ranges,
    /// Of these, pages that were cached when the first request for them came.
    cached: Ranges,
}

impl Residency {
    /// Takes a record of the file, in the order in which they ended.
    pub(super) fn add(&mut self, record: &TraceRecord) {
        let Some(offset) = record.offset else { return };
        match (record.class, record.operation) {
            (OperationClass::Read, _) => self.read(record, offset),
            (OperationClass::Fault, Operation::MajorFault) => self.major_fault(record, offset),
            (OperationClass::Fault, _) => {
                let page = offset / PAGE_BYTES;
                self.first_seen(page, page + 1, 1);
            }
            // Pages that were not cached and are made by the write are none that a replay needs.
            (OperationClass::Write, _) => {
                if let (Some(pages), Some((begin, end))) = (record.pages, moved(record, offset)) {
                    self.first_seen(begin, end, u64::from(pages.hits));
                }
            }
            _ => {}
        }
    }

    fn read(&mut self, record: &TraceRecord, offset: u64) {
        let (Some(pages), Some((begin, end))) = (record.pages, moved(record, offset)) else {
            return;
        };
        let new: u64 = self.seen.missing(begin, end).iter().map(|(from, to)| to - from).sum();
        let known = (end - begin) - new;
        let before = u64::from(pages.hits).saturating_sub(u64::from(pages.ahead_hits));
        self.first_seen(begin, end, before.saturating_sub(known));
    }

    /// A fault that had to read brings pages around its own, as many before it as behind it (do_sync_mmap_readahead, mm/filemap.c).
    fn major_fault(&mut self, record: &TraceRecord, offset: u64) {
        let page = offset / PAGE_BYTES;
        let brought = record.pages.map_or(1, |pages| u64::from(pages.pages)).max(1);
        let begin = page.saturating_sub(brought / 2);
        self.seen.add(begin, begin + brought);
        self.seen.add(page, page + 1);
    }

    /// Of the pages that no request was about before, so many were cached. Which, a record does not say: the first.
    fn first_seen(&mut self, begin: u64, end: u64, mut cached: u64) {
        for (from, to) in self.seen.missing(begin, end) {
            let count = cached.min(to - from);
            self.cached.add(from, from + count);
            cached -= count;
        }
        self.seen.add(begin, end);
    }

    /// Bytes that were cached, in ranges.
    pub(super) fn cached_bytes(self) -> Vec<(u64, u64)> {
        let bytes = |(begin, end): (u64, u64)| (begin * PAGE_BYTES, end * PAGE_BYTES);
        self.cached.into_vec().into_iter().map(bytes).collect()
    }
}

/// The pages that bytes were moved of; none where none were.
fn moved(record: &TraceRecord, offset: u64) -> Option<(u64, u64)> {
    let bytes =
        record.result.and_then(|result| u64::try_from(result).ok()).filter(|&bytes| bytes > 0)?;
    let end = offset.checked_add(bytes)?;
    Some((offset / PAGE_BYTES, end.div_ceil(PAGE_BYTES)))
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::RecordPages;

    use super::*;

    fn read(offset_pages: u64, pages: u32, hits: u32, ahead_hits: u32) -> TraceRecord {
        let mut record = TraceRecord::new(0, Operation::Pread);
        record.offset = Some(offset_pages * PAGE_BYTES);
        record.result = Some(i64::from(pages) * PAGE_BYTES as i64);
        let misses = pages - hits;
        record.pages =
            Some(RecordPages { pages, hits, ahead_hits, misses, ..RecordPages::default() });
        record
    }

    fn cached(records: &[TraceRecord]) -> Vec<(u64, u64)> {
        let mut residency = Residency::default();
        records.iter().for_each(|record| residency.add(record));
        residency.cached.into_vec()
    }

    #[test]
    fn what_was_there_is_told_from_what_was_read_before() {
        assert_eq!(cached(&[read(0, 4, 4, 0)]), [(0, 4)]);
        assert_eq!(cached(&[read(0, 4, 0, 0), read(0, 4, 4, 0)]), [], "it was read by the first");
        assert_eq!(cached(&[read(0, 4, 0, 0), read(4, 4, 4, 4)]), [], "it was read ahead");
        assert_eq!(cached(&[read(0, 4, 0, 0), read(2, 4, 4, 0)]), [(4, 6)]);
        assert_eq!(cached(&[read(0, 4, 3, 1)]), [(0, 2)], "which is not known: the first");
    }

    #[test]
    fn faults_tell_it_by_whether_they_had_to_read() {
        let fault = |operation, page: u64, pages| {
            let mut record = TraceRecord::new(0, operation);
            record.offset = Some(page * PAGE_BYTES);
            record.pages = Some(RecordPages { pages, ..RecordPages::default() });
            record
        };
        let major = fault(Operation::MajorFault, 100, 32);
        let near = fault(Operation::MinorFault, 90, 0);
        let far = fault(Operation::MinorFault, 200, 0);
        assert_eq!(cached(&[major, near, far]), [(200, 201)]);
        assert_eq!(cached(&[near, major]), [(90, 91)]);
    }
}
