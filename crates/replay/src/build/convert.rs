//! From a record to a step.

use std::os::unix::ffi::OsStrExt as _;

use hotset_facts::replay::{LeftOut, Step, StepKind};
use hotset_facts::trace::{Operation, OperationClass, RecordFlags, TraceBatch, TraceRecord};
use hotset_facts::{FileKind, Pid};

use super::slots::NO_SLOT;
use super::{PlanBuilder, mappings};

pub(super) const ENOENT: i64 = 2;
pub(super) const ENOTDIR: i64 = 20;
const ENAMETOOLONG: i64 = 36;
pub(super) const ELOOP: i64 = 40;

pub(super) type Converted = Result<Step, LeftOut>;

impl PlanBuilder<'_> {
    /// The step that a record becomes, and what it says of files and names.
    pub(super) fn step(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        match record.class {
            OperationClass::Device | OperationClass::Cache => Err(LeftOut::Kernel),
            OperationClass::Exec => {
                if let (Some(pid), Some(0..)) = (self.pid(record), record.result) {
                    self.mappings.clear(pid);
                }
                Err(LeftOut::Exec)
            }
            OperationClass::Fault => self.fault(record, batch),
            OperationClass::Read | OperationClass::Write => self.transfer(record, batch),
            OperationClass::Sync => self.sync(record, batch),
            OperationClass::Open => self.open(record, batch),
            OperationClass::Close => self.close(record),
            OperationClass::Lookup => self.lookup(record, batch),
            OperationClass::Advice => self.advice(record, batch),
            OperationClass::Map => self.map(record, batch),
            OperationClass::Size => self.size(record, batch),
            OperationClass::Name => self.name(record, batch),
        }
    }

    pub(super) fn pid(&self, record: &TraceRecord) -> Option<Pid> {
        self.lists.process(record.process?).map(|process| process.pid)
    }

    pub(super) fn new_step(&self, kind: StepKind, target: u32, record: &TraceRecord) -> Converted {
        let result = record.result.ok_or(LeftOut::NoResult)?;
        Ok(Step { flags: record.flags, result, ..Step::new(kind, target, self.records) })
    }

    /// The open file description of a record, and its file.
    pub(super) fn slot(
        &mut self,
        record: &TraceRecord,
        batch: &TraceBatch,
    ) -> Result<(u32, u32), LeftOut> {
        let path = self.path(record.path, batch)?;
        let file = self.file(record, path)?;
        let description = record.description.ok_or(LeftOut::NoFile)?;
        let before = self.names.origin(path);
        let slot = self.slots.used(description, Some(file), Some(before)).ok_or(LeftOut::NoPath)?;
        // Such a call can be told for itself what others are by how their file was opened.
        let is_told = matches!(
            record.operation,
            Operation::Pwritev2 | Operation::UringWrite | Operation::AioWrite
        );
        let own = if is_told { RecordFlags::DIRECT } else { record.flags };
        self.slots.uses(slot, RecordFlags(own.0 & record.flags.0));
        Ok((slot, file))
    }

    fn open(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        if record.operation == Operation::UringOpen {
            return Err(LeftOut::NotReplayed);
        }
        let path = if record.flags.has(RecordFlags::NOFOLLOW) {
            self.own_path(record.path, batch)?
        } else {
            self.led_path(record, batch)?
        };
        let result = repeats(record)?;
        let makes =
            record.flags.has(RecordFlags::CREATE) || record.flags.has(RecordFlags::TRUNCATE);
        let mut step = self.new_step(StepKind::Open, NO_SLOT, record)?;
        step.offset = path.into();
        step.result = result.min(0);
        if result < 0 {
            self.asked(path, result);
            if makes {
                self.names.changes(path, false);
            }
            return Ok(step);
        }
        if record.flags.has(RecordFlags::NOFOLLOW) && self.links.has(self.paths.bytes(path)) {
            // With O_PATH: otherwise it would have failed.
            return Ok(Step { result: 0, ..self.new_step(StepKind::Lstat, path, record)? });
        }
        if record.flags.has(RecordFlags::TMPFILE) {
            return self.nameless(record, path, step);
        }
        let is_regular = record.file.and_then(|index| self.lists.file(index)).map(|file| file.kind)
            == Some(FileKind::Regular);
        let file = if is_regular { self.opened(record, path, makes)? } else { None };
        match record.description {
            Some(description) => step.target = self.slots.open(description, file, record.flags),
            None if file.is_none() => {
                self.names.opened(path);
                if let Some(process) = record.process {
                    self.directories.insert((process, path), self.records);
                }
            }
            None => {}
        }
        Ok(step)
    }

    /// A file without a name, made in a directory: that is a copy, as if the file had the name that the kernel has for it.
    fn nameless(&mut self, record: &TraceRecord, directory: u32, step: Step) -> Converted {
        let (Some(index), Some(description)) = (record.file, record.description) else {
            return Err(LeftOut::NoFile);
        };
        let own = self.lists.file(index).and_then(|file| file.path.as_deref());
        let own = own.ok_or(LeftOut::NoPath)?.as_os_str().as_bytes().to_vec();
        let own = self.paths.place(&own);
        self.names.opened(directory);
        let file = self.files.place(index, self.lists);
        self.files.opened_to_create(file, true);
        self.names.changes(own, false);
        self.names.leads_to(own, file);
        self.files.named(file, own);
        self.files.changes(file);
        let slot = self.slots.open(description, Some(file), record.flags);
        self.slots.writes(slot);
        Ok(Step { target: slot, ..step })
    }

    /// The regular file that an open led to.
    fn opened(
        &mut self,
        record: &TraceRecord,
        path: u32,
        makes: bool,
    ) -> Result<Option<u32>, LeftOut> {
        let index = record.file.ok_or(LeftOut::NoFile)?;
        if makes {
            let file = self.files.place(index, self.lists);
            self.files.opened_to_create(file, self.names.is_absent(path));
            self.names.changes(path, true);
            self.files.changes(file);
        }
        self.file(record, path).map(Some)
    }

    fn close(&mut self, record: &TraceRecord) -> Converted {
        let slot =
            record.description.and_then(|description| self.slots.used(description, None, None));
        let slot = slot.ok_or(LeftOut::NoFile)?;
        self.slots.closed(slot, self.records);
        let step = self.new_step(StepKind::Close, slot, record)?;
        Ok(Step { result: step.result.min(0), ..step })
    }

    /// What an answer says of a name.
    fn asked(&mut self, path: u32, result: i64) {
        match -result {
            ENOENT | ENOTDIR => self.names.asked(path, false),
            _ => self.names.asked(path, true),
        }
    }

    fn lookup(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let kind = match record.operation {
            _ if record.flags.has(RecordFlags::NOFOLLOW) => StepKind::Lstat,
            Operation::Lstat => StepKind::Lstat,
            Operation::Access | Operation::Faccessat | Operation::Faccessat2 => StepKind::Access,
            Operation::Readlink | Operation::Readlinkat => StepKind::ReadLink,
            Operation::UringStatx => return Err(LeftOut::NotReplayed),
            _ => StepKind::Stat,
        };
        let path = match kind {
            StepKind::Lstat | StepKind::ReadLink => self.own_path(record.path, batch)?,
            _ => self.led_path(record, batch)?,
        };
        repeats(record)?;
        let step = self.new_step(kind, path, record)?;
        match (kind, step.result) {
            (StepKind::ReadLink, 0..) => self.names.is_link(path, step.result),
            _ => self.asked(path, step.result),
        }
        let result = if kind == StepKind::ReadLink { step.result } else { step.result.min(0) };
        Ok(Step { result, ..step })
    }

    pub(super) fn parent(&self, record: &TraceRecord) -> Option<Pid> {
        self.lists.process(record.process?)?.ppid
    }

    fn fault(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let path = self.path(record.path, batch)?;
        let file = self.file(record, path)?;
        let pid = self.pid(record).ok_or(LeftOut::NoFile)?;
        let offset = record.offset.ok_or(LeftOut::NoResult)?;
        self.files.touched(file, record);
        let found = self.mappings.find(pid, self.parent(record), file, offset);
        let mapping = found.unwrap_or_else(|| self.mappings.made_before(pid, file));
        let stores = record.flags.has(RecordFlags::STORE);
        if stores {
            self.mappings.stored(mapping);
            if self.mappings.get(mapping).is_some_and(mappings::reaches_file) {
                self.files.changes(file);
            }
        }
        let kind = if stores { StepKind::Store } else { StepKind::Load };
        let bytes = u64::from(record.duration_ns.is_some());
        Ok(Step { flags: record.flags, offset, bytes, ..Step::new(kind, mapping, self.records) })
    }

    fn advice(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let kind = match record.operation {
            Operation::Fadvise => StepKind::Advise,
            Operation::Readahead => StepKind::ReadAhead,
            _ => StepKind::AdviseMapping,
        };
        let offset = record.offset.ok_or(LeftOut::NoResult)?;
        let target = if kind == StepKind::AdviseMapping {
            let path = self.path(record.path, batch)?;
            let file = self.file(record, path)?;
            let pid = self.pid(record).ok_or(LeftOut::NoFile)?;
            let found = self.mappings.find(pid, self.parent(record), file, offset);
            found.ok_or(LeftOut::NotReplayed)?
        } else {
            self.slot(record, batch)?.0
        };
        let bytes = record.asked_bytes.unwrap_or(0);
        Ok(Step { offset, bytes, ..self.new_step(kind, target, record)? })
    }

    fn map(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let path = self.path(record.path, batch)?;
        let file = self.file(record, path)?;
        let pid = self.pid(record).ok_or(LeftOut::NoFile)?;
        let (Some(offset), Some(bytes)) = (record.offset, record.asked_bytes) else {
            return Err(LeftOut::NoResult);
        };
        if record.operation == Operation::Munmap {
            let mapping =
                self.mappings.unmap(pid, file, offset, bytes).ok_or(LeftOut::NotReplayed)?;
            return self.new_step(StepKind::Unmap, mapping, record);
        }
        let mut step = self.new_step(StepKind::Map, 0, record)?;
        step.result = step.result.min(0);
        if step.result < 0 {
            return Err(LeftOut::NotReplayed);
        }
        let slot = self.slot(record, batch)?.0;
        step.target = self.mappings.map(pid, (file, slot), (offset, bytes), record.flags);
        if self.mappings.get(step.target).is_some_and(mappings::reaches_file) {
            self.slots.writes(slot);
            self.files.changes(file);
        }
        Ok(Step { offset, bytes, ..step })
    }

    fn size(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        if record.operation == Operation::Truncate {
            let path = self.led_path(record, batch)?;
            self.names.changes(path, record.result != Some(-ENOENT));
            if let Ok(file) = self.file(record, path) {
                self.files.changes(file);
            }
            let offset = record.offset.ok_or(LeftOut::NoResult)?;
            return Ok(Step { offset, ..self.new_step(StepKind::Truncate, path, record)? });
        }
        let (slot, file) = self.slot(record, batch)?;
        self.slots.writes(slot);
        self.files.changes(file);
        let kind = match record.operation {
            Operation::Ftruncate => StepKind::SetLength,
            _ => StepKind::Allocate,
        };
        let (offset, bytes) =
            (record.offset.ok_or(LeftOut::NoResult)?, record.asked_bytes.unwrap_or(0));
        Ok(Step { offset, bytes, ..self.new_step(kind, slot, record)? })
    }
}

/// The result of a call that looks up a path, if it would be the same for whoever asks: an error that depends on who may do what,
/// or on how it was asked, would not.
fn repeats(record: &TraceRecord) -> Result<i64, LeftOut> {
    let result = record.result.ok_or(LeftOut::NoResult)?;
    let repeats = matches!(-result, ENOENT | ENOTDIR | ENAMETOOLONG | ELOOP);
    if result >= 0 || repeats { Ok(result) } else { Err(LeftOut::OtherError) }
}
