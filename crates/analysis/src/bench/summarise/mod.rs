//! From a session to its summary.

use hotset_facts::{
    BenchRun, BenchSession, ConditionRole, ExitStatus, Observed, Timer, WantedState,
};

use super::compare::{Comparison, NoiseFloor, Pair, asked_for, twins};
use super::condition::{ConditionNumbers, Spread, Times};
use super::explain::ColdWarm;
use super::files::IoDifference;
use super::gates::{JudgedRun, judge};
use super::ratio::Difference;
use super::samples::Samples;
use super::summary::BenchSummary;
use super::warmup::{Trend, trend, warmup_rounds};
use super::warnings;

/// A time is told apart from another only if it is so many times what the clock and the spawn blur.
pub(crate) const TICKS: f64 = 5.0;

/// Derives everything from a session. Same session, same summary.
pub fn summarise_bench(session: BenchSession) -> BenchSummary {
    let (conditions, runs) = (&session.conditions, &session.runs);
    let mut judged = judge(&session, runs);
    let all_rounds = Samples::of_all(conditions.len(), runs, &judged, 0);
    let trends = trends_of(&all_rounds, runs, session.seed);
    let warmup_rounds = warmup_rounds(session.warmup, &trends);
    let samples = Samples::of_all(conditions.len(), runs, &judged, warmup_rounds);
    for &at in samples.iter().flat_map(|samples| samples.valid.values()) {
        judged[at].counted = true;
    }
    let numbers = numbers_of(&session, &judged, &samples, warmup_rounds);

    let is_short = |index: usize| numbers.get(index).is_some_and(|condition| condition.too_short);
    let blur = |pair: Pair| {
        let short = is_short(pair.a) || is_short(pair.b);
        short.then(|| told_apart_ns(&session.timer))
    };
    let compare = |pair: Pair| Comparison::of(pair, &samples, runs, blur(pair));
    let noise_floors: Vec<NoiseFloor> =
        twins(conditions).into_iter().map(|pair| NoiseFloor::of(compare(pair))).collect();
    let undecidable_below = largest(&noise_floors, |floor| floor.undecidable_below);
    let cpu_undecidable_below = largest(&noise_floors, NoiseFloor::cpu_undecidable_below);
    let asked = asked_for(conditions);
    let apart = |a, b| compare(Pair { a, b }).valid.is_some_and(|valid| valid.apart);
    // Noise that was seen can't explain times that nothing overlaps with, the repeated condition's neither.
    let beyond_noise = |pair: Pair| {
        let against = |twin: &Pair| {
            (twin.a != pair.a || apart(twin.b, pair.b))
                && (twin.a != pair.b || apart(pair.a, twin.b))
        };
        apart(pair.a, pair.b) && twins(conditions).iter().all(against)
    };
    let judge = |&pair: &Pair| {
        let floor = undecidable_below.filter(|_| !beyond_noise(pair));
        compare(pair).above(floor).above_cpu(cpu_undecidable_below)
    };
    let comparisons: Vec<Comparison> = asked.iter().map(judge).collect();
    let mut cold_warm = ColdWarm::of_all(conditions, &samples, runs, &asked, &session.learned);
    keep_shown(&mut cold_warm, &comparisons);
    let rounds = runs.iter().map(|run| run.round.saturating_add(1)).max().unwrap_or(0);
    let mut summary = BenchSummary {
        io_differences: io_differences(&session),
        runs: judged,
        conditions: numbers,
        trends,
        rounds,
        warmup_rounds,
        extended_rounds: rounds.saturating_sub(session.planned_rounds),
        comparisons,
        noise_floors,
        undecidable_below,
        told_apart_ns: told_apart_ns(&session.timer),
        cold_warm,
        baseline: None,
        warnings: Vec::new(),
        session,
    };
    summary.warnings = warnings::of(&summary);
    summary
}

fn largest(floors: &[NoiseFloor], of: fn(&NoiseFloor) -> Option<f64>) -> Option<f64> {
    floors.iter().filter_map(of).max_by(f64::total_cmp)
}

