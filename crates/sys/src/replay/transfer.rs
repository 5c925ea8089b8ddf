//! Steps that move bytes: between a file and memory, and from one file to another.

use hotset_facts::replay::{Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::Engine;
use super::names::answer;
use super::step::NO_SUCH_THING;
use super::thread::Memory;

impl Engine<'_> {
    /// Moves bytes between a file and the memory of the thread.
    #[inline]
    pub(super) fn transfer(&self, step: &Step, memory: &mut Memory) -> i64 {
        let fd = self.descriptors.get(step.target);
        let bytes = memory.at_most(step.bytes);
        let (start, offset) = (memory.start(), step.offset.cast_signed());
        // SAFETY: the memory has so many bytes, and is this thread's alone.
        unsafe {
            match step.kind {
                StepKind::Read => answer(libc::read(fd, start.cast(), bytes) as i64),
                StepKind::ReadAt => answer(libc::pread64(fd, start.cast(), bytes, offset) as i64),
                StepKind::Seek => answer(libc::lseek64(fd, offset, libc::SEEK_SET)),
                StepKind::Send => {
                    let (mut offset, null) = (offset, memory.null());
                    answer(libc::sendfile64(null, fd, &raw mut offset, step.bytes as usize) as i64)
                }
                kind => {
                    let offset = if kind == StepKind::Write { -1 } else { offset };
                    match self.write_flags(step) {
                        0 if kind == StepKind::Write => {
                            answer(libc::write(fd, start.cast(), bytes) as i64)
                        }
                        0 => answer(libc::pwrite64(fd, start.cast(), bytes, offset) as i64),
                        flags => {
                            let part = libc::iovec { iov_base: start.cast(), iov_len: bytes };
                            answer(libc::pwritev2(fd, &raw const part, 1, offset, flags) as i64)
                        }
                    }
                }
            }
        }
    }

    /// What a write is told for itself alone: that it returns when its bytes are on the device, or that it writes at the end, where
    /// its file was opened otherwise.
    #[inline]
    pub(super) fn write_flags(&self, step: &Step) -> i32 {
        let of = [(RecordFlags::SYNC, libc::RWF_DSYNC), (RecordFlags::APPEND, libc::RWF_APPEND)];
        if !of.iter().any(|(flag, _)| step.flags.has(*flag)) {
            return 0;
        }
        let slot = self.plan.slots.get(step.target as usize);
        let is_opened_so = |flag| match flag {
            RecordFlags::SYNC => slot.is_none_or(|slot| slot.sync),
            _ => slot.is_none_or(|slot| slot.append),
        };
        let own = of.iter().filter(|(flag, _)| step.flags.has(*flag) && !is_opened_so(*flag));
        own.fold(0, |all, (_, told)| all | told)
    }

    /// Copies bytes of one file to another.
    pub(super) fn copy(&self, step: &Step) -> i64 {
        let Some(transfer) = self.plan.transfers.get(step.target as usize) else {
            return NO_SUCH_THING;
        };
        let [from, to] = [transfer.from, transfer.to].map(|slot| self.descriptors.get(slot));
        let (mut begin, mut there) = (step.offset.cast_signed(), transfer.to_offset.cast_signed());
        let bytes = usize::try_from(step.bytes).unwrap_or(usize::MAX);
        // SAFETY: offsets that live through the call; a descriptor that is none is refused.
        answer(unsafe {
            if step.kind == StepKind::SendTo {
                libc::sendfile64(to, from, &raw mut begin, bytes) as i64
            } else {
                let (begin, there) = (&raw mut begin, &raw mut there);
                libc::copy_file_range(from, begin, to, there, bytes, 0) as i64
            }
        })
    }
}
