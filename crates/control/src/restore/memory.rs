//! Watches over a restore: Ctrl-C, and the memory that there is.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hotset_facts::RestoreStop;
use hotset_sys::cache::Supervisor;
use hotset_sys::cgroup::{Headroom, headroom};

/// After so many bytes it is looked again how much memory there is.
const RECHECK_BYTES: u64 = 64 << 20;

/// A supervisor of a whole restore.
pub(super) struct Watch<'a> {
    stop: &'a AtomicBool,
    /// Bytes of the set that are cached, by this restore or before.
    held: AtomicU64,
    done: AtomicU64,
    next_look: AtomicU64,
    room: AtomicU64,
    stopped: Mutex<Option<RestoreStop>>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(stop: &'a AtomicBool) -> Self {
        Self {
            stop,
            held: AtomicU64::new(0),
            done: AtomicU64::new(0),
            next_look: AtomicU64::new(0),
            room: AtomicU64::new(u64::MAX),
            stopped: Mutex::new(None),
        }
    }

    /// Counts what is cached already, and should stay.
    pub(super) fn holds(&self, bytes: u64) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes read so far.
    pub(super) fn done_bytes(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Whether Ctrl-C was pressed; the first look remembers it.
    pub(super) fn is_interrupted(&self) -> bool {
        let stop = self.stop.load(Ordering::Relaxed);
        if stop {
            self.stop_for(RestoreStop::Interrupted);
        }
        stop
    }

    /// Why it stopped, if it did.
    pub(super) fn stopped(&self) -> Option<RestoreStop> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn stop_for(&self, why: RestoreStop) {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    fn look(&self) {
        let held = self.held.load(Ordering::Relaxed);
        let due = self.next_look.load(Ordering::Relaxed);
        let next = held.saturating_add(RECHECK_BYTES);
        let relaxed = Ordering::Relaxed;
        if held >= due && self.next_look.compare_exchange(due, next, relaxed, relaxed).is_ok() {
            self.room.store(headroom().room_bytes(), Ordering::Relaxed);
        }
    }
}

impl Supervisor for Watch<'_> {
    fn grant(&self, bytes: u64) -> u64 {
        if self.is_interrupted() {
            return 0;
        }
        self.look();
        let held = self.held.load(Ordering::Relaxed);
        if held.saturating_add(bytes) > self.room.load(Ordering::Relaxed) {
            self.stop_for(short_of(&headroom()));
            return 0;
        }
        self.held.fetch_add(bytes, Ordering::Relaxed);
        bytes
    }

    fn done(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }
}

fn short_of(memory: &Headroom) -> RestoreStop {
    let room_bytes = memory.room_bytes();
    let group: Option<PathBuf> = memory
        .group
        .as_ref()
        .filter(|group| group.room_bytes() <= room_bytes)
        .map(|group| group.dir.clone());
    RestoreStop::Memory { room_bytes, group }
}
