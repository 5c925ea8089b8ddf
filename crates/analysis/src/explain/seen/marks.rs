//! Which bytes of which files were read or written before: by page, bounded.
//!
//! A page counts as read once requests in order have covered all of it, up to the file's end at most, so that bytes of it that
//! nobody asked for are never taken for read. Of small reads at random places, nothing is known; savings are lower by that.

use std::collections::HashMap;

use hotset_facts::trace::{FileIndex, TraceRecord};

use super::bits::{Bits, PAGES};
use super::{PAGE, Run};

/// Parts of files, 2 MiB each, that are remembered at a time: of what comes beyond, nothing is known.
const MOST: usize = 1 << 17;
/// Pages of a request that are looked at. Linux transfers at most 2 GiB at once.
const MOST_PAGES: u64 = 1 << 19;
/// Processes whose reads of a part are told apart.
const MOST_READERS: usize = 64;
/// Any process.
const ANY: u32 = u32::MAX;
/// A process that is not known.
const UNKNOWN: u32 = u32::MAX - 1;

/// Which bytes of a read were used before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::explain) struct Again {
    /// Bytes that the same process had read before, unchanged since.
    pub(in crate::explain) process_bytes: u64,
    /// Bytes that any process had read before, unchanged since.
    pub(in crate::explain) any_bytes: u64,
    /// Bytes that the same process had written before.
    pub(in crate::explain) written_bytes: u64,
    /// When one of them was written last, in nanoseconds since the recording began.
    pub(in crate::explain) written_ns: u64,
    /// Records were lost at the same time: what was used before is not known.
    pub(in crate::explain) is_lost: bool,
}

#[derive(Debug, Default)]
struct Part {
    /// The epoch of its file in which it was filled.
    epoch: u32,
    read: Bits,
    /// The byte behind the last that was read. Of a page at the end of a file that grew, only what was there is known.
    read_end: u64,
    written: Bits,
    written_end: u64,
    written_ns: u64,
    /// Who wrote last.
    writer: u32,
    /// Processes that have a part of their own here.
    readers: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct File {
    epoch: u32,
    /// Mapped for writing: it may change at any time.
    changes_unseen: bool,
    /// The byte behind the last that was written.
    extent: u64,
}

/// All marks.
#[derive(Debug, Default)]
pub(super) struct Marks {
    files: HashMap<u32, File>,
    parts: HashMap<(u32, u32, u64), Part>,
    /// Grows when nothing holds any more of what was known.
    epoch: u32,
}

impl Marks {
    /// Which bytes of a read were used before; from here on, its bytes were read.
    pub(super) fn read(
        &mut self,
        record: &TraceRecord,
        file: FileIndex,
        bytes: u64,
        run: Option<Run>,
        size: Option<u64>,
    ) -> Again {
        let (Some(offset), Some(run)) = (record.offset, run) else { return Again::default() };
        let process = record.process.map_or(UNKNOWN, |process| process.0);
        let known = self.known(file);
        let end = offset.saturating_add(bytes);
        // Less than was asked for is the end of the file.
        let at_end = size.is_some_and(|size| end >= size)
            || record.asked_bytes.is_some_and(|asked| bytes < asked);
        let covered = covered(run.from, offset, end, at_end);
        let mut again = Again::default();
        for (chunk, from, to) in chunks(offset, end) {
            let first = chunk * PAGES;
            let (covered_from, covered_to) = within(covered, chunk, from, to);
            let used = |bits: &Bits, up_to: u64| {
                bytes_of(bits, first, (from, to), (offset, end.min(up_to)))
            };
            let Some(any) = self.part(ANY, file.0, chunk, known.epoch) else { continue };
            again.any_bytes += used(&any.read, any.read_end);
            if any.writer == process {
                again.written_bytes += used(&any.written, any.written_end);
                again.written_ns = again.written_ns.max(any.written_ns);
            }
            any.read.set(covered_from, covered_to);
            any.read_end = any.read_end.max(end);
            let is_known = any.readers.contains(&process);
            if !is_known && any.readers.len() >= MOST_READERS {
                continue;
            }
            if !is_known {
                any.readers.push(process);
            }
            if let Some(own) = self.part(process, file.0, chunk, known.epoch) {
                again.process_bytes += used(&own.read, own.read_end);
                own.read.set(covered_from, covered_to);
                own.read_end = own.read_end.max(end);
            }
        }
        if known.changes_unseen { Again::default() } else { again }
    }

