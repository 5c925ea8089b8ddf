//! From records of reads and writes to steps, also of those that have two files.
//!
//! A call that copies from one file to another has two records of one thread and time: the source first, then the target. Where a
//! pipe or a socket is at one end, that end has none, and what the file went through is done without it: what was taken of it is
//! sent to where nothing keeps it, what came into it is written. How long that took was the other end's business too, so
//! what is sent counts as not timed.

use std::collections::HashMap;

use hotset_facts::replay::{LeftOut, PlanTransfer, Step, StepKind};
use hotset_facts::trace::{
    Operation, OperationClass, ProcessIndex, RecordFlags, TraceBatch, TraceRecord,
};

use super::PlanBuilder;
use super::convert::Converted;

const EAGAIN: i64 = 11;

/// A thread of the trace.
type Tid = (Option<ProcessIndex>, Option<u32>);

/// The source of a copy whose target may follow.
#[derive(Debug)]
struct Source {
    record: TraceRecord,
    /// Its place in the trace.
    number: u32,
    /// Its slot, and why it has none.
    slot: Result<u32, LeftOut>,
}

/// What calls copy, and the sources of which nobody knows yet where their bytes went.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    pub(super) all: Vec<PlanTransfer>,
    sources: HashMap<Tid, Source>,
}

impl Transfers {
    /// The slots that a step copies between, and where to.
    pub(super) fn of(&self, step: &Step) -> Option<&PlanTransfer> {
        let copies = matches!(step.kind, StepKind::CopyRange | StepKind::SendTo);
        self.all.get(step.target as usize).filter(|_| copies)
    }

    fn add(&mut self, transfer: PlanTransfer) -> u32 {
        self.all.push(transfer);
        u32::try_from(self.all.len() - 1).unwrap_or(u32::MAX)
    }
}

/// Whether a call has two ends.
fn has_two_ends(operation: Operation) -> bool {
    matches!(operation, Operation::CopyFileRange | Operation::Sendfile | Operation::Splice)
}

