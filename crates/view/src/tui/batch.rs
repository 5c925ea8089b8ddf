//! Samples as plain text, for logs: a header, titles, and the first lines of a view.

use std::fmt::Write as _;

use hotset_analysis::live::LiveNumbers;
use hotset_analysis::top::{Column, Item, Kind, Line, LineState, Order, Ordering, TopFrame};
use hotset_facts::{LiveLosses, NotMeasured};

use super::columns::{is_name, title};
use super::{draw, filter, format, names, when};
use crate::table::{Align, pad};
use crate::units;

/// What a sample shows.
#[derive(Debug, Clone)]
pub struct BatchOptions {
    /// Lines of what.
    pub kind: Kind,
    /// Sorted by what.
    pub order: Order,
    /// What lines must hold.
    pub filter: String,
    /// At most so many lines.
    pub top: usize,
    /// What this kernel can't tell.
    pub not_measured: Vec<NotMeasured>,
}

/// A sample: a line about the host, the titles, and the lines. Names stand last and are not cut.
pub fn batch_text(frame: &TopFrame, options: &BatchOptions) -> String {
    let mut out = String::new();
    header(frame, &mut out);
    let columns = columns(options.kind);
    let mut push = |text: &dyn Fn(Column) -> String| {
        let padded = |&(column, width): &(Column, usize)| {
            let align = if is_name(column) { Align::Left } else { Align::Right };
            pad(&text(column), width, align)
        };
        let words: Vec<String> = columns.iter().map(padded).collect();
        let _ = writeln!(out, "{}", words.join(" ").trim_end());
    };
    push(&|column| title(column, options.kind).to_owned());
    let lines = frame.of_kind(options.kind);
    let kept = filter::kept(lines, &options.filter);
    let all = kept.len();
    let ordering = Ordering::of(lines, kept, options.order, options.top);
    for &index in ordering.indices.iter().take(options.top) {
        if let Some(line) = lines.get(index as usize) {
            push(&|column| cell(column, &line, options));
        }
    }
    let more = all.saturating_sub(options.top) as u64 + frame.unlisted(options.kind).items;
    if more > 0 {
        let _ = writeln!(out, "# {} more", units::count(more));
    }
    if !frame.others.is_idle() {
        let io = &frame.others;
        let _ = writeln!(
            out,
            "# others (no owner): hits {} misses {} dirties {} device writes {}",
            io.split().hits,
            io.read_misses,
            io.dirtied_pages,
            units::bytes(io.device_write_bytes)
        );
    }
    if frame.losses != LiveLosses::default() {
        let _ = writeln!(out, "# {}", draw::loss_words(&frame.losses));
    }
    out
}

fn header(frame: &TopFrame, out: &mut String) {
    let numbers = LiveNumbers::new(frame.totals, frame.seconds());
    let share = |share: Option<f64>| share.map_or("-".to_owned(), units::percent);
    let memory = frame.host.memory.as_value();
    let bytes = |n: Option<u64>| n.map_or("-".to_owned(), units::bytes);
    let _ = writeln!(
        out,
        "# {} UTC  interval {}  hits {}  misses {}  hit ratio {}  device {}  cache {}  dirty {}  writeback {}",
        when::date_and_clock(frame.at),
        format::interval(frame.length_ns / 1_000_000 * 1_000_000),
        numbers.hits(),
        numbers.misses(),
        share(numbers.hit_ratio()),
        share(numbers.device_share()),
        bytes(memory.map(|memory| memory.cached_bytes)),
        bytes(memory.map(|memory| memory.dirty_bytes)),
        bytes(memory.map(|memory| memory.writeback_bytes)),
    );
}

/// The columns and their widths; the name has what is left.
fn columns(kind: Kind) -> Vec<(Column, usize)> {
    let mut columns = match kind {
        Kind::Processes => vec![(Column::Pid, 7), (Column::User, 10)],
        Kind::Files | Kind::Groups => Vec::new(),
    };
    columns.extend([
        (Column::Hits, 9),
        (Column::Misses, 9),
        (Column::Dirties, 9),
        (Column::ReadHit, 9),
        (Column::WriteHit, 10),
        (Column::Device, 7),
        (Column::Direct, 8),
        (Column::Faults, 8),
    ]);
    if kind == Kind::Groups {
        columns.extend([(Column::Refaults, 8), (Column::Cache, 7), (Column::Need, 7)]);
    }
    columns.push((Column::Name, 0));
    columns
}

fn cell(column: Column, line: &Line<Item<'_>>, options: &BatchOptions) -> String {
    let over = match line.state {
        LineState::Ended | LineState::Gone => " (ended)",
        LineState::Active | LineState::Idle => "",
    };
    match (column, line.item) {
        (Column::User, Item::Process(item)) => names::user(item),
        (Column::Name, Item::Process(item)) => format!("{}{over}", names::command(item)),
        (Column::Name, Item::File(item)) => names::file(item),
        (Column::Name, Item::Group(item)) => match names::group(item) {
            name if name == names::group_path(item) => name,
            name => format!("{name} {}", names::group_path(item)),
        },
        _ if column.gap(&options.not_measured).is_some() => "-".to_owned(),
        _ => format::value(column.of(line), 9),
    }
}