    /// Its bytes were written: what was read of them has changed.
    pub(super) fn write(
        &mut self,
        record: &TraceRecord,
        file: FileIndex,
        bytes: u64,
        run: Option<Run>,
        size: Option<u64>,
    ) {
        let Some(offset) = record.offset.filter(|_| bytes > 0) else { return };
        let process = record.process.map_or(UNKNOWN, |process| process.0);
        let end = offset.saturating_add(bytes);
        let epoch = self.known(file).epoch;
        let extent = self.file(file).map_or(u64::MAX, |file| {
            file.extent = file.extent.max(end);
            file.extent.max(size.unwrap_or(0))
        });
        let begin = run.map_or(offset, |run| run.from);
        let covered = covered(begin, offset, end, end >= extent);
        for (chunk, from, to) in chunks(offset, end) {
            let (covered_from, covered_to) = within(covered, chunk, from, to);
            let Some(any) = self.part(ANY, file.0, chunk, epoch) else { continue };
            any.read.clear(from, to);
            any.written.set(covered_from, covered_to);
            any.written_end = any.written_end.max(end);
            (any.written_ns, any.writer) = (record.start_ns, process);
            let readers = std::mem::take(&mut any.readers);
            for &reader in &readers {
                if let Some(own) = self.part(reader, file.0, chunk, epoch) {
                    own.read.clear(from, to);
                }
            }
            if let Some(any) = self.part(ANY, file.0, chunk, epoch) {
                any.readers = readers;
            }
        }
    }

    /// The file may change at any time without a record.
    pub(super) fn changes_unseen(&mut self, file: FileIndex) {
        if let Some(file) = self.file(file) {
            file.changes_unseen = true;
        }
    }

    /// What was known of a file's bytes holds no more.
    pub(super) fn forget(&mut self, file: FileIndex) {
        if let Some(file) = self.file(file) {
            file.epoch = file.epoch.wrapping_add(1);
        }
    }

