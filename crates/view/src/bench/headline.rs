//! What a person came for: how the conditions compare, in a sentence each.

use hotset_analysis::bench::{
    BenchSummary, ColdWarm, Comparison, Difference, MIN_ROUNDS, Times, WaitSource,
};
use hotset_facts::Condition;

use super::look::BenchLook;
use super::words::{self, bytes, letter, ratio, rounds};
use crate::report::screen::Screen;
use crate::units::{percent, whole_percent};

pub(super) fn push(screen: &mut Screen, summary: &BenchSummary, look: BenchLook) {
    if summary.comparisons.is_empty() {
        return;
    }
    screen.line("");
    for comparison in &summary.comparisons {
        let found = |one: &&ColdWarm| one.pair == comparison.pair;
        let explained = summary.cold_warm.iter().find(found);
        push_comparison(screen, summary, comparison, explained, look);
    }
    push_noise(screen, summary);
}

fn push_comparison(
    screen: &mut Screen,
    summary: &BenchSummary,
    comparison: &Comparison,
    explained: Option<&ColdWarm>,
    look: BenchLook,
) {
    let sentence = sentence(summary, comparison, look);
    let device = explained.and_then(device_share).map_or(String::new(), |share| {
        format!("; device waits account for {share} of the difference")
    });
    screen.paragraph("", " ", &format!("{sentence}{device}"), 0);
    if let Some(cpu) = cpu(summary, comparison) {
        screen.below_table(&format!("CPU time: {cpu}"));
    }
    if let Some(all) = all_runs(summary, comparison) {
        screen.below_table(&all);
    }
    if let Some(explained) = explained {
        screen.below_table(&savings(explained, look));
    }
}

/// `62 % [58, 66]`, where cold is shown to be slower.
pub(super) fn device_share(explained: &ColdWarm) -> Option<String> {
    let share = whole_percent(explained.device_share?);
    let Some(interval) = explained.device_share_interval else { return Some(share) };
    let ends = [interval.low, interval.high].map(whole_percent);
    if ends.iter().all(|end| *end == share) {
        return Some(share);
    }
    let [low, high] = ends.each_ref().map(|end| end.trim_end_matches(" %"));
    Some(format!("{share} [{low}, {high}]"))
}

/// `cold 412 ms → warm 96.0 ms, 4.30x [4.12, 4.51], 15 rounds`, or what one command is to another.
fn sentence(summary: &BenchSummary, comparison: &Comparison, look: BenchLook) -> String {
    let conditions = &summary.session.conditions;
    let both = (conditions.get(comparison.pair.a), conditions.get(comparison.pair.b));
    match both {
        (Some(a), Some(b)) if a.command == b.command => states(summary, comparison, [a, b], look),
        (Some(a), Some(b)) => commands(summary, comparison, [a, b], look),
        _ => String::new(),
    }
}

fn median(summary: &BenchSummary, index: usize, look: BenchLook) -> String {
    let times: Option<Times> = summary.conditions.get(index).and_then(|numbers| numbers.valid);
    times.map_or_else(|| "-".to_owned(), |times| look.time(times.wall_ns.median))
}

fn states(
    summary: &BenchSummary,
    comparison: &Comparison,
    [a, b]: [&Condition; 2],
    look: BenchLook,
) -> String {
    let letter = if summary.session.commands.len() > 1 {
        format!("{}: ", letter(a.command))
    } else {
        String::new()
    };
    let result = match comparison.valid {
        Some(valid) => format!("{}, {}", ratio(&valid), rounds(valid.rounds)),
        None => NO_ROUND.to_owned(),
    };
    // A cold start that costs something needs no verdict beside its ratio.
    let verdict = match comparison.difference {
        Difference::Slower | Difference::NoInterval => String::new(),
        _ => format!("; {}", verdict(summary, comparison, look)),
    };
    let [a_time, b_time] =
        [comparison.pair.a, comparison.pair.b].map(|index| median(summary, index, look));
    format!("{letter}{} {b_time} → {} {a_time}, {result}{verdict}", b.state, a.state)
}

/// `warm: A ran 1.32x [1.28, 1.35] faster than B (A 96.0 ms, B 127 ms; 15 rounds)`.
fn commands(
    summary: &BenchSummary,
    comparison: &Comparison,
    [a, b]: [&Condition; 2],
    look: BenchLook,
) -> String {
    let state = b.state;
    let (a, b) = (letter(a.command), letter(b.command));
    let [a_time, b_time] =
        [comparison.pair.a, comparison.pair.b].map(|index| median(summary, index, look));
    let times = format!("{a} {a_time}, {b} {b_time}");
    let Some(valid) = comparison.valid else {
        return format!("{state}: {times}; {NO_ROUND}");
    };
    let of = rounds(valid.rounds);
    match comparison.difference {
        Difference::Slower => {
            format!("{state}: {a} ran {} faster than {b} ({times}; {of})", ratio(&valid))
        }
        Difference::Faster => {
            format!("{state}: {b} ran {} faster than {a} ({times}; {of})", ratio(&valid.swapped()))
        }
        _ => {
            let verdict = verdict(summary, comparison, look);
            format!("{state}: {verdict} ({times}, {b}/{a} {}; {of})", ratio(&valid))
        }
    }
}

