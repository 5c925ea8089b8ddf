//! A line of `hotset stat`, and the line that sums all of them up.

use hotset_facts::{Counter, Interval, LIVE, NotMeasured, Observed, Reason};

use super::{Counted, LiveNumbers};

const BUFFERS_OF_GROUP: Reason =
    Reason::unsupported("the kernel doesn't tell a group's pages of block devices apart");
const CACHE_OF_PROCESS: Reason =
    Reason::unsupported("cached pages belong to files, not to processes");
const EVICTED_OF_PART: Reason =
    Reason::unsupported("evictions are counted for the whole host only");
const WRITEBACK_OF_PART: Reason =
    Reason::unsupported("write-back is counted for the whole host only");

/// Whose numbers a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatScope {
    /// The host's.
    Host,
    /// One control group's, with what is cached for it, in bytes.
    Group(Observed<u64>),
    /// Those of some processes.
    Processes,
}

/// The numbers of one line. Counts are of the interval, not per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatLine {
    /// Everything that was counted in it.
    pub numbers: LiveNumbers,
    /// Requested pages; always `misses + hits`.
    pub total: u64,
    /// Requested pages that were not cached.
    pub misses: u64,
    /// Requested pages that were.
    pub hits: u64,
    /// Pages that turned dirty.
    pub dirties: Observed<u64>,
    /// Cached pages of block devices at the end, in bytes.
    pub buffers_bytes: Observed<u64>,
    /// Cached pages of files at the end, in bytes.
    pub cached_bytes: Observed<u64>,
    /// Pages read ahead.
    pub readahead_pages: u64,
    /// Requested pages that came from the device.
    pub device_pages: u64,
    /// Those among the requested, 0 to 1; none without requests.
    pub device_share: Option<f64>,
    /// Bytes of direct reads and writes.
    pub direct_bytes: u64,
    /// Faults on file mappings.
    pub faults: Observed<u64>,
    /// Those that had to read.
    pub major_faults: Observed<u64>,
    /// Pages that left the cache but for truncation and unlinking.
    pub evicted_pages: Observed<u64>,
    /// Bytes that were written back.
    pub writeback_bytes: Observed<u64>,
    /// Bytes of a page.
    pub page_size: u64,
}

impl StatLine {
    /// The line of an interval.
    pub fn of(
        interval: &Interval,
        scope: StatScope,
        not_measured: &[NotMeasured],
        page_size: u64,
    ) -> Self {
        let numbers = LiveNumbers::of_interval(interval);
        let io = &numbers.io;
        let split = io.split();
        let counted = |counter: &Counter| counter.observed(io, not_measured);
        let memory = interval.host.memory;
        let host_writeback =
            interval.host.written_back_pages.map(|pages| pages.saturating_mul(page_size));
        let (buffers_bytes, cached_bytes, writeback_bytes) = match scope {
            StatScope::Host => {
                (memory.map(|m| m.buffers_bytes), memory.map(|m| m.cached_bytes), host_writeback)
            }
            StatScope::Group(cached) => {
                (Observed::Missing(BUFFERS_OF_GROUP), cached, Observed::Missing(WRITEBACK_OF_PART))
            }
            StatScope::Processes => (
                Observed::Missing(CACHE_OF_PROCESS),
                Observed::Missing(CACHE_OF_PROCESS),
                Observed::Missing(WRITEBACK_OF_PART),
            ),
        };
        Self {
            total: io.read_pages,
            misses: split.misses,
            hits: split.hits,
            dirties: counted(&LIVE.dirtied_pages),
            buffers_bytes,
            cached_bytes,
            readahead_pages: io.readahead_pages,
            device_pages: split.from_device,
            device_share: numbers.device_share(),
            direct_bytes: numbers.direct_bytes(),
            faults: counted(&LIVE.faults),
            major_faults: counted(&LIVE.major_faults),
            evicted_pages: match scope {
                StatScope::Host => interval.evicted_pages,
                _ => Observed::Missing(EVICTED_OF_PART),
            },
            writeback_bytes,
            page_size,
            numbers,
        }
    }
}

/// All lines so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StatTotals {
    /// Everything that was counted, and in how long.
    pub numbers: LiveNumbers,
    /// Whole intervals.
    pub intervals: u64,
    /// Pages that turned dirty.
    pub dirties: Counted,
    /// Faults on file mappings.
    pub faults: Counted,
    /// Pages that left the cache but for truncation and unlinking.
    pub evicted_pages: Counted,
    /// Bytes that were written back.
    pub writeback_bytes: Counted,
    /// Something was lost on the way: the counts are at least this.
    pub at_least: bool,
}

impl StatTotals {
    /// Adds a line of a whole interval, or of the rest of one.
    pub fn add(&mut self, line: &StatLine, whole: bool, damaged: bool) {
        self.numbers.add_interval(&line.numbers);
        self.intervals = self.intervals.saturating_add(u64::from(whole));
        self.dirties.add(line.dirties);
        self.faults.add(line.faults);
        self.evicted_pages.add(line.evicted_pages);
        self.writeback_bytes.add(line.writeback_bytes);
        self.at_least |= damaged;
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::{Feature, LiveIo};

    use super::*;
    use crate::live::testing::{interval, reads};

    #[test]
    fn a_line_is_the_whole_interval_with_what_belongs_to_nobody() {
        let mut interval = interval(vec![reads(0, 100, 40), reads(1, 10, 0)]);
        interval.others = LiveIo { read_pages: 5, read_misses: 5, ..LiveIo::default() };
        interval.host.written_back_pages = Observed::Value(3);
        let line = StatLine::of(&interval, StatScope::Host, &[], 4096);
        assert_eq!((line.total, line.misses, line.hits), (115, 45, 70));
        assert_eq!(line.device_share, Some(45.0 / 115.0));
        assert_eq!(line.cached_bytes.value(), Some(2 << 30));
        assert_eq!(line.writeback_bytes.value(), Some(3 * 4096));
    }

    #[test]
    fn a_part_of_the_host_has_no_numbers_of_the_whole() {
        let interval = interval(vec![reads(0, 1, 0)]);
        let line = |scope| StatLine::of(&interval, scope, &[], 4096);
        let group = line(StatScope::Group(Observed::Value(7)));
        assert_eq!((group.cached_bytes.value(), group.buffers_bytes.value()), (Some(7), None));
        let processes = line(StatScope::Processes);
        assert!(processes.cached_bytes.reason().is_some());
        assert!(
            processes.writeback_bytes.reason().is_some() && group.writeback_bytes.value().is_none()
        );
    }

    #[test]
    fn what_a_kernel_lacks_is_never_zero() {
        let gaps = [Feature::FileFaults, Feature::IoUring].map(NotMeasured::lacking);
        let line = StatLine::of(&interval(vec![]), StatScope::Host, &gaps, 4096);
        assert_eq!(line.faults, Observed::Missing(Feature::FileFaults.reason()));
        assert_eq!(line.dirties.value(), Some(0));
    }

    #[test]
    fn totals_are_the_lines() {
        let line = |pages| {
            let interval = interval(vec![reads(0, pages, 1)]);
            StatLine::of(&interval, StatScope::Host, &[], 4096)
        };
        let mut totals = StatTotals::default();
        totals.add(&line(10), true, false);
        totals.add(&line(5), false, true);
        assert_eq!((totals.intervals, totals.numbers.io.read_pages), (1, 15));
        assert_eq!((totals.numbers.seconds, totals.at_least), (2.0, true));
    }
}
