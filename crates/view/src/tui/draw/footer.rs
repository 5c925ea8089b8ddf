//! The last lines: what got lost, and which keys there are.

use std::ops::RangeInclusive;

use hotset_facts::LiveLosses;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::app::{App, Overlay};
use super::super::when;
use super::{Piece, Places, row, write};
use crate::escape::escape_text;
use crate::units;

/// Whether losses have to be told.
pub(super) fn has_losses(app: &App) -> bool {
    app.frame.as_ref().is_some_and(|frame| frame.losses != LiveLosses::default())
}

/// What was lost, and what that damages.
pub(in crate::tui) fn loss_words(losses: &LiveLosses) -> String {
    let causes = [
        (losses.tasks, "tasks not followed"),
        (losses.requests, "io_uring requests not followed"),
        (losses.skipped_programs, "programs skipped by the kernel"),
        (losses.calls, "system calls not decoded"),
        (losses.unattributed, "requests not attributed"),
        (losses.events, "names or process events lost"),
        (losses.origins, "origins of pages not kept"),
    ];
    let told: Vec<String> = causes
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", units::count(*count)))
        .collect();
    let damage = if losses.damage_counts() {
        "counts are \"at least\""
    } else if losses.origins > 0 {
        "device shares are \"at least\""
    } else {
        "totals are complete, names and owners are not"
    };
    format!("LOST, so {damage}: {} since the start", told.join(", "))
}

pub(super) fn draw(app: &App, places: &Places, buf: &mut Buffer) {
    let look = app.setup.look;
    if let Some(frame) = app.frame.as_ref().filter(|_| places.losses.height > 0) {
        let words = format!(" {} ", loss_words(&frame.losses));
        write(buf, row(places.losses, 0), &[(words, look.warning())]);
    }
    let line = row(places.footer, 0);
    if let Some(notice) = &app.notice {
        write(buf, line, &[(format!(" {} ", escape_text(notice)), look.warning())]);
        return;
    }
    if matches!(app.overlay, Overlay::Filter(_)) {
        let words = " type to filter names, users, groups, PIDs   Enter keep   Esc undo ";
        write(buf, line, &[(words.to_owned(), look.strong())]);
        return;
    }
    match &app.place {
        Some(_) if line.width >= 60 => axis(app, line, buf),
        _ => keys(app, line, buf),
    }
}

/// Where a key is named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Everywhere,
    View,
    Opened,
}

/// A key, what it does, where it is named, and in which widths.
const KEYS: [(&str, &str, Where, RangeInclusive<u16>); 11] = [
    ("?", "help", Where::Everywhere, 0..=59),
    ("Esc", "back", Where::Opened, 60..=u16::MAX),
    ("Enter", "open", Where::Everywhere, 60..=u16::MAX),
    ("Tab", "view", Where::View, 90..=u16::MAX),
    ("/", "filter", Where::Everywhere, 0..=u16::MAX),
    ("s", "sort", Where::Everywhere, 0..=u16::MAX),
    ("c", "counts", Where::View, 80..=u16::MAX),
    ("t", "tree", Where::View, 80..=u16::MAX),
    ("p", "pause", Where::Everywhere, 70..=u16::MAX),
    ("?", "help", Where::Everywhere, 60..=u16::MAX),
    ("q", "quit", Where::Everywhere, 0..=u16::MAX),
];

fn keys(app: &App, line: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let here = if app.stack.is_empty() { Where::View } else { Where::Opened };
    let mut pieces: Vec<Piece> = Vec::new();
    for (key, does, place, widths) in KEYS {
        if [here, Where::Everywhere].contains(&place) && widths.contains(&line.width) {
            pieces.push((format!(" {key} "), look.selected()));
            pieces.push((format!("{does} "), look.faint()));
        }
    }
    write(buf, line, &pieces);
}

/// The time axis of a recording, with where one is on it.
fn axis(app: &App, line: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let Some(place) = &app.place else { return };
    let first = when::clock(place.first);
    let last = when::clock(place.last);
    let keys = " ,. step  [] 1 min  g go to  Space play  q quit ";
    let used = first.len() + last.len() + keys.len() + 4;
    let room = usize::from(line.width).saturating_sub(used);
    let at = app.frame.as_ref().map_or(place.first, |frame| frame.at);
    let part = |time: std::time::SystemTime| {
        time.duration_since(place.first).map_or(0.0, |since| since.as_secs_f64())
    };
    let whole = part(place.last);
    let share = if whole > 0.0 { (part(at) / whole).clamp(0.0, 1.0) } else { 0.0 };
    let (track, mark) = if look.ascii { ("-", "O") } else { ("─", "●") };
    let here = (share * room.saturating_sub(1) as f64).round() as usize;
    let pieces = [
        (format!(" {first} "), look.faint()),
        (track.repeat(here), look.faint()),
        (mark.to_owned(), look.strong()),
        (track.repeat(room.saturating_sub(here + 1)), look.faint()),
        (format!(" {last}"), look.faint()),
        (keys.to_owned(), look.faint()),
    ];
    write(buf, line, &pieces);
}
