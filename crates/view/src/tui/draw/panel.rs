//! The selected item beside the table, where there is room.

use hotset_analysis::top::{Column, Item, ItemKey, Value};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::app::App;
use super::super::{columns, format, names};
use super::detail::{curves, line_of, sizes};
use super::{Piece, row, write};
use crate::escape::shorten_path;

/// Columns of the panel that are named in two columns side by side.
const NUMBERS: [Column; 14] = [
    Column::Hits,
    Column::Misses,
    Column::ReadHit,
    Column::Device,
    Column::ReadAhead,
    Column::Faults,
    Column::ReadBytes,
    Column::WriteBytes,
    Column::DeviceRead,
    Column::DeviceWrite,
    Column::Dirties,
    Column::WriteHit,
    Column::Direct,
    Column::Wait,
];

pub(super) fn draw(app: &App, area: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let Some(key) = app.looked_at() else { return };
    let Some((lines, at)) = line_of(app, &key) else { return };
    let Some(line) = lines.get(at) else { return };
    let width = usize::from(area.width).saturating_sub(2);
    let name = shorten_path(&names::item(line.item), width);
    let name = format!(" {name:<width$} ");
    write(
        buf,
        row(area, 0),
        &[(name, look.title().add_modifier(ratatui::style::Modifier::REVERSED))],
    );
    let mut y = 1;
    for (name, word) in identity(line.item) {
        let label = format!(" {name:<8}");
        let word = shorten_path(&word, width.saturating_sub(9));
        write(buf, row(area, y), &[(label, look.faint()), (word, Style::new())]);
        y += 1;
    }
    y += 1;
    for pair in NUMBERS.chunks(2) {
        for (n, &column) in (0..).zip(pair) {
            let half = area.width / 2;
            let part = Rect { x: area.x + n * half, width: half, ..row(area, y) };
            write(
                buf,
                part.intersection(area),
                &number(app, lines.kind(), column, column.of(&line), usize::from(half)),
            );
        }
        y += 1;
    }
    y += 1;
    let wants_sizes = !matches!(key, ItemKey::Group(_));
    let left = area.height.saturating_sub(y);
    let chart = Rect { y: area.y + y, height: left.min(15), ..area };
    curves(app, &key, chart.intersection(area), buf);
    y += chart.height + 1;
    if wants_sizes && area.height.saturating_sub(y) >= 14 {
        let part = Rect { y: area.y + y, height: 14, ..area };
        size_list(app, &key, part.intersection(area), buf);
    } else if wants_sizes && area.width >= 70 {
        sizes(app, &key, Rect { y: area.y + y, height: 3, ..area }.intersection(area), buf);
    }
}

fn identity(item: Item<'_>) -> Vec<(&'static str, String)> {
    match item {
        Item::Process(item) => {
            names::process(item).into_iter().chain([("files", item.files.to_string())]).collect()
        }
        Item::File(item) => {
            vec![("file", item.file.id.to_string()), ("procs", item.processes.to_string())]
        }
        Item::Group(item) => {
            vec![("path", names::group_path(item)), ("procs", item.processes.to_string())]
        }
    }
}

/// A title and a number in `width` columns: a number that has no room gets a unit and loses no digits.
fn number(
    app: &App,
    kind: hotset_analysis::top::Kind,
    column: Column,
    value: Value,
    width: usize,
) -> Vec<Piece> {
    let room = width.saturating_sub(13).min(12);
    let text = app.amount_in(column, value, room);
    vec![
        (format!(" {:<11} ", columns::title(column, kind)), app.setup.look.faint()),
        (format!("{text:>room$}"), Style::new()),
    ]
}

/// Calls by their size, a line a size.
fn size_list(app: &App, key: &ItemKey, area: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let found = app.histogram.as_ref().filter(|(of, _)| of == key);
    let Some((_, Some((reads, writes)))) = found else {
        sizes(app, key, row(area, 0), buf);
        return;
    };
    let title = format!(" {:<12}{:>10}{:>10}", "bytes/call", "reads", "writes");
    write(buf, row(area, 0), &[(title, look.label())]);
    let most = reads.0.iter().chain(&writes.0).copied().max().unwrap_or(0) as f64;
    for (n, ((bound, read), (_, write_calls))) in (1..).zip(reads.buckets().zip(writes.buckets())) {
        let bound = bound.map_or("more".to_owned(), |bytes| {
            format!("to {}", crate::units::bytes(bytes).replace(".00", ""))
        });
        let numbers = format!(
            " {bound:<12}{:>10}{:>10} ",
            format::count(read, 9),
            format::count(write_calls, 9)
        );
        let faint = read == 0 && write_calls == 0;
        let style = if faint { look.faint() } else { Style::new() };
        let end = write(buf, row(area, n), &[(numbers, style)]);
        let room = f64::from(area.right().saturating_sub(end));
        let length =
            if most > 0.0 { ((read + write_calls) as f64 / most / 2.0 * room).ceil() } else { 0.0 };
        let glyph = look.bars()[8].to_string().repeat((length as usize).min(room as usize));
        let bar = Rect { x: end, width: area.right().saturating_sub(end), ..row(area, n) };
        write(buf, bar, &[(glyph, look.cache())]);
    }
}
