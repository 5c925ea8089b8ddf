//! What is said beside the lines: what is not measured, losses, late lines, and the summary.

use hotset_analysis::live::{Counted, GrownLoss, StatLine, StatTotals};
use hotset_facts::NotMeasured;

use super::columns::columns_without_number;
use crate::units::{bytes, count, duration, percent};

/// The columns of a line that hold no number, each with its reason: `no DIRTIES (unsupported: …)`.
pub fn missing_words(line: &StatLine) -> Vec<String> {
    let words = |(column, reason)| format!("no {column} ({reason})");
    columns_without_number(line).map(words).collect()
}

/// What the sensor can't measure on this kernel.
pub fn gap_words(gap: &NotMeasured) -> String {
    format!("{} can't be measured here: {}", gap.feature.unmeasured().join(", "), gap.reason)
}

/// A loss that grew, with what it damages.
pub fn loss_words(loss: &GrownLoss) -> String {
    format!("{} ({}); {}", loss.what, count(loss.more), loss.damage)
}

/// A line that covers more than one interval; `so_far` counts those that were late since the start.
pub fn late_words(late: u64, so_far: u64, seconds: f64) -> String {
    let lines = if late == 1 { "line was" } else { "lines were" };
    let sum = if so_far > late { format!(" ({} so far)", count(so_far)) } else { String::new() };
    format!("{} {lines} due earlier{sum}; the next one covers {seconds:.1} s", count(late))
}

/// All lines so far, in a sentence.
pub fn summary_words(totals: &StatTotals) -> String {
    let numbers = &totals.numbers;
    let io = &numbers.io;
    let at_least = if totals.at_least { "at least " } else { "" };
    let length = duration((numbers.seconds * 1e9) as u64);
    let intervals = if totals.intervals == 1 { "interval" } else { "intervals" };
    let mut parts = vec![format!("{at_least}{} pages read", count(io.read_pages))];
    if let (Some(hits), Some(device)) = (numbers.hit_ratio(), numbers.device_share()) {
        parts.push(format!(
            "{} hits + {} misses ({} hits, {} from the device)",
            count(numbers.hits()),
            count(numbers.misses()),
            percent(hits),
            percent(device)
        ));
    }
    parts.push(format!("{} direct", bytes(numbers.direct_bytes())));
    parts.push(part(totals.dirties, count, "dirtied"));
    parts.push(part(totals.faults, count, "faults"));
    parts.push(part(totals.evicted_pages, count, "evicted"));
    parts.push(part(totals.writeback_bytes, bytes, "written back"));
    format!("{length} in {} {intervals}: {}", count(totals.intervals), parts.join(", "))
}

fn part(counted: Counted, words: fn(u64) -> String, what: &str) -> String {
    match counted.sum.value() {
        Some(sum) if counted.gaps > 0 => format!("at least {} {what}", words(sum)),
        Some(sum) => format!("{} {what}", words(sum)),
        None => format!("{what}: not measured"),
    }
}
