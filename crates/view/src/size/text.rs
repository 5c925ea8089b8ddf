//! The need of a program for a terminal.

use super::caveats::caveats;
use super::{SizedTrace, chart, rows, verified, words};
use crate::escape::shorten_end;
use crate::report::Options;
use crate::report::screen::Screen;
use crate::table::{Align, INDENT, Table};
use crate::units::bytes;

/// How much memory a program needs, ready for a terminal.
pub fn render_size(trace: &SizedTrace<'_>, options: &Options) -> String {
    let mut screen = Screen::new(options);
    let title = words::title(trace, &|name| screen.name(name));
    screen.title(&shorten_end(&title, screen.width));
    let path = trace.path.map(|path| format!("{} · ", screen.path(path))).unwrap_or_default();
    let extent = format!("{path}{}", words::extent(trace.summary));
    screen.paragraph("", " · ", &extent, INDENT);
    must(&mut screen, trace);
    match trace.summary.too_little {
        Some(why) => {
            screen.heading("File cache", "");
            screen.paragraph("", " ", &words::too_little(why, trace.summary), INDENT);
        }
        None => {
            cache(&mut screen, trace);
            chart::push(&mut screen, trace.summary, options);
        }
    }
    verified(&mut screen, trace);
    let recommended = words::recommended(trace);
    if !recommended.is_empty() {
        screen.heading("Recommended", "");
        for line in recommended {
            screen.paragraph("", " ", &line, INDENT);
        }
    }
    let caveats = caveats(trace);
    if !caveats.is_empty() {
        screen.heading("Caveats", "");
        for line in caveats {
            screen.paragraph("", " ", &line, INDENT);
        }
    }
    screen.finish()
}

/// What a limit has to leave beside the cache.
fn must(screen: &mut Screen, trace: &SizedTrace<'_>) {
    let Some(must) = &trace.summary.must else {
        screen.heading("Memory beside the file cache", "");
        let why = words::not_recorded(trace.summary).unwrap_or_default();
        screen.paragraph("", " ", &why, INDENT);
        return;
    };
    let mut table = Table::new(vec![("at the most", Align::Right)]);
    let mut names = Vec::new();
    for (name, bytes) in words::parts(must) {
        names.push(name);
        table.push(vec![bytes]);
    }
    screen.table("Memory beside the file cache", &table, &names);
    if let Some(other) = words::not_recorded(trace.summary) {
        screen.below_table(&other);
    }
}

/// What was predicted for limits, and what runs under them did.
fn verified(screen: &mut Screen, trace: &SizedTrace<'_>) {
    let limits = &trace.summary.verified;
    if limits.is_empty() {
        return;
    }
    let mut table = Table::new(verified::columns());
    let mut names = Vec::new();
    for limit in limits {
        names.push(bytes(limit.run.limit_bytes));
        table.push(verified::row(limit));
    }
    screen.table("Verified", &table, &names);
    screen.below_table(&verified::below(trace.summary));
}

/// Limits and what they are worth.
fn cache(screen: &mut Screen, trace: &SizedTrace<'_>) {
    let summary = trace.summary;
    let limits = rows(summary);
    let is_timed = limits.iter().any(|limit| limit.run_ns.is_some());
    let mut columns =
        vec![("cache", Align::Right), ("hit ratio", Align::Right), ("re-read", Align::Right)];
    match is_timed {
        true => columns.extend([("reads/s", Align::Right), ("waits", Align::Right)]),
        false => columns.push(("device reads", Align::Right)),
    }
    columns.push(("", Align::Left));
    let mut table = Table::new(columns);
    let cells = limits.iter().map(|limit| words::row(limit, is_timed, words::mark(limit, summary)));
    let cells: Vec<Vec<String>> = cells.collect();
    let mut names = Vec::new();
    for (at, limit) in limits.iter().enumerate() {
        let is_asked = summary.asked_cache_bytes.contains(&limit.cache_bytes);
        if is_asked || !is_inside_plateau(&cells, at) {
            names.push(words::limit(limit));
            table.push(cells[at].clone());
        }
    }
    screen.table("Memory limit", &table, &names);
    screen.below_table(&words::predicted(summary));
}

/// Whether a row says of its size of cache, which comes first, what both of its neighbours say of theirs.
fn is_inside_plateau(rows: &[Vec<String>], at: usize) -> bool {
    let worth = |at: usize| rows.get(at).map(|row| &row[1..]);
    at > 0 && worth(at - 1) == worth(at) && worth(at) == worth(at + 1)
}
