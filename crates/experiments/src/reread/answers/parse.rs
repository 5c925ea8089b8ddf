//! From which parse speed on caching a file matters.

use hotset_analysis::lab::ConstLevel::{Name, Number};
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, words};

use crate::reread::plan::NATIVE_PARSERS;

/// A gain that is worth something.
const WORTH: f64 = 1.1;
/// A gain that nobody overlooks.
const DOUBLE: f64 = 2.0;

/// The parse speed from which on caching makes reading and parsing `gain` times as fast, in bytes a nanosecond. None where no
/// speed is enough: reading alone doesn't gain that much.
///
/// Reading takes `cold_ns` without the cache and `warm_ns` with it, and parsing `bytes / speed` either way. So the gain is
/// `(cold_ns + bytes / speed) / (warm_ns + bytes / speed)`, which is `gain` at
/// `speed = (gain - 1) * bytes / (cold_ns - gain * warm_ns)` and grows with the speed.
pub(super) fn speed_for(gain: f64, bytes: u64, cold_ns: f64, warm_ns: f64) -> Option<f64> {
    let left_ns = cold_ns - gain * warm_ns;
    (left_ns > 0.0).then(|| (gain - 1.0) * bytes as f64 / left_ns)
}

/// The gain at a time to parse.
fn gain_at(parse_ns: f64, cold_ns: f64, warm_ns: f64) -> f64 {
    (cold_ns + parse_ns) / (warm_ns + parse_ns)
}

/// One answer for each document.
pub(super) fn answers(cells: &Cells<'_>) -> Vec<LabAnswer> {
    let parsed = cells.with(&[("what", Name("parse"))]);
    parsed.numbers("size_bytes").into_iter().filter_map(|bytes| answer(cells, bytes)).collect()
}

fn answer(cells: &Cells<'_>, bytes: u64) -> Option<LabAnswer> {
    let later = cells.with(&[
        ("which", Name("later")),
        ("contents", Name("json")),
        ("size_bytes", Number(bytes)),
    ]);
    let read =
        later.with(&[("what", Name("read")), ("buffer", Name("reused")), ("parser", Name("none"))]);
    let in_state = |cache| read.one(&[("cache", Name(cache))]);
    let (cold, warm) = (in_state("evicted")?, in_state("warm")?);
    let speed = speed_for(WORTH, bytes, cold.median, warm.median);
    let mut evidence = vec![cold.id(), warm.id()];
    let mut answer = match speed {
        Some(speed) => format!(
            "At {} or more, the cache makes reading and parsing {} at least 10 % faster{}.",
            rate(speed),
            words::bytes(bytes),
            match speed_for(DOUBLE, bytes, cold.median, warm.median) {
                Some(double) => format!(", and at {} or more at least twice as fast", rate(double)),
                None => String::new(),
            }
        ),
        None => format!(
            "At no speed: reading {} takes {} without the cache and {} with it, less than 10 % apart.",
            words::bytes(bytes),
            words::time(cold.median),
            words::time(warm.median)
        ),
    };
    if cold.numbers.low.is_none() || warm.numbers.low.is_none() {
        answer.insert_str(0, "Too few rounds to be sure. ");
    }
    let parsers = parsers(&later, bytes, &cold, &warm, &mut evidence);
    if !parsers.is_empty() {
        answer.push_str(&format!(" Parsers measured: {}.", parsers.join(", ")));
    }
    Some(LabAnswer {
        question: format!(
            "From which parse speed on does it matter that a document of {} is cached?",
            words::bytes(bytes)
        ),
        answer,
        number: speed.map_or_else(|| "at no speed".to_owned(), rate),
        confidence: confidence(bytes, &cold, &warm),
        evidence,
    })
}

/// How fast each parser is, and what the cache gains with it: as measured, and for the parsers of this binary as computed. Other
/// languages read in processes of their own, so the times of native reads say nothing of theirs.
fn parsers(
    later: &Cells<'_>,
    bytes: u64,
    cold: &MeasuredCell<'_>,
    warm: &MeasuredCell<'_>,
    evidence: &mut Vec<String>,
) -> Vec<String> {
    let alone = later.with(&[("what", Name("parse"))]);
    let told = alone.all().iter().filter_map(|parse| {
        let parser = parse.cell.name("parser")?;
        let of_both = later.with(&[("what", Name("read+parse"))]);
        let in_state = |cache| {
            let of_cache = of_both.with(&[("cache", Name(cache))]);
            of_cache.all().iter().find(|both| both.cell.name("parser") == Some(parser)).copied()
        };
        evidence.push(parse.id());
        let mut gains = Vec::new();
        if NATIVE_PARSERS.contains(&parser) {
            let computed = gain_at(parse.median, cold.median, warm.median);
            gains.push(format!("{} computed", words::times(computed)));
        }
        if let (Some(cold), Some(warm)) = (in_state("evicted"), in_state("warm"))
            && let Some(ratio) = warm.to(&cold)
        {
            gains.push(format!("{} measured", words::times(ratio.ratio)));
            evidence.extend([cold.id(), warm.id()]);
        }
        let speed = format!("{parser} {}", rate(bytes as f64 / parse.median));
        Some(match gains.as_slice() {
            [] => speed,
            gains => format!("{speed} (the cache gains {})", gains.join(", ")),
        })
    });
    told.collect()
}

/// The ends of the speed from the ends of both times: wider than 95 %, because both would have to be at their ends.
fn confidence(bytes: u64, cold: &MeasuredCell<'_>, warm: &MeasuredCell<'_>) -> String {
    let rounds = words::rounds(cold.numbers.rounds.min(warm.numbers.rounds));
    let end = |cold: Option<f64>, warm: Option<f64>| Some((cold?, warm?));
    let ends = (end(cold.numbers.high, warm.numbers.low), end(cold.numbers.low, warm.numbers.high));
    let (Some((cold_high, warm_low)), Some((cold_low, warm_high))) = ends else {
        return format!("no 95 % CI, {rounds}");
    };
    let low = speed_for(WORTH, bytes, cold_high, warm_low);
    let high = speed_for(WORTH, bytes, cold_low, warm_high);
    let end = |speed: Option<f64>| speed.map_or_else(|| "no speed".to_owned(), rate);
    format!(
        "for 10 %: {} to {}, from the ends of the 95 % CIs of both times, {rounds}",
        end(low),
        end(high)
    )
}

/// Bytes a nanosecond in decimal units a second, as parsers are compared.
fn rate(bytes_per_ns: f64) -> String {
    format!("{} MB/s", words::real(1000.0 * bytes_per_ns))
}
