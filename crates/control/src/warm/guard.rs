//! Watches over warming: a budget, the memory that there is, and what happens to pages that were warmed before.

use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hotset_facts::{NotCached, PageRange};
use hotset_sys::cache::{Supervisor, seen_pages};

use crate::Progress;

/// After so many fetched bytes, earlier pages are looked at again.
const RECHECK_BYTES: u64 = 64 << 20;

/// Ranges that are remembered for that: each holds a descriptor.
const WITNESSES: usize = 32;

/// A supervisor of any number of files.
pub(super) struct Guard<'a> {
    stop: &'a AtomicBool,
    budget: AtomicU64,
    room: AtomicU64,
    done: AtomicU64,
    next_check: AtomicU64,
    halt: Mutex<Option<NotCached>>,
    witnesses: Mutex<Vec<Witness>>,
    /// Bytes of file cache that can still be had, asked anew at every look.
    room_now: &'a (dyn Fn() -> u64 + Sync),
    progress: &'a dyn Progress,
}

/// A range that was seen up to date once.
struct Witness {
    fd: OwnedFd,
    range: PageRange,
    cached: u64,
}

impl<'a> Guard<'a> {
    /// Allows at most `budget_bytes`, and at most `room_bytes` for want of memory; `room_now` says how many bytes of cache
    /// the host and the control group could hold at the moment, all in all.
    pub(super) fn new(
        stop: &'a AtomicBool,
        budget_bytes: u64,
        room_bytes: u64,
        room_now: &'a (dyn Fn() -> u64 + Sync),
        progress: &'a dyn Progress,
    ) -> Self {
        Self {
            stop,
            budget: AtomicU64::new(budget_bytes),
            room: AtomicU64::new(room_bytes),
            done: AtomicU64::new(0),
            next_check: AtomicU64::new(RECHECK_BYTES),
            halt: Mutex::new(None),
            witnesses: Mutex::new(Vec::new()),
            room_now,
            progress,
        }
    }

