//! What a change does, as a picture with the table that sums it up.

use hotset_analysis::replay::{PatternCount, PatternRow, ReplayCell, ReplaySummary, pattern_rows};
use hotset_facts::replay::{PatternKind, PatternMark, PatternSide, ReplayPattern};

use super::words;
use crate::escape::escape_path;
use crate::page::picture::{
    Drawn, Mark, MarkKind, MarkRow, MarkShape, PatternDrawing, Picture, TimeBar,
};
use crate::page::{Column, Section, Table};
use crate::units::{bytes, count, plural};

/// What the times below a picture are of.
const TIMES: &str = "I/O time of all requests, replayed: median [95 % CI]";

/// A section with the picture of a changed variant, its table, and how to read it; without them where nothing is known of it.
pub(crate) fn section(summary: &ReplaySummary, variant: usize) -> Section {
    let Some(changed) = summary.session.variants.get(variant) else { return Section::default() };
    let Some(pattern) = &changed.pattern else { return Section::default() };
    let name = words::variant(changed);
    let cells = cells(summary, variant);
    let rows = pattern_rows(pattern);
    let label = format!("Requests of one thread, as recorded and with {name}");
    let mut notes = vec![format!(
        "Each mark is a request of thread {}, from left to right in their order. Both rows show the same part of the recording. A read \
         or write is as high as its bytes; a larger one fills its lane.",
        pattern.tid
    )];
    notes.extend(difference(pattern, &rows));
    Section {
        picture: Some(Picture {
            label,
            drawn: Drawn::Pattern(PatternDrawing {
                kinds: kinds(&rows),
                lanes: lanes(pattern),
                sides: vec![
                    side("As recorded", pattern, &pattern.before, &rows),
                    side(&format!("With {name}"), pattern, &pattern.after, &rows),
                ],
                times_label: cells.map_or_else(String::new, |_| TIMES.to_owned()),
                times: cells.into_iter().flatten().filter_map(|cell| bar(summary, cell)).collect(),
            }),
        }),
        table: table(&rows, cells, &name),
        notes,
        ..Section::default()
    }
}

/// The recording as it is and a variant of it, from the first cache state that has both.
fn cells(summary: &ReplaySummary, variant: usize) -> Option<[&ReplayCell; 2]> {
    let of = |variant| summary.cells.iter().filter(move |cell| cell.variant == variant);
    of(0).find_map(|before| {
        let after = of(variant).find(|after| after.state == before.state)?;
        (before.io_ns.is_some() && after.io_ns.is_some()).then_some([before, after])
    })
}

/// What a picture does not show: requests that look alike on both sides.
fn difference(pattern: &ReplayPattern, rows: &[PatternRow]) -> Option<String> {
    let is_direct = |row: &&PatternRow| row.direct && row.before.requests > 0;
    if pattern.after.in_flight > 0 {
        return Some(format!(
            "With the change, up to {} are in flight at the same time; as recorded, the thread waits for each.",
            plural(u64::from(pattern.after.in_flight), "read")
        ));
    }
    let direct = rows.iter().find(is_direct).filter(|row| row.after.requests == 0);
    direct.map(|_| {
        "The requests are the same; without O_DIRECT they go through the page cache.".to_owned()
    })
}

fn kinds(rows: &[PatternRow]) -> Vec<MarkKind> {
    let kind = |row: &PatternRow| {
        let (color, shape) = look(row);
        MarkKind { name: kind_name(row), color, shape }
    };
    rows.iter().map(kind).collect()
}

fn look(row: &PatternRow) -> (usize, MarkShape) {
    match row.kind {
        PatternKind::Read if row.direct => (4, MarkShape::Box),
        PatternKind::Read => (1, MarkShape::Box),
        PatternKind::Write if row.direct => (5, MarkShape::Box),
        PatternKind::Write => (3, MarkShape::Box),
        PatternKind::Sync => (2, MarkShape::Wall),
        PatternKind::Open => (6, MarkShape::Up),
        PatternKind::Close => (7, MarkShape::Down),
        PatternKind::Lookup => (5, MarkShape::Circle),
        PatternKind::FailedLookup => (4, MarkShape::Cross),
        PatternKind::Hint => (2, MarkShape::Diamond),
        PatternKind::Map => (6, MarkShape::Square),
        PatternKind::Change => (7, MarkShape::Bowtie),
    }
}

