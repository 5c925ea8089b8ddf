//! Records as they come from the rings become records of a trace.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use hotset_facts::trace::{
    Gap, Operation, OperationClass, PathIndex, RecordFlags, RecordPages, TraceBatch, TraceRecord,
};
use hotset_sys::proc::mountinfo::Mount;

use super::call::{Calls, told};
use super::code::ToldCode;
use super::cost::KNOWN_READS;
use super::descriptions::Descriptions;
use super::files::Files;
use super::incoming::Incoming;
use super::mapped::Mapped;
use super::programs::Programs;
use super::raw::{Lost, Op, Raw, RawPath, StackHead, flag};
use super::{RecordBatch, StackSample};
use crate::collector::Collector;
use crate::record::FileKey;

/// A base page of the architecture that the sensor runs on.
const PAGE_BYTES: u64 = 4096;

/// What is kept from one batch to the next.
pub(super) struct Resolver {
    calls: Calls,
    begun_ns: u64,
    self_tgid: u32,
    /// Device bytes are known, and with them pages without any.
    has_device: bool,
    files: Files,
    programs: Programs,
    mapped: Mapped<FileKey>,
    descriptions: Descriptions,
    code: ToldCode,
    /// Durations of the known reads of this process.
    own_reads_ns: Vec<u64>,
    /// Records of operations that nothing is known of.
    pub(super) unknown: u64,
}

/// Paths of one batch, each once.
#[derive(Default)]
struct Paths {
    all: Vec<Vec<u8>>,
    known: HashMap<Vec<u8>, PathIndex>,
    /// The one that was added last. Most records are of the same file as the one before.
    last: Option<PathIndex>,
}

impl Paths {
    fn add(&mut self, path: &[u8]) -> PathIndex {
        if let Some(last) = self.last
            && self.all.get(last.0 as usize).is_some_and(|known| known == path)
        {
            return last;
        }
        let index = self.find(path);
        self.last = Some(index);
        index
    }

    fn find(&mut self, path: &[u8]) -> PathIndex {
        if let Some(known) = self.known.get(path) {
            return *known;
        }
        let index = PathIndex(self.all.len().try_into().unwrap_or(u32::MAX));
        self.all.push(path.to_vec());
        self.known.insert(path.to_vec(), index);
        index
    }
}

/// What names are found by.
struct Names<'a> {
    collector: &'a Collector,
    mounts: &'a [Mount],
    bases: HashMap<u64, Option<PathBuf>>,
}

impl Names<'_> {
    /// A path that was asked for, absolute where its base is known.
    fn absolute(&mut self, asked: &RawPath) -> Vec<u8> {
        if asked.base == 0 {
            return asked.bytes.clone();
        }
        let (collector, mounts) = (self.collector, self.mounts);
        let find = || collector.names.directory(asked.base, mounts);
        match self.bases.entry(asked.base).or_insert_with(find) {
            Some(base) if asked.bytes.is_empty() => base.as_os_str().as_bytes().to_vec(),
            Some(base) => {
                let mut path = base.as_os_str().as_bytes().to_vec();
                if path.last() != Some(&b'/') {
                    path.push(b'/');
                }
                path.extend_from_slice(&asked.bytes);
                path
            }
            None => asked.bytes.clone(),
        }
    }
}

impl Resolver {
    pub(super) fn new(begun_ns: u64, has_device: bool) -> Self {
        Self {
            calls: Calls::new(),
            begun_ns,
            self_tgid: std::process::id(),
            has_device,
            files: Files::default(),
            programs: Programs::new(std::process::id()),
            mapped: Mapped::default(),
            descriptions: Descriptions::default(),
            unknown: 0,
            code: ToldCode::default(),
            own_reads_ns: Vec::new(),
        }
    }

    /// Durations of reads by place of this process itself, in the order in which they ended.
    pub(super) fn own_reads_ns(&self) -> &[u64] {
        &self.own_reads_ns
    }

    /// Turns records that ended until then into those of a trace, in the order in which they ended.
    pub(super) fn batch(
        &mut self,
        incoming: &mut Incoming,
        until_ns: u64,
        collector: &mut Collector,
        mounts: &[Mount],
    ) -> RecordBatch {
        self.programs.tell(collector.programs.as_mut().map(std::mem::take).unwrap_or_default());
        let records = Vec::with_capacity(incoming.len());
        let mut batch = RecordBatch {
            trace: TraceBatch { records, ..TraceBatch::default() },
            sites: Vec::with_capacity(incoming.len()),
            stacks: Vec::new(),
        };
        let mut paths = Paths::default();
        let mut names = Names { collector, mounts, bases: HashMap::new() };
        incoming.take_until(until_ns, |raw| self.add(raw, &mut batch, &mut names, &mut paths));
        batch.trace.paths = paths.all;
        batch.trace.added.processes = self.programs.added();
        batch.trace.added.files = self.files.added();
        batch
    }

