//! The mappings of a replay.

use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicPtr, Ordering};

use hotset_facts::replay::{PlanMapping, ReplayPlan};

use super::ReplayError;
use super::names::{Names, answer};

/// Where each mapping begins, for all threads; null where it is not there.
pub(super) struct Maps {
    all: Vec<AtomicPtr<u8>>,
    lengths: Vec<usize>,
}

impl Maps {
    /// Makes those that nobody was seen to make.
    pub(super) fn new(plan: &ReplayPlan, names: &Names<'_>) -> Result<Self, ReplayError> {
        let length = |mapping: &PlanMapping| usize::try_from(mapping.bytes).unwrap_or(usize::MAX);
        let maps = Self {
            all: plan.mappings.iter().map(|_| AtomicPtr::default()).collect(),
            lengths: plan.mappings.iter().map(length).collect(),
        };
        for (place, mapping) in
            (0..).zip(&plan.mappings).filter(|(_, mapping)| mapping.is_made_before)
        {
            let path = plan.files.get(mapping.file as usize).and_then(|file| file.path);
            let Some(path) = path else { continue };
            if let Some(fd) = names.open_before(plan, path, libc::O_RDONLY)? {
                maps.make(place, mapping, fd.as_raw_fd(), false);
            }
        }
        Ok(maps)
    }

    /// Maps a file: 0, or the number of an error below zero.
    pub(super) fn make(
        &self,
        place: u32,
        mapping: &PlanMapping,
        fd: RawFd,
        populates: bool,
    ) -> i64 {
        let (Some(start), Some(length)) =
            (self.all.get(place as usize), self.lengths.get(place as usize))
        else {
            return -i64::from(libc::EINVAL);
        };
        let access = libc::PROT_READ | if mapping.is_writable { libc::PROT_WRITE } else { 0 };
        let sharing = if mapping.is_shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
        let flags = sharing | if populates { libc::MAP_POPULATE } else { 0 };
        let Ok(offset) = libc::off_t::try_from(mapping.offset) else {
            return -i64::from(libc::EINVAL);
        };
        // SAFETY: a new mapping at an address of the kernel's choice, which replaces none.
        let made = unsafe { libc::mmap(std::ptr::null_mut(), *length, access, flags, fd, offset) };
        if made == libc::MAP_FAILED {
            return answer(-1_i64);
        }
        start.store(made.cast(), Ordering::Release);
        0
    }

    /// Unmaps it.
    pub(super) fn remove(&self, place: u32) -> i64 {
        let (Some(start), Some(length)) =
            (self.all.get(place as usize), self.lengths.get(place as usize))
        else {
            return -i64::from(libc::EINVAL);
        };
        let start = start.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if start.is_null() {
            return -i64::from(libc::EINVAL);
        }
        // SAFETY: made here, and taken from all threads by now: the plan orders steps of one mapping.
        answer(unsafe { libc::munmap(start.cast(), *length) })
    }

    /// The address of `bytes` bytes of a mapping, from a place of its file on; nothing where it has not all of them.
    #[inline]
    pub(super) fn at(
        &self,
        place: u32,
        mapping: &PlanMapping,
        offset: u64,
        bytes: u64,
    ) -> Option<*mut u8> {
        let start = self.all.get(place as usize)?.load(Ordering::Acquire);
        let within = offset.checked_sub(mapping.offset)?;
        let end = within.checked_add(bytes)?;
        let is_there = !start.is_null() && end <= *self.lengths.get(place as usize)? as u64;
        is_there.then(|| start.wrapping_add(within as usize))
    }
}

impl Drop for Maps {
    fn drop(&mut self) {
        for place in 0..self.all.len() {
            self.remove(u32::try_from(place).unwrap_or(u32::MAX));
        }
    }
}