/// `B uses 1.10x [1.08, 1.12] the CPU time of A, 88 rounds`: what the CPU times show of two commands whose times show nothing.
pub(super) fn cpu(summary: &BenchSummary, comparison: &Comparison) -> Option<String> {
    let conditions = &summary.session.conditions;
    let (a, b) = (conditions.get(comparison.pair.a)?, conditions.get(comparison.pair.b)?);
    let is_shown =
        |difference: Difference| matches!(difference, Difference::Faster | Difference::Slower);
    if a.command == b.command || is_shown(comparison.difference) {
        return None;
    }
    let (a, b) = (letter(a.command), letter(b.command));
    let cpu = comparison.cpu.filter(|_| is_shown(comparison.cpu_verdict))?;
    let (more, less, cpu) = match comparison.cpu_verdict {
        Difference::Faster => (a, b, cpu.swapped()),
        _ => (b, a, cpu),
    };
    Some(format!("{more} uses {} the CPU time of {less}, {}", ratio(&cpu), rounds(cpu.rounds)))
}

/// Whether it is between two commands, and not between two states of one.
pub(super) fn are_commands(summary: &BenchSummary, comparison: &Comparison) -> bool {
    let conditions = &summary.session.conditions;
    let command = |index: usize| conditions.get(index).map(|condition| condition.command);
    command(comparison.pair.a) != command(comparison.pair.b)
}

const NO_ROUND: &str = "no comparison: no round has valid runs of both";

pub(super) fn verdict(summary: &BenchSummary, comparison: &Comparison, look: BenchLook) -> String {
    let conditions = &summary.session.conditions;
    let commands = (conditions.get(comparison.pair.a), conditions.get(comparison.pair.b));
    let who = match commands {
        (Some(a), Some(b)) if a.command != b.command => letter(b.command),
        (_, Some(b)) => b.state.to_string(),
        _ => String::new(),
    };
    match comparison.difference {
        Difference::Faster => format!("{who} is faster"),
        Difference::Slower => format!("{who} is slower"),
        Difference::NoDifferenceShown => match comparison.smallest_effect {
            Some(effect) => {
                format!(
                    "no difference detected; effects below {} are not detectable",
                    percent(effect)
                )
            }
            None => "no difference detected".to_owned(),
        },
        Difference::WithinNoise if is_short(summary, comparison) => format!(
            "undecided: between times this short, only differences above {} are claimed",
            look.exact_time(summary.told_apart_ns)
        ),
        Difference::WithinNoise => match summary.undecidable_below {
            Some(floor) => format!("undecided: the noise floor is {}", percent(floor)),
            None => "undecided".to_owned(),
        },
        Difference::NoInterval => {
            format!("undecided: a confidence interval requires {MIN_ROUNDS} rounds")
        }
    }
}

fn is_short(summary: &BenchSummary, comparison: &Comparison) -> bool {
    let short =
        |index: usize| summary.conditions.get(index).is_some_and(|numbers| numbers.too_short);
    short(comparison.pair.a) || short(comparison.pair.b)
}

/// The figure of all runs, wherever some were not counted.
fn all_runs(summary: &BenchSummary, comparison: &Comparison) -> Option<String> {
    let invalid = [comparison.pair.a, comparison.pair.b]
        .into_iter()
        .any(|index| summary.conditions.get(index).is_some_and(|numbers| numbers.invalid_runs > 0));
    let mut all = comparison.all.filter(|_| invalid)?;
    if are_commands(summary, comparison) && comparison.difference == Difference::Faster {
        // As the sentence above it says how much faster B is.
        all = all.swapped();
    }
    Some(format!("all first runs, valid or not: {}, {}", ratio(&all), rounds(all.rounds)))
}

pub(super) fn savings(explained: &ColdWarm, look: BenchLook) -> String {
    let time = |ns| look.time(ns);
    let read = explained.device_bytes.filter(|&read| read > 0.0);
    let read = read.map_or(String::new(), |read| format!("{} read from the device, ", bytes(read)));
    let warming = time(explained.warming_saves_ns);
    if explained.device_wait_ns < 1.0 {
        return format!(
            "{read}no time waiting for the device; `hotset warm` could save up to {warming}"
        );
    }
    let wait = time(explained.device_wait_ns);
    let source = match explained.source {
        WaitSource::Sensor => "measured by the sensor",
        WaitSource::OffCpu => "estimated from time off the CPU",
    };
    format!(
        "{read}{wait} waiting ({source}); read-ahead could save up to {}, `hotset warm` up to {}",
        time(explained.readahead_saves_ns),
        warming
    )
}

/// The session's own noise, as the same command shows it.
fn push_noise(screen: &mut Screen, summary: &BenchSummary) {
    for floor in &summary.noise_floors {
        let Some(valid) = floor.comparison.valid else { continue };
        let label = words::condition(summary, floor.comparison.pair.a);
        screen.below_table(&format!("noise floor, {label} run twice: {}", ratio(&valid)));
    }
}
