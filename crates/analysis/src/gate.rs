//! When a finding is worth a person's attention.

use serde::{Deserialize, Serialize};

use crate::Saving;

/// A finding is shown if its fix would save this much. Time, never a bare ratio: a ratio fires on healthy programs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gate {
    /// Share of the wall time, 0 to 1.
    pub min_share_of_wall: f64,
    /// Nanoseconds per run that are worth it whatever their share.
    pub min_saving_ns: u64,
    /// Nanoseconds per run below which no share is worth it.
    pub floor_ns: u64,
}

impl Default for Gate {
    /// 5 % of the wall time or 50 ms per run: below that, a second run of the same command differs by as much. Less than
    /// a millisecond nobody notices: starting a process takes as long.
    fn default() -> Self {
        Self { min_share_of_wall: 0.05, min_saving_ns: 50_000_000, floor_ns: 1_000_000 }
    }
}

impl Gate {
    /// True if the saving's upper bound reaches the share or the time, and the floor.
    pub fn passes(&self, saving: &Saving) -> bool {
        saving.high_ns >= self.floor_ns.max(1)
            && (saving.high_ns >= self.min_saving_ns
                || saving.high_of_wall.is_some_and(|share| share >= self.min_share_of_wall))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_bound_opens_the_gate() {
        let gate = Gate::default();
        assert!(gate.passes(&Saving::of_wall(0, 50_000_000, 60_000_000_000)), "50 ms of a minute");
        assert!(gate.passes(&Saving::of_wall(0, 5_000_000, 100_000_000)), "5 % of 100 ms");
        assert!(!gate.passes(&Saving::of_wall(0, 4_900_000, 100_000_000)));
        assert!(!gate.passes(&Saving::of_wall(0, 900_000, 1_000_000)), "90 % of nothing");
        assert!(!gate.passes(&Saving::of_wall(0, 0, 0)));
    }
}
