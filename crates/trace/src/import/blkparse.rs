//! The text of blkparse, with its usual format: what the block layer did, below the page cache.
//!
//! ```text
//!   8,0    3       11     0.009507758   697  D   W 223490 + 8 [kjournald]
//!   8,0    3       12     0.011500000   697  C   W 223490 + 8 [0]
//! ```
//!
//! Traps, each of which a test has:
//!
//! - One request has many lines (queued, merged, issued, completed). A record is made of D and C
//!   alone, so each request counts once.
//! - The command stands in brackets and may hold spaces; behind C stands an error number instead.
//! - Sectors are of 512 bytes, whatever the device's are.
//! - The sums at the end look like lines to none but a careless reader.
//!
//! Files are not known: the device stands for them. Memory: requests under way, of which 65,536 are
//! remembered.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::BufRead;
use std::path::PathBuf;

use hotset_facts::FileKind;
use hotset_facts::trace::{
    FileIndex, Operation, ProcessIndex, RecordFlags, TraceFile, TraceHead, TraceProcess,
    TraceRecord, TraceSource,
};

use super::batch::BatchBuilder;
use super::strace::seconds_ns;
use super::summary::shown;
use super::text::{LineParser, TextImport};
use super::{ImportSummary, head_of};

/// Bytes of a sector (SECTOR_SIZE, include/linux/blk_types.h).
const SECTOR: u64 = 512;

/// Requests under way that are remembered: queues of devices hold at most a few thousand.
const UNDER_WAY: usize = 65_536;

/// An importer of blkparse's text.
pub fn import<R: BufRead>(input: R) -> TextImport<R, BlkparseParser> {
    TextImport::with_parser(input, BlkparseParser::default())
}

/// Whether one of the first lines is an event.
pub fn looks_like(first: &[u8]) -> bool {
    let lines = first.split(|byte| *byte == b'\n').take(20);
    lines.filter(|line| !line.is_empty()).any(|line| Event::parse(line).is_ok())
}

/// A line, taken apart.
#[derive(Debug, PartialEq, Eq)]
struct Event<'a> {
    device: (u32, u32),
    time_ns: u64,
    pid: u32,
    action: &'a str,
    rwbs: &'a str,
    /// First sector and number of sectors.
    sectors: Option<(u64, u64)>,
    /// What stands in brackets at the end.
    bracketed: Option<&'a str>,
}

impl<'a> Event<'a> {
    fn parse(line: &'a [u8]) -> Result<Self, String> {
        let wrong = |what: &str| format!("{}: expected {what}", shown(line));
        let text = std::str::from_utf8(line).map_err(|_| wrong("text"))?;
        let mut words = text.split_ascii_whitespace();
        let mut word = |what: &str| words.next().ok_or_else(|| wrong(what));
        let device = word("a device, e.g. 8,0")?.split_once(',');
        let device =
            device.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let device = device.ok_or_else(|| wrong("a device, e.g. 8,0"))?;
        for what in ["the number of a CPU", "a sequence number"] {
            word(what)?.parse::<u64>().map_err(|_| wrong(what))?;
        }
        let time = word("seconds since the start")?;
        let time_ns = seconds_ns(time.as_bytes()).filter(|_| time.contains('.'));
        let time_ns = time_ns.ok_or_else(|| wrong("seconds since the start"))?;
        let pid = word("a PID")?.parse().map_err(|_| wrong("a PID"))?;
        let action = word("an action, e.g. D")?;
        let rwbs = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.take(3).collect();
        let sectors = match rest.as_slice() {
            [first, "+", count, ..] => first.parse().ok().zip(count.parse().ok()),
            _ => None,
        };
        let open = text.find('[').filter(|_| text.trim_end().ends_with(']'));
        let bracketed =
            open.and_then(|open| text.trim_end().get(open + 1..text.trim_end().len() - 1));
        Ok(Self { device, time_ns, pid, action, rwbs, sectors, bracketed })
    }
}

type Key = (u32, u32, u64, u64);

/// Reads the lines of blkparse.
#[derive(Default)]
pub struct BlkparseParser {
    devices: HashMap<(u32, u32), FileIndex>,
    processes: HashMap<(u32, String), ProcessIndex>,
    under_way: HashMap<Key, TraceRecord>,
    order: VecDeque<Key>,
    left_out: BTreeMap<&'static str, u64>,
    is_at_sums: bool,
    /// Requests that were issued, and whose completion did not come.
    unfinished: u64,
}

impl BlkparseParser {
    fn leave_out(&mut self, what: &'static str) {
        *self.left_out.entry(what).or_default() += 1;
    }

    fn device(&mut self, device: (u32, u32), out: &mut BatchBuilder) -> FileIndex {
        *self.devices.entry(device).or_insert_with(|| {
            let (major, minor) = device;
            out.add_file(TraceFile {
                path: Some(PathBuf::from(format!("/dev/block/{major}:{minor}"))),
                kind: FileKind::BlockDevice,
                id: None,
                size_bytes: None,
                cached_pages: None,
            })
        })
    }

