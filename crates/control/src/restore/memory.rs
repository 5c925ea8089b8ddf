//! Watches over a restore: Ctrl-C, and the memory that there is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hotset_facts::RestoreStop;
use hotset_sys::cache::Supervisor;
use hotset_sys::cgroup::Headroom;

use crate::Progress;

/// After so many bytes it is looked again how much memory there is.
const RECHECK_BYTES: u64 = 64 << 20;

/// How much file cache there is room for.
pub(super) type LookAtMemory<'a> = &'a (dyn Fn() -> Headroom + Sync);

/// A supervisor of a whole restore.
pub(super) struct MemoryWatch<'a> {
    stop: &'a AtomicBool,
    /// Bytes of the set that are cached, by this restore or before.
    held: AtomicU64,
    next_look: AtomicU64,
    room: AtomicU64,
    stopped: Mutex<Option<RestoreStop>>,
    headroom: LookAtMemory<'a>,
    progress: &'a dyn Progress,
}

impl<'a> MemoryWatch<'a> {
    pub(super) fn new(
        stop: &'a AtomicBool,
        headroom: LookAtMemory<'a>,
        progress: &'a dyn Progress,
    ) -> Self {
        Self {
            stop,
            held: AtomicU64::new(0),
            next_look: AtomicU64::new(0),
            room: AtomicU64::new(u64::MAX),
            stopped: Mutex::new(None),
            headroom,
            progress,
        }
    }

    /// Counts what is cached already, and should stay.
    pub(super) fn holds(&self, bytes: u64) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop; the first look remembers it.
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

    fn look_if_due(&self) {
        let held = self.held.load(Ordering::Relaxed);
        let due = self.next_look.load(Ordering::Relaxed);
        let next = held.saturating_add(RECHECK_BYTES);
        let relaxed = Ordering::Relaxed;
        if held >= due && self.next_look.compare_exchange(due, next, relaxed, relaxed).is_ok() {
            self.room.store((self.headroom)().room_bytes(), relaxed);
        }
    }
}

impl Supervisor for MemoryWatch<'_> {
    fn grant(&self, bytes: u64) -> u64 {
        if self.is_interrupted() {
            return 0;
        }
        self.look_if_due();
        let (relaxed, room) = (Ordering::Relaxed, self.room.load(Ordering::Relaxed));
        let take = |held: u64| held.checked_add(bytes).filter(|&held| held <= room);
        if self.held.fetch_update(relaxed, relaxed, take).is_err() {
            self.stop_for(short_of(&(self.headroom)()));
            return 0;
        }
        bytes
    }

    fn done(&self, bytes: u64) {
        self.progress.advance(bytes);
    }
}

fn short_of(memory: &Headroom) -> RestoreStop {
    let room_bytes = memory.room_bytes();
    let group = memory.group.as_ref().filter(|group| group.room_bytes() <= room_bytes);
    RestoreStop::Memory { room_bytes, group: group.map(|group| group.dir.clone()) }
}

#[cfg(test)]
mod tests {
    use hotset_sys::cgroup::GroupMemory;

    use super::*;
    use crate::testing::{GO, Heard};

    const MIB: u64 = 1 << 20;

    fn host(bytes: u64) -> Headroom {
        Headroom { group: None, host_bytes: Some(bytes) }
    }

    #[test]
    fn what_was_cached_before_takes_room_too() {
        let look = || host(10 * MIB);
        let watch = MemoryWatch::new(&GO, &look, &());
        watch.holds(4 * MIB);
        assert_eq!((watch.grant(6 * MIB), watch.stopped()), (6 * MIB, None), "to the last byte");
        assert_eq!(watch.grant(1), 0);
        let wanted = RestoreStop::Memory { room_bytes: 10 * MIB, group: None };
        assert_eq!(watch.stopped(), Some(wanted));
    }

    #[test]
    fn memory_is_looked_at_every_64_mib() {
        let room = AtomicU64::new(100 * MIB);
        let look = || host(room.load(Ordering::Relaxed));
        let watch = MemoryWatch::new(&GO, &look, &());
        assert_eq!(watch.grant(50 * MIB), 50 * MIB);
        room.store(40 * MIB, Ordering::Relaxed);
        assert_eq!(watch.grant(20 * MIB), 20 * MIB, "not yet");
        assert_eq!(watch.grant(1), 0, "70 MiB are held, and 40 have room");
        assert_eq!(
            watch.stopped(),
            Some(RestoreStop::Memory { room_bytes: 40 * MIB, group: None })
        );
    }

    #[test]
    fn the_group_is_named_where_it_is_its_limit() {
        let memory = |host_bytes| {
            let dir = "/cg/box".into();
            let group = GroupMemory { dir, limit_bytes: 50, used_bytes: 0, file_bytes: 0 };
            Headroom { group: Some(group), host_bytes: Some(host_bytes) }
        };
        let group = Some("/cg/box".into());
        assert_eq!(short_of(&memory(100)), RestoreStop::Memory { room_bytes: 50, group });
        assert_eq!(short_of(&memory(40)), RestoreStop::Memory { room_bytes: 40, group: None });
    }

    #[test]
    fn an_interrupt_stops_it_and_stays_the_reason() {
        let stop = AtomicBool::new(true);
        let (look, heard) = (|| host(0), Heard::default());
        let watch = MemoryWatch::new(&stop, &look, &heard);
        assert_eq!(watch.grant(5), 0);
        stop.store(false, Ordering::Relaxed);
        assert_eq!((watch.grant(5), watch.stopped()), (0, Some(RestoreStop::Interrupted)));
        watch.done(3);
        assert_eq!(heard.done.into_inner(), 3);
    }
}
