//! From a record of a sync to a step: of a file, a directory, a mapping, a part of a file, or of all there is.
//!
//! What syncs a file system, or all of them, syncs in a replay the one that copies are on. No other holds anything that a step
//! wrote, and what else is dirty on the host is none of a replay's business.

use hotset_facts::FileKind;
use hotset_facts::replay::{LeftOut, Step, StepKind};
use hotset_facts::trace::{Operation, RecordFlags, TraceBatch, TraceRecord};

use super::PlanBuilder;
use super::convert::Converted;
use super::slots::NO_SLOT;

impl PlanBuilder<'_> {
    /// The step that a sync becomes.
    pub(super) fn sync(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let kind = match record.operation {
            Operation::Fsync => StepKind::Sync,
            Operation::Fdatasync => StepKind::DataSync,
            // Whether of all that is known of the file, or of its bytes alone, no record says.
            Operation::UringSync | Operation::AioSync => StepKind::SyncRing,
            Operation::SyncFileRange => return self.sync_range(record, batch),
            Operation::Msync => return self.sync_mapping(record, batch),
            Operation::Syncfs | Operation::Sync => {
                return self.new_step(StepKind::SyncAll, NO_SLOT, record);
            }
            _ => return Err(LeftOut::NotReplayed),
        };
        let slot = self.synced(record, batch)?;
        self.new_step(kind, slot, record)
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
        // No record of its open says which description that made.
        let opened = record.process.and_then(|process| self.directories.remove(&(process, path)));
        if let Some(opened) = opened.filter(|_| !self.slots.knows(description)) {
            let slot = self.slots.open(description, None, RecordFlags::NONE);
            self.threads.opens(record, self.lists, (opened, slot));
        }
        let before = self.names.origin(path);
        self.slots.used(description, None, Some(before)).ok_or(LeftOut::NoPath)
    }

    fn sync_range(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let (slot, _) = self.slot(record, batch)?;
        let step = self.new_step(StepKind::SyncRange, slot, record)?;
        let (offset, bytes) =
            (record.offset.ok_or(LeftOut::NoResult)?, record.asked_bytes.unwrap_or(0));
        Ok(Step { offset, bytes, ..step })
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
}