    /// What one record says.
    fn add(
        &mut self,
        raw: &mut Raw,
        batch: &mut RecordBatch,
        names: &mut Names<'_>,
        paths: &mut Paths,
    ) {
        let (op, asked) = match raw {
            Raw::Op(op) => (&*op, None),
            Raw::Paths(with) => (&with.op, Some((&with.path, with.new_path.as_ref()))),
            Raw::Lost(lost) => return batch.trace.added.gaps.push(self.gap(lost)),
            // It is followed while it starts a command; its records are not kept either.
            Raw::Stack(head, _) if head.tgid == self.self_tgid => return,
            Raw::Stack(head, stack) => {
                let stack = std::mem::take(stack);
                return batch.stacks.push(self.sample(head, stack, names));
            }
            Raw::Code(head, mappings) => return self.code.tell(*head, std::mem::take(mappings)),
        };
        if let Some(record) = self.record(op, asked, names, paths) {
            batch.trace.records.push(record);
            batch.sites.push(op.site);
        }
    }

    fn sample(&mut self, head: &StackHead, stack: Vec<u8>, names: &Names<'_>) -> StackSample {
        let path = |file: &FileKey| names.collector.path(file, names.mounts);
        StackSample {
            site: head.site,
            place: head.place,
            pid: head.tgid,
            tid: head.tid,
            time_ns: head.time_ns.saturating_sub(self.begun_ns),
            ip: head.ip,
            sp: head.sp,
            bp: head.bp,
            stack_start: head.stack_start,
            stack,
            code: self.code.take(head.tid, head.stack_start, path),
        }
    }

    fn gap(&self, lost: &Lost) -> Gap {
        Gap {
            tid: Some(lost.tid).filter(|&tid| tid != 0),
            from_ns: lost.from_ns.saturating_sub(self.begun_ns),
            to_ns: lost.to_ns.saturating_sub(self.begun_ns),
            records: lost.records,
        }
    }

    fn record(
        &mut self,
        op: &Op,
        asked: Option<(&RawPath, Option<&RawPath>)>,
        names: &mut Names<'_>,
        paths: &mut Paths,
    ) -> Option<TraceRecord> {
        let operation = self.calls.operation(op.call);
        // While it times known reads, and between marking and spawning, this process is followed too; that is not the command's.
        if op.tgid == self.self_tgid {
            // Behind the known ones there are others where the mark of this process could not be removed.
            if operation == Some(Operation::Pread) && self.own_reads_ns.len() < KNOWN_READS {
                self.own_reads_ns.push(op.ns);
            }
            return None;
        }
        let Some(operation) = operation else {
            self.unknown += 1;
            return None;
        };
        let operation = by_direction(operation, op);
        let start_ns = op.start_ns.saturating_sub(self.begun_ns);
        let mut record = TraceRecord::new(start_ns, operation);
        if op.flags & flag::TARGET != 0 {
            record.class = OperationClass::Write;
        }
        let process = self.programs.at(op.owner, op.tgid, op.end_ns(), names.collector);
        if let Some(at) = process {
            record.process = Some(at.index);
            if let (true, Some(parent)) = (at.is_new, at.ppid) {
                self.mapped.inherit(parent, op.tgid);
            }
        }
        let (key, offset) = self.place(op, operation)?;
        record.tid = Some(op.tid).filter(|&tid| tid != 0);
        record.duration_ns = (op.flags & flag::NO_TIME == 0).then_some(op.ns);
        record.description = self.description(op, record.class);
        (record.offset, record.asked_bytes) = range(op, operation, offset);
        record.result = has_result(operation).then_some(op.result);
        record.flags = flags(op, operation, record.class);
        if op.flags & flag::UNCOUNTED == 0 && has_pages(record.class) {
            record.pages = Some(self.pages(op, record.class));
        }
        if self.has_device && has_device(record.class) {
            record.device_read_bytes = Some(op.device_read_bytes);
            record.device_write_bytes = Some(op.device_write_bytes);
        }
        if let Some((index, known)) = self.files.find(key, names.collector, names.mounts) {
            record.file = Some(index);
            record.path = known.map(|known| paths.add(known));
        }
        if let Some((path, new_path)) = asked {
            // What a symbolic link holds is words, and no path of the process.
            let is_text = matches!(operation, Operation::Symlink | Operation::Symlinkat);
            let full = if is_text { path.bytes.clone() } else { names.absolute(path) };
            record.path = (!full.is_empty()).then(|| paths.add(&full)).or(record.path);
            record.new_path = new_path.map(|path| paths.add(&names.absolute(path)));
        }
        Some(record)
    }

