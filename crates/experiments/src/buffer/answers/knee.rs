//! Which buffer size is enough.

use super::{buffer_of, buffer_words, largest};
use hotset_analysis::bench::RatioEstimate;
use hotset_analysis::lab::ConstLevel::Number;
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, words};

/// So much slower than the best is as good as the best.
const NEAR: f64 = 1.05;
/// So much is good enough for most.
const GOOD: f64 = 1.10;

/// The smallest buffer within a factor of the best.
#[derive(Debug, PartialEq)]
struct Knee {
    /// By the median ratio.
    bytes: u64,
    /// The smallest one whose interval begins within the factor: smaller ones are slower for certain.
    from: Option<u64>,
    /// The smallest one whose interval ends within it: that one is good enough for certain.
    to: Option<u64>,
}

/// Between fewer buffers there is nothing to choose.
const LEAST_BUFFERS: usize = 3;

/// For each size of pieces, in the largest files, with the writer's name where there are several. The time of another language's
/// writer has opening and closing in it.
pub(super) fn answers(cells: &Cells<'_>, writer: Option<&str>) -> Vec<LabAnswer> {
    let Some((total, cells)) = largest(cells) else { return Vec::new() };
    cells
        .numbers("piece_bytes")
        .into_iter()
        .filter_map(|piece| answer(&cells, total, piece, writer))
        .collect()
}

fn answer(cells: &Cells<'_>, total: u64, piece: u64, writer: Option<&str>) -> Option<LabAnswer> {
    let cells = cells.with(&[("piece_bytes", Number(piece))]);
    let mut by_size: Vec<MeasuredCell<'_>> = cells.all().to_vec();
    if by_size.len() < LEAST_BUFFERS {
        return None;
    }
    by_size.sort_by_key(|picked| buffer_of(picked));
    let best = *by_size.iter().min_by(|a, b| a.median.total_cmp(&b.median))?;
    let ratios: Vec<(u64, RatioEstimate)> =
        by_size.iter().filter_map(|picked| Some((buffer_of(picked)?, best.to(picked)?))).collect();
    let (near, good) = (knee(&ratios, NEAR)?, knee(&ratios, GOOD)?);
    let none = ratios.iter().find(|(bytes, _)| *bytes == 0);
    let gain = none.map_or_else(String::new, |(_, ratio)| {
        format!(" The best compared with no buffer: {}.", words::speed(ratio))
    });
    let confidence = match (near.from, near.to) {
        (Some(from), Some(to)) => format!(
            "by 95 % CIs, {}: {} (within 5 %); the best was chosen in the same rounds",
            words::rounds(best.numbers.rounds),
            match from == to {
                true => size_words(from),
                false => format!("between {} and {}", size_words(from), size_words(to)),
            }
        ),
        _ => format!("no 95 % CI, {}", words::rounds(best.numbers.rounds)),
    };
    let sure = if near.to.is_some() { "" } else { "Too few rounds to be sure. " };
    Some(LabAnswer {
        question: format!(
            "Which buffer size is enough for pieces of {} in a file of {}{}?",
            words::bytes(piece),
            words::bytes(total),
            writer.map_or_else(String::new, |writer| format!(", written by {writer}"))
        ),
        answer: format!(
            "{sure}{}{}{gain}",
            ends(&near, &good, buffer_of(&best)?, best.median, total),
            at_the_end(&by_size, &best, total)
        ),
        number: size_words(near.bytes),
        confidence,
        evidence: cells.all().iter().map(MeasuredCell::id).collect(),
    })
}

/// The size of a buffer, where a sentence speaks of one.
fn size_words(bytes: u64) -> String {
    match bytes {
        0 => "no buffer".to_owned(),
        _ => words::bytes(bytes),
    }
}

/// That larger buffers may be better, where the best is the largest that was measured and does not hold the whole file.
fn at_the_end(by_size: &[MeasuredCell<'_>], best: &MeasuredCell<'_>, total: u64) -> &'static str {
    let largest = by_size.last().and_then(buffer_of);
    match buffer_of(best) {
        bytes if bytes == largest && bytes < Some(total) => {
            " The best is the largest that was measured: a larger one may be better still."
        }
        _ => "",
    }
}

/// Where it ends, in words. A buffer that holds the whole file saves the last write(2) that can be saved, so that the gain
/// ends there in any case.
fn ends(near: &Knee, good: &Knee, best_bytes: u64, best_ns: f64, total: u64) -> String {
    let best = format!("{} ({} for the file)", buffer_words(best_bytes), words::time(best_ns));
    match near.bytes >= total {
        true => format!(
            "Only one that holds the whole file: no smaller size measured is within 5 % of the best, {best}; {} is within \
             10 %.",
            size_words(good.bytes)
        ),
        false => {
            let near = match near.bytes {
                0 => "No buffer is needed: writing without one is".to_owned(),
                bytes => format!("{}: the smallest size measured that is", words::bytes(bytes)),
            };
            format!(
                "{near} within 5 % of the best, {best}; {} is within 10 %.",
                size_words(good.bytes)
            )
        }
    }
}

/// `ratios` to the best, the smallest buffer first.
fn knee(ratios: &[(u64, RatioEstimate)], factor: f64) -> Option<Knee> {
    let first = |within: &dyn Fn(&RatioEstimate) -> bool| {
        ratios.iter().find(|(_, ratio)| within(ratio)).map(|(bytes, _)| *bytes)
    };
    let bytes = first(&|ratio| ratio.ratio <= factor)?;
    // The best itself has a ratio of 1 in every round.
    let has_intervals = ratios.iter().all(|(_, ratio)| ratio.interval.is_some());
    let end = |end: Option<u64>| end.filter(|_| has_intervals);
    Some(Knee {
        bytes,
        from: end(first(&|ratio| ratio.interval.is_some_and(|interval| interval.low <= factor))),
        to: end(first(&|ratio| ratio.interval.is_some_and(|interval| interval.high <= factor))),
    })
}
