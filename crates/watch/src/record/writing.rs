//! The thread that writes a trace, so that whoever takes records from the sensor waits for no disk.

use std::fmt::Display;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use hotset_facts::trace::{Gap, TraceBatch, TraceHead, TraceLists};
use hotset_observe::RecordLosses;
use hotset_sys::whole_file::WholeFile;
use hotset_trace::{Known, TraceError, Writer, join};

use super::lacks;
use super::place::part_path;
use crate::Say;
use crate::recording::Pipe;
use crate::sites::{Named, Namer, Taken};

/// A part ends after so long, or with so many bytes: what a kill can cost (docs/trace-format.md).
const PART_TIME: Duration = Duration::from_secs(60);
const PART_BYTES: u64 = 64 << 20;

/// Without room for so much, no other part is begun.
const MIN_PART_BYTES: u64 = 4 << 20;

/// Why a trace could not be written, or not as a whole.
#[derive(Debug, thiserror::Error)]
pub enum WriteTraceError {
    /// The file of the trace or of a part of it.
    #[error("{}: {error}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// What the format refuses.
    #[error("{}: {error}", path.display())]
    Trace {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        error: TraceError,
    },
    /// The thread that writes ended without a word.
    #[error("the trace's writer has stopped")]
    Stopped,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Records in the trace.
    pub records: u64,
    /// Bytes of the trace.
    pub bytes: u64,
    /// Records that are missing because the disk was full.
    pub unwritten: u64,
    /// How well the code of its records is known; nothing happened to it without call sites.
    pub named: Named,
}

/// A trace that is being written, by a thread of its own.
pub(super) type Writing = Pipe<WrittenParts>;

/// What the thread leaves.
pub(super) type WrittenParts = Result<(Parts, Named), WriteTraceError>;

/// Starts the first part.
///
/// # Errors
/// Where it can't be written.
pub(super) fn start(
    path: &Path,
    head: TraceHead,
    namer: Namer,
    say: Say,
) -> Result<Writing, WriteTraceError> {
    let parts = Parts::start(path, head, say)?;
    Pipe::start("trace writer", move |batches| parts.write_all(namer, &batches))
        .map_err(|error| WriteTraceError::File { path: path.to_owned(), error })
}

/// Writes what is left and makes one file of the parts. The head is now known in full; `lost` records found no room.
///
/// # Errors
/// Where something of it could not be written. Parts that were finished stay then.
pub(super) fn finish(
    writing: Writing,
    mut last: Taken,
    mut head: TraceHead,
    losses: RecordLosses,
    end_ns: u64,
) -> Result<Written, WriteTraceError> {
    // Records that are missing, and that no gap of a thread tells of: of threads that did nothing more once there was room.
    let lost = losses.records;
    let told = writing.told_with(&last.batch.trace);
    if lost > told {
        let gap = Gap { tid: None, from_ns: 0, to_ns: end_ns, records: lost - told };
        last.batch.trace.added.gaps.push(gap);
    }
    let kept = writing.finish(last);
    let (mut parts, mut named) = kept.result.ok_or(WriteTraceError::Stopped)??;
    named.contexts.refused += losses.stacks;
    head.lacks.extend(lacks::of_sites(&named));
    let unwritten = parts.end(kept.unkept, end_ns)?;
    let (records, bytes) = parts.join(&head, lost + unwritten)?;
    Ok(Written { records, bytes, unwritten, named })
}

/// The parts of a trace, of which the last is being written.
pub(super) struct Parts {
    trace: PathBuf,
    head: TraceHead,
    number: u32,
    begun: Instant,
    current: Writer<WholeFile>,
    /// Records that parts before this one hold.
    before: u64,
    /// Records that were given to it.
    records: u64,
    /// When the latest record began.
    latest_ns: u64,
    /// When the first record began that found no room on the disk: nothing is written any more.
    full_from_ns: Option<u64>,
    say: Say,
}

