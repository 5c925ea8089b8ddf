//! A timeline for ui.perfetto.dev and `trace_processor`: protocol buffers, which are hand-written
//! here, since they are ten kinds of messages.
//!
//! Each process has a track, and below it each of its threads: slices are what it did. Requests of
//! io_uring and Linux AIO have tracks of their own, because they run side by side. Four counters
//! tell bytes per second.
//!
//! By default only what explains time is written: operations of more than 20 us, misses, major
//! faults and syncs. Browsers can't open a trace of millions of slices
//! (docs/visualization/large-traces.md of Perfetto says how to).
//!
//! Memory: a batch, a few KiB for each thread, and the counters' intervals, of which there are at
//! most 65,536.

mod counters;
mod lanes;
mod packets;

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::time::SystemTime;

use hotset_facts::trace::{
    Operation, OperationClass, TraceBatch, TraceHead, TraceLists, TraceRecord,
};

use super::protobuf::Message;
use super::{ExportError, Exported};
use crate::errno;

use counters::{Counters, NAMES};
use lanes::Lanes;
use packets::{Note, Packets, Type, Value, event, note};

/// Which records become slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Slices {
    /// What takes more than 20 us, misses, major faults, syncs.
    #[default]
    Slow,
    /// Every record.
    All,
}

/// What takes longer has waited for more than the CPU: a read of a cached page takes 0.3 to 1 us,
/// of a device 20 us and more.
const SLOW_NS: u64 = 20_000;

const NOT_SLOW: &str =
    "not written: they took at most 20 us, missed nothing and synced nothing (--all writes them)";

const TOO_MANY: &str = "not written: more than 256 requests of a thread were under way at once";

/// Which line of a thread a record belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Line {
    Calls,
    Uring,
    Aio,
    Kernel,
}

impl Line {
    fn of(operation: Operation) -> Self {
        use Operation as Op;
        match operation {
            Op::UringRead
            | Op::UringWrite
            | Op::UringSplice
            | Op::UringSync
            | Op::UringOpen
            | Op::UringStatx => Self::Uring,
            Op::AioRead | Op::AioWrite | Op::AioSync => Self::Aio,
            Op::DeviceRead | Op::Writeback | Op::PageIn | Op::PageOut => Self::Kernel,
            _ => Self::Calls,
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Calls => "overlapping calls",
            Self::Uring => "io_uring requests",
            Self::Aio => "AIO requests",
            Self::Kernel => "device I/O outside of calls",
        }
    }
}

/// A thread: its process, if that is known, and its ID.
type Thread = (Option<u32>, Option<u32>);

/// Writes a timeline.
///
/// # Errors
///
/// The batches or the output fail.
pub fn export<E, W: Write>(
    batches: impl IntoIterator<Item = Result<TraceBatch, E>>,
    head: &TraceHead,
    lists: &TraceLists,
    slices: Slices,
    out: W,
) -> Result<Exported, ExportError<E>> {
    let started = head.started_at.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    let started_ns = started.and_then(|since| u64::try_from(since.as_nanos()).ok());
    let mut timeline = Timeline {
        packets: Packets::new(out, started_ns)?,
        lists,
        slices,
        lanes: HashMap::new(),
        tracks: HashMap::new(),
        described: HashSet::new(),
        counters: Counters::new(),
        exported: Exported::default(),
    };
    for batch in batches {
        let mut batch = batch.map_err(ExportError::Records)?;
        // Of what begins together, what lasts longer holds the rest.
        batch.records.sort_by_key(|record| {
            let end_ns = record.start_ns.saturating_add(record.duration_ns.unwrap_or(0));
            (record.start_ns, std::cmp::Reverse(end_ns))
        });
        for record in &batch.records {
            timeline.record(record, &batch)?;
        }
    }
    timeline.write_gaps()?;
    timeline.write_counters()?;
    timeline.packets.flush()?;
    Ok(timeline.exported.finish())
}

struct Timeline<'a, W> {
    packets: Packets<W>,
    lists: &'a TraceLists,
    slices: Slices,
    lanes: HashMap<(Thread, Line), Lanes>,
    tracks: HashMap<(Thread, Line, usize), u64>,
    /// Processes whose tracks were described.
    described: HashSet<u32>,
    counters: Counters,
    exported: Exported,
}

/// Tracks of processes are numbered by PID behind this, others from 1.
const PROCESS_TRACKS: u64 = 1 << 40;

/// Tracks of lost records.
const GAP_TRACKS: u64 = 1 << 42;

/// Tracks of counters.
const COUNTER_TRACKS: u64 = 1 << 41;

