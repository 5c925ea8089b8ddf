//! One item expanded: who it is, how it went, and by which sizes it reads and writes.

use hotset_analysis::live::LiveNumbers;
use hotset_analysis::top::{Item, ItemKey, Kind, LineState, Lines};
use hotset_facts::{HISTOGRAM_BOUNDS, LiveIo, SizeHistogram};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::app::{App, Expanded};
use super::super::{format, names};
use super::meter::{bars, largest};
use super::{Piece, Places, row, write};
use crate::escape::shorten_end;

/// Columns of one bucket of a histogram.
const BUCKET: u16 = 5;

pub(super) fn draw(app: &App, expanded: &Expanded, places: &Places, buf: &mut Buffer) {
    trail(app, places.tabs, buf);
    let area = places.detail;
    let line = identity(app, expanded);
    write(buf, row(area, 0), &line);
    if area.height < 3 {
        return;
    }
    let charts = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let wanted = BUCKET * (HISTOGRAM_BOUNDS.len() as u16 + 1) + 8;
    let has_sizes = !matches!(expanded.key, ItemKey::Group(_)) && area.width >= wanted;
    // Side by side where both have room, else one above the other.
    if has_sizes && area.width >= wanted + 50 {
        let left = Rect { width: area.width - wanted - 2, ..charts };
        let right = Rect { x: left.right() + 2, width: wanted, ..charts };
        curves(app, &expanded.key, left, buf);
        sizes(app, &expanded.key, right, buf);
    } else if has_sizes && charts.height >= 7 {
        let upper = Rect { height: charts.height - 4, ..charts };
        curves(app, &expanded.key, upper, buf);
        sizes(app, &expanded.key, Rect { y: upper.bottom(), height: 4, ..charts }, buf);
    } else {
        curves(app, &expanded.key, charts, buf);
    }
}

/// How one came here: `Processes > 1234 sqlite3 > /data/db`.
fn trail(app: &App, area: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let root = ["Processes", "Files", "Cgroups"][app.kind as usize];
    let mut pieces: Vec<Piece> = vec![(format!(" {root}"), look.faint())];
    let last = app.stack.len().saturating_sub(1);
    for (place, expanded) in app.stack.iter().enumerate() {
        pieces.push((" > ".to_owned(), look.faint()));
        let style = if place == last { look.selected() } else { look.faint() };
        let room = if place == last { 60 } else { 16 };
        pieces.push((format!(" {} ", crate::escape::shorten_path(&expanded.name(), room)), style));
    }
    let end = write(buf, row(area, 0), &pieces);
    super::table::filter_words(app, row(area, 0), end, buf);
}

/// Who it is, in one line.
fn identity(app: &App, expanded: &Expanded) -> Vec<Piece> {
    let look = app.setup.look;
    let mut words = Vec::new();
    if let Some(line) = expanded.own.get(0) {
        match line.item {
            Item::Process(item) => words.extend(names::process(item)),
            Item::File(item) => words.push(("device and inode", item.file.id.to_string())),
            Item::Group(item) => {
                words.push(("path", names::group_path(item)));
                let other = if expanded.wanted == Kind::Files { "processes" } else { "files" };
                words.push(("Tab shows its", other.to_owned()));
            }
        }
    }
    let state = match expanded.state() {
        LineState::Active => None,
        LineState::Ended => Some("ended in this interval"),
        LineState::Gone => Some("has ended: this is its last interval"),
        LineState::Idle => Some("inactive in this interval"),
    };
    let mut pieces: Vec<Piece> =
        state.map(|state| (format!(" {state} "), look.warning())).into_iter().collect();
    for (name, word) in words {
        pieces.push((format!(" {name} "), look.faint()));
        pieces.push((shorten_end(&word, 70), Style::new()));
    }
    pieces
}