/// A difference that is not shown has no share of anything.
fn keep_shown(cold_warm: &mut [ColdWarm], comparisons: &[Comparison]) {
    for explained in cold_warm {
        let same = |one: &&Comparison| one.pair == explained.pair;
        let slower = |one: &Comparison| one.difference == Difference::Slower;
        let shown = comparisons.iter().find(same).is_some_and(slower);
        explained.device_share = explained.device_share.filter(|_| shown);
    }
}

/// The trend of each condition's valid runs.
pub(crate) fn trends_of(samples: &[Samples], runs: &[BenchRun], seed: u64) -> Vec<Trend> {
    let walls = |samples: &Samples| -> Vec<u64> {
        samples.valid.values().filter_map(|&at| Some(runs.get(at)?.wall_ns)).collect()
    };
    samples.iter().map(|samples| trend(&walls(samples), seed)).collect()
}

/// True if the median is below five times what blurs it: the clock's resolution, or how much a command that does
/// nothing varies.
pub(crate) fn too_short(times: &Times, timer: &Timer) -> bool {
    times.wall_ns.median < told_apart_ns(timer)
}

/// The difference in nanoseconds from which on short times are told apart.
pub(crate) fn told_apart_ns(timer: &Timer) -> f64 {
    let blur_ns = timer.resolution_ns.max(timer.spawn_noise_ns.value().unwrap_or(0));
    TICKS * blur_ns as f64
}

/// Command and state of each condition, unique.
fn labels(session: &BenchSession) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for condition in &session.conditions {
        let name = session.commands.get(condition.command).map_or("?", |command| &command.name);
        let again = match condition.role {
            ConditionRole::Measured => "",
            ConditionRole::NoiseFloor { .. } => ", again",
        };
        let label = match (condition.state, again) {
            (WantedState::AsIs, "") => name.to_owned(),
            (state, again) => format!("{name} ({state}{again})"),
        };
        let same = labels.iter().filter(|known| known.starts_with(&label)).count();
        let taken = labels.contains(&label);
        labels.push(if taken { format!("{label} #{}", same + 1) } else { label });
    }
    labels
}

fn numbers_of(
    session: &BenchSession,
    judged: &[JudgedRun],
    samples: &[Samples],
    warmup_rounds: u32,
) -> Vec<ConditionNumbers> {
    let runs = &session.runs;
    let labels = labels(session).into_iter();
    let in_numbers = |(index, (label, samples)): (usize, (String, &Samples))| {
        let own = || runs.iter().zip(judged).filter(move |(run, _)| run.condition == index);
        let counted = || own().filter(|(run, _)| run.round >= warmup_rounds);
        let valid_runs = samples.valid.len();
        let valid = Times::of(&samples.valid, runs);
        let all = Times::of(&samples.first, runs);
        let too_short = valid.or(all).is_some_and(|times| too_short(&times, &session.timer));
        let shares = samples.valid.values().filter_map(|&at| judged.get(at)?.share_before);
        ConditionNumbers {
            label,
            valid,
            all,
            valid_runs,
            invalid_runs: counted().count() - valid_runs,
            warmup_runs: own().count() - counted().count(),
            failed_runs: own().filter(|(run, _)| run.exit != ExitStatus::Code(0)).count(),
            share_before: Spread::of(shares),
            too_short,
        }
    };
    labels.zip(samples).enumerate().map(in_numbers).collect()
}

/// Each command's I/O against the first one's.
fn io_differences(session: &BenchSession) -> Vec<IoDifference> {
    let learned = |index: usize| {
        let learned = session.learned.get(index).and_then(Observed::as_value);
        learned.map(|learned| (index, learned))
    };
    let Some(first) = learned(0) else { return Vec::new() };
    let others = (1..session.commands.len()).filter_map(learned);
    // What comes from the device says nothing where one began cold and the other did not.
    let alike = others.filter(|(_, other)| other.state == first.1.state);
    let differences = alike.map(|other| IoDifference::of(first, other));
    differences.filter(|difference| !difference.is_empty()).collect()
}

#[cfg(test)]
mod tests;