    /// The file that a call is about, and where in it; none where a call is about memory that is no file's.
    fn place(&mut self, op: &Op, operation: Operation) -> Option<(FileKey, u64)> {
        let ended_well = op.result >= 0;
        match operation {
            Operation::Mmap if ended_well => {
                self.mapped.add(op.tgid, op.result as u64, op.asked, op.file, op.offset);
            }
            Operation::Munmap => {
                let found = self.mapped.at(op.tgid, op.offset);
                if ended_well {
                    self.mapped.remove(op.tgid, op.offset, op.asked);
                }
                return found;
            }
            Operation::Madvise => return self.mapped.at(op.tgid, op.offset),
            // Counted, whatever memory it is about.
            Operation::Msync => {
                let found = self.mapped.at(op.tgid, op.offset);
                return Some(found.unwrap_or((FileKey::NONE, u64::MAX)));
            }
            Operation::Execve | Operation::Execveat if ended_well => self.mapped.clear(op.tgid),
            _ => {}
        }
        Some((op.file, op.offset))
    }

    fn description(&mut self, op: &Op, class: OperationClass) -> Option<u64> {
        if op.open_file == 0 || class == OperationClass::Exec {
            return None;
        }
        let opens = class == OperationClass::Open && op.result >= 0;
        Some(self.descriptions.number(op.open_file, op.file, opens))
    }

    fn pages(&self, op: &Op, class: OperationClass) -> RecordPages {
        if class == OperationClass::Cache {
            let pages = u32::try_from(op.asked / PAGE_BYTES).unwrap_or(u32::MAX);
            return RecordPages { pages, ..RecordPages::default() };
        }
        let absent = if class == OperationClass::Write { op.created } else { op.misses };
        RecordPages {
            pages: op.pages,
            hits: op.pages.saturating_sub(absent),
            ahead_hits: op.ahead_hits,
            misses: op.misses,
            zeros: self.has_device.then_some(op.zeros),
            read_ahead: op.read_ahead,
        }
    }
}

/// What comes beside requests is named by what it did.
fn by_direction(operation: Operation, op: &Op) -> Operation {
    let writes = op.device_write_bytes > 0 && op.device_read_bytes == 0 && op.pages == 0;
    match operation {
        Operation::DeviceRead if writes && op.read_ahead == 0 => Operation::Writeback,
        other => other,
    }
}

/// Where a call began and how much it asked for, as far as it did. To cut or extend a file is to ask for its new size.
fn range(op: &Op, operation: Operation, offset: u64) -> (Option<u64>, Option<u64>) {
    // Below 0 the call was refused: that is no place in a file.
    let place = |at: u64| Some(at).filter(|&at| i64::try_from(at).is_ok());
    match operation {
        Operation::Truncate => (place(op.how), None),
        Operation::Ftruncate => (place(offset), None),
        Operation::SyncFileRange | Operation::Msync => (place(offset), Some(op.asked)),
        _ if operation.class() == OperationClass::Sync => (None, None),
        _ if op.flags & flag::NO_RANGE != 0 => (None, None),
        _ => (place(offset), Some(op.asked)),
    }
}

fn has_result(operation: Operation) -> bool {
    !matches!(
        operation,
        Operation::MinorFault
            | Operation::MajorFault
            | Operation::DeviceRead
            | Operation::Writeback
            | Operation::PageIn
            | Operation::PageOut
    )
}

fn has_pages(class: OperationClass) -> bool {
    matches!(
        class,
        OperationClass::Read
            | OperationClass::Write
            | OperationClass::Fault
            | OperationClass::Device
            | OperationClass::Advice
            | OperationClass::Cache
    )
}

fn has_device(class: OperationClass) -> bool {
    (has_pages(class) && class != OperationClass::Cache) || class == OperationClass::Sync
}

/// How a file was opened is said of what it matters to.
fn flags(op: &Op, operation: Operation, class: OperationClass) -> RecordFlags {
    let moves = matches!(class, OperationClass::Read | OperationClass::Write);
    let writes = class == OperationClass::Write;
    let words = [
        (flag::DIRECT, RecordFlags::DIRECT, moves),
        (flag::APPEND, RecordFlags::APPEND, writes),
        (flag::SYNC, RecordFlags::SYNC, writes),
        (flag::NOWAIT, RecordFlags::NOWAIT, moves),
        (flag::DONTCACHE, RecordFlags::DONTCACHE, moves),
        (flag::POSITION, RecordFlags::POSITION, moves),
        (flag::WAITED, RecordFlags::WAITED, true),
    ];
    words
        .iter()
        .filter(|(bit, _, matters)| *matters && op.flags & bit != 0)
        .fold(told(operation, op.how), |flags, (_, flag, _)| flags.with(*flag))
}
