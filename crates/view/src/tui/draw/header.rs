//! The host: its cache, what was asked of it, and who waited.

use std::time::SystemTime;

use hotset_analysis::live::LiveNumbers;
use hotset_analysis::top::{Column, Point, TopFrame, Value};
use hotset_facts::{MemInfo, Observed};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::app::{App, Counting};
use super::super::{format, when};
use super::meter::{bars, largest};
use super::{Piece, row, write, write_right, write_whole};
use crate::escape::escape_text;
use crate::units;

/// Columns of the label of a meter.
const LABEL: u16 = 12;
/// Columns of what a meter says now.
const SAYS: u16 = 9;
/// Columns of the curve where there is more to say right of it.
const CURVE: u16 = 18;

pub(super) fn draw(app: &App, area: Rect, buf: &mut Buffer) {
    title(app, row(area, 0), buf);
    let Some(frame) = &app.frame else { return };
    if area.height >= 8 {
        tall(app, frame, area, buf);
    } else if area.height >= 5 {
        write_whole(buf, row(area, 1), &cache_words(app, frame));
        meter(app, row(area, 2), &hit_meter(app, frame), buf);
        meter(app, row(area, 3), &device_meter(app, frame), buf);
        meter(app, row(area, 4), &io_meter(app, frame), buf);
    } else {
        write_whole(buf, row(area, 1), &short_words(app, frame));
    }
}

fn title(app: &App, line: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let mut pieces: Vec<Piece> = vec![("hotset top".to_owned(), look.strong())];
    let mut say = |text: String, style: Style| pieces.push((format!("  {text}"), style));
    if let Some(place) = &app.place {
        let sign = if place.playing { "REPLAY runs" } else { "REPLAY" };
        say(format!(" {sign} "), look.warning());
        let at = app.frame.as_ref().map_or(SystemTime::UNIX_EPOCH, |frame| frame.at);
        say(format!("{} UTC", when::date_and_clock(at)), look.strong());
        let count = units::count(place.count as u64);
        say(format!("{}/{count}", units::count(place.index as u64 + 1)), Style::new());
    } else if let Some(frame) = &app.frame {
        say(format!("{} UTC", when::clock(frame.at)), Style::new());
        say(format!("every {}", format::interval(app.setup.interval_ns)), Style::new());
    }
    say(app.counts().words().to_owned(), look.strong());
    if app.paused {
        say(" PAUSED ".to_owned(), look.warning());
    }
    if let Some(file) = &app.setup.recording {
        say(format!("recording {}", escape_text(file)), Style::new());
    }
    if let Some(scope) = &app.setup.scope {
        say(format!("only {}", escape_text(scope)), look.strong());
    }
    let end = write(buf, line, &pieces);
    write_right(buf, line, end + 1, &escape_text(&app.setup.host), look.faint());
}

/// A meter: a name, what it says, its curve, and words right of it.
struct Meter<'a> {
    label: &'static str,
    says: String,
    curve: Vec<Option<f64>>,
    /// What a full bar is; nothing: the most that the curve has.
    full: Option<f64>,
    style: Style,
    words: Vec<(&'a str, String)>,
}

fn meter(app: &App, line: Rect, meter: &Meter<'_>, buf: &mut Buffer) {
    let look = app.setup.look;
    let label = Rect { width: line.width.min(LABEL), ..line };
    write(buf, label, &[(meter.label.to_owned(), look.label())]);
    let says = Rect { x: line.x + LABEL, width: SAYS, ..line }.intersection(line);
    write(buf, says, &[(format!("{:>8} ", meter.says), look.strong())]);
    let wide = if meter.words.is_empty() { u16::MAX } else { CURVE.max(line.width / 5) };
    let curve = Rect { x: line.x + LABEL + SAYS, width: wide, ..line }.intersection(line);
    let most = meter.full.unwrap_or_else(|| largest(meter.curve.iter().copied()));
    bars(buf, curve, meter.curve.iter().copied(), most, look, meter.style);
    let rest: Vec<[Piece; 2]> = meter
        .words
        .iter()
        .map(|(name, number)| {
            [(format!("  {name} "), look.faint()), (number.clone(), Style::new())]
        })
        .collect();
    let right =
        Rect { x: curve.right(), width: line.right().saturating_sub(curve.right()), ..line };
    write_whole(buf, right, &rest);
}

