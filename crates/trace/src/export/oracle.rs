//! Page accesses for libCacheSim: oracleGeneral, 24 bytes each (docs and layout:
//! [`crate::import::oracle`]).
//!
//! Each page of a read, write or page fault is one access of the object `file << 40 | page` with
//! the size of a page. Accesses come in the order of the trace; where that goes back in time, the
//! time stands still, since simulators need times that grow.
//!
//! An access holds the number of the next one of its page, which comes later. So what was written
//! is patched: the output must be able to seek. Memory: 17 to 39 bytes for each distinct
//! page, and a block of 64 Ki accesses with their patches.

use std::collections::HashMap;
use std::io::{Seek, SeekFrom, Write};

use hotset_facts::trace::{OperationClass, RecordFlags, TraceBatch, TraceRecord};

use crate::import::oracle::{PAGE, PAGE_BITS, RECORD, Request};

use super::requests::request;
use super::{ExportError, Exported};

/// Accesses that are kept before they are written: most pages that are used again are used again
/// soon.
const BLOCK: usize = 64 * 1024;

/// What is lost of mapped files.
const FIRST_USE: &str =
    "of mapped files, only the first use of a page is known: reuse is underestimated";

/// Bytes of an access before the number of the next one.
const BEFORE_NEXT: u64 = 16;

/// Writes an access for each page of each request, from where the output stands.
///
/// # Errors
///
/// The batches or the output fail.
pub fn export<E, W: Write + Seek>(
    batches: impl IntoIterator<Item = Result<TraceBatch, E>>,
    out: W,
) -> Result<Exported, ExportError<E>> {
    let mut exported = Exported::default();
    let mut accesses = Accesses::new(out)?;
    for batch in batches {
        for record in &batch.map_err(ExportError::Records)?.records {
            exported.records += 1;
            match pages(record) {
                Ok(None) => {
                    exported.lose("other operations than reads, writes and faults are left out")
                }
                Err(lost) => exported.lose(lost),
                Ok(Some((first, last))) => {
                    let time_s = record.start_ns / 1_000_000_000;
                    let time_s = u32::try_from(time_s).unwrap_or(u32::MAX);
                    for object in first..=last {
                        accesses.add(time_s, object)?;
                    }
                    if record.class == OperationClass::Fault {
                        exported.lose(FIRST_USE);
                    }
                }
            }
        }
    }
    exported.written = accesses.finish()?;
    Ok(exported.finish())
}

/// The first and the last object of a record; none where it is about no pages.
fn pages(record: &TraceRecord) -> Result<Option<(u64, u64)>, &'static str> {
    let is_fault = match record.class {
        OperationClass::Read | OperationClass::Write => false,
        OperationClass::Fault => true,
        _ => return Ok(None),
    };
    if record.flags.has(RecordFlags::DIRECT) {
        return Err("direct I/O, which bypasses the page cache, is left out");
    }
    let asked = match is_fault {
        true => request(&TraceRecord { result: None, asked_bytes: Some(1), ..*record })?,
        false => request(record)?,
    };
    let file = u64::from(asked.file.0);
    let (first, last) = (asked.offset / PAGE, (asked.offset + asked.bytes - 1) / PAGE);
    if file >> (u64::BITS - PAGE_BITS) != 0 || last >> PAGE_BITS != 0 {
        return Err(
            "pages beyond 2^40 of a file, and files beyond 2^24, have no object and are left out",
        );
    }
    let object = |page: u64| file << PAGE_BITS | page;
    Ok(Some((object(first), object(last))))
}

/// Accesses on their way out.
struct Accesses<W> {
    out: W,
    /// Where the first stands in the output.
    start: u64,
    /// The last ones, which are not written yet, and the number of the first of them.
    block: Vec<Request>,
    written: u64,
    time_s: u32,
    last: HashMap<u64, u64>,
    /// Written accesses and the numbers of their next ones.
    patches: Vec<(u64, u64)>,
}

impl<W: Write + Seek> Accesses<W> {
    fn new(mut out: W) -> std::io::Result<Self> {
        let start = out.stream_position()?;
        let (block, last, patches) = (Vec::new(), HashMap::new(), Vec::new());
        Ok(Self { out, start, block, written: 0, time_s: 0, last, patches })
    }

