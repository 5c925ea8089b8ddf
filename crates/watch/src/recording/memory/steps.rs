//! Memory over time, in as many steps as a trace has room for.

use hotset_facts::trace::MemoryStep;

/// A program that runs for a day and one that runs for a second have no more than so many.
const MOST_STEPS: usize = 256;
/// A change by less than this part of what there was makes no difference to a limit.
const SAME_PART: u64 = 64;
/// So does one by less than this: what the kernel keeps for each CPU is more.
const SAME_BYTES: u64 = 64 << 10;

/// Memory from the first look on.
#[derive(Debug, Default)]
pub(super) struct Steps(Vec<MemoryStep>);

impl Steps {
    /// At this time there were so many bytes, and at the look before others. When they changed is not known: halfway, then.
    pub(super) fn add(&mut self, last_ns: u64, at_ns: u64, bytes: u64) {
        let from_ns = match self.0.last() {
            None => 0,
            Some(step) if is_same(step.bytes, bytes) => return,
            Some(_) => last_ns.midpoint(at_ns),
        };
        if self.0.len() >= MOST_STEPS {
            self.join();
        }
        self.0.push(MemoryStep { from_ns, bytes });
    }

    /// Makes one step of each two, with the more of both.
    fn join(&mut self) {
        let joined = self.0.chunks(2).map(|steps| MemoryStep {
            from_ns: steps.first().map_or(0, |step| step.from_ns),
            bytes: steps.iter().map(|step| step.bytes).max().unwrap_or(0),
        });
        self.0 = joined.collect();
    }

    pub(super) fn into_steps(self) -> Vec<MemoryStep> {
        self.0
    }
}

fn is_same(before: u64, now: u64) -> bool {
    before.abs_diff(now) <= (before / SAME_PART).max(SAME_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_change_is_a_step_halfway_between_two_looks() {
        let mut steps = Steps::default();
        for (last, at, bytes) in [(0, 5, 8 * MIB), (5, 15, 8 * MIB + 1), (15, 25, 16 * MIB)] {
            steps.add(last, at, bytes);
        }
        let step = |from_ns, bytes| MemoryStep { from_ns, bytes };
        assert_eq!(steps.into_steps(), [step(0, 8 * MIB), step(20, 16 * MIB)]);
    }

    #[test]
    fn slow_growth_is_seen() {
        let mut steps = Steps::default();
        for at in 0..10_000 {
            steps.add(at.max(1) - 1, at, 100 * MIB + at * 4096);
        }
        let steps = steps.into_steps();
        let last = steps.last().expect("a step").bytes;
        assert!(last.abs_diff(100 * MIB + 9_999 * 4096) <= 3 * MIB, "{last}");
    }

    #[test]
    fn a_long_run_has_few_steps_and_none_is_less_than_it_was() {
        let mut steps = Steps::default();
        let bytes_at = |at: u64| if at.is_multiple_of(2) { MIB } else { (at + 2) * MIB };
        for at in 0..5_000 {
            steps.add(at.max(1) - 1, at, bytes_at(at));
        }
        let steps = steps.into_steps();
        assert!((MOST_STEPS / 2..=MOST_STEPS).contains(&steps.len()), "{}", steps.len());
        assert!(steps.is_sorted_by_key(|step| step.from_ns));
        for at in 0..5_000_u64 {
            let then = steps.iter().rev().find(|step| step.from_ns <= at).expect("a step");
            assert!(then.bytes >= bytes_at(at) || then.bytes >= bytes_at(at.max(1) - 1), "{at}");
        }
    }
}