fn curve(app: &App, of: impl Fn(&Point) -> Option<f64>) -> Vec<Option<f64>> {
    app.trail.points().map(of).collect()
}

/// What counts are taken from: the interval, or the sums since the start.
fn counted<'a>(app: &'a App, frame: &'a TopFrame) -> &'a TopFrame {
    match (app.counts(), app.since.frame()) {
        (Counting::Start, Some(since)) => since,
        _ => frame,
    }
}

fn totals(app: &App, frame: &TopFrame) -> LiveNumbers {
    let counted = counted(app, frame);
    LiveNumbers::new(counted.totals, counted.seconds())
}

fn amount(app: &App, n: u64) -> String {
    app.amount(Value::Count(n), 9)
}

fn observed(app: &App, n: Observed<u64>) -> String {
    n.value().map_or("-".to_owned(), |n| amount(app, n))
}

fn share(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), units::percent)
}

fn hit_meter<'a>(app: &App, frame: &TopFrame) -> Meter<'a> {
    let numbers = totals(app, frame);
    Meter {
        label: "Hit ratio",
        says: share(numbers.hit_ratio()),
        curve: curve(app, |point| LiveNumbers::new(point.totals, 0.0).hit_ratio()),
        full: Some(1.0),
        style: app.setup.look.cache(),
        words: vec![
            ("hits", amount(app, numbers.hits())),
            ("misses", amount(app, numbers.misses())),
            ("faults", app.amount_in(Column::Faults, Column::Faults.value(&numbers.io), 9)),
        ],
    }
}

fn device_meter<'a>(app: &App, frame: &TopFrame) -> Meter<'a> {
    let numbers = totals(app, frame);
    Meter {
        label: "Device",
        says: share(numbers.device_share()),
        curve: curve(app, |point| LiveNumbers::new(point.totals, 0.0).device_share()),
        full: Some(1.0),
        style: app.setup.look.device(),
        words: vec![
            ("ahead", amount(app, numbers.io.readahead_pages)),
            ("direct", app.amount(Value::Bytes(numbers.direct_bytes()), 9)),
            ("dirtied", app.amount_in(Column::Dirties, Column::Dirties.value(&numbers.io), 9)),
        ],
    }
}

/// Time in which somebody waited, by the length of the interval.
fn stalled(ns: Observed<u64>, length_ns: u64) -> Option<f64> {
    let ns = ns.value().filter(|_| length_ns > 0)?;
    Some((ns as f64 / length_ns as f64).min(1.0))
}

fn io_meter<'a>(app: &App, frame: &TopFrame) -> Meter<'a> {
    let (pressure, length) = (&frame.host.pressure, frame.length_ns);
    let memory = (pressure.memory_some_ns, pressure.memory_full_ns);
    let bare = |ns| stalled(ns, length).map_or("-".to_owned(), units::percent_number);
    Meter {
        label: "PSI io some",
        says: share(stalled(pressure.io_some_ns, length)),
        curve: curve(app, |point| stalled(point.host.pressure.io_some_ns, point.length_ns)),
        full: Some(1.0),
        style: app.setup.look.device(),
        words: vec![
            ("full", bare(pressure.io_full_ns)),
            ("mem", format!("{}/{}", bare(memory.0), bare(memory.1))),
            ("refaults", observed(app, counted(app, frame).host.refaulted_pages)),
        ],
    }
}

fn memory_meter<'a>(app: &App, frame: &TopFrame) -> Meter<'a> {
    let (pressure, length) = (&frame.host.pressure, frame.length_ns);
    Meter {
        label: "PSI mem some",
        says: share(stalled(pressure.memory_some_ns, length)),
        curve: curve(app, |point| stalled(point.host.pressure.memory_some_ns, point.length_ns)),
        full: Some(1.0),
        style: app.setup.look.device(),
        words: vec![
            ("full", share(stalled(pressure.memory_full_ns, length))),
            ("reclaimed", observed(app, counted(app, frame).host.reclaimed_pages)),
        ],
    }
}

