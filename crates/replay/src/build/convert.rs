//! From a record to a step.

use hotset_facts::replay::{LeftOut, NameKind, Step, StepKind};
use hotset_facts::trace::{
    Operation, OperationClass, PathIndex, RecordFlags, TraceBatch, TraceRecord,
};
use hotset_facts::{FileKind, Pid};

use super::slots::NO_SLOT;
use super::{PlanBuilder, mappings};

/// File systems of the kernel's own: what they say is another process's in a replay.
const SPECIAL: [&[u8]; 3] = [b"/proc", b"/sys", b"/dev"];

const ENOENT: i64 = 2;
const EAGAIN: i64 = 11;
const ENOTDIR: i64 = 20;
const ENAMETOOLONG: i64 = 36;
const ELOOP: i64 = 40;

type Converted = Result<Step, LeftOut>;

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

    fn pid(&self, record: &TraceRecord) -> Option<Pid> {
        self.lists.process(record.process?).map(|process| process.pid)
    }

    fn new_step(&self, kind: StepKind, target: u32, record: &TraceRecord) -> Converted {
        let result = record.result.ok_or(LeftOut::NoResult)?;
        Ok(Step { flags: record.flags, result, ..Step::new(kind, target, self.records) })
    }

    /// An absolute path, which is none of the kernel's own files.
    fn path(&mut self, index: Option<PathIndex>, batch: &TraceBatch) -> Result<u32, LeftOut> {
        let path = index.and_then(|index| batch.path(index)).ok_or(LeftOut::NoPath)?;
        if !path.starts_with(b"/") {
            return Err(LeftOut::RelativePath);
        }
        let is_in = |top: &&[u8]| {
            path.strip_prefix(*top).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        if SPECIAL.iter().any(is_in) {
            return Err(LeftOut::SpecialFile);
        }
        Ok(self.paths.place(path))
    }

    /// The file of a record, by its place in the plan; its path is one of its names.
    fn file(&mut self, record: &TraceRecord, path: u32) -> Result<u32, LeftOut> {
        let index = record.file.ok_or(LeftOut::NoFile)?;
        let kind = self.lists.file(index).map_or(FileKind::Others, |file| file.kind);
        if kind != FileKind::Regular {
            return Err(LeftOut::SpecialFile);
        }
        let file = self.files.place(index, self.lists);
        self.names.leads_to(path, file);
        self.files.named(file, path);
        Ok(file)
    }

    /// The open file description of a record, and its file.
    fn slot(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Result<(u32, u32), LeftOut> {
        let path = self.path(record.path, batch)?;
        let file = self.file(record, path)?;
        let description = record.description.ok_or(LeftOut::NoFile)?;
        let slot = self.slots.used(description, Some(file), Some(path)).ok_or(LeftOut::NoPath)?;
        self.slots.uses(slot, record.flags);
        Ok((slot, file))
    }

    fn transfer(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let reads = record.class == OperationClass::Read;
        let is_direct = record.flags.has(RecordFlags::DIRECT);
        let kind = match record.operation {
            Operation::Read | Operation::Readv => StepKind::Read,
            Operation::UringRead => StepKind::ReadRing,
            // Through the page cache, io_submit(2) returns when all is read.
            Operation::AioRead if is_direct => StepKind::ReadRing,
            Operation::AioRead => StepKind::ReadAt,
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
        if !reads {
            self.slots.writes(slot);
            self.files.changes(file);
        }
        Ok(step)
    }

    fn sync(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        match record.operation {
            Operation::Fsync | Operation::Fdatasync => {}
            Operation::Msync => return self.sync_mapping(record, batch),
            _ => return Err(LeftOut::NotReplayed),
        }
        let slot = self.synced(record, batch)?;
        let syncs_all = record.operation == Operation::Fsync;
        self.new_step(if syncs_all { StepKind::Sync } else { StepKind::DataSync }, slot, record)
    }

    /// What is synced: a file, or a directory.
    fn synced(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Result<u32, LeftOut> {
        let kind = record.file.and_then(|index| self.lists.file(index)).map(|file| file.kind);
        if kind != Some(FileKind::Directory) {
            return self.slot(record, batch).map(|(slot, _)| slot);
        }
        let path = self.path(record.path, batch)?;
        self.names.opened(path);
        let description = record.description.ok_or(LeftOut::NoFile)?;
        self.slots.used(description, None, Some(path)).ok_or(LeftOut::NoPath)
    }

    fn sync_mapping(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let path = self.path(record.path, batch)?;
        let file = self.file(record, path)?;
        let (pid, offset) =
            (self.pid(record).ok_or(LeftOut::NoFile)?, record.offset.ok_or(LeftOut::NoResult)?);
        let found = self.mappings.find(pid, self.parent(record), file, offset);
        let mut step =
            self.new_step(StepKind::SyncMapping, found.ok_or(LeftOut::NotReplayed)?, record)?;
        step.offset = offset;
        step.bytes = record.asked_bytes.unwrap_or(0);
        Ok(step)
    }

    fn open(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        if record.operation == Operation::UringOpen {
            return Err(LeftOut::NotReplayed);
        }
        let path = self.path(record.path, batch)?;
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
        let is_regular = record.file.and_then(|index| self.lists.file(index)).map(|file| file.kind)
            == Some(FileKind::Regular);
        let file = if is_regular { self.opened(record, path, makes)? } else { None };
        match record.description {
            Some(description) => step.target = self.slots.open(description, file, record.flags),
            None if file.is_none() => self.names.opened(path),
            None => {}
        }
        Ok(step)
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
            Operation::Lstat => StepKind::Lstat,
            Operation::Access | Operation::Faccessat | Operation::Faccessat2 => StepKind::Access,
            Operation::Readlink | Operation::Readlinkat => StepKind::ReadLink,
            Operation::UringStatx => return Err(LeftOut::NotReplayed),
            _ => StepKind::Stat,
        };
        let path = self.path(record.path, batch)?;
        repeats(record)?;
        let step = self.new_step(kind, path, record)?;
        match (kind, step.result) {
            (StepKind::ReadLink, 0..) => self.names.is(path, NameKind::Link),
            _ => self.asked(path, step.result),
        }
        let result = if kind == StepKind::ReadLink { step.result } else { step.result.min(0) };
        Ok(Step { result, ..step })
    }

    fn parent(&self, record: &TraceRecord) -> Option<Pid> {
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
            let path = self.path(record.path, batch)?;
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

    fn name(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let result = record.result.ok_or(LeftOut::NoResult)?;
        let is_there = result != -ENOENT && result != -ENOTDIR;
        let (kind, makes) = match record.operation {
            Operation::Rename | Operation::Renameat | Operation::Renameat2 => {
                (StepKind::Rename, false)
            }
            Operation::Unlink | Operation::Unlinkat => (StepKind::Unlink, false),
            Operation::Link | Operation::Linkat => (StepKind::Link, false),
            Operation::Symlink | Operation::Symlinkat => return self.symlink(record, batch),
            Operation::Mkdir | Operation::Mkdirat => (StepKind::MakeDirectory, true),
            _ => (StepKind::RemoveDirectory, false),
        };
        let path = self.path(record.path, batch)?;
        let mut step = self.new_step(kind, path, record)?;
        if matches!(kind, StepKind::Rename | StepKind::Link) {
            let new = self.path(record.new_path, batch)?;
            self.names.changes(new, result < 0 && is_there);
            step.offset = new.into();
        }
        self.names.changes(path, if makes { result < 0 && is_there } else { is_there });
        if kind == StepKind::RemoveDirectory && is_there {
            self.names.is(path, NameKind::Directory);
        }
        Ok(step)
    }

    /// What a symbolic link holds is words, and no path of anything.
    fn symlink(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let words = record.path.and_then(|index| batch.path(index)).ok_or(LeftOut::NoPath)?;
        let words = self.paths.place(words);
        let path = self.path(record.new_path, batch)?;
        self.names.changes(path, record.result.is_some_and(|result| result < 0));
        Ok(Step { offset: path.into(), ..self.new_step(StepKind::Symlink, words, record)? })
    }
}

/// The result of a call that looks up a path, if it would be the same for whoever asks: an error that depends on who may do what,
/// or on how it was asked, would not.
fn repeats(record: &TraceRecord) -> Result<i64, LeftOut> {
    let result = record.result.ok_or(LeftOut::NoResult)?;
    let repeats = matches!(-result, ENOENT | ENOTDIR | ENAMETOOLONG | ELOOP);
    if result >= 0 || repeats { Ok(result) } else { Err(LeftOut::OtherError) }
}
