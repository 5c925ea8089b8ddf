//! Keys and words explained, and why a counter says nothing.

use hotset_facts::NotMeasured;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::app::App;
use super::{Piece, menu, row, write};
use crate::escape::escape_text;

const KEYS: &[(&str, &str)] = &[
    ("Up Down PgUp PgDn Home End", "select a row; the selection follows its item"),
    ("Enter, Esc", "open the selected item; go back. Esc also clears selection and filter"),
    ("Tab, 1 2 3", "show processes, files or control groups"),
    ("/", "filter by name, user, group or PID as you type (ignores case)"),
    ("s", "sort menu; < and > sort by the next column left or right, r reverses"),
    ("c", "switch counts: per interval, per second, since the start"),
    ("t", "show processes below their parents, control groups nested"),
    ("p, Space", "pause the screen; counting continues"),
    ("+ -", "lengthen, shorten the interval"),
    ("q, Ctrl-C", "quit"),
    ("mouse", "the wheel moves the selection; a click selects, opens or sorts"),
];

const REPLAY_KEYS: &[(&str, &str)] = &[
    ("Left Right, . ,", "go one interval back, forward"),
    ("[ ]", "go one minute back, forward"),
    ("Home End", "go to the first, the last interval"),
    ("Space", "play, pause"),
    ("g", "go to a time"),
];

const WORDS: &[(&str, &str)] = &[
    ("HITS, MISSES", "requested pages cached, read-ahead included; read on demand"),
    ("DIRTIES", "pages that changed from clean to dirty"),
    ("READ_HIT%", "hits / requested pages; read-ahead makes it high even for a cold file"),
    ("WRITE_HIT%", "written pages that were already cached / written pages"),
    ("DEVICE%", "share of requested pages read from the device, read-ahead included"),
    ("DIRECT", "bytes that bypass the cache (O_DIRECT): never hits or misses"),
    ("FAULTS", "page faults on file mappings; not included in hits and misses"),
    ("READAHEAD", "pages read ahead"),
    ("DEV_READ, DEV_WRITE", "bytes read and written at the block layer"),
    ("WAIT", "time in reads that waited, and in direct I/O"),
    ("x or \u{d7}, grey", "ended; its last interval stays for one more"),
    ("others (no owner)", "counted, not attributed: a table was full, or the process ended"),
    ("PSI some, full", "share of time in which some, or all, tasks waited for I/O or memory"),
    ("REFAULTS", "pages that a control group read back after they had been evicted"),
    ("CACHE, NEED", "page cache that a control group has, and needs (--curves)"),
    ("Cgroups", "counts are those of a group's own processes, without groups below it"),
];

fn lines(app: &App) -> Vec<(String, String)> {
    let pair = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
    let mut lines: Vec<(String, String)> = vec![("Keys".into(), String::new())];
    lines.extend(KEYS.iter().map(pair));
    if app.place.is_some() {
        lines.push(("Keys in a recording".into(), String::new()));
        lines.extend(REPLAY_KEYS.iter().map(pair));
    }
    if !app.setup.not_measured.is_empty() {
        lines.push(("Not measured here, shown as \"-\"".into(), String::new()));
        let gap =
            |gap: &NotMeasured| (gap.feature.unmeasured().join(", "), escape_text(&gap.reason));
        lines.extend(app.setup.not_measured.iter().map(gap));
    }
    lines.push(("Columns and terms".into(), String::new()));
    lines.extend(WORDS.iter().map(|(word, means)| match app.setup.look.ascii {
        true if word.contains('\u{d7}') => ("x, grey".to_owned(), (*means).to_owned()),
        _ => ((*word).to_owned(), (*means).to_owned()),
    }));
    lines
}

/// How many lines there are, as they are broken for the width of the screen.
pub(in crate::tui) fn length(app: &App) -> usize {
    wrapped(app, inner_width(app.setup.size.0)).len()
}

fn inner_width(width: u16) -> usize {
    usize::from(width.min(100)).saturating_sub(2)
}

/// Lines in pieces: words left, what they mean right of them, broken where the window ends.
fn wrapped(app: &App, width: usize) -> Vec<[String; 2]> {
    let left = if width >= 76 { 28 } else { 14.min(width / 2) };
    let room = width.saturating_sub(left + 1).max(8);
    let mut out = Vec::new();
    for (word, means) in lines(app) {
        if means.is_empty() {
            out.push([word, String::new()]);
            continue;
        }
        let mut parts = broken(&means, room).into_iter();
        let words = broken(&format!("  {word}"), left.saturating_sub(1));
        let mut words = words.into_iter();
        loop {
            match (words.next(), parts.next()) {
                (None, None) => break,
                (word, part) => out.push([
                    format!("{:left$}", word.unwrap_or_default()),
                    part.unwrap_or_default(),
                ]),
            }
        }
    }
    out
}

/// A text broken between words.
fn broken(text: &str, room: usize) -> Vec<String> {
    let indent: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut lines = Vec::new();
    let mut line = indent.clone();
    for word in text.split_whitespace() {
        let empty = line.trim().is_empty();
        if !empty && crate::escape::columns(&line) + 1 + crate::escape::columns(word) > room {
            lines.push(std::mem::replace(&mut line, indent.clone()));
        } else if !empty {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

pub(super) fn draw(app: &App, top: usize, area: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let lines = wrapped(app, inner_width(area.width));
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2);
    let size = (area.width.min(100), height.min(area.height));
    let title = if usize::from(size.1) < lines.len() + 2 {
        "Help: arrows scroll, Esc closes"
    } else {
        "Help: Esc closes"
    };
    let inner = menu::window(app, title, size, area, buf);
    for (n, [word, means]) in (0..inner.height).zip(lines.into_iter().skip(top)) {
        let pieces: Vec<Piece> = match means.is_empty() && !word.starts_with(' ') {
            true => vec![(word, look.label())],
            false => vec![(word, look.strong()), (means, ratatui::style::Style::new())],
        };
        write(buf, row(inner, n), &pieces);
    }
}
