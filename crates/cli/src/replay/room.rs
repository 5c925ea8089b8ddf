//! How many findings a session of replays has room for.

use std::time::Duration;

use hotset_replay::ReplayPlan;

/// Findings that are proved at most: what comes behind them gains little.
const MOST_PROOFS: usize = 6;
/// Steps of all plans together: 40 bytes each.
const MOST_STEPS: u64 = 20_000_000;
/// Fewer rounds have no 95 % interval.
const ROUNDS: u32 = 6;

/// What is left of the budget, and of memory.
#[derive(Clone)]
pub(super) struct Room {
    io: Duration,
    left: Option<Duration>,
    steps: u64,
    steps_left: u64,
    proofs_left: usize,
}

impl Room {
    /// What replays of the recording as it is leave of `budget`.
    pub(super) fn beside(plan: &ReplayPlan, budget: Duration) -> Self {
        let io = Duration::from_nanos(plan.recorded.duration_ns);
        let steps = plan.steps();
        Self {
            io,
            left: budget.checked_sub(io.saturating_mul(ROUNDS)),
            steps,
            steps_left: MOST_STEPS.saturating_sub(steps),
            proofs_left: MOST_PROOFS,
        }
    }

    /// Takes what a finding needs that would save so many nanoseconds at least; why not, where there is no room for it.
    pub(super) fn take(&mut self, saved_ns: u64) -> Result<(), &'static str> {
        let Some(left) = self.left else {
            return Err("six replays of the recording take longer than --budget");
        };
        if self.steps_left < self.steps {
            return Err("its replay has no room in memory beside the others");
        }
        if self.proofs_left == 0 {
            return Err("other findings gain more, and one session proves six");
        }
        let replay = self.io.saturating_sub(Duration::from_nanos(saved_ns));
        let Some(left) = left.checked_sub(replay.saturating_mul(ROUNDS)) else {
            return Err("six replays with this change take longer than what is left of --budget");
        };
        self.left = Some(left);
        self.steps_left -= self.steps;
        self.proofs_left -= 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(io_s: u64, budget_s: u64) -> Room {
        let mut plan = ReplayPlan::default();
        plan.recorded.duration_ns = io_s * 1_000_000_000;
        Room::beside(&plan, Duration::from_secs(budget_s))
    }

    #[test]
    fn a_finding_that_saves_much_takes_little_of_the_budget() {
        let mut tight = room(5, 60);
        assert_eq!(tight.take(4_000_000_000), Ok(()));
        assert_eq!(tight.take(1_000_000_000), Ok(()), "24 of 24 s that are left");
        assert!(tight.take(0).is_err_and(|why| why.contains("what is left")));
        assert!(room(11, 60).take(11_000_000_000).is_err_and(|why| why.contains("the recording")));
    }

    #[test]
    fn six_findings_are_proved_and_no_more() {
        let mut all = room(0, 60);
        assert!((0..6).all(|_| all.take(0).is_ok()));
        assert!(all.take(0).is_err_and(|why| why.contains("six")));
    }

    #[test]
    fn plans_need_memory() {
        let mut room = room(0, 60);
        room.steps = MOST_STEPS;
        assert!(room.take(0).is_ok());
        assert!(room.take(0).is_err_and(|why| why.contains("memory")));
    }
}
