//! Times in which records were lost.

use hotset_facts::trace::Gap;

/// What was lost, seen from a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    /// Nothing since the last time that was asked.
    None,
    /// Records between the last time that was asked and this one.
    Before,
    /// Records at the same time.
    Now,
}

/// All of these times, of any thread, in order.
#[derive(Debug)]
pub(super) struct Gaps {
    all: Vec<(u64, u64)>,
    /// Those that are over.
    passed: usize,
}

impl Gaps {
    /// Of the gaps of a recording.
    pub(super) fn of(gaps: &[Gap]) -> Self {
        let mut all: Vec<(u64, u64)> = gaps.iter().map(|gap| (gap.from_ns, gap.to_ns)).collect();
        all.sort_unstable();
        Self { all, passed: 0 }
    }

    /// What was lost, seen from this time. Times must come nearly in order.
    pub(super) fn at(&mut self, now_ns: u64) -> Lost {
        let before = self.passed;
        while let Some(&(from, to)) = self.all.get(self.passed) {
            if now_ns <= to {
                return if now_ns >= from { Lost::Now } else { self.since(before) };
            }
            self.passed += 1;
        }
        self.since(before)
    }

    fn since(&self, before: usize) -> Lost {
        if self.passed > before { Lost::Before } else { Lost::None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_now_then_before_then_over() {
        let gap = |from_ns, to_ns| Gap { tid: None, from_ns, to_ns, records: 1 };
        let mut gaps = Gaps::of(&[gap(50, 60), gap(10, 20), gap(12, 14)]);
        let seen: Vec<Lost> =
            [5, 10, 15, 20, 21, 30, 70, 80].into_iter().map(|now| gaps.at(now)).collect();
        use Lost::{Before, Now};
        let none = Lost::None;
        assert_eq!(seen, [none, Now, Now, Now, Before, none, Before, none]);
    }
}