impl<W: Write> Timeline<'_, W> {
    fn record(&mut self, record: &TraceRecord, batch: &TraceBatch) -> io::Result<()> {
        self.exported.records += 1;
        self.counters.add(record);
        if self.slices == Slices::Slow && !is_slow(record) {
            self.exported.lose(NOT_SLOW);
            return Ok(());
        }
        let process = record.process.and_then(|process| self.lists.process(process));
        let thread = (process.map(|process| process.pid), record.tid);
        let line = Line::of(record.operation);
        let end_ns = record.start_ns.saturating_add(record.duration_ns.unwrap_or(0));
        let lanes = self.lanes.entry((thread, line)).or_default();
        let Some((lane, _)) = lanes.place(record.start_ns, end_ns) else {
            self.exported.lose(TOO_MANY);
            return Ok(());
        };
        let track = self.track(thread, line, lane)?;
        let kind = if record.duration_ns.is_some() { Type::Begin } else { Type::Instant };
        let mut begin = event(kind, track, Some(record.operation));
        notes(&mut begin, record, batch);
        self.packets.event(record.start_ns, &begin)?;
        if record.duration_ns.is_some() {
            self.packets.event(end_ns, &event(Type::End, track, None))?;
        }
        self.exported.written += 1;
        Ok(())
    }

    /// The track of a lane, which is described at its first use.
    fn track(&mut self, thread: Thread, line: Line, lane: usize) -> io::Result<u64> {
        let key = (thread, line, lane);
        if let Some(track) = self.tracks.get(&key) {
            return Ok(*track);
        }
        let track = self.tracks.len() as u64 + 1;
        self.tracks.insert(key, track);
        let (pid, tid) = thread;
        let parent = pid.map(|pid| self.process_track(pid)).transpose()?;
        let mut descriptor = Message::new();
        descriptor.uint(1, track);
        match (pid, tid, line, lane) {
            (Some(pid), Some(tid), Line::Calls, 0) => {
                let comm = self.comm(pid).to_owned();
                let mut thread = Message::new();
                thread.uint(1, u64::from(pid)).uint(2, u64::from(tid)).text(5, &comm);
                descriptor.message(4, &thread);
            }
            _ => {
                let tid = tid.map(|tid| format!(" of thread {tid}")).unwrap_or_default();
                let title = if line == Line::Calls && lane == 0 { "calls" } else { line.title() };
                descriptor.text(2, &format!("{title}{tid}"));
            }
        }
        if let Some(parent) = parent {
            descriptor.uint(5, parent);
        }
        self.packets.track(&descriptor)?;
        Ok(track)
    }

    /// The name of the program that a process ran last.
    fn comm(&self, pid: u32) -> &str {
        let last = self.lists.processes.iter().rev().find(|process| process.pid == pid);
        last.map(|process| process.comm.as_str()).unwrap_or_default()
    }

    fn process_track(&mut self, pid: u32) -> io::Result<u64> {
        let track = PROCESS_TRACKS + u64::from(pid);
        if self.described.insert(pid) {
            let mut process = Message::new();
            process.uint(1, u64::from(pid)).text(6, self.comm(pid));
            let last = self.lists.processes.iter().rev().find(|process| process.pid == pid);
            for word in last.map(|process| process.argv.iter()).into_iter().flatten() {
                process.text(2, &word.to_string_lossy());
            }
            self.packets.track(Message::new().uint(1, track).message(3, &process))?;
        }
        Ok(track)
    }

    /// A slice where records are missing, so that nobody takes it for silence.
    fn write_gaps(&mut self) -> io::Result<()> {
        let mut lanes = Lanes::default();
        for gap in &self.lists.gaps {
            let to_ns = gap.to_ns.max(gap.from_ns);
            let Some((lane, is_new)) = lanes.place(gap.from_ns, to_ns) else { break };
            let track = GAP_TRACKS + lane as u64;
            if is_new {
                self.packets.track(Message::new().uint(1, track).text(2, "lost records"))?;
            }
            let mut begin = event(Type::Begin, track, None);
            let tid = gap.tid.map(|tid| format!(" of thread {tid}")).unwrap_or_default();
            begin.text(23, &format!("{} records{tid} lost", gap.records));
            self.packets.event(gap.from_ns, &begin)?;
            self.packets.event(to_ns, &event(Type::End, track, None))?;
        }
        Ok(())
    }

    fn write_counters(&mut self) -> io::Result<()> {
        for (track, name) in (COUNTER_TRACKS..).zip(NAMES) {
            let mut counter = Message::new();
            counter.uint(3, 3);
            let title = format!("{name}, bytes per second");
            self.packets
                .track(Message::new().uint(1, track).text(2, &title).message(8, &counter))?;
        }
        for (time_ns, rates) in self.counters.rates() {
            for (track, rate) in (COUNTER_TRACKS..).zip(rates) {
                let mut event = event(Type::Counter, track, None);
                event.int(30, i64::try_from(rate).unwrap_or(i64::MAX));
                self.packets.event(time_ns, &event)?;
            }
        }
        Ok(())
    }
}

/// Whether a record explains time.
fn is_slow(record: &TraceRecord) -> bool {
    record.duration_ns.is_some_and(|duration_ns| duration_ns > SLOW_NS)
        || record.pages.is_some_and(|pages| pages.misses > 0)
        || record.operation == Operation::MajorFault
        || record.class == OperationClass::Sync
}

/// What is told of a record.
fn notes(begin: &mut Message, record: &TraceRecord, batch: &TraceBatch) {
    let path =
        |index: Option<_>| index.and_then(|index| batch.path(index)).map(String::from_utf8_lossy);
    for (name, path) in [(Note::Path, path(record.path)), (Note::NewPath, path(record.new_path))] {
        if let Some(path) = path {
            note(begin, name, Value::Text(&path));
        }
    }
    let numbers = [
        (Note::Offset, record.offset),
        (Note::AskedBytes, record.asked_bytes),
        (Note::Pages, record.pages.map(|pages| u64::from(pages.pages))),
        (Note::Hits, record.pages.map(|pages| u64::from(pages.hits))),
        (Note::Misses, record.pages.map(|pages| u64::from(pages.misses))),
        (Note::ReadAhead, record.pages.map(|pages| u64::from(pages.read_ahead))),
        (Note::DeviceReadBytes, record.device_read_bytes),
        (Note::DeviceWriteBytes, record.device_write_bytes),
        (Note::Site, record.site.map(|site| u64::from(site.0))),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            note(begin, name, Value::Uint(number));
        }
    }
    if let Some(result) = record.result {
        note(begin, Note::Result, Value::Int(result));
        if let Some(error) = errno::name(result) {
            note(begin, Note::Error, Value::Text(error));
        }
    }
    if record.flags.0 != 0 {
        note(begin, Note::Flags, Value::Text(&record.flags.to_string()));
    }
}
