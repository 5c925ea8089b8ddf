//! Where the time went: bars, times and shares of the wall time.

use hotset_analysis::{Slice, SliceKind, Summary};
use hotset_facts::Observed;

use super::screen::{Screen, Tone};
use super::text::bar;
use crate::escape::columns;
use crate::table::{Align, INDENT, pad};
use crate::units;

const TIME_WIDTH: usize = 10;
const SHARE_WIDTH: usize = 8;
/// A bar wider than this says no more.
const MAX_BAR_WIDTH: usize = 100;
/// A screen has room for this many slices; smaller ones share the last.
const MAX_LINES: usize = 5;

pub(super) fn push(screen: &mut Screen, summary: &Summary) {
    let lines = if screen.all { usize::MAX } else { MAX_LINES };
    let Observed::Value(slices) = summary.time.folded(lines) else { return };
    screen.heading("Where the time went", &base(summary));
    if slices.is_empty() {
        screen.line("  no I/O");
        return;
    }
    let label = |kind| label(summary, kind);
    let labels = slices.iter().map(|slice| columns(label(slice.kind)));
    let label_width = labels.max().unwrap_or(0);
    let beside = INDENT + label_width + 2 + TIME_WIDTH + SHARE_WIDTH;
    let bar_width = screen.width.saturating_sub(beside + 1).min(MAX_BAR_WIDTH);
    // Sums over processes can exceed the wall time; the longest bar is then the longest slice.
    let longest = slices.iter().filter_map(|slice| slice.of_wall).fold(1.0, f64::max);
    for slice in &slices {
        let line = line(
            screen,
            slice,
            &pad(label(slice.kind), label_width, Align::Left),
            bar_width,
            longest,
        );
        screen.line(&line);
    }
}

fn line(screen: &Screen, slice: &Slice, label: &str, bar_width: usize, longest: f64) -> String {
    let drawn = bar(slice.of_wall.unwrap_or(0.0) / longest, bar_width);
    let bar = screen.paint(&pad(&drawn, bar_width, Align::Left), tone(slice.kind));
    let time = pad(&units::duration(slice.ns), TIME_WIDTH, Align::Right);
    let share = slice.of_wall.map_or("-".to_owned(), units::percent);
    let share = pad(&share, SHARE_WIDTH, Align::Right);
    format!("{:INDENT$}{label}  {bar}{time}{share}", "")
}

/// What the shares are of: the wall time, and over how many tasks the times are summed.
pub(crate) fn base(summary: &Summary) -> String {
    let wall = units::duration(summary.time.wall_ns);
    let busy = summary.time.busy_ns.value().filter(|&busy| busy > summary.time.wall_ns);
    match (summary.time.processes, busy) {
        (0 | 1, None) => format!("of {wall}"),
        (0 | 1, Some(busy)) => {
            format!("{} of threads side by side in {wall}", units::duration(busy))
        }
        (n, None) => format!("of {wall}, summed over {n} processes"),
        (n, Some(busy)) => {
            format!("{} of {n} processes side by side in {wall}", units::duration(busy))
        }
    }
}

/// What a slice is called in this run.
pub(crate) fn label(summary: &Summary, kind: SliceKind) -> &'static str {
    match kind {
        SliceKind::Rest if summary.profile.command.user_ns.value().is_none() => "CPU and other",
        SliceKind::ReadsFromCache => "reads from the cache",
        SliceKind::ReadsThatWaited => "reads that waited",
        SliceKind::ReadsThatMissed => "reads that missed",
        SliceKind::MajorFaults => "mapped pages read in",
        SliceKind::Direct => "direct I/O",
        SliceKind::Writes => "writes",
        SliceKind::Syncs => "fsync",
        SliceKind::Lookups => "path lookups",
        SliceKind::OtherIo => "other I/O",
        SliceKind::Computing => "CPU",
        SliceKind::Rest => "waiting, other",
    }
}

fn tone(kind: SliceKind) -> Tone {
    match kind {
        SliceKind::ReadsFromCache => Tone::Good,
        SliceKind::Computing | SliceKind::Rest => Tone::Quiet,
        SliceKind::ReadsThatWaited
        | SliceKind::ReadsThatMissed
        | SliceKind::MajorFaults
        | SliceKind::Direct
        | SliceKind::Syncs => Tone::Slow,
        SliceKind::Writes | SliceKind::Lookups | SliceKind::OtherIo => Tone::Info,
    }
}
