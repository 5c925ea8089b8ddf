//! Which conditions are compared, and what the session's own noise allows to say.

use hotset_facts::{BenchRun, Condition, ConditionRole, WantedState};
use serde::Serialize;

use super::ratio::{Difference, RatioEstimate};
use super::samples::{Samples, pairs};

/// Two conditions, by index: B's time is divided by A's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// The base.
    pub a: usize,
    /// What is compared with it.
    pub b: usize,
}

/// How condition B compares with condition A.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Which two.
    #[serde(flatten)]
    pub pair: Pair,
    /// From the rounds in which both have a valid run.
    pub valid: Option<RatioEstimate>,
    /// From the first runs of all rounds.
    pub all: Option<RatioEstimate>,
    /// What the valid runs say.
    #[serde(rename = "verdict")]
    pub difference: Difference,
    /// The smallest effect that they could have shown, such as 0.02 for 2 %.
    pub smallest_effect: Option<f64>,
    /// CPU time of B divided by that of A, user and system, from the same rounds. On a busy host it varies less than the time,
    /// which has the waiting for a CPU in it.
    pub cpu: Option<RatioEstimate>,
    /// What the CPU times say; nothing is claimed of times so short that the start of a process blurs them.
    pub cpu_verdict: Difference,
}

impl Comparison {
    /// `blur`: the time in nanoseconds by which two times must differ to be told apart, where one side is so short that the start
    /// of a process blurs it.
    pub(crate) fn of(
        pair: Pair,
        samples: &[Samples],
        runs: &[BenchRun],
        blur: Option<f64>,
    ) -> Self {
        let estimate = |of: fn(&Samples) -> &ByRound| {
            let (a, b) = (of(samples.get(pair.a)?), of(samples.get(pair.b)?));
            RatioEstimate::of(walls(a, b, runs))
        };
        let valid = estimate(|samples| &samples.valid);
        let difference = match (valid, blur) {
            (None, _) => Difference::NoInterval,
            (Some(valid), None) => valid.difference(),
            (Some(valid), Some(blur)) => {
                let sides = samples.get(pair.a).zip(samples.get(pair.b));
                let told = sides.and_then(|(a, b)| beyond(&walls(&a.valid, &b.valid, runs), blur));
                told.unwrap_or(match valid.interval {
                    Some(interval) if interval.holds(1.0) => Difference::NoDifferenceShown,
                    Some(_) => Difference::WithinNoise,
                    None => Difference::NoInterval,
                })
            }
        };
        let cpu = samples.get(pair.a).zip(samples.get(pair.b)).and_then(|(a, b)| {
            let times = pairs(&a.valid, &b.valid, runs);
            RatioEstimate::of(times.map(|(a, b)| (cpu_ns(a), cpu_ns(b))))
        });
        let cpu_verdict = match cpu.map(|cpu| cpu.difference()) {
            Some(Difference::Faster | Difference::Slower) if blur.is_some() => {
                Difference::WithinNoise
            }
            told => told.unwrap_or(Difference::NoInterval),
        };
        Self {
            pair,
            cpu,
            cpu_verdict,
            valid,
            all: estimate(|samples| &samples.first),
            difference,
            smallest_effect: valid.and_then(|valid| valid.smallest_effect()),
        }
    }

    /// The same, where the session's noise is `floor`: an effect no larger is none.
    pub(crate) fn above(self, floor: Option<f64>) -> Self {
        Self { difference: above(self.difference, self.valid, floor), ..self }
    }

    /// The same, where the CPU time of a repeated command differs from itself by `floor`.
    pub(crate) fn above_cpu(self, floor: Option<f64>) -> Self {
        Self { cpu_verdict: above(self.cpu_verdict, self.cpu, floor), ..self }
    }
}

/// A difference that is claimed, unless its effect is no larger than `floor`.
fn above(claimed: Difference, of: Option<RatioEstimate>, floor: Option<f64>) -> Difference {
    let effect = of.map_or(0.0, |of| of.ratio.max(1.0 / of.ratio) - 1.0);
    let is_claimed = matches!(claimed, Difference::Faster | Difference::Slower);
    match is_claimed && floor.is_some_and(|floor| effect <= floor) {
        true => Difference::WithinNoise,
        false => claimed,
    }
}

fn cpu_ns(run: &BenchRun) -> u64 {
    run.user_ns.saturating_add(run.system_ns)
}

type ByRound = std::collections::BTreeMap<u32, usize>;

