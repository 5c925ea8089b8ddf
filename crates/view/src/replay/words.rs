//! What replays are called, and their numbers.

use std::collections::BTreeMap;

use hotset_analysis::bench::{ConfidenceInterval, RatioEstimate, Spread};
use hotset_analysis::replay::{FIDELITY, Fidelity, NoClaim, NoPrediction, Prediction};
use hotset_facts::replay::{
    LeftOut, ReplayChange, ReplayFiles, ReplaySession, ReplayVariant, SinceRecorded,
};

use crate::bench::words::{ratio_parts, time};
use crate::units::{bytes, count, plural};

/// `as recorded`, or its changes.
pub(super) fn variant(variant: &ReplayVariant) -> String {
    match variant.changes.as_slice() {
        [] => "as recorded".to_owned(),
        changes => {
            let changes = changes.iter().map(|change| change.change.as_str());
            changes.collect::<Vec<_>>().join(" + ")
        }
    }
}

/// `buffer=64K: 300,051 steps become 5,000 (299,000 affected)`.
pub(super) fn change(change: &ReplayChange) -> String {
    let (before, after) = (count(change.steps_before), count(change.steps_after));
    let what = match change.steps_before == change.steps_after {
        true => format!("{before} steps"),
        false => format!("{before} steps become {after}"),
    };
    format!("{}: {what}, {} changed", change.change, count(change.affected_steps))
}

/// `178 ms [174, 190]`.
pub(super) fn spread(spread: &Spread, interval: Option<ConfidenceInterval>) -> String {
    let median = time(spread.median);
    match interval {
        Some(ends) => format!("{median} [{}, {}]", time(ends.low), time(ends.high)),
        None => median,
    }
}

/// `33x faster [30, 36]`, `1.02x slower (no interval)`, or that no difference was detected.
pub(crate) fn speed(io: &RatioEstimate) -> String {
    let is_faster = io.ratio <= 1.0;
    let turned = if is_faster { io.swapped() } else { *io };
    let word = if is_faster { "faster" } else { "slower" };
    let (ratio, ends) = ratio_parts(&turned);
    match ends {
        Some((low, high)) if turned.interval.is_some_and(|ends| ends.holds(1.0)) => {
            format!("no difference detected [{low}, {high}]")
        }
        Some((low, high)) => format!("{ratio} {word} [{low}, {high}]"),
        None => format!("{ratio} {word} (no interval)"),
    }
}

/// How many records were replayed, by whom, about which files.
pub(super) fn extent(session: &ReplaySession) -> String {
    let left_out: u64 = session.left_out.values().sum();
    let all = session.recorded.records + left_out;
    let records =
        format!("{} of {} replayed", count(session.recorded.records), plural(all, "record"));
    [
        records,
        plural(session.threads, "thread"),
        files(&session.files),
        plural(u64::from(session.rounds), "round"),
    ]
    .join(" · ")
}

fn files(files: &ReplayFiles) -> String {
    let read = format!("{} read in place", plural(files.originals, "file"));
    match files.copies {
        0 => read,
        copies => format!("{read}, {} written as copies", count(copies)),
    }
}

/// What was left out, the most first.
pub(super) fn left_out(left_out: &BTreeMap<LeftOut, u64>) -> Option<String> {
    let mut all: Vec<(&LeftOut, &u64)> = left_out.iter().collect();
    all.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
    let words: Vec<String> =
        all.iter().map(|(why, number)| format!("{} {}", count(**number), reason(**why))).collect();
    (!words.is_empty()).then(|| format!("not replayed: {}", words.join(", ")))
}

fn reason(why: LeftOut) -> &'static str {
    match why {
        LeftOut::NoFile => "of pipes, sockets or terminals",
        LeftOut::NoPath => "without a path",
        LeftOut::RelativePath => "relative to an unknown directory",
        LeftOut::SpecialFile => "of devices or /proc and /sys",
        LeftOut::NoResult => "without a result",
        LeftOut::OtherError => "that failed for lack of rights",
        LeftOut::Exec => "of programs that were started",
        LeftOut::Kernel => "by the kernel itself",
        LeftOut::SharedClose => "closes of duplicated descriptors",
        LeftOut::NotReplayed => "of calls that hotset does not replay",
    }
}

/// Whether the replay behaves as recorded.
pub(super) fn fidelity(fidelity: &Fidelity) -> String {
    let by = match (fidelity.ratio, fidelity.interval, fidelity.recorded_io_ns) {
        (Some(ratio), interval, Some(recorded)) => {
            let ends = interval.map_or_else(
                || " (no interval)".to_owned(),
                |ends| format!(" [{:.2}, {:.2}]", ends.low, ends.high),
            );
            format!("I/O time {ratio:.2}x{ends} of the recorded {}", time(recorded))
        }
        _ => String::new(),
    };
    let reads = fidelity
        .device_read_ratio
        .map(|ratio| format!("device reads {:.1} % of the recorded", 100.0 * ratio));
    let numbers: Vec<String> = [by].into_iter().filter(|by| !by.is_empty()).chain(reads).collect();
    let numbers = numbers.join(", ");
    let (least, most) = FIDELITY;
    match fidelity.no_claim {
        None => format!("Yes: {numbers}."),
        Some(NoClaim::Faster | NoClaim::Slower) => {
            format!(
                "No: {numbers}. Expected {least:.2}x to {most:.2}x, so nothing is predicted for the program. If the host was busy, record and replay again."
            )
        }
        Some(why) => {
            let numbers = if numbers.is_empty() { numbers } else { format!(" ({numbers})") };
            format!("Not known: {}{numbers}.", why.as_str())
        }
    }
}

/// What the run would take.
pub(super) fn prediction(prediction: &Prediction) -> String {
    let before = time(prediction.wall_ns as f64);
    let why = prediction.no_prediction.map_or("", NoPrediction::as_str);
    let Some((after, ends)) = prediction.changed_wall_ns() else {
        return format!("None: {why}.");
    };
    let ends = ends.map_or_else(
        || " (no interval)".to_owned(),
        |ends| format!(" [{}, {}]", time(ends.low), time(ends.high)),
    );
    format!(
        "The run takes {}{ends} instead of {before}, if the program does this and computes what it computed.",
        time(after)
    )
}

/// How a file is not what it was.
pub(super) fn since_recorded(file: &hotset_facts::replay::UnfitFile) -> String {
    let recorded = bytes(file.recorded_bytes);
    match (file.since_recorded, file.size_bytes) {
        (SinceRecorded::Shorter | SinceRecorded::OtherSize, Some(now)) => {
            format!("{} now, {recorded} when recorded", bytes(now))
        }
        (SinceRecorded::Missing, _) => "does not exist any more".to_owned(),
        (other, _) => other.as_str().to_owned(),
    }
}