    fn add(&mut self, time_s: u32, object: u64) -> std::io::Result<()> {
        self.time_s = self.time_s.max(time_s);
        let number = self.written + self.block.len() as u64;
        if let Some(before) = self.last.insert(object, number) {
            let kept = before.checked_sub(self.written).and_then(|at| usize::try_from(at).ok());
            match kept.and_then(|at| self.block.get_mut(at)) {
                Some(access) => access.next = number.cast_signed(),
                None => self.patches.push((before, number)),
            }
        }
        let size = u32::try_from(PAGE).unwrap_or(u32::MAX);
        self.block.push(Request { time_s: self.time_s, object, size, next: -1 });
        if self.block.len() >= BLOCK {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let bytes: Vec<u8> = self.block.drain(..).flat_map(Request::encode).collect();
        self.out.write_all(&bytes)?;
        self.written += (bytes.len() / RECORD) as u64;
        // In the order of the output: neighbours stand in the same page of it.
        self.patches.sort_unstable();
        for (access, next) in self.patches.drain(..) {
            let place = self.start + access * RECORD as u64 + BEFORE_NEXT;
            self.out.seek(SeekFrom::Start(place))?;
            self.out.write_all(&next.to_le_bytes())?;
        }
        self.out.seek(SeekFrom::Start(self.start + self.written * RECORD as u64))?;
        Ok(())
    }

    fn finish(mut self) -> std::io::Result<u64> {
        self.flush()?;
        self.out.flush()?;
        Ok(self.written)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::io::Cursor;

    use hotset_facts::random::Random;
    use hotset_facts::trace::{FileIndex, Operation};

    use super::*;

    /// More accesses than are kept, so that most numbers are patched into what was written; a pass
    /// from the end says which.
    #[test]
    fn what_is_written_already_is_patched() -> Result<(), std::io::Error> {
        let mut random = Random::new(3);
        let objects: Vec<u64> = (0..5 * BLOCK).map(|_| random.below(50_000)).collect();
        let records = objects.iter().map(|page| TraceRecord {
            file: Some(FileIndex(0)),
            offset: Some(page * PAGE),
            asked_bytes: Some(1),
            ..TraceRecord::new(u64::MAX, Operation::Pread)
        });
        let batch = TraceBatch { records: records.collect(), ..TraceBatch::default() };
        // The output need not be empty.
        let mut out = Cursor::new(b"before".to_vec());
        out.set_position(6);
        let told = export([Ok::<_, std::convert::Infallible>(batch)], &mut out).expect("written");
        assert_eq!(told.written, objects.len() as u64);
        let bytes = out.into_inner();
        let accesses: Vec<Request> =
            bytes[6..].chunks(RECORD).filter_map(Request::decode).collect();
        assert_eq!(accesses.len(), objects.len());
        let mut next = HashMap::new();
        for (number, access) in (0..).zip(&accesses).collect::<Vec<(i64, _)>>().into_iter().rev() {
            assert_eq!((access.time_s, access.object), (u32::MAX, objects[number as usize]));
            assert_eq!(access.next, next.insert(access.object, number).unwrap_or(-1));
        }
        Ok(())
    }

    #[test]
    fn what_has_no_object_is_told() {
        let read = TraceRecord {
            file: Some(FileIndex(1)),
            offset: Some(PAGE - 1),
            asked_bytes: Some(2),
            ..TraceRecord::new(0, Operation::Pread)
        };
        let objects = |record: TraceRecord| pages(&record);
        assert_eq!(objects(read), Ok(Some((1 << 40, (1 << 40) + 1))));
        assert!(objects(TraceRecord { flags: RecordFlags::DIRECT, ..read }).is_err());
        assert!(objects(TraceRecord { file: Some(FileIndex(1 << 24)), ..read }).is_err());
        assert!(objects(TraceRecord { offset: Some(1 << 52), ..read }).is_err());
        assert_eq!(objects(TraceRecord { class: OperationClass::Sync, ..read }), Ok(None));
    }
}