fn memory(frame: &TopFrame, of: fn(&MemInfo) -> u64) -> String {
    frame.host.memory.as_value().map_or("-".to_owned(), |memory| units::bytes(of(memory)))
}

fn cache_words(app: &App, frame: &TopFrame) -> Vec<[Piece; 2]> {
    let words = [
        ("Cache", memory(frame, |memory| memory.cached_bytes)),
        ("Buffers", memory(frame, |memory| memory.buffers_bytes)),
        ("Dirty", memory(frame, |memory| memory.dirty_bytes)),
        ("Writeback", memory(frame, |memory| memory.writeback_bytes)),
        ("Evicted", observed(app, counted(app, frame).evicted_pages)),
    ];
    labelled(app, "  ", words)
}

fn short_words(app: &App, frame: &TopFrame) -> Vec<[Piece; 2]> {
    let numbers = totals(app, frame);
    let words = [
        ("Hit", share(numbers.hit_ratio())),
        ("Dev", share(numbers.device_share())),
        ("Cache", memory(frame, |memory| memory.cached_bytes)),
        ("Dirty", memory(frame, |memory| memory.dirty_bytes)),
        ("io", share(stalled(frame.host.pressure.io_some_ns, frame.length_ns))),
    ];
    labelled(app, " ", words)
}

/// Numbers behind their names.
fn labelled(app: &App, gap: &str, words: [(&str, String); 5]) -> Vec<[Piece; 2]> {
    let look = app.setup.look;
    let mut pieces = Vec::new();
    for (name, number) in words {
        let gap = if pieces.is_empty() { "" } else { gap };
        pieces.push([(format!("{gap}{name} "), look.label()), (number, look.strong())]);
    }
    pieces
}

/// Two columns of meters, each with its curve.
fn tall(app: &App, frame: &TopFrame, area: Rect, buf: &mut Buffer) {
    let half = area.width / 2;
    let left = Rect { width: half.saturating_sub(1), ..area };
    let right = Rect { x: area.x + half, width: area.width - half, ..area };
    let counted = counted(app, frame);
    let lefts = [
        size_meter(app, frame, "Cache", |memory| memory.cached_bytes),
        size_meter(app, frame, "Dirty", |memory| memory.dirty_bytes),
        size_meter(app, frame, "Writeback", |memory| memory.writeback_bytes),
        pages_meter(app, "Evicted", counted.evicted_pages, |point| point.evicted_pages),
        pages_meter(app, "Refaults", counted.host.refaulted_pages, |point| {
            point.host.refaulted_pages
        }),
    ];
    let rights = [
        hit_meter(app, frame),
        device_meter(app, frame),
        io_meter(app, frame),
        memory_meter(app, frame),
        pages_meter(app, "Written", counted.host.written_back_pages, |point| {
            point.host.written_back_pages
        }),
    ];
    for (side, meters) in [(left, lefts), (right, rights)] {
        for (n, one) in (2..).zip(&meters) {
            meter(app, row(side, n), one, buf);
        }
    }
}

fn size_meter<'a>(
    app: &App,
    frame: &TopFrame,
    label: &'static str,
    of: fn(&MemInfo) -> u64,
) -> Meter<'a> {
    let of_point = |point: &Point| point.host.memory.as_value().map(|memory| of(memory) as f64);
    Meter {
        label,
        says: memory(frame, of),
        curve: curve(app, of_point),
        full: None,
        style: app.setup.look.cache(),
        words: Vec::new(),
    }
}

fn pages_meter<'a>(
    app: &App,
    label: &'static str,
    now: Observed<u64>,
    of: fn(&Point) -> Observed<u64>,
) -> Meter<'a> {
    Meter {
        label,
        says: observed(app, now),
        curve: curve(app, |point| of(point).value().map(|n| n as f64)),
        full: None,
        style: app.setup.look.device(),
        words: Vec::new(),
    }
}
