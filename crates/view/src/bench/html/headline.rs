//! The answers at the top of the page.

use hotset_analysis::bench::{BenchSummary, ColdWarm, Comparison, Difference};

use super::super::headline::{are_commands, cpu, device_share, verdict};
use super::super::look::BenchLook;
use super::super::words::{condition, letter, ratio_parts, rounds, time};
use crate::escape::escape_text;
use crate::page::Answer;

/// One for each comparison; where nothing is compared, one for each condition.
pub(super) fn answers(summary: &BenchSummary) -> Vec<Answer> {
    if summary.comparisons.is_empty() {
        return (0..summary.conditions.len()).map(|index| alone(summary, index)).collect();
    }
    summary.comparisons.iter().map(|comparison| compared(summary, comparison)).collect()
}

/// The two sides of a comparison: `warm` and `cold`, or `A` and `B`, the base first.
pub(super) fn sides(summary: &BenchSummary, comparison: &Comparison) -> (String, String) {
    let conditions = &summary.session.conditions;
    match (conditions.get(comparison.pair.a), conditions.get(comparison.pair.b)) {
        (Some(a), Some(b)) if a.command != b.command => (
            format!("{} {}", letter(a.command), a.state),
            format!("{} {}", letter(b.command), b.state),
        ),
        _ => (condition(summary, comparison.pair.a), condition(summary, comparison.pair.b)),
    }
}

/// The median of the counted runs.
pub(super) fn median(summary: &BenchSummary, index: usize) -> String {
    let times = summary.conditions.get(index).and_then(|numbers| numbers.valid);
    times.map_or_else(|| "unknown".to_owned(), |times| time(times.wall_ns.median))
}

fn compared(summary: &BenchSummary, comparison: &Comparison) -> Answer {
    let (a, b) = sides(summary, comparison);
    let (a_time, b_time) = (median(summary, comparison.pair.a), median(summary, comparison.pair.b));
    let same = |cold_warm: &&ColdWarm| cold_warm.pair == comparison.pair;
    let device = summary.cold_warm.iter().find(same).and_then(device_share);
    let device = device.map_or(String::new(), |share| {
        format!(" Device waits account for {share} of the difference.")
    });
    let verdict = capital(verdict(summary, comparison, BenchLook::default()));
    let cpu = cpu(summary, comparison).map_or(String::new(), |cpu| format!(" {cpu}."));
    let sentence = capital(format!("{b} takes {b_time}, {a} {a_time}.{device} {verdict}.{cpu}"));
    let is_of_commands = are_commands(summary, comparison);
    let question = match is_of_commands {
        true => format!("Which is faster, {a} or {b}?"),
        false => format!("How much slower is {b} than {a}?"),
    };
    let Some(valid) = comparison.valid else {
        let sentence = capital(format!("{b} and {a} can't be compared."));
        let confidence = "No round has counted runs of both.".to_owned();
        return Answer { question, sentence, number: "unknown".to_owned(), confidence };
    };
    // Between commands, the number is that of the faster one, as in the terminal.
    let (shown, winner) = match comparison.difference {
        Difference::Faster if is_of_commands => (valid.swapped(), Some(&b)),
        Difference::Slower if is_of_commands => (valid, Some(&a)),
        _ => (valid, None),
    };
    let (number, interval) = ratio_parts(&shown);
    let number = winner.map_or(number.clone(), |winner| format!("{winner}: {number} faster"));
    let rounds = rounds(valid.rounds);
    let confidence = match interval {
        Some((low, high)) => format!("95 % CI {low} to {high}, {rounds}"),
        None if valid.apart => format!("no 95 % CI, {rounds}, but the times do not overlap"),
        None => format!("no 95 % CI, {rounds}"),
    };
    Answer { question, sentence, number, confidence }
}

/// Begins with a capital, as sentences do.
fn capital(mut text: String) -> String {
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

fn alone(summary: &BenchSummary, index: usize) -> Answer {
    let numbers = summary.conditions.get(index);
    let label = numbers.map_or(String::new(), |numbers| escape_text(&numbers.label));
    let interval = numbers.and_then(|numbers| numbers.valid?.wall_interval);
    let runs = numbers.map_or(0, |numbers| numbers.valid_runs);
    let confidence = match interval {
        Some(one) => {
            format!("95 % CI {} to {}, {}", time(one.low), time(one.high), rounds(runs))
        }
        None => format!("no 95 % CI, {}", rounds(runs)),
    };
    let number = median(summary, index);
    Answer {
        question: format!("How long does {label} take?"),
        sentence: match runs {
            0 => "No run was counted.".to_owned(),
            _ => format!("{number}, the median over rounds."),
        },
        number,
        confidence,
    }
}
