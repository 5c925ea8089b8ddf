//! Phrases that more than one part of the summary uses.

use hotset_analysis::bench::{BenchSummary, RatioEstimate};
use hotset_facts::{Condition, ConditionRole, ExitStatus, FileSet, LearnedBy, StopReason};

use crate::units;

/// Digits after the point, at most.
const MAX_DIGITS: usize = 5;

/// A, B, C and so on for commands; numbers after Z.
pub fn letter(command: usize) -> String {
    match u8::try_from(command) {
        Ok(small @ 0..26) => char::from(b'A' + small).to_string(),
        _ => format!("#{}", command.saturating_add(1)),
    }
}

/// A condition in a word or two, with the command's letter where there are several.
pub(super) fn condition(summary: &BenchSummary, index: usize) -> String {
    let Some(condition) = summary.session.conditions.get(index) else { return String::new() };
    let state = state(condition);
    if summary.session.commands.len() > 1 {
        format!("{} {state}", letter(condition.command))
    } else {
        state
    }
}

/// `cold`, `warm, again`.
pub(super) fn state(condition: &Condition) -> String {
    match condition.role {
        ConditionRole::Measured => condition.state.to_string(),
        ConditionRole::NoiseFloor { .. } => format!("{}, again", condition.state),
    }
}

/// A time in nanoseconds that analysis gives as a real number.
pub(crate) fn time(ns: f64) -> String {
    units::duration(ns.max(0.0).round() as u64)
}

/// Bytes that analysis gives as a real number.
pub(crate) fn bytes(bytes: f64) -> String {
    units::bytes(bytes.max(0.0).round() as u64)
}

/// `4.30x [4.12, 4.51]`, `1.003x [0.994, 1.012]`, or without an interval, and then whether the times of both sides overlap.
pub(crate) fn ratio(estimate: &RatioEstimate) -> String {
    match ratio_parts(estimate) {
        (ratio, Some((low, high))) => format!("{ratio} [{low}, {high}]"),
        (ratio, None) if estimate.apart => format!("{ratio} (no interval, but no overlap)"),
        (ratio, None) => format!("{ratio} (no interval)"),
    }
}

/// `4.30x` and the ends of its interval, `4.12` and `4.51`.
pub(crate) fn ratio_parts(estimate: &RatioEstimate) -> (String, Option<(String, String)>) {
    let digits = match estimate.ratio {
        ratio if ratio < 2.0 => 3,
        ratio if ratio < 10.0 => 2,
        ratio if ratio < 100.0 => 1,
        _ => 0,
    };
    let Some(interval) = estimate.interval else {
        return (format!("{:.digits$}x", estimate.ratio), None);
    };
    // An interval that excludes 1 must not print as if it held 1.
    let reads_as_one = |digits: usize| {
        let one = format!("{:.digits$}", 1.0);
        [interval.low, interval.high]
            .iter()
            .any(|&end| end != 1.0 && format!("{end:.digits$}") == one)
    };
    let digits = (digits..MAX_DIGITS).find(|&digits| !reads_as_one(digits)).unwrap_or(MAX_DIGITS);
    let end = |end: f64| format!("{end:.digits$}");
    (format!("{:.digits$}x", estimate.ratio), Some((end(interval.low), end(interval.high))))
}

pub(super) fn rounds(rounds: usize) -> String {
    units::plural(rounds as u64, "round")
}

/// `15 rounds in random order (seed 42) · stopped: target precision reached · 84 files, 28.9 MiB, learned by the sensor`.
pub(super) fn session(summary: &BenchSummary) -> String {
    let session = &summary.session;
    let mut parts = vec![format!(
        "{} in random order (seed {})",
        rounds(summary.rounds as usize),
        session.seed
    )];
    if summary.warmup_rounds > 0 {
        parts.push(format!("the first {} are warm-up", summary.warmup_rounds));
    }
    if summary.extended_rounds > 0 {
        parts.push(format!("{} of them added in blocks", summary.extended_rounds));
    }
    parts.push(stop(summary));
    parts.extend(files(summary));
    parts.join(" · ")
}

fn stop(summary: &BenchSummary) -> String {
    match &summary.session.stop {
        StopReason::PreciseEnough => "stopped: target precision reached".to_owned(),
        StopReason::TooShort => "stopped: times too short for more rounds to help".to_owned(),
        StopReason::RunsDone => "stopped: all rounds done".to_owned(),
        StopReason::MaxTime => "stopped: out of time".to_owned(),
        StopReason::Interrupted => "interrupted".to_owned(),
        StopReason::Error { message } => format!("stopped: {message}"),
        StopReason::Failed { condition, exit, .. } => {
            format!("stopped: a run ({}) {}", self::condition(summary, *condition), ended(*exit))
        }
    }
}

/// How a command ended.
pub(super) fn ended(exit: ExitStatus) -> String {
    match exit {
        ExitStatus::Code(code) => format!("exited with {code}"),
        ExitStatus::Signal(signal) => format!("was killed by signal {signal}"),
    }
}

/// The last lines of a failed command's output.
pub(super) fn output_tail(stop: &StopReason) -> Option<Vec<&[u8]>> {
    let StopReason::Failed { output_tail, .. } = stop else { return None };
    Some(last_lines(output_tail)).filter(|lines| !lines.is_empty())
}

/// The last lines that aren't empty.
pub(super) fn last_lines(output: &[u8]) -> Vec<&[u8]> {
    const LINES: usize = 10;
    let lines: Vec<&[u8]> =
        output.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let skipped = lines.len().saturating_sub(LINES);
    lines.into_iter().skip(skipped).collect()
}

fn files(summary: &BenchSummary) -> Vec<String> {
    let several = summary.session.sets.len() > 1;
    let words = |(index, set): (usize, &FileSet)| {
        let whose = if several { format!("{}: ", letter(index)) } else { String::new() };
        files_of(set).map(|files| format!("{whose}{files}"))
    };
    summary.session.sets.iter().enumerate().filter_map(words).collect()
}

/// `84 files, 28.9 MiB, learned by the sensor`.
pub(super) fn files_of(set: &FileSet) -> Option<String> {
    let size = set.members.iter().map(|member| member.size_bytes);
    let size = units::bytes(size.fold(0, u64::saturating_add));
    let how = match set.learned_by {
        LearnedBy::Sensor => ", learned by the sensor",
        LearnedBy::Trace => ", learned by tracing",
        LearnedBy::Given => ", as given",
        LearnedBy::Nothing => return None,
    };
    let files = units::plural(set.members.len() as u64, "file");
    Some(format!("{files}, {size}{how}"))
}