impl Parts {
    fn start(trace: &Path, head: TraceHead, say: Say) -> Result<Self, WriteTraceError> {
        let current = open_part(trace, &head, 0, create_part(trace, 0)?, Known::default())?;
        let (trace, begun) = (trace.to_owned(), Instant::now());
        let (number, before, records, latest_ns, full_from_ns) = (0, 0, 0, 0, None);
        Ok(Self {
            trace,
            head,
            number,
            begun,
            current,
            before,
            records,
            latest_ns,
            full_from_ns,
            say,
        })
    }

    fn write_all(
        mut self,
        mut namer: Namer,
        batches: &Receiver<Taken>,
    ) -> Result<(Self, Named), WriteTraceError> {
        while let Some(batch) = namer.next(batches) {
            self.records += batch.records.len() as u64;
            if self.full_from_ns.is_some() {
                continue;
            }
            self.latest_ns = batch.records.last().map_or(self.latest_ns, |last| last.start_ns);
            match self.current.write(&batch) {
                Err(error) if error.is_no_room() => {
                    self.end_early(&error);
                    continue;
                }
                written => written.map_err(|error| trace_error(&self.trace, self.number, error))?,
            }
            if self.current.bytes_written() >= PART_BYTES || self.begun.elapsed() >= PART_TIME {
                self = self.next()?;
            }
        }
        Ok((self, namer.named()))
    }

    /// From now on nothing is written: what waits for the disk is missing, and what comes.
    fn end_early(&mut self, error: &dyn Display) {
        let from_ns = self.current.drop_waiting().map(|unwritten| unwritten.from_ns);
        self.full_from_ns = Some(from_ns.unwrap_or(self.latest_ns));
        let trace = self.trace.display();
        (self.say)(&format_args!("{trace}: {error}; what comes from now on is not recorded"));
    }

    /// Writes rows that wait for their row group, if there is room.
    fn flush(&mut self) -> Result<(), WriteTraceError> {
        match self.current.flush() {
            Err(error) if error.is_no_room() => {
                self.end_early(&error);
                Ok(())
            }
            flushed => flushed.map_err(|error| trace_error(&self.trace, self.number, error)),
        }
    }

    /// Finishes a part and begins another, if there is room.
    fn next(mut self) -> Result<Self, WriteTraceError> {
        self.flush()?;
        if self.full_from_ns.is_some() {
            return Ok(self);
        }
        let number = self.number + 1;
        let file = create_part(&self.trace, number)?;
        if let Err(error) = file.reserve(0, MIN_PART_BYTES) {
            self.end_early(&error);
            return Ok(self);
        }
        let before = self.before + self.current.rows();
        let (known, _) = keep_part(&self.trace, self.number, self.current, 0, false)?;
        let current = open_part(&self.trace, &self.head, number, file, known)?;
        Ok(Self { number, begun: Instant::now(), current, before, ..self })
    }

    /// Writes what still waits, as far as there is room: how many records are not written, with the `more` that came when nothing
    /// was written any more.
    fn end(&mut self, more: u64, end_ns: u64) -> Result<u64, WriteTraceError> {
        self.flush()?;
        let unwritten = self.records - self.before - self.current.rows() + more;
        if let (Some(from_ns), true) = (self.full_from_ns, unwritten > 0) {
            let gap = Gap { tid: None, from_ns, to_ns: end_ns.max(from_ns), records: unwritten };
            let added = TraceLists { gaps: vec![gap], ..TraceLists::default() };
            let last = TraceBatch { added, ..TraceBatch::default() };
            self.current
                .write(&last)
                .map_err(|error| trace_error(&self.trace, self.number, error))?;
        }
        Ok(unwritten)
    }

