//! The views' names, the titles of the columns, and the lines.

use hotset_analysis::top::{
    Column, Item, ItemKey, Kind, Line, LineState, TreeRow, Unlisted, Value,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::super::app::{App, Overlay, Shown};
use super::super::columns::Cell;
use super::super::{format, names};
use super::{Piece, Places, row, write, write_right};
use crate::escape::{columns, escape_text, shorten_end, shorten_path};
use crate::units;

fn tab_names(app: &App) -> Vec<(Kind, String)> {
    let count = |kind: Kind| {
        let frame = app.frame.as_ref()?;
        let listed = frame.of_kind(kind).len() as u64;
        Some(format!(" {}", units::count(listed + frame.unlisted(kind).items)))
    };
    let names = match app.setup.size.0 {
        0..=59 => ["Proc", "File", "Cgrp"],
        _ => ["Processes", "Files", "Cgroups"],
    };
    Kind::ALL
        .iter()
        .zip(names)
        .map(|(&kind, name)| {
            let count = count(kind).filter(|_| app.setup.size.0 >= 60).unwrap_or_default();
            (kind, format!(" {} {name}{count} ", kind as usize + 1))
        })
        .collect()
}

/// The view whose name stands at column `x`.
pub(in crate::tui) fn tab_at(app: &App, x: u16) -> Option<Kind> {
    let mut end = 0;
    tab_names(app).into_iter().find_map(|(kind, name)| {
        end += columns(&name) + 1;
        (usize::from(x) < end).then_some(kind)
    })
}

/// The views, and what is filtered.
pub(super) fn tabs(app: &App, area: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let mut pieces: Vec<Piece> = Vec::new();
    for (kind, name) in tab_names(app) {
        let style = if kind == app.kind { look.selected() } else { Style::new() };
        pieces.push((name, style));
        pieces.push((" ".to_owned(), Style::new()));
    }
    let end = write(buf, row(area, 0), &pieces);
    filter_words(app, row(area, 0), end, buf);
}

/// What is filtered, at the right end of a line.
pub(super) fn filter_words(app: &App, line: Rect, after: u16, buf: &mut Buffer) {
    let look = app.setup.look;
    let Some(shown) = app.shown() else { return };
    let editing = matches!(app.overlay, Overlay::Filter(_));
    if !shown.table.filter.is_empty() || editing {
        let cursor = if editing { "_" } else { "" };
        let room = usize::from(line.right().saturating_sub(after)).saturating_sub(26);
        let filter = shorten_end(&escape_text(&shown.table.filter), room.max(6));
        let (some, all) = (shown.table.total as u64, shown.lines.len() as u64);
        let counts = format!("{} of {}", units::count(some), units::count(all));
        let words = format!(" filter: {filter}{cursor}  {counts} ");
        let style = if editing { look.warning() } else { look.strong() };
        write_right(buf, line, after, &words, style);
    } else if app.tree && app.shown_kind() != Kind::Files {
        write_right(buf, line, after, "tree ", look.strong());
    }
}

/// Lines for what has none of its own: a table that overflowed, and what a bound left out.
pub(super) fn rest_lines(app: &App) -> u16 {
    app.shown().map_or(0, |shown| u16::try_from(rest(app, &shown).len()).unwrap_or(0))
}

fn rest(app: &App, shown: &Shown<'_>) -> Vec<(String, Unlisted)> {
    let mut rest = Vec::new();
    if shown.unlisted.items > 0 {
        let what = match (app.stack.is_empty(), shown.lines.kind()) {
            (false, Kind::Files) => "other files".to_owned(),
            (false, _) => "other processes".to_owned(),
            (true, kind) => {
                let what = ["processes", "files", "cgroups"][kind as usize];
                format!("{} more {what}", units::count(shown.unlisted.items))
            }
        };
        rest.push((what, shown.unlisted));
    }
    let others = match app.counting {
        super::super::Counting::Start => app.since.frame().map(|frame| frame.others),
        _ => app.frame.as_ref().map(|frame| frame.others),
    };
    if let Some(io) = others.filter(|io| app.stack.is_empty() && !io.is_idle()) {
        rest.push(("others (no owner)".to_owned(), Unlisted { items: 1, io }));
    }
    rest
}

/// Titles, lines, and what has none.
pub(super) fn draw(app: &App, places: &Places, buf: &mut Buffer) {
    let cells = super::cells(app, places.titles.width);
    titles(app, &cells, places.titles, buf);
    let Some(shown) = app.shown() else {
        let words = "the first interval has not ended yet";
        write(buf, row(places.rows, 1), &[(words.to_owned(), app.setup.look.faint())]);
        return;
    };
    if shown.table.total == 0 {
        let words = if shown.table.filter.is_empty() {
            "  no page was asked for in this interval"
        } else {
            "  nothing here holds the filter's text; Esc clears it"
        };
        write(buf, row(places.rows, 0), &[(words.to_owned(), app.setup.look.faint())]);
    }
    for (n, tree) in (0..places.rows.height).zip(&shown.table.rows) {
        if let Some(line) = shown.lines.get(tree.index as usize) {
            let at = row(places.rows, n);
            let selected = shown.table.selected.as_ref();
            draw_line(app, &cells, &line, tree, selected, at, buf);
        }
    }
    for (n, (name, unlisted)) in (0..places.rest.height).zip(rest(app, &shown)) {
        draw_rest(app, &cells, &name, &unlisted, row(places.rest, n), buf);
    }
}

fn titles(app: &App, cells: &[Cell], area: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let order = app.shown().map(|shown| shown.table.order);
    for cell in cells {
        let sorted = order.filter(|order| order.by == cell.column);
        let arrow = sorted.map(|order| look.arrow(order.descending));
        let style = if sorted.is_some() {
            look.title().add_modifier(Modifier::REVERSED)
        } else {
            look.title()
        };
        let at = Rect { x: area.x + cell.x, width: cell.width, ..row(area, 0) }.intersection(area);
        let text = match (arrow, cell.left) {
            (Some(arrow), true) => format!("{}{arrow}", cell.title),
            // Left of a title that fills its column there is a gap.
            (Some(arrow), false) => format!("{arrow}{}", cell.title),
            (None, _) => cell.title.to_owned(),
        };
        if cell.left {
            write(buf, at, &[(text, style)]);
        } else {
            let width = u16::try_from(columns(&text)).unwrap_or(cell.width);
            let x = (at.x + cell.width).saturating_sub(width).max(area.x);
            write(buf, Rect { x, width, ..at }.intersection(area), &[(text, style)]);
        }
    }
}

fn draw_line(
    app: &App,
    cells: &[Cell],
    line: &Line<Item<'_>>,
    tree: &TreeRow,
    selected: Option<&ItemKey>,
    at: Rect,
    buf: &mut Buffer,
) {
    let look = app.setup.look;
    let over = matches!(line.state, LineState::Ended | LineState::Gone);
    let base = if over || line.state == LineState::Idle { look.faint() } else { Style::new() };
    let is_selected = selected.is_some_and(|key| line.item.is(key));
    let mark = if over {
        look.ended_mark()
    } else if is_selected {
        '>'
    } else {
        ' '
    };
    write(buf, at, &[(mark.to_string(), base)]);
    for cell in cells {
        let (text, style) = content(app, cell, line, tree);
        place(cell, &text, if base == Style::new() { style } else { base }, at, buf);
    }
    if is_selected {
        let plain = if look.color { Style::reset() } else { Style::new() };
        buf.set_style(at, plain);
        buf.set_style(at, look.selected());
    }
}

fn place(cell: &Cell, text: &str, style: Style, at: Rect, buf: &mut Buffer) {
    let wide = u16::try_from(columns(text)).unwrap_or(u16::MAX);
    let shift = if cell.left { 0 } else { cell.width.saturating_sub(wide) };
    let width = cell.width.saturating_sub(shift);
    let area = Rect { x: at.x + cell.x + shift, width, ..at }.intersection(at);
    write(buf, area, &[(text.to_owned(), style)]);
}

/// What stands in a cell, and in which style.
fn content(app: &App, cell: &Cell, line: &Line<Item<'_>>, tree: &TreeRow) -> Piece {
    let width = usize::from(cell.width);
    let text = match (cell.column, line.item) {
        (Column::User, Item::Process(item)) => shorten_end(&names::user(item), width),
        (Column::Group, Item::Process(item)) => shorten_path(&names::group_of(item), width),
        (Column::Name, Item::Process(item)) => {
            named(app, tree, names::command(item), width, shorten_end)
        }
        (Column::Name, Item::File(item)) => shorten_path(&names::file(item), width),
        (Column::Name, Item::Group(item)) => group_name(app, tree, item, width),
        _ => return number(app, cell, cell.column.of(line)),
    };
    (text, Style::new())
}

fn named(
    app: &App,
    tree: &TreeRow,
    name: String,
    width: usize,
    shorten: fn(&str, usize) -> String,
) -> String {
    if !app.tree || tree.depth == 0 {
        return shorten(&name, width);
    }
    let [more, branch, last] = app.setup.look.guides();
    let mut lead: String = (1..tree.depth.min(64))
        .map(|level| if tree.guides >> level & 1 == 1 { more } else { "  " })
        .collect();
    lead.push_str(if tree.last { last } else { branch });
    // A name must stay to be read: deep levels lose their guides.
    let room = width.saturating_sub(width.min(8));
    let lead: String =
        lead.chars().rev().take(room).collect::<Vec<_>>().into_iter().rev().collect();
    let left = width.saturating_sub(columns(&lead));
    format!("{lead}{}", shorten(&name, left))
}

fn group_name(
    app: &App,
    tree: &TreeRow,
    item: &hotset_analysis::top::GroupItem,
    width: usize,
) -> String {
    let name = names::group(item);
    let path = names::group_path(item);
    let full = if name != path && width >= 50 { format!("{name}  {path}") } else { name };
    named(app, tree, full, width, shorten_path)
}

fn number(app: &App, cell: &Cell, value: Value) -> Piece {
    let look = app.setup.look;
    if cell.column.gap(&app.setup.not_measured).is_some() {
        return ("-".to_owned(), look.faint());
    }
    let value = app.rate(value);
    let style = match (cell.column, value) {
        (_, Value::Count(0) | Value::Bytes(0) | Value::Nanoseconds(0) | Value::None) => {
            look.faint()
        }
        (Column::Misses | Column::Refaults, _) => look.device(),
        (Column::Device, Value::Share(share)) if share > 0.0 => look.device(),
        (Column::Device, _) => look.faint(),
        (Column::ReadHit, Value::Share(share)) if share < 0.5 => look.device(),
        (Column::Hits | Column::ReadHit, _) => look.cache(),
        (Column::Pid, _) => look.faint(),
        _ => Style::new(),
    };
    (format::value(value, usize::from(cell.width)), style)
}

fn draw_rest(
    app: &App,
    cells: &[Cell],
    name: &str,
    unlisted: &Unlisted,
    at: Rect,
    buf: &mut Buffer,
) {
    let look = app.setup.look;
    // The words stand where names do, over PID and USER too.
    let numbers_from = cells.iter().find(|cell| !cell.left && cell.column != Column::Pid);
    let room = numbers_from.map_or(at.width, |cell| cell.x.saturating_sub(1));
    let words = shorten_end(&format!(" {name}"), usize::from(room));
    write(buf, Rect { width: room, ..at }.intersection(at), &[(words, look.strong())]);
    for cell in cells.iter().filter(|cell| !cell.left && cell.column != Column::Pid) {
        let (text, style) = number(app, cell, cell.column.value(&unlisted.io));
        let text = if cell.column == Column::Count { String::new() } else { text };
        place(cell, &text, style, at, buf);
    }
}
