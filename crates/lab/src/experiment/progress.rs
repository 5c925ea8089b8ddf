//! What is told while an experiment runs.

use std::time::Duration;

/// How far an experiment has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabProgress<'a> {
    /// Its name.
    pub experiment: &'a str,
    /// What happens now: `making files`, `counting calls`, or the id of a cell.
    pub doing: &'a str,
    /// Rounds that are done.
    pub rounds_done: u32,
    /// Rounds that there will be, as far as is known.
    pub rounds: u32,
    /// Samples that are done of this round.
    pub samples_done: usize,
    /// Samples of a round.
    pub samples: usize,
    /// How long it will still take, once a round has shown it.
    pub left: Option<Duration>,
}

/// Who wants to know.
pub trait Watcher {
    /// Something begins.
    fn progress(&mut self, progress: &LabProgress<'_>);
}

/// Listens to nothing.
impl Watcher for () {
    fn progress(&mut self, _: &LabProgress<'_>) {}
}

/// Rounds that there will be: as many as fit into the budget at the pace of those that are done, within the bounds.
pub(super) fn rounds_to_run(
    rounds: super::plan::Rounds,
    done: u32,
    before_first: Duration,
    in_rounds: Duration,
) -> u32 {
    let least = rounds.min.min(rounds.max);
    let Some(budget) = rounds.budget else { return rounds.max };
    if done == 0 {
        return rounds.max;
    }
    let a_round = in_rounds / done;
    let fitting = match a_round.as_nanos() {
        0 => rounds.max,
        ns => {
            u32::try_from(budget.saturating_sub(before_first).as_nanos() / ns).unwrap_or(u32::MAX)
        }
    };
    // A host that is far slower than was planned for ends early rather than late, without intervals.
    let hard = match a_round.as_nanos() {
        0 => rounds.max,
        ns => u32::try_from((budget * 2).saturating_sub(before_first).as_nanos() / ns)
            .unwrap_or(u32::MAX),
    };
    fitting.clamp(least, rounds.max).min(hard.max(1)).max(done.min(rounds.max))
}

#[cfg(test)]
mod tests {
    use super::super::plan::Rounds;
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn rounds(budget: Option<Duration>) -> Rounds {
        Rounds { min: 6, max: 15, budget, made_up: 0 }
    }

    #[test]
    fn as_many_rounds_as_fit_but_enough_for_an_interval() {
        assert_eq!(rounds_to_run(rounds(None), 3, S, S), 15);
        assert_eq!(rounds_to_run(rounds(Some(30 * S)), 0, S, S), 15);
        assert_eq!(rounds_to_run(rounds(Some(30 * S)), 2, 2 * S, 2 * S), 15);
        assert_eq!(rounds_to_run(rounds(Some(30 * S)), 1, 6 * S, 3 * S), 8);
        // Six rounds of 8 s don't fit into 30 s, but into twice that.
        assert_eq!(rounds_to_run(rounds(Some(30 * S)), 1, 2 * S, 8 * S), 6);
        // Twenty times slower than planned.
        assert_eq!(rounds_to_run(rounds(Some(30 * S)), 1, 2 * S, 20 * S), 2);
        assert_eq!(rounds_to_run(rounds(Some(30 * S)), 1, 2 * S, 200 * S), 1);
        assert_eq!(rounds_to_run(rounds(Some(30 * S)), 4, 2 * S, 120 * S), 4);
    }
}
