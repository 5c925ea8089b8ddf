//! What came before a record, worked out once for all rules.

mod bits;
mod gaps;
mod marks;
mod runs;
mod threads;

use hotset_facts::trace::{
    FileIndex, OperationClass, RecordFlags, TraceBatch, TraceLists, TraceRecord,
};

use crate::trace::RequestKind;
use crate::trace::kind::waited;

use gaps::{Gaps, Lost};
use marks::Marks;
use runs::Runs;
use threads::Threads;

pub(super) use bits::Bits;
pub(super) use marks::{Again, chunks};
pub(super) use runs::Run;
pub(super) use threads::{Before, Data};

/// Bytes of a page. Records count base pages, whatever the host's are.
pub(super) const PAGE: u64 = 4096;

/// A record, and what came before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    /// The record itself.
    pub(super) record: &'a TraceRecord,
    /// Its batch, which has its paths.
    pub(super) batch: &'a TraceBatch,
    /// What it was, by what it costs.
    pub(super) kind: RequestKind,
    /// Whether its thread slept in it, or its kind waits for the device.
    pub(super) waits: bool,
    /// How long it took, in nanoseconds; 0 where that is not known.
    pub(super) ns: u64,
    /// When it ended, in nanoseconds since the recording began.
    pub(super) end_ns: u64,
    /// Bytes that a read or write transferred.
    pub(super) bytes: u64,
    /// The thread's own time before it, in nanoseconds: since its record before had ended.
    pub(super) own_ns: u64,
    /// A hash of its path, of opens and lookups.
    pub(super) path: Option<u64>,
    /// The thread's record before.
    pub(super) before: Option<Before>,
    /// What the thread read last, where it has only closed files since.
    pub(super) data: Option<Data>,
    /// Where it stands among the reads, writes or faults of its thread in its open file, itself included.
    pub(super) run: Option<Run>,
    /// Which of its bytes were read or written before.
    pub(super) again: Again,
}

impl Seen<'_> {
    /// Whether it is a read or write by direct I/O.
    pub(super) fn is_direct(&self) -> bool {
        self.kind == RequestKind::Direct
    }

    /// Pages that it missed.
    pub(super) fn misses(&self) -> u64 {
        self.record.pages.map_or(0, |pages| u64::from(pages.misses))
    }

    /// Whether its thread waited in it for the device to read. Direct I/O always does.
    pub(super) fn waits_to_read(&self) -> bool {
        match self.kind {
            RequestKind::ReadMissed | RequestKind::MajorFault => true,
            RequestKind::ReadAhead => self.waits,
            RequestKind::Direct => self.record.class == OperationClass::Read,
            _ => false,
        }
    }
}

/// What is remembered of all records before.
#[derive(Debug)]
pub(super) struct Past<'a> {
    lists: &'a TraceLists,
    threads: Threads,
    runs: Runs,
    marks: Marks,
    gaps: Gaps,
}

impl<'a> Past<'a> {
    pub(super) fn new(lists: &'a TraceLists) -> Self {
        Self {
            lists,
            threads: Threads::default(),
            runs: Runs::new(),
            marks: Marks::default(),
            gaps: Gaps::of(&lists.gaps),
        }
    }

    /// Works out what came before a record, and remembers it.
    pub(super) fn see<'b>(&mut self, record: &'b TraceRecord, batch: &'b TraceBatch) -> Seen<'b> {
        let kind = RequestKind::of(record);
        let ns = record.duration_ns.unwrap_or(0);
        let bytes = transferred(record);
        let run = self.runs.follow(record, bytes);
        let mut seen = Seen {
            record,
            batch,
            kind,
            waits: waited(record, kind),
            ns,
            end_ns: record.start_ns.saturating_add(ns),
            bytes,
            own_ns: 0,
            path: None,
            before: None,
            data: None,
            run,
            again: self.look_back(record, bytes, run),
        };
        self.threads.follow(&mut seen);
        seen
    }

    /// Which bytes of a record were used before; from here on, all of them were.
    fn look_back(&mut self, record: &TraceRecord, bytes: u64, run: Option<Run>) -> Again {
        let Some(file) = record.file else { return Again::default() };
        match self.gaps.at(record.start_ns) {
            Lost::None => {}
            // What was lost may have changed any file.
            Lost::Before => self.marks.forget_all(),
            Lost::Now => return Again { is_lost: true, ..Again::default() },
        }
        match record.class {
            OperationClass::Read => {
                let size = self.size(file);
                self.marks.read(record, file, bytes, run, size)
            }
            OperationClass::Write => {
                let size = self.size(file);
                self.marks.write(record, file, bytes, run, size);
                Again::default()
            }
            OperationClass::Fault if record.flags.has(RecordFlags::STORE) => {
                self.marks.write(record, file, PAGE, None, None);
                Again::default()
            }
            OperationClass::Map => {
                let shared =
                    record.flags.has(RecordFlags::STORE) && !record.flags.has(RecordFlags::PRIVATE);
                if shared {
                    self.marks.changes_unseen(file);
                }
                Again::default()
            }
            OperationClass::Size => {
                self.marks.forget(file);
                Again::default()
            }
            OperationClass::Open if record.flags.has(RecordFlags::TRUNCATE) => {
                self.marks.forget(file);
                Again::default()
            }
            _ => Again::default(),
        }
    }

    fn size(&self, file: FileIndex) -> Option<u64> {
        self.lists.file(file)?.size_bytes
    }
}

fn transferred(record: &TraceRecord) -> u64 {
    match record.class {
        OperationClass::Read | OperationClass::Write => {
            record.result.and_then(|result| u64::try_from(result).ok()).unwrap_or(0)
        }
        _ => 0,
    }
}
