//! Results of many lines: the intervals of `stat`, and of a recording by `top`.

use hotset_analysis::top::{Column as TopColumn, TopFrame};
use hotset_facts::format::rfc3339;

use super::doubts;
use crate::live::stat::{Layout, Row, header, line};
use crate::page::{Axis, Chart, Page, Point, Section, Series, Table, Unit};
use crate::units::{bytes, count};
use crate::wire::StatRecord;
use crate::wire::top::Header;

/// Intervals that a table shows.
const SHOWN: usize = 1_000;

/// The page of the lines of `hotset stat`.
pub(super) fn stat_page(lines: &[StatRecord]) -> Page {
    let layout = Layout { time: true, width: None };
    let row = |read: &StatRecord| {
        let row = Row { at: read.at, line: &read.line, lost: &read.lost, late: read.late };
        line(&row, layout, 0)
    };
    let share = |read: &StatRecord| Some((seconds(read.at), read.line.device_share?));
    Page {
        title: "stat".to_owned(),
        subtitle: format!("{} intervals, times in UTC{}", lines.len(), shown(lines.len())),
        sections: vec![Section {
            question: "Which share of the requested pages came from the device?".to_owned(),
            chart: chart(lines.iter().filter_map(share), "from the device", Unit::Share),
            text: std::iter::once(header(layout))
                .chain(lines.iter().take(SHOWN).map(row))
                .collect(),
            ..Section::default()
        }],
        doubts: doubts::of_stat(lines),
        ..Page::default()
    }
}

/// A recording that was read.
pub(super) struct Recording {
    pub(super) header: Header,
    pub(super) frames: Vec<TopFrame>,
    /// It ends within an interval, which is left out.
    pub(super) cut: bool,
}

/// The page of a recording.
pub(super) fn recording_page(recording: &Recording) -> Page {
    let Recording { header, frames, .. } = recording;
    let lacks = |column: TopColumn| column.gap(&header.not_measured).is_some();
    let none = || "not measured".to_owned();
    let device = |column, moved| if lacks(column) { none() } else { bytes(moved) };
    let read = |frame: &TopFrame| (seconds(frame.at), frame.totals.device_read_bytes as f64);
    Page {
        title: "top".to_owned(),
        subtitle: format!(
            "{} intervals on {}; hotset top --replay shows who did what",
            frames.len(),
            crate::escape_text(&header.host)
        ),
        sections: vec![Section {
            question: "How much was read from the device?".to_owned(),
            chart: match lacks(TopColumn::DeviceRead) {
                true => None,
                false => chart(frames.iter().map(read), "from the device", Unit::Bytes),
            },
            table: Table::of(
                format!("All that was counted, by interval{}", shown(frames.len())),
                frames.iter().take(SHOWN),
            )
            .words("Until", |frame| rfc3339(frame.at))
            .numbers("Pages requested", |frame| count(frame.totals.read_pages))
            .numbers("Read", |frame| bytes(frame.totals.read_bytes))
            .numbers("Written", |frame| bytes(frame.totals.write_bytes))
            .numbers("From device", |frame| {
                device(TopColumn::DeviceRead, frame.totals.device_read_bytes)
            })
            .numbers("To device", |frame| {
                device(TopColumn::DeviceWrite, frame.totals.device_write_bytes)
            })
            .numbers("Pages evicted", |frame| frame.evicted_pages.value().map_or_else(none, count))
            .table(),
            ..Section::default()
        }],
        conditions: conditions(header),
        doubts: doubts::of_recording(recording),
        ..Page::default()
    }
}

/// Whose counts they are, and which version took them.
fn conditions(header: &Header) -> Vec<(String, String)> {
    let scope = header.scope.as_deref().unwrap_or("the whole host");
    let all = [("Counted", scope), ("hotset", &header.hotset)];
    all.map(|(name, value)| (name.to_owned(), crate::escape_text(value))).into()
}

/// What a table leaves out, if anything.
fn shown(intervals: usize) -> String {
    if intervals > SHOWN { format!("; the first {SHOWN} in the table") } else { String::new() }
}

fn seconds(at: std::time::SystemTime) -> f64 {
    at.duration_since(std::time::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Values over the time since the first.
fn chart(values: impl Iterator<Item = (f64, f64)>, name: &str, unit: Unit) -> Option<Chart> {
    let mut first = None;
    let point = |(at, y): (f64, f64)| Point {
        x: (at - *first.get_or_insert(at)) * 1e9,
        y,
        text: name.to_owned(),
        ..Point::default()
    };
    let points: Vec<Point> = values.map(point).collect();
    (points.len() > 1).then(|| Chart {
        label: format!("{name}, by interval"),
        x: Axis::of("since the first", Unit::Nanoseconds),
        y: Axis::of(name, unit),
        series: vec![Series { name: name.to_owned(), points, ..Series::default() }],
        ..Chart::default()
    })
}
