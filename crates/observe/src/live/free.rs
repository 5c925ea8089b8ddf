//! What user space gives back to the sensor: a ring of numbers that programs take from.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

use libbpf_rs::{Map, MapCore};

use super::window::Window;
use crate::ObserveError;

/// One ring. It has as many entries as there are numbers, so it never fills up.
#[derive(Debug)]
pub(crate) struct FreeList {
    ring: Window,
    mask: u64,
    tail: u64,
}

impl FreeList {
    pub(crate) fn open(map: &Map<'_>, name: &'static str) -> Result<Self, ObserveError> {
        let entries = map.max_entries();
        let ring = Window::open(map.as_fd(), 0, entries as usize * 8)
            .map_err(|error| ObserveError::table(name, error))?;
        Ok(Self { ring, mask: u64::from(entries) - 1, tail: 0 })
    }

    /// Puts numbers into the ring. [`FreeList::publish`] shows them to the programs.
    pub(crate) fn give(&mut self, numbers: &[u32]) {
        // The kernel rounds entries up to 8 bytes; the number stands in the first four.
        let ring = self.ring.words();
        for &number in numbers {
            if let Some(place) = ring.get((self.tail & self.mask) as usize) {
                place.store(number.into(), Ordering::Release);
                self.tail += 1;
            }
        }
    }

    /// Shows what was given.
    pub(crate) fn publish(&self, tail: &AtomicU64) {
        tail.store(self.tail, Ordering::Release);
    }
}
