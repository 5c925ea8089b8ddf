//! The screen: the files, then what the rest is.

use hotset_analysis::{CachedFileNumbers, SystemNumbers, cached_file_numbers};
use hotset_facts::{CacheSource, CachedFile, Observed, SystemCache};

use super::names;
use super::rest;
use crate::escape::{escape_bytes, shorten_path};
use crate::report::Options;
use crate::report::screen::Screen;
use crate::table::{Align, Table};
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
    let SystemOptions { width, color, ascii } = *options;
    let mut screen = Screen::new(&Options { width, color, ascii, ..Options::default() });
    push_files(&mut screen, cache, numbers);
    rest::push_deleted(&mut screen, cache);
    rest::push_file_systems(&mut screen, cache);
    rest::push_parts(&mut screen, cache, numbers);
    rest::push_gaps(&mut screen, cache, numbers);
    screen.finish()
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

fn push_files(screen: &mut Screen, cache: &SystemCache, numbers: &SystemNumbers) {
    let rows: Vec<_> =
        cache.files.iter().map(|file| (file, cached_file_numbers(cache, numbers, file))).collect();
    if rows.is_empty() {
        screen.title("No file is listed");
    } else {
        let shown: Vec<_> = COLUMNS
            .iter()
            .filter(|(_, from, _)| screen.width >= *from)
            .filter(|(_, _, cell)| {
                rows.iter().any(|(file, n)| !NO_VALUE.contains(&cell(file, n).as_str()))
            })
            .collect();
        let titles = shown.iter().map(|(title, _, _)| (*title, Align::Right)).collect();
        let mut table = Table::new(titles);
        for (file, numbers) in &rows {
            table.push(shown.iter().map(|(_, _, cell)| cell(file, numbers)).collect());
        }
        let room = table.room_for_names(screen.width);
        let names: Vec<_> = rows.iter().map(|(file, _)| name(cache, file, room)).collect();
        screen.table("Files with most cached pages", &table, &names);
    }
    if numbers.unlisted_files > 0 {
        let what =
            if cache.source == CacheSource::Walk { "files" } else { "files and other inodes" };
        screen.note(&format!(
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
