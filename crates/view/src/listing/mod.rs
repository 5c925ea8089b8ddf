//! A listing of cache states: a table for people, CSV, `hotset.residency/1`, plain names, and a map of one file. Rows are
//! given one at a time, so that a listing of any length needs no memory.

mod csv;
mod glyphs;
mod map;
mod notes;
mod table;

use std::path::Path;

use hotset_analysis::listing::RowNumbers;
use hotset_facts::CacheCell;

pub use csv::{csv_head, csv_row};
pub use map::{map_cells, map_file, map_legend};
pub(crate) use notes::{skipped_words, unknown_line};
pub use notes::{total_lines, unreadable_lines};
pub use table::{ListTable, Rows};

pub use crate::wire::{json_directories, json_directory, json_file, json_head, json_tail};

use crate::escape::escape_bytes;
use crate::report::text::name_for;

/// How a listing should look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ListStyle {
    /// Columns of the terminal; where there is none, names are never shortened and every column is shown.
    pub width: Option<usize>,
    /// Colours. No meaning rests on them.
    pub color: bool,
    /// ASCII only.
    pub ascii: bool,
    /// Every column, however narrow the terminal.
    pub all_columns: bool,
}

/// What a row shows.
#[derive(Debug, Clone, Copy)]
pub struct ListRow<'a> {
    /// The file or directory.
    pub path: &'a Path,
    /// Its numbers.
    pub numbers: &'a RowNumbers,
    /// Where the cached pages lie; empty where nobody asked.
    pub cells: &'a [CacheCell],
}

/// A path alone, ended by a line end or a NUL. On a terminal it is escaped; elsewhere its bytes are as they are.
pub fn name_line(path: &Path, null: bool, terminal: bool) -> Vec<u8> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut line = match terminal && !null {
        true => escape_bytes(bytes).into_bytes(),
        false => bytes.to_vec(),
    };
    line.push(if null { 0 } else { b'\n' });
    line
}

/// A path, safe for a terminal; beyond ASCII only where that can be shown.
fn shown_path(path: &Path, ascii: bool) -> String {
    name_for(path.as_os_str().as_encoded_bytes(), ascii)
}

#[cfg(test)]
pub(crate) mod tests;
