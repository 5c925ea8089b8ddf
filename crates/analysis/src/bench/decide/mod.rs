//! When a session has enough rounds.
//!
//! The number of rounds is planned first. Any beyond come in blocks, after a look at how wide the intervals are, never
//! at whether they hold 1: stopping as soon as a difference shows would find one too often. Even so an interval after
//! an extension is a little less sure than it says, which is why views tell that there was one.

use hotset_facts::{BenchSession, Decision, Progress, StopReason, Warmup};

use super::compare::{Comparison, asked_for};
use super::gates::judge;
use super::samples::Samples;
use super::summarise::{too_short, trends_of};
use super::warmup::warmup_rounds;
use super::{MIN_ROUNDS, condition::Times};

/// What a person asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Exactly so many rounds; none to go on until the intervals are narrow.
    pub fixed_rounds: Option<u32>,
    /// Rounds before the first look at the data.
    pub first_rounds: u32,
    /// Rounds between later looks.
    pub block_rounds: u32,
    /// The most rounds.
    pub max_rounds: u32,
    /// The most time for all runs, their preparation included; none for as long as it takes.
    pub max_time_ns: Option<u64>,
    /// Precise enough is a half-width below this, such as 0.02 for 2 %.
    pub target_half_width: f64,
}

impl Default for Plan {
    /// 15 rounds resolve about 2 % on a shared machine; three minutes are what a person waits for.
    fn default() -> Self {
        Self {
            fixed_rounds: None,
            first_rounds: 15,
            block_rounds: 5,
            max_rounds: 100,
            max_time_ns: Some(180_000_000_000),
            target_half_width: 0.02,
        }
    }
}

impl Plan {
    /// Rounds before the first look, after `warmup`; never fewer than an interval needs, unless that was asked for by
    /// `fixed_rounds` or `max_rounds`.
    pub fn planned_rounds(&self, warmup: Warmup) -> u32 {
        let warmup = match warmup {
            Warmup::Rounds(rounds) => rounds,
            Warmup::Detect => 0,
        };
        let least = self.first_rounds.max(MIN_ROUNDS as u32).min(self.max_rounds);
        let planned = self.fixed_rounds.unwrap_or(least);
        warmup.saturating_add(planned)
    }
}

/// Decides after each round. Cheap between looks: the data are looked at after the planned rounds and then after each
/// block.
pub fn decide(plan: &Plan, progress: Progress<'_>) -> Decision {
    let planned = plan.planned_rounds(progress.session.warmup);
    let beyond = progress.rounds.checked_sub(planned);
    let block_is_done =
        beyond.is_some_and(|beyond| beyond.is_multiple_of(plan.block_rounds.max(1)));
    if plan.fixed_rounds.is_some() && beyond.is_some() {
        return Decision::Stop(StopReason::RunsDone);
    }
    if let Some(reason) = block_is_done.then(|| enough(plan, progress.session)).flatten() {
        return Decision::Stop(reason);
    }
    if progress.rounds >= plan.max_rounds.max(planned) {
        return Decision::Stop(StopReason::RunsDone);
    }
    // A round that can't end in time isn't begun; the first always is.
    let a_round = progress.elapsed_ns / u64::from(progress.rounds.max(1));
    let after = progress.elapsed_ns.saturating_add(a_round);
    if progress.rounds > 0 && plan.max_time_ns.is_some_and(|max| after > max) {
        return Decision::Stop(StopReason::MaxTime);
    }
    Decision::GoOn
}

/// Why no more rounds are needed: the interval of each comparison that was asked for is narrower than the target, or its times
/// are too short for more rounds to help. Where nothing is compared, the interval of each median. None if more rounds tell more.
fn enough(plan: &Plan, session: &BenchSession) -> Option<StopReason> {
    let (conditions, runs) = (session.conditions.as_slice(), session.runs.as_slice());
    let judged = judge(session, runs);
    let count = conditions.len();
    let trends = trends_of(&Samples::of_all(count, runs, &judged, 0), runs, 0);
    let skip = warmup_rounds(session.warmup, &trends);
    let samples = Samples::of_all(count, runs, &judged, skip);
    let pairs = asked_for(conditions);
    let narrow = |half_width: f64| half_width < plan.target_half_width;
    if pairs.is_empty() {
        let all_narrow = samples.iter().all(|samples| {
            let interval = Times::of(&samples.valid, runs).and_then(|times| times.wall_interval);
            interval.is_some_and(|interval| narrow(interval.half_width()))
        });
        return all_narrow.then_some(StopReason::PreciseEnough);
    }
    let mut reason = StopReason::PreciseEnough;
    for pair in pairs {
        if Comparison::of(pair, &samples, runs, None).smallest_effect.is_some_and(narrow) {
            continue;
        }
        let is_short = [pair.a, pair.b].iter().any(|&condition| {
            let times = samples.get(condition).and_then(|of| Times::of(&of.valid, runs));
            times.is_some_and(|times| too_short(&times, &session.timer))
        });
        if !is_short {
            return None;
        }
        reason = StopReason::TooShort;
    }
    Some(reason)
}

#[cfg(test)]
mod tests;