impl PlanBuilder<'_> {
    /// Takes what belongs to a call with two ends: whether this record does.
    pub(super) fn takes_end(&mut self, record: &TraceRecord, batch: &TraceBatch) -> bool {
        let has_two_ends = has_two_ends(record.operation);
        if !has_two_ends && self.transfers.sources.is_empty() {
            return false;
        }
        let tid = (record.process, record.tid);
        let known = self.transfers.sources.remove(&tid);
        let is_target = record.class == OperationClass::Write && has_two_ends;
        let call = (record.operation, record.start_ns);
        match known {
            Some(source)
                if is_target && (source.record.operation, source.record.start_ns) == call =>
            {
                self.copied(&source, record, batch);
                return true;
            }
            Some(source) => self.sent(&source),
            None => {}
        }
        if is_target {
            let step = self.received(record, batch);
            self.take(record, step);
        } else if has_two_ends {
            let slot = self.end(record, batch);
            let (record, number) = (*record, self.records);
            self.transfers.sources.insert(tid, Source { record, number, slot });
        }
        has_two_ends
    }

    /// Nothing follows any more.
    pub(super) fn all_sent(&mut self) {
        let mut sources: Vec<Source> = self.transfers.sources.drain().map(|(_, of)| of).collect();
        sources.sort_by_key(|source| source.number);
        sources.iter().for_each(|source| self.sent(source));
    }

    /// The slot of one end, of which bytes were moved.
    fn end(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Result<u32, LeftOut> {
        let (slot, file) = self.slot(record, batch)?;
        if record.result.ok_or(LeftOut::NoResult)? < 0 {
            // Between which files a call can copy depends on their file systems; how much a socket takes, on who reads it.
            return Err(LeftOut::OtherError);
        }
        record.offset.ok_or(LeftOut::NoResult)?;
        self.files.touched(file, record);
        if record.class == OperationClass::Write {
            self.slots.writes(slot);
            self.files.changes(file);
        }
        Ok(slot)
    }

    /// Bytes of a file went into a pipe or a socket, which took as many as it had room for.
    fn sent(&mut self, source: &Source) {
        let record = &source.record;
        let moved = record.result.unwrap_or(0);
        let step = source.slot.map(|slot| Step {
            offset: record.offset.unwrap_or(0),
            bytes: u64::try_from(moved).unwrap_or(0),
            result: moved,
            ..Step::new(StepKind::Send, slot, source.number)
        });
        self.take(record, step);
    }

    /// Bytes of a pipe went into a file.
    fn received(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let slot = self.end(record, batch)?;
        let positioned = record.flags.has(RecordFlags::POSITION);
        let kind = if positioned { StepKind::Write } else { StepKind::WriteAt };
        let mut step = self.new_step(kind, slot, record)?;
        step.offset = record.offset.ok_or(LeftOut::NoResult)?;
        step.bytes = u64::try_from(step.result).unwrap_or(0);
        Ok(step)
    }

    /// Bytes of a file went into another.
    fn copied(&mut self, source: &Source, target: &TraceRecord, batch: &TraceBatch) {
        let Ok(from) = source.slot else {
            let step = self.received(target, batch);
            self.sent(source);
            return self.take(target, step);
        };
        let Ok(to) = self.end(target, batch) else {
            *self.left_out.entry(LeftOut::SpecialFile).or_default() += 1;
            return self.sent(source);
        };
        let to_offset = target.offset.unwrap_or(0);
        let copy = self.transfers.add(PlanTransfer { from, to, to_offset });
        let record = &source.record;
        let kind = match record.operation {
            Operation::CopyFileRange => StepKind::CopyRange,
            _ => StepKind::SendTo,
        };
        let step = Step {
            offset: record.offset.unwrap_or(0),
            bytes: record.asked_bytes.unwrap_or(0),
            result: record.result.unwrap_or(0),
            ..Step::new(kind, copy, source.number)
        };
        self.take(record, Ok(step));
        // The second record of one step, whose time the first has.
        self.recorded.records += 1;
        self.recorded.device_read_bytes += target.device_read_bytes.unwrap_or(0);
    }

    /// The step that a call of one file becomes.
    pub(super) fn transfer(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let is_direct = record.flags.has(RecordFlags::DIRECT);
        let kind = match record.operation {
            Operation::Read | Operation::Readv => StepKind::Read,
            Operation::UringRead => StepKind::ReadRing,
            Operation::UringWrite => StepKind::WriteRing,
            // Through the page cache, io_submit(2) returns when all is moved.
            Operation::AioRead if is_direct => StepKind::ReadRing,
            Operation::AioWrite if is_direct => StepKind::WriteRing,
            Operation::AioRead => StepKind::ReadAt,
            Operation::AioWrite => StepKind::WriteAt,
            Operation::Pread | Operation::Preadv | Operation::Preadv2 => StepKind::ReadAt,
            Operation::Write | Operation::Writev => StepKind::Write,
            Operation::Pwrite | Operation::Pwritev | Operation::Pwritev2 => StepKind::WriteAt,
            _ => return Err(LeftOut::NotReplayed),
        };
        // Done otherwise, it would not fail, or leave pages in the cache.
        if record.result == Some(-EAGAIN) || record.flags.has(RecordFlags::DONTCACHE) {
            return Err(LeftOut::NotReplayed);
        }
        let (slot, file) = self.slot(record, batch)?;
        let mut step = self.new_step(kind, slot, record)?;
        step.offset = record.offset.ok_or(LeftOut::NoResult)?;
        step.bytes = record.asked_bytes.ok_or(LeftOut::NoResult)?;
        self.files.touched(file, record);
        if record.class != OperationClass::Read {
            self.slots.writes(slot);
            self.files.changes(file);
        }
        Ok(step)
    }
}