    fn done_bytes(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Why it stopped, if it did.
    pub(super) fn halted(&self) -> Option<NotCached> {
        *lock(&self.halt)
    }

    /// Remembers that so many pages of a range were cached right after it was warmed. Without room for another, every
    /// second one is forgotten: those that are kept stay spread over all that was warmed.
    pub(super) fn remember(&self, fd: OwnedFd, range: PageRange, cached: u64) {
        let mut witnesses = lock(&self.witnesses);
        if witnesses.len() >= WITNESSES {
            let mut odd = false;
            witnesses.retain(|_| {
                odd = !odd;
                odd
            });
        }
        witnesses.push(Witness { fd, range, cached });
    }

    /// Pages among those remembered, and how many of them have left the cache.
    pub(super) fn lost_pages(&self) -> (u64, u64) {
        let witnesses = lock(&self.witnesses);
        witnesses.iter().fold((0, 0), |(all, lost), witness| {
            // Nothing is lost where nobody tells, as on overlayfs.
            let now = seen_pages(&witness.fd, witness.range).unwrap_or(witness.cached);
            (all + witness.cached, lost + witness.cached.saturating_sub(now))
        })
    }

    fn stop_for(&self, why: NotCached) -> u64 {
        lock(&self.halt).get_or_insert(why);
        0
    }

    /// Whether warming has begun to push out what it fetched: pages are gone, and what is done is more than fits.
    fn is_thrashing(&self) -> bool {
        let (all, lost) = self.lost_pages();
        // Idle pages can be evicted by others at any time; only where memory is short is it this that does it.
        lost * 16 > all && self.done_bytes() > (self.room_now)()
    }
}

impl Supervisor for Guard<'_> {
    fn grant(&self, bytes: u64) -> u64 {
        if self.stop.load(Ordering::Relaxed) {
            return self.stop_for(NotCached::Interrupted);
        }
        let done = self.done_bytes();
        let due = self.next_check.load(Ordering::Relaxed);
        if done >= due
            && self
                .next_check
                .compare_exchange(due, done + RECHECK_BYTES, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
            && self.is_thrashing()
        {
            return self.stop_for(NotCached::Memory);
        }
        if self.halted().is_some() {
            return 0;
        }
        let budget = take(&self.budget, bytes);
        if budget < bytes {
            self.stop_for(NotCached::Budget);
        }
        let room = take(&self.room, budget);
        if room < budget {
            self.stop_for(NotCached::Memory);
        }
        room
    }

    fn done(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
        self.progress.advance(bytes);
    }
}

/// Takes up to `bytes`.
fn take(from: &AtomicU64, bytes: u64) -> u64 {
    let relaxed = Ordering::Relaxed;
    let before = from.fetch_update(relaxed, relaxed, |left| Some(left.saturating_sub(bytes)));
    before.map_or(0, |left| left.min(bytes))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use hotset_tests::undisturbed;

    use super::*;
    use crate::testing::{GO, Heard, ScratchDir, evict_now, warm_now};

    static STOP: AtomicBool = AtomicBool::new(true);

    fn plenty() -> u64 {
        u64::MAX
    }

    #[test]
    fn the_smaller_of_budget_and_room_is_the_reason() {
        let guard = Guard::new(&GO, 10, 100, &plenty, &());
        assert_eq!((guard.grant(6), guard.halted()), (6, None));
        assert_eq!((guard.grant(6), guard.halted()), (4, Some(NotCached::Budget)));
        assert_eq!(guard.grant(1), 0);
        let guard = Guard::new(&GO, 100, 10, &plenty, &());
        assert_eq!((guard.grant(60), guard.halted()), (10, Some(NotCached::Memory)));
        let guard = Guard::new(&STOP, 100, 100, &plenty, &());
        assert_eq!((guard.grant(1), guard.halted()), (0, Some(NotCached::Interrupted)));
    }

    #[test]
    fn a_budget_that_is_spent_exactly_is_no_reason_to_stop() {
        let guard = Guard::new(&GO, 10, 10, &plenty, &());
        assert_eq!((guard.grant(10), guard.halted()), (10, None));
        assert_eq!((guard.grant(1), guard.halted()), (0, Some(NotCached::Budget)));
    }

    #[test]
    fn the_first_reason_stays() {
        let stop = AtomicBool::new(false);
        let guard = Guard::new(&stop, 5, 100, &plenty, &());
        guard.grant(6);
        stop.store(true, Ordering::Relaxed);
        assert_eq!((guard.grant(6), guard.halted()), (0, Some(NotCached::Budget)));
    }

    #[test]
    fn what_is_done_is_heard() {
        let heard = Heard::default();
        let guard = Guard::new(&GO, 100, 100, &plenty, &heard);
        guard.done(7);
        guard.done(5);
        assert_eq!((guard.done_bytes(), heard.done.into_inner()), (12, 12));
    }

    #[test]
    fn pages_that_vanish_stop_it_only_where_memory_is_short() {
        for (room, halt) in [(u64::MAX, None), (0, Some(NotCached::Memory))] {
            let scratch = ScratchDir::new();
            let path = scratch.file("file", 1 << 20);
            let pages = hotset_sys::pages_of(1 << 20);
            let room_now = move || room;
            undisturbed(&[&path], || {
                warm_now(&path);
                let guard = Guard::new(&GO, u64::MAX, u64::MAX, &room_now, &());
                let fd = OwnedFd::from(File::open(&path).expect("open"));
                guard.remember(fd, PageRange { first: 0, count: pages }, pages);
                guard.done(RECHECK_BYTES);
                assert_eq!((guard.grant(1), guard.halted()), (1, None), "nothing has vanished");
                evict_now(&path);
                assert_eq!(guard.lost_pages(), (pages, pages));
                guard.done(RECHECK_BYTES);
                guard.grant(1);
                assert_eq!(guard.halted(), halt);
            });
        }
    }

    #[test]
    fn witnesses_are_few_and_spread() {
        let scratch = ScratchDir::new();
        let path = scratch.file("file", 1);
        let guard = Guard::new(&GO, 0, 0, &plenty, &());
        for first in 0..1000 {
            let fd = OwnedFd::from(File::open(&path).expect("open"));
            guard.remember(fd, PageRange { first, count: 1 }, 1);
        }
        let kept: Vec<u64> =
            lock(&guard.witnesses).iter().map(|witness| witness.range.first).collect();
        assert!(kept.len() <= WITNESSES && kept[0] == 0, "{kept:?}");
        assert!(kept.iter().any(|&first| first > 500), "{kept:?}");
    }
}
