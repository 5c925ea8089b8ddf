//! What follows from the counters of one interval.

use hotset_facts::{Interval, LiveIo};

use crate::numbers::share;

/// The counters of an interval, or of several, with how long that was.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LiveNumbers {
    /// What was counted.
    pub io: LiveIo,
    /// Seconds of the monotonic clock in which it was counted.
    pub seconds: f64,
}

impl LiveNumbers {
    /// The counters of `seconds` seconds.
    pub fn new(io: LiveIo, seconds: f64) -> Self {
        Self { io, seconds }
    }

    /// Everything that was counted in an interval, with what was counted for nobody.
    pub fn of_interval(interval: &Interval) -> Self {
        let mut io = interval.others;
        interval.rows.iter().for_each(|row| io.add(&row.io.unpack()));
        Self { io, seconds: interval.length_ns as f64 / 1e9 }
    }

    /// Requested pages that were in the cache: hits + misses = pages, always.
    pub fn hits(&self) -> u64 {
        self.io.split().hits
    }

    /// Requested pages that were not.
    pub fn misses(&self) -> u64 {
        self.io.split().misses
    }

    /// Hits among the requested pages, 0 to 1; none without requests.
    pub fn hit_ratio(&self) -> Option<f64> {
        share(self.hits(), self.io.read_pages)
    }

    /// Pages from the device among the requested, 0 to 1; none without requests.
    pub fn device_share(&self) -> Option<f64> {
        share(self.io.split().from_device, self.io.read_pages)
    }

    /// Pages among the written ones that were in the cache already, 0 to 1; none without writes.
    pub fn write_hit_ratio(&self) -> Option<f64> {
        share(self.io.write_pages.saturating_sub(self.io.new_pages), self.io.write_pages)
    }

    /// Bytes of direct reads and writes.
    pub fn direct_bytes(&self) -> u64 {
        self.io.direct_bytes()
    }

    /// Adds another interval: its counters and its time.
    pub fn add_interval(&mut self, other: &Self) {
        self.io.add(&other.io);
        self.seconds += other.seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_and_misses_are_the_pages_even_where_counters_contradict() {
        let numbers = |io| LiveNumbers::new(io, 1.0);
        let io =
            LiveIo { read_pages: 100, read_misses: 2, readahead_hits: 98, ..LiveIo::default() };
        assert_eq!(numbers(io).hits() + numbers(io).misses(), 100);
        assert_eq!(numbers(io).hit_ratio(), Some(0.98));
        assert_eq!(numbers(io).device_share(), Some(1.0));
        let torn = LiveIo { read_pages: 3, read_misses: 9, ..LiveIo::default() };
        assert_eq!(numbers(torn).hits() + numbers(torn).misses(), 3);
        assert_eq!(numbers(torn).device_share(), Some(1.0));
    }

    #[test]
    fn nothing_has_no_ratio() {
        let none = LiveNumbers::default();
        assert_eq!(
            (none.hit_ratio(), none.device_share(), none.write_hit_ratio()),
            (None, None, None)
        );
    }

    #[test]
    fn a_write_hits_where_it_creates_no_page() {
        let io = LiveIo { write_pages: 10, new_pages: 4, ..LiveIo::default() };
        assert_eq!(LiveNumbers::new(io, 1.0).write_hit_ratio(), Some(0.6));
    }

    #[test]
    fn intervals_add_their_time() {
        let mut sum = LiveNumbers::new(LiveIo { faults: 3, ..LiveIo::default() }, 0.5);
        sum.add_interval(&LiveNumbers::new(LiveIo { faults: 4, ..LiveIo::default() }, 1.0));
        assert_eq!((sum.io.faults, sum.seconds), (7, 1.5));
    }
}
