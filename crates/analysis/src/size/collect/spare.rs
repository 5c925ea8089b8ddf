//! Memory that the program leaves for pages while it holds less than at its peak.

use hotset_facts::trace::{MemoryStep, TraceHead};
use hotset_sizing::PAGE_BYTES;

use crate::size::need::Must;

/// The room beside a limit, over time.
#[derive(Debug, Default)]
pub(super) struct Spare<'a> {
    peak_bytes: u64,
    /// Steps that are still to come.
    rest: &'a [MemoryStep],
}

impl<'a> Spare<'a> {
    /// Of a recording with this head; none where it has no memory.
    pub(super) fn of(head: &'a TraceHead) -> Self {
        let Some(memory) = &head.memory else { return Self::default() };
        Self { peak_bytes: Must::of(memory, 0, 0).other_bytes(), rest: &head.memory_steps }
    }

    /// What the program holds beside its cache at the most.
    pub(super) fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// How many pages have room beside the limit from this time on, if that changed since it was asked for last.
    pub(super) fn at(&mut self, clock_ns: u64) -> Option<u64> {
        let passed = self.rest.iter().take_while(|step| step.from_ns <= clock_ns).count();
        let (passed, rest) = self.rest.split_at(passed);
        self.rest = rest;
        Some(self.peak_bytes.saturating_sub(passed.last()?.bytes) / PAGE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::TraceMemory;

    use super::*;
    use crate::trace::testing::head;

    #[test]
    fn room_is_what_lacks_to_the_peak() {
        let step = |from_ns, mib: u64| MemoryStep { from_ns, bytes: mib << 20 };
        let peak = TraceMemory {
            anon_peak_bytes: 6 << 20,
            shmem_peak_bytes: 1 << 20,
            page_tables_peak_bytes: 1 << 20,
            ..TraceMemory::default()
        };
        let head = TraceHead {
            memory: Some(peak),
            memory_steps: vec![step(0, 2), step(10, 5), step(20, 9), step(30, 4)],
            ..head()
        };
        let mut spare = Spare::of(&head);
        let at = [0, 5, 10, 19, 25, 40, 50].map(|clock_ns| spare.at(clock_ns));
        assert_eq!(at, [Some(1_536), None, Some(768), None, Some(0), Some(1_024), None]);
        let unseen = TraceHead { memory: None, ..head };
        assert_eq!(Spare::of(&unseen).at(50), None);
    }
}
