//! The open file descriptions of a replay.

use std::collections::BTreeSet;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use hotset_facts::replay::{PlanSlot, ReplayPlan};
use hotset_facts::trace::RecordFlags;

use super::ReplayError;
use super::names::Names;
use super::tables;

const NONE: RawFd = -1;

/// The descriptor of each slot, for all threads. A thread with a table of its own has its numbers here too: nobody else uses them.
pub(super) struct Descriptors {
    all: Vec<AtomicI32>,
    /// Those of the table of the process that such threads have copies of.
    kept: Vec<OwnedFd>,
    /// A thread that was to have a table of its own has none: what is kept is closed by its steps.
    is_shared: AtomicBool,
}

impl Descriptors {
    /// Opens those that nobody was seen to open. Of what is not there to be opened, every step will differ.
    /// Of the slots of threads that will have a table of their own, it keeps the process's descriptors.
    pub(super) fn new(
        plan: &ReplayPlan,
        names: &Names<'_>,
        is_parted: &[bool],
    ) -> Result<Self, ReplayError> {
        let open = |slot: &PlanSlot| match slot.opened_before {
            Some(path) => {
                let fd = names.open_before(plan, path, flags(slot, RecordFlags::NONE))?;
                Ok(AtomicI32::new(fd.map_or(NONE, IntoRawFd::into_raw_fd)))
            }
            None => Ok(AtomicI32::new(NONE)),
        };
        let mut all = Vec::with_capacity(plan.slots.len());
        for slot in &plan.slots {
            all.push(open(slot)?);
        }
        let parted = is_parted.iter().enumerate().filter(|(_, is_parted)| **is_parted);
        let slots: BTreeSet<u32> = parted.flat_map(|(at, _)| tables::of_thread(plan, at)).collect();
        let numbers = slots.iter().filter_map(|slot| all.get(*slot as usize));
        let open = numbers.map(|fd| fd.load(Ordering::Relaxed)).filter(|fd| *fd >= 0);
        // SAFETY: opened above. Whoever is parted closes and opens in another table, and forgets its numbers in the end.
        let kept = open.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }).collect();
        Ok(Self { all, kept, is_shared: AtomicBool::new(false) })
    }

    /// The descriptor of a slot; -1, which is none, of one that is not open.
    #[inline]
    pub(super) fn get(&self, slot: u32) -> RawFd {
        self.all.get(slot as usize).map_or(NONE, |fd| fd.load(Ordering::Acquire))
    }

    /// Keeps a descriptor for as long as its slot is open; of no slot, until the end.
    pub(super) fn put(&self, slot: u32, fd: RawFd) {
        if let Some(place) = self.all.get(slot as usize) {
            close(place.swap(fd, Ordering::AcqRel));
        }
    }

    /// Forgets the descriptors of a thread whose table ends with it.
    pub(super) fn forget(&self, plan: &ReplayPlan, thread: usize) {
        for slot in tables::of_thread(plan, thread) {
            self.take(slot);
        }
    }

    /// A thread could not be parted from the table that it shares.
    pub(super) fn stay_shared(&self) {
        self.is_shared.store(true, Ordering::Relaxed);
    }

    /// Takes it, to close it.
    pub(super) fn take(&self, slot: u32) -> RawFd {
        self.all.get(slot as usize).map_or(NONE, |fd| fd.swap(NONE, Ordering::AcqRel))
    }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        self.all.iter().for_each(|fd| close(fd.swap(NONE, Ordering::AcqRel)));
        let kept = std::mem::take(&mut self.kept);
        if self.is_shared.load(Ordering::Relaxed) {
            kept.into_iter().for_each(std::mem::forget);
        }
    }
}

fn close(fd: RawFd) {
    if fd >= 0 {
        // SAFETY: it was kept here alone.
        drop(unsafe { OwnedFd::from_raw_fd(fd) });
    }
}

/// What open(2) is told of a slot. How it was opened for writing no record says: for both.
pub(super) fn flags(slot: &PlanSlot, step: RecordFlags) -> i32 {
    let mut flags = if slot.writes { libc::O_RDWR } else { libc::O_RDONLY };
    for (is_set, flag) in [
        (slot.direct, libc::O_DIRECT),
        (slot.append, libc::O_APPEND),
        (slot.sync, libc::O_DSYNC),
        (step.has(RecordFlags::CREATE), libc::O_CREAT),
        (step.has(RecordFlags::TRUNCATE), libc::O_TRUNC),
        (step.has(RecordFlags::NOWAIT), libc::O_NONBLOCK),
        (step.has(RecordFlags::NOFOLLOW), libc::O_NOFOLLOW),
        (step.has(RecordFlags::TMPFILE), libc::O_TMPFILE),
    ] {
        flags |= if is_set { flag } else { 0 };
    }
    flags
}

/// A program that is recorded with all that it started may have had more open together than one process may.
pub(super) fn allow_as_many_as_possible() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}
