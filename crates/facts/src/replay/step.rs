//! One step of a replay.

use crate::trace::RecordFlags;

macro_rules! kinds {
    ($($(#[$doc:meta])* $Variant:ident = $word:literal,)*) => {
        crate::words! {
            /// What a step does. It is about a slot (an open file description of the plan), a mapping, or a path, by their places in
            /// the plan.
            pub enum StepKind {
                $($(#[$doc])* $Variant = $word,)*
            }
        }

        impl StepKind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$Variant,)*];
        }
    };
}

kinds! {
    /// open(2) of path `offset` into a slot.
    Open = "open",
    /// close(2) of a slot.
    Close = "close",
    /// lseek(2) of a slot to `offset`. Recordings have none: it is where the position of the next step says another.
    Seek = "seek",
    /// read(2) from the position of a slot.
    Read = "read",
    /// pread(2) from a slot.
    ReadAt = "pread",
    /// write(2) at the position of a slot.
    Write = "write",
    /// pwrite(2) to a slot.
    WriteAt = "pwrite",
    /// copy_file_range(2) between the slots of a transfer of the plan, from byte `offset` of the first. It moves no position.
    CopyRange = "copy_file_range",
    /// sendfile(2) from a slot to where nothing keeps the bytes, as a pipe or a socket took them when it was recorded.
    Send = "sendfile",
    /// sendfile(2) between the slots of a transfer of the plan, from byte `offset` of the first, to the position of the second.
    SendTo = "sendfile_to_file",
    /// fsync(2) of a slot.
    Sync = "fsync",
    /// fdatasync(2) of a slot.
    DataSync = "fdatasync",
    /// sync_file_range(2) of a slot: where the thread waited when it was recorded, for the writes before and its own.
    SyncRange = "sync_file_range",
    /// syncfs(2) of the file system that copies are on: what a program asks of all file systems, or of one of them.
    SyncAll = "syncfs",
    /// msync(2) of a mapping: with MS_SYNC where the thread waited when it was recorded, else with MS_ASYNC.
    SyncMapping = "msync",
    /// posix_fadvise(2) of a slot.
    Advise = "fadvise",
    /// readahead(2) of a slot.
    ReadAhead = "readahead",
    /// mmap(2) of a slot: the mapping.
    Map = "mmap",
    /// munmap(2) of a mapping.
    Unmap = "munmap",
    /// madvise(2) of a mapping.
    AdviseMapping = "madvise",
    /// A load from the page of a mapping that has this place in its file.
    Load = "load",
    /// A store to it.
    Store = "store",
    /// truncate(2) of a path to `offset` bytes.
    Truncate = "truncate",
    /// ftruncate(2) of a slot to `offset` bytes.
    SetLength = "ftruncate",
    /// fallocate(2) of a slot, in the mode that its flags say.
    Allocate = "fallocate",
    /// stat(2) of a path, or a call that looks up as much.
    Stat = "stat",
    /// lstat(2) of a path.
    Lstat = "lstat",
    /// access(2) of a path: does it exist?
    Access = "access",
    /// readlink(2) of a path.
    ReadLink = "readlink",
    /// rename(2) of a path to path `offset`, or renameat2(2) as its flags say.
    Rename = "rename",
    /// unlink(2) of a path.
    Unlink = "unlink",
    /// link(2) of a path to path `offset`.
    Link = "link",
    /// symlink(2): path `offset` that leads to the words of path `target`.
    Symlink = "symlink",
    /// mkdir(2) of a path.
    MakeDirectory = "mkdir",
    /// rmdir(2) of a path.
    RemoveDirectory = "rmdir",
    /// A read request of io_uring from a slot, as pread(2). The thread goes on while it is in flight, and waits for one that is only
    /// where as many as its ring takes are.
    ReadRing = "io_uring_read",
    /// A write request of io_uring to a slot, as pwrite(2), in flight as such a read is.
    WriteRing = "io_uring_write",
    /// A request of io_uring that syncs a slot, as fsync(2), in flight as such a read is.
    SyncRing = "io_uring_fsync",
    /// Waits for requests in flight until no more than `bytes` are.
    Drain = "io_uring_wait",
}

/// Bytes of a step as [`Step::to_bytes`] has it.
pub const STEP_BYTES: usize = 40;

/// What a thread does once. There are as many of them as records in a trace: 40 bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// How: of the flags of its record, those that a call is told.
    pub flags: RecordFlags,
    /// The slot, transfer, mapping or path that it is about, by its place in the plan.
    pub target: u32,
    /// The record that it was made of, counted from the first of the trace; of several that became one, the first.
    pub record: u32,
    /// Where in the file; of what is about two things, the place of the second in the plan.
    pub offset: u64,
    /// Bytes asked for. Of a load or a store, 0 where the duration of its fault was not recorded, so that its
    /// time is kept apart; else 1.
    pub bytes: u64,
    /// What the call returned when it was recorded: below zero an error number. Of a call that returns no number of bytes, 0 is
    /// any success.
    pub result: i64,
}

impl StepKind {
    /// Whether the thread goes on while it is in flight.
    #[inline]
    pub const fn is_in_flight(self) -> bool {
        matches!(self, Self::ReadRing | Self::WriteRing | Self::SyncRing)
    }
}

impl Step {
    /// A step that succeeds, and of which nothing else is known.
    pub const fn new(kind: StepKind, target: u32, record: u32) -> Self {
        Self { kind, flags: RecordFlags::NONE, target, record, offset: 0, bytes: 0, result: 0 }
    }

    /// For another process of this program.
    pub fn to_bytes(&self) -> [u8; STEP_BYTES] {
        let mut bytes = [0; STEP_BYTES];
        let parts = [
            u64::from(self.kind as u8) | u64::from(self.flags.0) << 32,
            u64::from(self.target) | u64::from(self.record) << 32,
            self.offset,
            self.bytes,
            self.result.cast_unsigned(),
        ];
        for (chunk, part) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(parts) {
            *chunk = part.to_le_bytes();
        }
        bytes
    }

    /// Nothing where the kind is not known.
    #[inline]
    pub fn from_bytes(bytes: &[u8; STEP_BYTES]) -> Option<Self> {
        let [first, second, offset, length, result] =
            <[[u8; 8]; 5]>::try_from(bytes.as_chunks::<8>().0).ok()?.map(u64::from_le_bytes);
        Some(Self {
            kind: *StepKind::ALL.get((first & 0xff) as usize)?,
            flags: RecordFlags((first >> 32) as u32),
            target: second as u32,
            record: (second >> 32) as u32,
            offset,
            bytes: length,
            result: result.cast_signed(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_comes_back_from_its_bytes() {
        for (at, kind) in StepKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, at);
            let step = Step {
                kind: *kind,
                flags: RecordFlags::DIRECT.with(RecordFlags::POPULATE),
                target: 7,
                record: u32::MAX,
                offset: 1 << 40,
                bytes: u64::MAX,
                result: -2,
            };
            assert_eq!(Step::from_bytes(&step.to_bytes()), Some(step));
        }
        assert_eq!(Step::from_bytes(&[0xff; STEP_BYTES]), None);
    }

    #[test]
    fn a_step_takes_no_more_memory_than_its_bytes() {
        assert_eq!(size_of::<Step>(), STEP_BYTES);
    }
}