    /// A request that is issued. Its process is the one that issued it: of writes, mostly a thread
    /// of the kernel.
    fn issue(
        &mut self,
        event: &Event<'_>,
        operation: Operation,
        (first, count): (u64, u64),
        out: &mut BatchBuilder,
    ) -> TraceRecord {
        let comm = event.bracketed.filter(|_| event.action == "D").map(str::to_owned);
        let process = comm.map(|comm| {
            *self.processes.entry((event.pid, comm.clone())).or_insert_with(|| {
                out.add_process(TraceProcess { pid: event.pid, ppid: None, comm, argv: Vec::new() })
            })
        });
        let bytes = count.saturating_mul(SECTOR);
        let is_read = operation == Operation::DeviceRead;
        TraceRecord {
            process,
            // Who completes a request is whom the interrupt met.
            tid: (event.action == "D").then_some(event.pid),
            file: Some(self.device(event.device, out)),
            offset: Some(first.saturating_mul(SECTOR)),
            asked_bytes: Some(bytes),
            flags: match event.rwbs.contains('S') && !is_read {
                true => RecordFlags::SYNC,
                false => RecordFlags::NONE,
            },
            device_read_bytes: is_read.then_some(bytes),
            device_write_bytes: (!is_read).then_some(bytes),
            ..TraceRecord::new(event.time_ns, operation)
        }
    }

    fn remember(&mut self, key: Key, record: TraceRecord, out: &mut BatchBuilder) {
        if self.under_way.len() >= UNDER_WAY
            && let Some(oldest) = self.order.pop_front()
        {
            self.give_up(oldest, out);
        }
        // A request that is issued again (requeued) begins anew.
        if self.under_way.insert(key, record).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > 2 * UNDER_WAY {
            let under_way = &self.under_way;
            self.order.retain(|key| under_way.contains_key(key));
        }
    }

    fn give_up(&mut self, key: Key, out: &mut BatchBuilder) {
        if let Some(mut record) = self.under_way.remove(&key) {
            let (major, minor, ..) = key;
            record.path = Some(out.path(format!("/dev/block/{major}:{minor}").as_bytes()));
            self.unfinished += 1;
            out.push(record);
        }
    }

    fn complete(
        &mut self,
        event: &Event<'_>,
        key: Key,
        begun: TraceRecord,
        out: &mut BatchBuilder,
    ) {
        let error = event.bracketed.and_then(|error| error.parse::<i64>().ok()).unwrap_or(0);
        let (major, minor, ..) = key;
        let is_timed = event.time_ns != begun.start_ns || begun.process.is_some();
        let path = out.path(format!("/dev/block/{major}:{minor}").as_bytes());
        out.push(TraceRecord {
            path: Some(path),
            duration_ns: is_timed.then(|| event.time_ns.saturating_sub(begun.start_ns)),
            result: match error {
                0 => begun.asked_bytes.and_then(|bytes| i64::try_from(bytes).ok()),
                error => Some(-error.saturating_abs()),
            },
            ..begun
        });
    }
}

impl LineParser for BlkparseParser {
    const EXPECTED: &'static str =
        "lines of blkparse, e.g. 8,0 3 11 0.009507758 697 D W 223490 + 8 [kjournald]";

    fn line(&mut self, line: &[u8], out: &mut BatchBuilder) -> Result<(), String> {
        self.is_at_sums |= line.starts_with(b"CPU") || line.starts_with(b"Total (");
        if self.is_at_sums || line.trim_ascii().is_empty() {
            return Ok(());
        }
        let event = Event::parse(line)?;
        let operation = match (event.rwbs.contains('R'), event.rwbs.contains('W')) {
            _ if event.rwbs.contains('D') => None,
            (true, _) => Some(Operation::DeviceRead),
            (_, true) => Some(Operation::Writeback),
            _ => None,
        };
        let (Some(sectors), Some(operation)) = (event.sectors, operation) else {
            self.leave_out("lines that are neither a read nor a write: plugs, flushes, discards");
            return Ok(());
        };
        let ((major, minor), (first, count)) = (event.device, sectors);
        let key = (major, minor, first, count);
        match event.action {
            "D" => {
                let record = self.issue(&event, operation, sectors, out);
                self.remember(key, record, out);
            }
            "C" => {
                let begun = self.under_way.remove(&key);
                let begun = begun.unwrap_or_else(|| self.issue(&event, operation, sectors, out));
                self.complete(&event, key, begun, out);
            }
            _ => self.leave_out("steps of a request other than issue (D) and completion (C)"),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut BatchBuilder) {
        while let Some(key) = self.order.pop_front() {
            self.give_up(key, out);
        }
    }

    fn head(&self) -> TraceHead {
        let lacks = [
            "all that the page cache answered: blktrace sees what is below it",
            "files: offsets are those of the block device",
            "who asked: the process is the one that issued the request, for writes mostly a \
             thread of the kernel",
        ];
        let unfinished = (self.unfinished > 0).then(|| {
            format!("durations and results of {} requests without a completion", self.unfinished)
        });
        let lacks = lacks.map(str::to_owned).into_iter().chain(unfinished);
        head_of(TraceSource::Blkparse, lacks.collect())
    }

    fn tell(&self, summary: &mut ImportSummary) {
        for (what, count) in &self.left_out {
            summary.leave_out(what, *count);
        }
    }
}
