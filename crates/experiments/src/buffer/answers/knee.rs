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

/// For each size of pieces, in the largest files. Of another language's writer, by its name, the time has opening and closing
/// in it.
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
                true => words::bytes(from),
                false => format!("between {} and {}", words::bytes(from), words::bytes(to)),
            }
        ),
        _ => format!("no 95 % CI, {}", words::rounds(best.numbers.rounds)),
    };
    Some(LabAnswer {
        question: format!(
            "Which buffer size is enough for pieces of {} in a file of {}{}?",
            words::bytes(piece),
            words::bytes(total),
            writer.map_or_else(String::new, |writer| format!(", written by {writer}"))
        ),
        answer: format!("{}{gain}", ends(&near, &good, buffer_of(&best)?, best.median, total)),
        number: words::bytes(near.bytes),
        confidence,
        evidence: cells.all().iter().map(MeasuredCell::id).collect(),
    })
}

/// Where it ends, in words. A buffer that holds the whole file saves the last write(2) that can be saved, so that the gain
/// ends there in any case.
fn ends(near: &Knee, good: &Knee, best_bytes: u64, best_ns: f64, total: u64) -> String {
    let best = format!("{} ({} for the file)", buffer_words(best_bytes), words::time(best_ns));
    match near.bytes >= total {
        true => format!(
            "Only one that holds the whole file: no smaller size measured is within 5 % of the best, {best}; {} is within \
             10 %.",
            words::bytes(good.bytes)
        ),
        false => format!(
            "{}: the smallest size measured that is within 5 % of the best, {best}; {} is within 10 %.",
            words::bytes(near.bytes),
            words::bytes(good.bytes)
        ),
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