    /// Finishes the last part and makes one file of all: its records and bytes.
    fn join(self, head: &TraceHead, lost: u64) -> Result<(u64, u64), WriteTraceError> {
        let Self { trace, number, mut current, before, .. } = self;
        let records = before + current.rows();
        current.set_head(head).map_err(|error| trace_error(&trace, number, error))?;
        // What is there may be a link, or of another owner: then a new file takes its place as WholeFile does it.
        let replaces = fs::symlink_metadata(&trace).is_ok();
        if number == 0 && !replaces {
            // There is nothing to join, and on a full disk no room to.
            current.set_whole();
            let bytes = keep_part(&trace, number, current, lost, true)?.1;
            let part = part_path(&trace, number);
            return match fs::rename(&part, &trace) {
                Ok(()) => Ok((records, bytes)),
                Err(error) => Err(WriteTraceError::File { path: part, error }),
            };
        }
        keep_part(&trace, number, current, lost, true)?;
        let paths: Vec<PathBuf> = (0..=number).map(|number| part_path(&trace, number)).collect();
        let joined = join_parts(&paths, &trace)?;
        for path in &paths {
            let _ = fs::remove_file(path);
        }
        Ok((records, joined.bytes))
    }
}

fn trace_error(trace: &Path, number: u32, error: TraceError) -> WriteTraceError {
    WriteTraceError::Trace { path: part_path(trace, number), error }
}

fn create_part(trace: &Path, number: u32) -> Result<WholeFile, WriteTraceError> {
    let path = part_path(trace, number);
    WholeFile::create(&path).map_err(|error| WriteTraceError::File { path, error })
}

fn open_part(
    trace: &Path,
    head: &TraceHead,
    number: u32,
    file: WholeFile,
    known: Known,
) -> Result<Writer<WholeFile>, WriteTraceError> {
    let path = part_path(trace, number);
    let trace_error = |error| WriteTraceError::Trace { path: path.clone(), error };
    let mut writer = Writer::next(file, head, Some(number), known).map_err(trace_error)?;
    writer.reserve_by(WholeFile::reserve).map_err(trace_error)?;
    Ok(writer)
}

/// Finishes a part: from now on it outlives whatever ends hotset. Says what the next goes on from, and how many bytes it has.
fn keep_part(
    trace: &Path,
    number: u32,
    part: Writer<WholeFile>,
    lost: u64,
    is_last: bool,
) -> Result<(Known, u64), WriteTraceError> {
    let finished = part.finish(lost, is_last).map_err(|error| trace_error(trace, number, error))?;
    let file = finished.out;
    let kept = file.trim().and_then(|()| file.sync()).and_then(|()| file.keep());
    kept.map_err(|error| WriteTraceError::File { path: part_path(trace, number), error })?;
    Ok((finished.known, finished.bytes))
}

/// What came of joining parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinedTrace {
    /// Records in the trace.
    pub records: u64,
    /// Bytes of the trace.
    pub bytes: u64,
    /// Whether the recording ended with the last part: else hotset was stopped, and what it had not written is missing.
    pub ended: bool,
}

/// Makes one trace of parts, without decoding them.
///
/// # Errors
/// Where one can't be read, or the trace can't be written.
pub fn join_parts(parts: &[PathBuf], trace: &Path) -> Result<JoinedTrace, WriteTraceError> {
    let open = |path: &PathBuf| {
        File::open(path).map_err(|error| WriteTraceError::File { path: path.clone(), error })
    };
    let files = parts.iter().map(open).collect::<Result<Vec<File>, _>>()?;
    let file_error = |error| WriteTraceError::File { path: trace.to_owned(), error };
    let trace_error = |error| WriteTraceError::Trace { path: trace.to_owned(), error };
    let parts = hotset_trace::Parts::new(files).map_err(trace_error)?;
    let out = WholeFile::create(trace).map_err(file_error)?;
    let joined = join(&parts, out).map_err(trace_error)?;
    joined.out.sync().and_then(|()| joined.out.keep()).map_err(file_error)?;
    Ok(JoinedTrace { records: joined.totals.records, bytes: joined.bytes, ended: joined.ended })
}