fn walls(a: &ByRound, b: &ByRound, runs: &[BenchRun]) -> Vec<(u64, u64)> {
    pairs(a, b, runs).map(|(a, b)| (a.wall_ns, b.wall_ns)).collect()
}

/// Whether the times differ by more than `blur` nanoseconds: whether they still do when one side is given so much more.
fn beyond(walls: &[(u64, u64)], blur: f64) -> Option<Difference> {
    let with = |more_a: f64, more_b: f64| {
        let pairs = walls.iter().map(|&(a, b)| (a as f64 + more_a, b as f64 + more_b));
        RatioEstimate::of_reals(pairs).map(|estimate| estimate.difference())
    };
    if with(blur, 0.0) == Some(Difference::Slower) {
        Some(Difference::Slower)
    } else if with(0.0, blur) == Some(Difference::Faster) {
        Some(Difference::Faster)
    } else {
        None
    }
}

/// The A/A comparison of one condition with its twin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoiseFloor {
    /// A is the condition, B its twin.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// Set where the interval does not hold 1: no smaller effect can be decided in this session, such as 0.03 for 3 %.
    pub undecidable_below: Option<f64>,
}

impl NoiseFloor {
    pub(crate) fn of(comparison: Comparison) -> Self {
        Self { comparison, undecidable_below: undecidable_below(comparison.valid) }
    }

    /// The same for CPU times.
    pub(crate) fn cpu_undecidable_below(&self) -> Option<f64> {
        undecidable_below(self.comparison.cpu)
    }
}

/// The far end of an interval that does not hold 1, where it should.
fn undecidable_below(of_itself: Option<RatioEstimate>) -> Option<f64> {
    let interval = of_itself.and_then(|ratio| ratio.interval);
    interval
        .filter(|interval| !interval.holds(1.0))
        .map(|interval| interval.high.max(1.0 / interval.low) - 1.0)
}

/// What is compared: the states of a command with its warm one, or with its first where it has none; and each
/// command with the first command in the same state.
pub fn asked_for(conditions: &[Condition]) -> Vec<Pair> {
    let measured = |index: &usize| {
        conditions.get(*index).is_some_and(|condition| condition.role == ConditionRole::Measured)
    };
    let all: Vec<usize> = (0..conditions.len()).filter(measured).collect();
    let mut pairs = Vec::new();
    for &b in &all {
        let same_command = |&&a: &&usize| conditions[a].command == conditions[b].command;
        let warm = |&&a: &&usize| conditions[a].state == WantedState::Warm;
        let own: Vec<&usize> = all.iter().filter(same_command).collect();
        let base = own.iter().copied().find(|a| warm(a)).or(own.first().copied());
        if let Some(&a) = base.filter(|&&a| a != b) {
            pairs.push(Pair { a, b });
        }
    }
    for &b in &all {
        let same_state = |&&a: &&usize| conditions[a].state == conditions[b].state;
        let first = all.iter().filter(same_state).min_by_key(|&&a| conditions[a].command);
        if let Some(&a) = first.filter(|&&a| conditions[a].command != conditions[b].command) {
            pairs.push(Pair { a, b });
        }
    }
    pairs
}

/// Each noise-floor condition with the one that it repeats.
pub(crate) fn twins(conditions: &[Condition]) -> Vec<Pair> {
    let twin = |(b, condition): (usize, &Condition)| match condition.role {
        ConditionRole::NoiseFloor { twin_of: a } if a < conditions.len() => Some(Pair { a, b }),
        _ => None,
    };
    conditions.iter().enumerate().filter_map(twin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::condition;

    #[test]
    fn states_are_compared_with_warm_and_commands_with_the_first() {
        let mut conditions = vec![
            condition(0, WantedState::Cold),
            condition(0, WantedState::Warm),
            condition(1, WantedState::Cold),
            condition(1, WantedState::Warm),
        ];
        conditions.push(Condition {
            role: ConditionRole::NoiseFloor { twin_of: 1 },
            ..condition(0, WantedState::Warm)
        });
        let found: Vec<(usize, usize)> =
            asked_for(&conditions).iter().map(|pair| (pair.a, pair.b)).collect();
        assert_eq!(found, [(1, 0), (3, 2), (0, 2), (1, 3)]);
        assert_eq!(twins(&conditions), [Pair { a: 1, b: 4 }]);
    }

    #[test]
    fn without_warm_the_first_state_is_the_base() {
        let conditions = [condition(0, WantedState::AsIs), condition(0, WantedState::Cold)];
        assert_eq!(asked_for(&conditions), [Pair { a: 0, b: 1 }]);
        assert_eq!(asked_for(&conditions[..1]), []);
    }
}
