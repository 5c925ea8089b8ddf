//! One step: a call, or a touch of memory.

use hotset_facts::replay::{FileRole, PlanSlot, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::Engine;
use super::descriptors::flags;
use super::names::{Name, answer, to_nowhere};
use super::thread::Memory;
use crate::advice::{Advice, FADVICE, MADVICE};

/// What no call was made for: the plan names something that it does not have.
pub(super) const NO_SUCH_THING: i64 = -(libc::EINVAL as i64);
const READ_ONLY: i64 = -(libc::EROFS as i64);
const IS_A_DIRECTORY: i64 = -(libc::EISDIR as i64);

/// How a slot is opened that the plan does not have: an open that failed when it was recorded.
const NO_SLOT: PlanSlot = PlanSlot {
    file: None,
    opened_before: None,
    writes: false,
    direct: false,
    append: false,
    sync: false,
};

impl Engine<'_> {
    /// Does a step: what the call returned, or the number of its error below zero.
    #[inline]
    pub(super) fn act(&self, step: &Step, memory: &mut Memory) -> i64 {
        match step.kind {
            StepKind::Read
            | StepKind::ReadAt
            | StepKind::Write
            | StepKind::WriteAt
            | StepKind::Seek
            | StepKind::Send => self.transfer(step, memory),
            StepKind::CopyRange | StepKind::SendTo => self.copy(step),
            StepKind::Open => self.open(step, memory),
            // A thread without a ring has nothing in flight.
            StepKind::Drain => 0,
            StepKind::Load | StepKind::Store => self.touch(step),
            StepKind::Stat | StepKind::Lstat | StepKind::Access | StepKind::ReadLink => {
                self.look_up(step, memory)
            }
            StepKind::Map | StepKind::Unmap | StepKind::AdviseMapping | StepKind::SyncMapping => {
                self.mapping(step)
            }
            StepKind::Truncate
            | StepKind::Rename
            | StepKind::Unlink
            | StepKind::Link
            | StepKind::Symlink
            | StepKind::MakeDirectory
            | StepKind::RemoveDirectory => self.change_name(step),
            _ => self.on_slot(step),
        }
    }

    fn open(&self, step: &Step, memory: &mut Memory) -> i64 {
        let path = u32::try_from(step.offset).ok().and_then(|path| self.names.get(path));
        let Some(path) = path else { return NO_SUCH_THING };
        let slot = self.plan.slots.get(step.target as usize);
        let opened = self.names.open(path, flags(slot.unwrap_or(&NO_SLOT), step.flags));
        if let Ok(fd) = i32::try_from(opened)
            && fd >= 0
        {
            match slot {
                Some(_) => self.descriptors.put(step.target, fd),
                None => memory.keep(fd),
            }
        }
        opened
    }

    #[inline]
    fn touch(&self, step: &Step) -> i64 {
        let mapping = self.plan.mappings.get(step.target as usize);
        let Some(place) =
            mapping.and_then(|mapping| self.maps.at(step.target, mapping, step.offset, 1))
        else {
            return NO_SUCH_THING;
        };
        // SAFETY: within a mapping of the plan that is there. Where its file ends sooner, this process gets a SIGBUS and the
        // replay fails; of a mapping that reaches a file, the file is a copy.
        unsafe {
            if step.kind == StepKind::Load {
                std::hint::black_box(place.read_volatile());
            } else {
                place.write_volatile(0x5a);
            }
        }
        0
    }

    fn look_up(&self, step: &Step, memory: &mut Memory) -> i64 {
        let Some(Name { base, path, .. }) = self.names.get(step.target) else {
            return NO_SUCH_THING;
        };
        let (base, path) = (*base, path.as_ptr());
        // SAFETY: the path is a string that lives through the call, and the answer has room.
        unsafe {
            match step.kind {
                StepKind::Access => answer(libc::faccessat(base, path, libc::F_OK, 0)),
                StepKind::ReadLink => {
                    let bytes = memory.at_most(libc::PATH_MAX as u64);
                    answer(libc::readlinkat(base, path, memory.start().cast(), bytes) as i64)
                }
                kind => {
                    let follows = kind == StepKind::Stat;
                    let flags = if follows { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
                    let mut stat = std::mem::MaybeUninit::<libc::stat64>::uninit();
                    answer(libc::fstatat64(base, path, stat.as_mut_ptr(), flags))
                }
            }
        }
    }

    fn mapping(&self, step: &Step) -> i64 {
        let Some(mapping) = self.plan.mappings.get(step.target as usize) else {
            return NO_SUCH_THING;
        };
        match step.kind {
            StepKind::Map => {
                let fd = mapping.slot.map_or(-1, |slot| self.descriptors.get(slot));
                self.maps.make(step.target, mapping, fd, step.flags.has(RecordFlags::POPULATE))
            }
            StepKind::Unmap => self.maps.remove(step.target),
            kind => {
                let Some(start) = self.maps.at(step.target, mapping, step.offset, step.bytes)
                else {
                    return NO_SUCH_THING;
                };
                let (start, bytes) = (start.cast(), step.bytes as usize);
                let waits = step.flags.has(RecordFlags::WAITED);
                // SAFETY: within a mapping of the plan that is there.
                answer(unsafe {
                    if kind == StepKind::SyncMapping {
                        libc::msync(
                            start,
                            bytes,
                            if waits { libc::MS_SYNC } else { libc::MS_ASYNC },
                        )
                    } else {
                        libc::madvise(start, bytes, advice(step.flags, MADVICE))
                    }
                })
            }
        }
    }

    /// What changes a name is done to copies alone, also where it failed when it was recorded.
    fn change_name(&self, step: &Step) -> i64 {
        let second = || u32::try_from(step.offset).ok().and_then(|path| self.names.get(path));
        let Some(first) = self.names.get(step.target) else { return NO_SUCH_THING };
        let is_copy = |name: &Name| name.role == FileRole::Copy;
        // SAFETY: the paths are strings that live through the call.
        unsafe {
            match step.kind {
                StepKind::Symlink => match (self.plan.paths.get(step.target as usize), second()) {
                    (Some(words), Some(link)) if is_copy(link) => {
                        let words = to_nowhere(&words.bytes);
                        answer(libc::symlinkat(words.as_ptr(), link.base, link.path.as_ptr()))
                    }
                    _ => READ_ONLY,
                },
                _ if !is_copy(first) => READ_ONLY,
                StepKind::Rename | StepKind::Link => match second() {
                    Some(to) if is_copy(to) => {
                        let (from, path) = (first.base, first.path.as_ptr());
                        answer(if step.kind == StepKind::Rename {
                            let (how, new) = (rename_flags(step.flags), to.path.as_ptr());
                            libc::renameat2(from, path, to.base, new, how)
                        } else {
                            libc::linkat(from, path, to.base, to.path.as_ptr(), 0)
                        })
                    }
                    _ => READ_ONLY,
                },
                // Whether unlinkat(2) was told that it is a directory no record says.
                StepKind::Unlink => {
                    match answer(libc::unlinkat(first.base, first.path.as_ptr(), 0)) {
                        IS_A_DIRECTORY => remove_directory(first),
                        removed => removed,
                    }
                }
                StepKind::RemoveDirectory => remove_directory(first),
                StepKind::MakeDirectory => {
                    answer(libc::mkdirat(first.base, first.path.as_ptr(), 0o700))
                }
                // There is no truncateat(2): opened, cut, and closed.
                _ => truncate(first, step.offset),
            }
        }
    }

    fn on_slot(&self, step: &Step) -> i64 {
        let (offset, bytes) = (step.offset.cast_signed(), step.bytes.cast_signed());
        // SAFETY: these calls take numbers only; a descriptor that is none is refused.
        unsafe {
            match step.kind {
                StepKind::Close => answer(libc::close(self.descriptors.take(step.target))),
                StepKind::SyncAll => answer(libc::syncfs(self.names.copies())),
                kind => {
                    let fd = self.descriptors.get(step.target);
                    match kind {
                        StepKind::Sync => answer(libc::fsync(fd)),
                        StepKind::DataSync => answer(libc::fdatasync(fd)),
                        StepKind::ReadAhead => {
                            answer(libc::readahead(fd, offset, step.bytes as usize) as i64)
                        }
                        StepKind::SyncRange => {
                            let how = sync_range_flags(step.flags);
                            answer(libc::sync_file_range(fd, offset, bytes, how))
                        }
                        StepKind::SetLength => answer(libc::ftruncate64(fd, offset)),
                        StepKind::Allocate => {
                            answer(libc::fallocate64(fd, allocate_mode(step.flags), offset, bytes))
                        }
                        // Its error is what it returns (posix_fadvise(2)).
                        StepKind::Advise => {
                            let advice = advice(step.flags, FADVICE);
                            -i64::from(libc::posix_fadvise64(fd, offset, bytes, advice))
                        }
                        _ => NO_SUCH_THING,
                    }
                }
            }
        }
    }
}

fn remove_directory(name: &Name) -> i64 {
    // SAFETY: the path is a string that lives through the call.
    answer(unsafe { libc::unlinkat(name.base, name.path.as_ptr(), libc::AT_REMOVEDIR) })
}

/// Cuts a copy.
fn truncate(name: &Name, bytes: u64) -> i64 {
    // SAFETY: the path is a string that lives through the call, and the descriptor is closed by nobody else.
    unsafe {
        let fd = libc::openat(name.base, name.path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return answer(fd);
        }
        let cut = answer(libc::ftruncate64(fd, bytes.cast_signed()));
        libc::close(fd);
        cut
    }
}

/// The mode of fallocate(2).
fn allocate_mode(flags: RecordFlags) -> i32 {
    const MODES: [(RecordFlags, i32); 5] = [
        (RecordFlags::KEEP_SIZE, libc::FALLOC_FL_KEEP_SIZE),
        (RecordFlags::PUNCH_HOLE, libc::FALLOC_FL_PUNCH_HOLE),
        (RecordFlags::ZERO_RANGE, libc::FALLOC_FL_ZERO_RANGE),
        (RecordFlags::COLLAPSE_RANGE, libc::FALLOC_FL_COLLAPSE_RANGE),
        (RecordFlags::INSERT_RANGE, libc::FALLOC_FL_INSERT_RANGE),
    ];
    MODES.iter().filter(|(flag, _)| flags.has(*flag)).fold(0, |all, (_, mode)| all | mode)
}

/// What renameat2(2) is told; nothing as rename(2).
fn rename_flags(flags: RecordFlags) -> libc::c_uint {
    if flags.has(RecordFlags::EXCHANGE) {
        libc::RENAME_EXCHANGE
    } else if flags.has(RecordFlags::NOREPLACE) {
        libc::RENAME_NOREPLACE
    } else {
        0
    }
}

/// What sync_file_range(2) is told: no record says, but whether the thread waited.
fn sync_range_flags(flags: RecordFlags) -> libc::c_uint {
    let waits = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    libc::SYNC_FILE_RANGE_WRITE | if flags.has(RecordFlags::WAITED) { waits } else { 0 }
}

/// The number of an advice; that of none, 0, where the recording has no word for it.
fn advice(flags: RecordFlags, known: Advice) -> i32 {
    known.iter().find(|(_, flag)| flags.has(*flag)).map_or(0, |(advice, _)| *advice)
}