    /// What was known of all files holds no more.
    pub(super) fn forget_all(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// What is known of a file: of one that found no place, that it may change.
    fn known(&self, FileIndex(file): FileIndex) -> File {
        let is_full = self.files.len() >= MOST;
        let other = File { changes_unseen: is_full, ..File::default() };
        let known = self.files.get(&file).copied().unwrap_or(other);
        // Both only grow, so that no sum comes twice.
        File { epoch: known.epoch.wrapping_add(self.epoch), ..known }
    }

    fn file(&mut self, FileIndex(file): FileIndex) -> Option<&mut File> {
        if self.files.len() >= MOST && !self.files.contains_key(&file) {
            return None;
        }
        Some(self.files.entry(file).or_default())
    }

    fn part(&mut self, who: u32, file: u32, chunk: u64, epoch: u32) -> Option<&mut Part> {
        let key = (who, file, chunk);
        if self.parts.len() >= MOST && !self.parts.contains_key(&key) {
            return None;
        }
        let part = self.parts.entry(key).or_insert_with(|| Part { writer: ANY, ..Part::default() });
        if part.epoch != epoch {
            *part = Part { epoch, writer: ANY, ..Part::default() };
        }
        Some(part)
    }
}

/// The parts of a file that a range of bytes touches, and of each its pages from one to the one before another.
pub(in crate::explain) fn chunks(offset: u64, end: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let first = offset / PAGE;
    let behind = end.div_ceil(PAGE).min(first.saturating_add(MOST_PAGES));
    (first / PAGES..behind.div_ceil(PAGES)).map(move |chunk| {
        let begin = chunk * PAGES;
        (chunk, first.max(begin) - begin, behind.min(begin + PAGES) - begin)
    })
}

/// The pages that requests in order, from `begin` to `end`, have covered wholly by the one that begins at `offset`.
fn covered(begin: u64, offset: u64, end: u64, at_end: bool) -> (u64, u64) {
    let from = begin.div_ceil(PAGE).max(offset / PAGE);
    (from, if at_end { end.div_ceil(PAGE) } else { end / PAGE })
}

/// The same within pages of a chunk.
fn within(covered: (u64, u64), chunk: u64, from: u64, to: u64) -> (u64, u64) {
    let first = chunk * PAGES;
    let begin = covered.0.max(first + from) - first;
    (begin, covered.1.min(first + to).saturating_sub(first))
}

/// Bytes of a request that lie in pages of a chunk that are there.
fn bytes_of(bits: &Bits, first: u64, (from, to): (u64, u64), (offset, end): (u64, u64)) -> u64 {
    let to = to.min(end.div_ceil(PAGE).saturating_sub(first));
    let pages = bits.count(from, to);
    if pages == 0 || end <= offset {
        return 0;
    }
    let begin = (first + from) * PAGE;
    let behind = (first + to).saturating_mul(PAGE);
    let mut bytes = pages * PAGE;
    if bits.has(from) {
        bytes -= offset.saturating_sub(begin).min(bytes);
    }
    if bits.has(to.saturating_sub(1)) {
        bytes -= behind.saturating_sub(end).min(bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::seen::runs::Runs;
    use hotset_facts::trace::{Operation, ProcessIndex};

    const FILE: FileIndex = FileIndex(0);

    struct Reader {
        marks: Marks,
        runs: Runs,
    }

    impl Reader {
        fn new() -> Self {
            Self { marks: Marks::default(), runs: Runs::new() }
        }

        fn at(&mut self, operation: Operation, offset: u64, bytes: u64, process: u32) -> Again {
            let record = TraceRecord {
                offset: Some(offset),
                file: Some(FILE),
                asked_bytes: Some(bytes),
                tid: Some(process),
                process: Some(ProcessIndex(process)),
                ..TraceRecord::new(0, operation)
            };
            let run = self.runs.follow(&record, bytes);
            if operation == Operation::Write {
                self.marks.write(&record, FILE, bytes, run, None);
                return Again::default();
            }
            self.marks.read(&record, FILE, bytes, run, None)
        }

        fn read(&mut self, offset: u64, bytes: u64) -> u64 {
            self.at(Operation::Read, offset, bytes, 1).process_bytes
        }
    }

    #[test]
    fn small_reads_in_order_are_not_again_until_they_are() {
        let mut reader = Reader::new();
        let first: u64 = (0..4_096).map(|at| reader.read(at * 4, 4)).sum();
        let second: u64 = (0..4_096).map(|at| reader.read(at * 4, 4)).sum();
        assert_eq!((first, second), (0, 16_384));
        assert_eq!(reader.read(100, 5_000), 5_000);
        assert_eq!(reader.read(12_000, 10_000), 4_384, "up to where it was read");
        assert_eq!(
            reader.at(Operation::Read, 0, 4_096, 2),
            Again { any_bytes: 4_096, ..Again::default() }
        );
    }

    #[test]
    fn a_page_of_which_a_part_was_read_is_not_known() {
        let mut reader = Reader::new();
        reader.read(1_000, 100);
        assert_eq!((reader.read(0, 4_096), reader.read(0, 4_096)), (0, 4_096));
    }

    #[test]
    fn a_write_makes_its_pages_new_to_every_process() {
        let mut reader = Reader::new();
        reader.read(0, 1 << 22);
        reader.at(Operation::Read, 0, 1 << 22, 2);
        reader.at(Operation::Write, 2_097_152 - 4_096, 8_192, 3);
        assert_eq!(reader.read(0, 1 << 22), (1 << 22) - 8_192);
        let other = reader.at(Operation::Read, 0, 1 << 22, 2);
        assert_eq!(other.process_bytes, (1 << 22) - 8_192);
        let writer = reader.at(Operation::Read, 2_097_152 - 4_096, 8_192, 3);
        assert_eq!((writer.process_bytes, writer.written_bytes), (0, 8_192));
    }

    /// A file that grows without a record: another program appends to it.
    #[test]
    fn what_is_behind_the_end_of_then_was_not_read() {
        let mut reader = Reader::new();
        let mut at_end = |offset, bytes| {
            let record = TraceRecord {
                offset: Some(offset),
                asked_bytes: Some(65_536),
                tid: Some(1),
                file: Some(FILE),
                ..TraceRecord::new(0, Operation::Read)
            };
            let run = reader.runs.follow(&record, bytes);
            reader.marks.read(&record, FILE, bytes, run, None).process_bytes
        };
        assert_eq!((at_end(0, 100), at_end(100, 100), at_end(200, 50)), (0, 0, 0));
        assert_eq!(at_end(0, 300), 250);
    }

    #[test]
    fn nothing_is_known_after_a_truncation_or_a_gap() {
        let mut reader = Reader::new();
        reader.read(0, 8_192);
        reader.marks.forget(FILE);
        assert_eq!((reader.read(0, 8_192), reader.read(0, 8_192)), (0, 8_192));
        reader.marks.forget_all();
        assert_eq!(reader.read(0, 8_192), 0);
        reader.marks.changes_unseen(FILE);
        assert_eq!((reader.read(0, 8_192), reader.read(0, 8_192)), (0, 0));
    }
}
