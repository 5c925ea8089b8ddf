//! What a person came for: how the conditions compare, in a sentence each.

use hotset_analysis::bench::{
    BenchSummary, ColdWarm, Comparison, Difference, MIN_ROUNDS, Times, WaitSource,
};

use super::words::{self, bytes, letter, ratio, rounds, time};
use crate::report::screen::Screen;
use crate::units::{percent, whole_percent};

pub(super) fn push(screen: &mut Screen, summary: &BenchSummary) {
    if summary.comparisons.is_empty() {
        return;
    }
    screen.line("");
    for comparison in &summary.comparisons {
        let found = |one: &&ColdWarm| one.pair == comparison.pair;
        let explained = summary.cold_warm.iter().find(found);
        push_comparison(screen, summary, comparison, explained);
    }
    push_noise(screen, summary);
}

fn push_comparison(
    screen: &mut Screen,
    summary: &BenchSummary,
    comparison: &Comparison,
    explained: Option<&ColdWarm>,
) {
    let sentence = sentence(summary, comparison);
    let device = explained.and_then(|cold_warm| cold_warm.device_share);
    let device = device.map_or(String::new(), |share| {
        format!("; device waits account for {} of the difference", whole_percent(share))
    });
    screen.paragraph("", " ", &format!("{sentence}{device}"), 0);
    if let Some(all) = all_runs(summary, comparison) {
        screen.below_table(&all);
    }
    if let Some(explained) = explained {
        screen.below_table(&savings(explained));
    }
}

/// `cold 412 ms → warm 96.0 ms, 4.30x [4.12, 4.51], 15 rounds`, or `warm, B against A: faster, ...`.
fn sentence(summary: &BenchSummary, comparison: &Comparison) -> String {
    let (a, b) = (comparison.pair.a, comparison.pair.b);
    let conditions = &summary.session.conditions;
    let (Some(a_is), Some(b_is)) = (conditions.get(a), conditions.get(b)) else {
        return String::new();
    };
    let median = |index: usize| {
        let times: Option<Times> = summary.conditions.get(index).and_then(|numbers| numbers.valid);
        times.map_or_else(|| "-".to_owned(), |times| time(times.wall_ns.median))
    };
    let result = match comparison.valid {
        Some(valid) => format!("{}, {}", ratio(&valid), rounds(valid.rounds)),
        None => "no comparison: no round has valid runs of both".to_owned(),
    };
    let verdict = verdict(summary, comparison);
    if a_is.command == b_is.command {
        let letter = if summary.session.commands.len() > 1 {
            format!("{}: ", letter(a_is.command))
        } else {
            String::new()
        };
        // A cold start that costs something needs no verdict beside its ratio.
        let verdict = match comparison.difference {
            Difference::Slower | Difference::NoInterval => String::new(),
            _ => format!("; {verdict}"),
        };
        let (a_state, b_state) = (a_is.state, b_is.state);
        let (a_time, b_time) = (median(a), median(b));
        return format!("{letter}{b_state} {b_time} → {a_state} {a_time}, {result}{verdict}");
    }
    let (a_letter, b_letter) = (letter(a_is.command), letter(b_is.command));
    let state = b_is.state;
    let (a_time, b_time) = (median(a), median(b));
    format!(
        "{state}: {a_letter} {a_time}, {b_letter} {b_time}, {b_letter}/{a_letter} {result}: {verdict}"
    )
}

pub(super) fn verdict(summary: &BenchSummary, comparison: &Comparison) -> String {
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
        Difference::WithinNoise => match summary.undecidable_below {
            Some(floor) => format!("undecided: the noise floor is {}", percent(floor)),
            None => "undecided".to_owned(),
        },
        Difference::NoInterval => match comparison.valid {
            Some(valid) if valid.rounds < MIN_ROUNDS => {
                format!("undecided: a confidence interval requires {MIN_ROUNDS} rounds")
            }
            _ => "undecided: the times are too short".to_owned(),
        },
    }
}

/// The figure of all runs, wherever some were not counted.
fn all_runs(summary: &BenchSummary, comparison: &Comparison) -> Option<String> {
    let invalid = [comparison.pair.a, comparison.pair.b]
        .into_iter()
        .any(|index| summary.conditions.get(index).is_some_and(|numbers| numbers.invalid_runs > 0));
    let all = comparison.all.filter(|_| invalid)?;
    Some(format!("all first runs, valid or not: {}, {}", ratio(&all), rounds(all.rounds)))
}

pub(super) fn savings(explained: &ColdWarm) -> String {
    let read = explained.device_bytes.filter(|&read| read > 0.0);
    let read = read.map_or(String::new(), |read| format!("{} read from the device, ", bytes(read)));
    let wait = time(explained.device_wait_ns);
    let source = match explained.source {
        WaitSource::Sensor => "measured by the sensor",
        WaitSource::OffCpu => "estimated from time off the CPU",
    };
    format!(
        "{read}{wait} waiting ({source}); read-ahead could save up to {}, `hotset warm` up to {}",
        time(explained.readahead_saves_ns),
        time(explained.warming_saves_ns)
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
