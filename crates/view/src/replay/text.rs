//! Replays for a terminal.

use hotset_analysis::replay::{ReplayCell, ReplaySummary};
use hotset_facts::replay::ReplaySession;

use super::caveats::caveats;
use super::words;
use crate::bench::words::bytes as real_bytes;
use crate::escape::shorten_end;
use crate::report::Options;
use crate::report::header::command_title;
use crate::report::screen::Screen;
use crate::table::{Align, INDENT, Table};

/// Files and differences that are named unless everything is asked for.
const NAMED: usize = 5;

/// Replays, ready for a terminal.
pub fn render_replay(summary: &ReplaySummary, options: &Options) -> String {
    let mut screen = Screen::new(options);
    let session = &summary.session;
    screen.title(&title(&screen, session));
    let trace = screen.path(&session.trace);
    screen.paragraph("", " · ", &format!("{trace} · {}", words::extent(session)), INDENT);
    if let Some(left_out) = words::left_out(&session.left_out) {
        screen.paragraph("", ", ", &left_out, INDENT);
    }
    for change in session.variants.iter().flat_map(|variant| &variant.changes) {
        screen.paragraph("", ", ", &words::change(change), INDENT);
    }
    if summary.cells.is_empty() {
        screen.paragraph("", " ", "No replay was finished.", INDENT);
    } else {
        cells(&mut screen, summary);
        screen.heading("As recorded?", "");
        screen.paragraph("", " ", &words::fidelity(&summary.fidelity), INDENT);
        for prediction in &summary.predictions {
            screen.heading("Prediction", "");
            screen.paragraph("", " ", &words::prediction(prediction), INDENT);
        }
    }
    push_caveats(&mut screen, summary);
    screen.finish()
}

fn title(screen: &Screen, session: &ReplaySession) -> String {
    let what = match &session.head.command {
        Some(command) => command_title(command, &|name| screen.name(name)),
        None => screen.path(&session.trace),
    };
    shorten_end(&format!("Replay of {what}"), screen.width)
}

/// Which columns tell something.
struct Shown {
    states: bool,
    changes: bool,
    used: bool,
}

fn cells(screen: &mut Screen, summary: &ReplaySummary) {
    let first = summary.cells.first().map(|cell| cell.state);
    let shown = Shown {
        states: summary.cells.iter().any(|cell| Some(cell.state) != first),
        changes: summary.session.variants.len() > 1,
        used: summary.cells.iter().any(|cell| cell.without_state + cell.with_differences > 0),
    };
    let columns = [
        (shown.states, "cache", Align::Left),
        (true, "I/O time", Align::Right),
        (shown.changes, "I/O", Align::Right),
        (true, "device reads", Align::Right),
        (shown.used, "used", Align::Right),
    ];
    let columns = columns.into_iter().filter(|(is_shown, ..)| *is_shown);
    let mut table = Table::new(columns.map(|(_, title, align)| (title, align)).collect());
    let mut names = Vec::new();
    for cell in &summary.cells {
        let Some(variant) = summary.session.variants.get(cell.variant) else { continue };
        names.push(words::variant(variant));
        table.push(row(summary, cell, &shown));
    }
    screen.table("Replays", &table, &names);
    let from = first.filter(|_| !shown.states);
    let from = from.map_or_else(String::new, |state| format!(", {} cache state", state.as_str()));
    screen.below_table(&format!("I/O time of all threads{from}: median [95 % CI]"));
}

fn row(summary: &ReplaySummary, cell: &ReplayCell, shown: &Shown) -> Vec<String> {
    let dash = || "-".to_owned();
    let mut row = Vec::new();
    if shown.states {
        row.push(cell.state.as_str().to_owned());
    }
    // Beside a ratio, its interval is the one that counts.
    let interval = cell.io_ns_interval.filter(|_| !shown.changes);
    row.push(cell.io_ns.map_or_else(dash, |io| words::spread(&io, interval)));
    if shown.changes {
        let ratio = summary
            .ratios
            .iter()
            .find(|ratio| (ratio.variant, ratio.state) == (cell.variant, cell.state));
        row.push(ratio.map_or_else(dash, |ratio| words::speed(&ratio.io)));
    }
    row.push(cell.device_read_bytes.map_or_else(dash, real_bytes));
    if shown.used {
        let all = cell.valid + cell.without_state + cell.with_differences;
        row.push(format!("{} of {all}", cell.valid));
    }
    row
}

/// What a reader has to know to believe it.
fn push_caveats(screen: &mut Screen, summary: &ReplaySummary) {
    let named = if screen.all { usize::MAX } else { NAMED };
    let lines = caveats(summary, named, &|path| screen.path(path));
    if !lines.is_empty() {
        screen.heading("Caveats", "");
        for line in lines {
            screen.paragraph("", " ", &line, INDENT);
        }
    }
}