fn kind_name(row: &PatternRow) -> String {
    match row.direct {
        true => format!("{}, O_DIRECT", row.kind.as_str()),
        false => row.kind.as_str().to_owned(),
    }
}

/// Their paths, and the one for all that have none.
fn lanes(pattern: &ReplayPattern) -> Vec<String> {
    let path = |lane: &hotset_facts::replay::PatternLane| {
        let path = lane.path.as_deref().map_or_else(|| "unknown".to_owned(), escape_path);
        if lane.is_new { format!("one new file, {path}") } else { path }
    };
    let mut lanes: Vec<String> = pattern.lanes.iter().map(path).collect();
    let all = pattern.before.marks.iter().chain(&pattern.after.marks);
    let has_one = |mark: &PatternMark| mark.lane.is_some_and(|at| (at as usize) < lanes.len());
    if !all.into_iter().all(has_one) {
        lanes.push(match pattern.more_lanes {
            0 => "no file".to_owned(),
            more => format!("{} others", count(more)),
        });
    }
    lanes
}

fn side(name: &str, pattern: &ReplayPattern, side: &PatternSide, rows: &[PatternRow]) -> MarkRow {
    let requests = plural(side.requests, "request");
    let shown = side.marks.len();
    let part = match side.requests > shown as u64 {
        true => format!(", the first {shown} shown"),
        false => String::new(),
    };
    let flying = match side.in_flight {
        0 => String::new(),
        most => format!(", up to {most} in flight at once"),
    };
    let mark = |mark: &PatternMark| {
        let kind = rows.iter().position(|row| (row.kind, row.direct) == (mark.kind, mark.direct));
        let lane = mark.lane.map_or(pattern.lanes.len(), |lane| lane as usize);
        Mark {
            kind: kind.unwrap_or(0),
            // A document that was changed may name a lane that is not there.
            lane: lane.min(pattern.lanes.len()),
            offset: mark.offset,
            bytes: mark.bytes,
            call: mark.step.as_str(),
        }
    };
    MarkRow {
        name: format!("{name}: {requests}{part}{flying}"),
        marks: side.marks.iter().map(mark).collect(),
    }
}

fn bar(summary: &ReplaySummary, cell: &ReplayCell) -> Option<TimeBar> {
    let io = cell.io_ns?;
    Some(TimeBar {
        name: words::variant(summary.session.variants.get(cell.variant)?),
        ns: io.median,
        interval: cell.io_ns_interval.map(|ends| (ends.low, ends.high)),
        text: words::spread(&io, cell.io_ns_interval),
    })
}

/// Kinds of requests on both sides, and the times.
fn table(rows: &[PatternRow], cells: Option<[&ReplayCell; 2]>, name: &str) -> Table {
    let cell = |of: PatternCount| match (of.requests, of.bytes) {
        (0, _) => "none".to_owned(),
        (requests, 0) => count(requests),
        (requests, moved) => format!("{} ({})", count(requests), bytes(moved)),
    };
    let kind = |row: &PatternRow| vec![kind_name(row), cell(row.before), cell(row.after)];
    let mut all: Vec<Vec<String>> = rows.iter().map(kind).collect();
    if let Some(cells) = cells {
        let time = |cell: &ReplayCell| {
            let io = cell.io_ns.as_ref();
            io.map_or_else(|| "none".to_owned(), |io| words::spread(io, cell.io_ns_interval))
        };
        let [before, after] = cells.map(time);
        all.push(vec!["I/O time of all requests".to_owned(), before, after]);
    }
    Table {
        caption: "Requests in the picture by kind, with their bytes".to_owned(),
        columns: vec![
            Column::words("Kind"),
            Column::numbers("As recorded"),
            Column::numbers(&format!("With {name}")),
        ],
        rows: all,
    }
}