/// Name, what a full bar is in words and as a number, style, and values.
type Chart = (&'static str, String, f64, Style, Vec<Option<f64>>);

/// Hit ratio, device share and pages over time.
pub(super) fn curves(app: &App, key: &ItemKey, area: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let ratio = |io: Option<LiveIo>| LiveNumbers::new(io?, 0.0).hit_ratio();
    let device = |io: Option<LiveIo>| LiveNumbers::new(io?, 0.0).device_share();
    let pages = |io: Option<LiveIo>| Some(io?.read_pages as f64);
    let most = largest(app.trail.of(key).map(pages));
    let pages_full = format::count(most as u64, 6);
    let charts: [Chart; 3] = [
        ("hit ratio", "100 %".into(), 1.0, look.cache(), app.trail.of(key).map(ratio).collect()),
        ("device", "100 %".into(), 1.0, look.device(), app.trail.of(key).map(device).collect()),
        ("pages", pages_full, most, Style::new(), app.trail.of(key).map(pages).collect()),
    ];
    let each = area.height / 3;
    let mut y = area.y;
    for (n, (name, full, most, style, values)) in charts.into_iter().enumerate() {
        let height = if n == 0 { area.height - 2 * each } else { each };
        let part = Rect { y, height, ..area }.intersection(area);
        y += height;
        if height == 0 {
            continue;
        }
        let label = Rect { width: 10.min(part.width), ..part };
        write(buf, row(label, 0), &[(format!(" {name}"), look.label())]);
        if height > 1 {
            write(buf, row(label, 1), &[(format!(" of {full}"), look.faint())]);
        }
        let chart = Rect { x: part.x + 11, ..part }.intersection(part);
        bars(buf, chart, values.into_iter(), most, look, style);
    }
}

/// Calls by their size.
pub(super) fn sizes(app: &App, key: &ItemKey, area: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let found = app.histogram.as_ref().filter(|(of, _)| of == key);
    let Some((_, Some((reads, writes)))) = found else {
        let words = match (&app.place, found) {
            (Some(_), _) => " sizes of calls: not kept in a recording",
            (None, Some(_)) => " sizes of calls: none known",
            (None, None) => " sizes of calls: shown with the next interval",
        };
        write(buf, row(area, 0), &[(words.to_owned(), look.faint())]);
        return;
    };
    let labels = ["16", "64", "256", "1K", "4K", "16K", "64K", "256K", "1M", "4M", "16M", "more"];
    let bars_height = area.height.saturating_sub(1) / 2;
    for (n, (name, sizes, style)) in
        [("reads", reads, look.cache()), ("writes", writes, look.device())].into_iter().enumerate()
    {
        let y = area.y + bars_height * n as u16;
        let part = Rect { y, height: bars_height, ..area }.intersection(area);
        histogram(name, sizes, part, style, app, buf);
    }
    let line = row(area, bars_height * 2);
    write(buf, line, &[(" bytes".to_owned(), look.faint())]);
    for (n, label) in (0..).zip(labels) {
        let cell = Rect { x: line.x + 8 + n * BUCKET, width: BUCKET, ..line }.intersection(line);
        write(buf, cell, &[(format!("{label:>4}"), look.faint())]);
    }
}

fn histogram(
    name: &str,
    sizes: &SizeHistogram,
    area: Rect,
    style: Style,
    app: &App,
    buf: &mut Buffer,
) {
    let look = app.setup.look;
    if area.height == 0 {
        return;
    }
    let bottom = row(area, area.height - 1);
    write(buf, bottom, &[(format!(" {name}"), look.label())]);
    let most = sizes.0.iter().copied().max().unwrap_or(0) as f64;
    for (n, &calls) in (0..).zip(&sizes.0) {
        let x = area.x + 8 + n * BUCKET;
        let cell = Rect { x, width: BUCKET - 1, ..area }.intersection(area);
        if calls == 0 {
            let dot = if look.ascii { "   ." } else { "   ·" };
            write(buf, row(cell, area.height - 1), &[(dot.to_owned(), look.faint())]);
        } else if area.height == 1 {
            let words = format!("{:>4}", format::count(calls, 4));
            write(buf, row(cell, 0), &[(words, style)]);
        } else {
            let chart = Rect { height: area.height - 1, ..cell };
            bars(buf, chart, std::iter::repeat_n(Some(calls as f64), 4), most, look, style);
            let words = format!("{:>4}", format::count(calls, 4));
            write(buf, row(cell, area.height - 1), &[(words, style)]);
        }
    }
}

/// The lines of an item in the table of its kind.
pub(super) fn line_of<'a>(app: &'a App, key: &ItemKey) -> Option<(&'a Lines, usize)> {
    let shown = app.shown()?;
    shown.lines.position(key).map(|at| (shown.lines, at))
}
