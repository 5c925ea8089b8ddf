//! What leaves the cache without being evicted, and what is brought to the device.

use hotset_facts::trace::{FileIndex, Operation, RecordFlags, TraceBatch, TraceRecord};
use hotset_sizing::PAGE_BYTES;

use super::{Collector, folded};

/// To the end of any file.
const END: u64 = u64::MAX / PAGE_BYTES;

impl Collector<'_> {
    /// Pages of bytes from where a record begins leave the cache.
    pub(super) fn remove(&mut self, record: &TraceRecord, bytes: u64) {
        let (Some(FileIndex(file)), Some(offset)) = (record.file, record.offset) else { return };
        let end = offset.saturating_add(bytes).div_ceil(PAGE_BYTES);
        self.builder.remove(file, offset / PAGE_BYTES..end);
    }

    pub(super) fn sync(&mut self, record: &TraceRecord) {
        match (record.operation, record.file) {
            // Of which file system it is, no record tells: all that was written goes to the device soon.
            (Operation::Sync | Operation::Syncfs, _) => self.builder.sync_all(),
            (_, Some(FileIndex(file))) => self.builder.sync(file),
            (_, None) => {}
        }
    }

    pub(super) fn open(&mut self, record: &TraceRecord, batch: &TraceBatch) {
        let Some(FileIndex(file)) = record.file else { return };
        if record.flags.has(RecordFlags::TMPFILE) {
            self.nameless.insert(file);
        } else if let Some(path) = record.path.and_then(|path| batch.path(path)) {
            self.files_by_path.insert(path.to_vec(), file);
        }
        if record.flags.has(RecordFlags::TRUNCATE) {
            self.builder.remove(file, 0..END);
            self.sizes.insert(file, 0);
        }
    }

    /// The pages of a file without a name go with its last descriptor. Which one is the last is not known: with each.
    pub(super) fn close(&mut self, record: &TraceRecord) {
        if let Some(description) = record.description {
            self.builder.close(folded(description));
            self.windows.close(description);
        }
        if let Some(FileIndex(file)) = record.file
            && self.nameless.contains(&file)
        {
            self.builder.remove(file, 0..END);
        }
    }

    pub(super) fn advise(&mut self, record: &TraceRecord) {
        let Some(FileIndex(file)) = record.file else { return };
        let process = record.process.map_or(u32::MAX, |process| process.0);
        let of_mapping = record.operation != Operation::Fadvise;
        if !of_mapping {
            self.windows.advise(record);
        }
        if of_mapping && record.flags.has(RecordFlags::RANDOM) {
            self.random.insert((process, file));
        } else if of_mapping {
            // MADV_DONTNEED takes pages from the process, not from the cache.
            self.random.remove(&(process, file));
        } else if record.flags.has(RecordFlags::DONTNEED) {
            let bytes = record.asked_bytes.filter(|&bytes| bytes > 0).unwrap_or(u64::MAX);
            // A page of which a part is not meant stays.
            let offset = record.offset.unwrap_or(0);
            let end = offset.saturating_add(bytes) / PAGE_BYTES;
            self.builder.remove(file, offset.div_ceil(PAGE_BYTES)..end.max(offset / PAGE_BYTES));
        }
    }

    pub(super) fn resize(&mut self, record: &TraceRecord, batch: &TraceBatch) {
        let by_path = || batch.path(record.path?).and_then(|path| self.files_by_path.get(path));
        let file = record.file.map(|FileIndex(file)| file).or_else(|| by_path().copied());
        let (Some(file), Some(offset)) = (file, record.offset) else { return };
        let bytes = record.asked_bytes.unwrap_or(0);
        let makes_holes = [
            RecordFlags::PUNCH_HOLE,
            RecordFlags::ZERO_RANGE,
            RecordFlags::COLLAPSE_RANGE,
            RecordFlags::INSERT_RANGE,
        ];
        if record.operation != Operation::Fallocate {
            self.builder.remove(file, offset.div_ceil(PAGE_BYTES)..END);
            self.sizes.insert(file, offset);
        } else if makes_holes.iter().any(|&flag| record.flags.has(flag)) {
            let shifts = record.flags.has(RecordFlags::COLLAPSE_RANGE)
                || record.flags.has(RecordFlags::INSERT_RANGE);
            let end = if shifts { END } else { offset.saturating_add(bytes) / PAGE_BYTES };
            self.builder.remove(file, offset.div_ceil(PAGE_BYTES)..end);
        } else if !record.flags.has(RecordFlags::KEEP_SIZE) {
            let size = self.size(file).max(offset.saturating_add(bytes));
            self.sizes.insert(file, size);
        }
    }

    /// A file that has no name any more: its pages go now, and what comes of it later when it is closed.
    pub(super) fn name(&mut self, record: &TraceRecord, batch: &TraceBatch) {
        let path = record.path.and_then(|path| batch.path(path));
        let new_path = record.new_path.and_then(|path| batch.path(path));
        let removed = match record.operation {
            Operation::Unlink | Operation::Unlinkat => {
                path.and_then(|path| self.files_by_path.remove(path))
            }
            Operation::Rename | Operation::Renameat | Operation::Renameat2
                if !record.flags.has(RecordFlags::EXCHANGE) =>
            {
                let moved = path.and_then(|path| self.files_by_path.remove(path));
                let replaced = new_path.and_then(|path| self.files_by_path.remove(path));
                if let (Some(moved), Some(path)) = (moved, new_path) {
                    self.files_by_path.insert(path.to_vec(), moved);
                }
                replaced.filter(|replaced| Some(*replaced) != moved)
            }
            _ => None,
        };
        if let Some(file) = removed {
            self.nameless.insert(file);
            self.builder.remove(file, 0..END);
        }
    }
}
