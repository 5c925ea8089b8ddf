//! What stands below the rows: the total, what is unknown, what was passed over, and what could not be read.

use std::path::Path;

use anstyle::Style;
use hotset_analysis::listing::{Notes, RowNumbers, TotalNumbers, Unknown};
use hotset_facts::{Observed, Skipped};

use super::{ListStyle, shown_path};
use crate::escape::escape_text;
use crate::report::text::{ascii, paint, wrap_by};
use crate::units::{bytes, count, percent, plural};

/// Names in the line about files whose state is unknown.
const NAMES: usize = 3;
/// Lines are no longer than the eye follows.
const MAX_WIDTH: usize = 100;

/// The total, and below it what there is to say about it.
pub fn total_lines(total: &TotalNumbers, notes: &Notes, style: &ListStyle) -> String {
    let width = style.width.unwrap_or(MAX_WIDTH).clamp(40, MAX_WIDTH);
    let mut lines = vec![paint(&total_line(total), Style::new().bold(), style.color)];
    let moving = moving_words(&total.row);
    if !moving.is_empty() {
        lines.extend(wrap_by(&moving.join(", "), ", ", width));
    }
    if total.shown < total.row.files && total.shown > 0 {
        lines.push(format!("{} of them shown", plural(total.shown, "file")));
    }
    if total.partial {
        lines.push("Stopped before the end: this is the part so far.".to_owned());
    }
    lines.extend(notes.unknown.iter().map(|unknown| unknown_line(unknown, style.ascii)));
    if notes.unreadable_count > 0 {
        lines.push(format!("{} could not be read", plural(notes.unreadable_count, "path")));
    }
    let skipped = skipped_words(&total.skipped);
    if !skipped.is_empty() {
        let text = format!("Skipped: {}", skipped.join(", "));
        let wrapped = wrap_by(&text, ", ", width);
        lines.extend(wrapped.iter().map(|line| paint(line, Style::new().dimmed(), style.color)));
    }
    let out = lines.join("\n") + "\n";
    if style.ascii { ascii(&out) } else { out }
}

fn total_line(total: &TotalNumbers) -> String {
    let row = &total.row;
    let mut line = plural(row.files, "file");
    match row.cached_bytes {
        Observed::Value(cached) => {
            let share = row.share.map_or_else(|| "nothing to cache".to_owned(), percent);
            line.push_str(&format!(
                ", {} of {} cached ({share})",
                bytes(cached),
                bytes(total.known_bytes)
            ));
        }
        Observed::Missing(_) => line.push_str(", what is cached is unknown"),
    }
    line
}

/// What is not on the device yet, and what was thrown out; zeros say nothing to a person.
fn moving_words(row: &RowNumbers) -> Vec<String> {
    let words = [
        (row.dirty_bytes, "dirty"),
        (row.writeback_bytes, "under writeback"),
        (row.recently_evicted_bytes, "evicted lately"),
    ];
    let some = words.iter().filter_map(|(value, what)| {
        let value = value.value().filter(|&value| value > 0)?;
        Some(format!("{} {what}", bytes(value)))
    });
    some.collect()
}

/// Files whose state is unknown for one reason, the first of them by name.
pub(crate) fn unknown_line(unknown: &Unknown, ascii: bool) -> String {
    let named = unknown.first.iter().take(NAMES).map(|path| shown_path(path, ascii));
    let mut names: Vec<String> = named.collect();
    if unknown.files > names.len() as u64 {
        names.push("…".to_owned());
    }
    let (files, detail) = (plural(unknown.files, "file"), unknown.reason.detail);
    format!("{files} unknown: {detail} ({})", names.join(", "))
}

/// What was passed over, a kind each.
pub(crate) fn skipped_words(skipped: &Skipped) -> Vec<String> {
    let kinds = [
        (skipped.not_cacheable, "socket, pipe or device", "sockets, pipes, devices or /proc files"),
        (skipped.repeated_links, "further name of a file", "further names of the same files"),
        (skipped.symlinks, "symbolic link (-L follows)", "symbolic links (-L follows)"),
        (skipped.other_file_systems, "other file system", "other file systems"),
        (skipped.vanished, "file that vanished", "files that vanished"),
    ];
    let some = kinds.iter().filter(|(number, ..)| *number > 0);
    some.map(|&(number, singular, more)| {
        format!("{} {}", count(number), if number == 1 { singular } else { more })
    })
    .collect()
}

/// A message for each path that has no row, as far as they are named, then how many more there are.
pub fn unreadable_lines(notes: &Notes) -> Vec<String> {
    let path = |path: &Path| shown_path(path, false);
    let named = notes.unreadable.iter().take(hotset_analysis::listing::NAMED);
    let mut lines: Vec<String> = named
        .map(|unreadable| {
            format!("{}: {}", path(&unreadable.path), escape_text(&unreadable.reason))
        })
        .collect();
    let more = notes.unreadable_count - lines.len() as u64;
    if more > 0 {
        lines.push(format!("and {} more that could not be read", plural(more, "path")));
    }
    lines
}
