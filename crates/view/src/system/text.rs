//! The screen: the files, then what the rest is.

use anstyle::Style;
use hotset_analysis::{CachedFileNumbers, SystemNumbers, cached_file_numbers};
use hotset_facts::{CacheSource, CachedFile, Observed, SystemCache};

use super::names;
use super::rest;
use crate::escape::{columns, escape_bytes, shorten_end, shorten_path};
use crate::report::text::{ascii, paint, wrap};
use crate::table::{Align, INDENT, Table};
use crate::units::{bytes, count, percent, whole_percent};

/// Columns of a terminal from which on there is room for more.
const WIDE: usize = 110;

/// Cells that say nothing.
const NO_VALUE: [&str; 2] = ["-", "0 B"];

/// How it should look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemOptions {
    /// Columns of the terminal; less than 72 is taken as 72, more than 200 as 200.
    pub width: usize,
    /// Colours and bold. No meaning rests on them.
    pub color: bool,
    /// ASCII only, for terminals that aren't UTF-8.
    pub ascii: bool,
}

/// What occupies the cache, for a terminal.
pub fn system_text(
    cache: &SystemCache,
    numbers: &SystemNumbers,
    options: &SystemOptions,
) -> String {
    let width = options.width.clamp(72, 200);
    let mut page = Page { out: String::new(), width, color: options.color };
    push_files(&mut page, cache, numbers);
    rest::push_deleted(&mut page, cache);
    rest::push_file_systems(&mut page, cache);
    rest::push_parts(&mut page, cache, numbers);
    rest::push_gaps(&mut page, cache, numbers);
    if options.ascii { ascii(&page.out) } else { page.out }
}

/// A screen in the making.
pub(super) struct Page {
    out: String,
    pub(super) width: usize,
    color: bool,
}

impl Page {
    pub(super) fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// A table: its title over the names.
    pub(super) fn table(&mut self, title: &str, table: &Table, names: &[String]) {
        let title = shorten_end(title, table.room_for_names(self.width) + INDENT);
        for (i, line) in table.lines(columns(&title), names).iter().enumerate() {
            if i > 0 {
                self.line(line);
            } else {
                let title = paint(&title, Style::new().bold(), self.color);
                let line = paint(line, Style::new().dimmed(), self.color);
                self.line(&format!("{title}{line}"));
            }
        }
    }

    pub(super) fn heading(&mut self, text: &str) {
        let text = paint(text, Style::new().bold(), self.color);
        self.line(&text);
    }

    /// Words below a table or by themselves, wrapped.
    pub(super) fn note(&mut self, text: &str) {
        for line in wrap(text, self.width.min(100) - INDENT) {
            let line = format!("{:INDENT$}{}", "", paint(&line, Style::new().dimmed(), self.color));
            self.line(&line);
        }
    }
}

type Cell = fn(&CachedFile, &CachedFileNumbers) -> String;

/// A column: its title, the width from which on it is shown, and its value.
const COLUMNS: &[(&str, usize, Cell)] = &[
    ("cached", 0, |_, n| bytes(n.cached_bytes)),
    ("of file", 0, |_, n| n.file_share.map_or_else(|| "-".to_owned(), whole_percent)),
    (
        "size",
        WIDE,
        |file, n| if n.file_share.is_some() { bytes(file.size_bytes) } else { "-".into() },
    ),
    ("of cache", 0, |_, n| n.cache_share.map_or_else(|| "-".to_owned(), percent)),
    ("dirty", 0, |_, n| known(n.dirty_bytes)),
    ("evicted", WIDE, |_, n| known(n.evicted_bytes)),
];

fn known(value: Observed<u64>) -> String {
    value.value().map_or_else(|| "-".to_owned(), bytes)
}

fn push_files(page: &mut Page, cache: &SystemCache, numbers: &SystemNumbers) {
    let rows: Vec<_> =
        cache.files.iter().map(|file| (file, cached_file_numbers(cache, numbers, file))).collect();
    if rows.is_empty() {
        page.heading("No file is listed");
    } else {
        let shown: Vec<_> = COLUMNS
            .iter()
            .filter(|(_, from, _)| page.width >= *from)
            .filter(|(_, _, cell)| {
                rows.iter().any(|(file, n)| !NO_VALUE.contains(&cell(file, n).as_str()))
            })
            .collect();
        let titles = shown.iter().map(|(title, _, _)| (*title, Align::Right)).collect();
        let mut table = Table::new(titles);
        for (file, numbers) in &rows {
            table.push(shown.iter().map(|(_, _, cell)| cell(file, numbers)).collect());
        }
        let room = table.room_for_names(page.width);
        let names: Vec<_> = rows.iter().map(|(file, _)| name(cache, file, room)).collect();
        page.table("Files with most cached pages", &table, &names);
    }
    if numbers.unlisted_files > 0 {
        let what =
            if cache.source == CacheSource::Walk { "files" } else { "files and other inodes" };
        page.note(&format!(
            "{} more {what}, {} cached",
            count(numbers.unlisted_files),
            bytes(numbers.unlisted_bytes)
        ));
    }
}

/// The name of a file in so many columns, safe for a terminal.
pub(super) fn name(cache: &SystemCache, file: &CachedFile, room: usize) -> String {
    let Some(fs) = cache.file_systems.get(file.file_system) else { return String::new() };
    let (name, mark) = names::of_file(file, fs);
    let name = escape_bytes(&name);
    format!("{}{mark}", shorten_path(&name, room.saturating_sub(mark.len())))
}
