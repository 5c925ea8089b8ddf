//! `hotset.residency/1`, written as it comes: the head, a line a file, and the tail. The schema is
//! `schema/residency-1.schema.json`.

use std::borrow::Cow;

use hotset_analysis::listing::{DirectoryRow, RowNumbers, TotalNumbers};
use hotset_facts::{CacheCell, ListedFile, Observed, Skipped, Unreadable};
use serde::Serialize;

use super::csv::source_word;
use crate::json::path_keys;

/// What stands before the first file.
pub fn json_head() -> &'static str {
    "{\"schema\":\"hotset.residency/1\",\"files\":["
}

#[derive(Serialize)]
struct FileV1<'a> {
    path: Cow<'a, str>,
    path_hex: Option<String>,
    dev: String,
    ino: u64,
    size_bytes: u64,
    pages: u64,
    cached_pages: Option<u64>,
    dirty_pages: Option<u64>,
    writeback_pages: Option<u64>,
    evicted_pages: Option<u64>,
    recently_evicted_pages: Option<u64>,
    source: Option<&'static str>,
    reason: Option<String>,
    cells: Option<Vec<[u64; 2]>>,
}

/// Appends a file, with a comma where it is not the first.
pub fn json_file(file: &ListedFile, numbers: &RowNumbers, first: bool, out: &mut Vec<u8>) {
    let (path, path_hex) = path_keys(&file.path);
    let pair = |cell: &CacheCell| [cell.pages, cell.cached];
    let row = FileV1 {
        path,
        path_hex,
        dev: file.id.dev.to_string(),
        ino: file.id.ino,
        size_bytes: numbers.size_bytes,
        pages: numbers.pages,
        cached_pages: numbers.cached_pages.value(),
        dirty_pages: numbers.dirty_pages.value(),
        writeback_pages: numbers.writeback_pages.value(),
        evicted_pages: numbers.evicted_pages.value(),
        recently_evicted_pages: numbers.recently_evicted_pages.value(),
        source: numbers.source.map(source_word),
        reason: numbers.cached_pages.reason().map(|reason| reason.to_string()),
        cells: (!file.cells.is_empty()).then(|| file.cells.iter().map(pair).collect()),
    };
    push_item(&row, first, out);
}

/// What stands between the files and the directories of a roll-up.
pub fn json_directories() -> &'static str {
    "\n],\"directories\":["
}

#[derive(Serialize)]
struct DirectoryV1<'a> {
    path: Cow<'a, str>,
    path_hex: Option<String>,
    #[serde(flatten)]
    sums: SumsV1,
}

/// Appends a directory, with a comma where it is not the first.
pub fn json_directory(row: &DirectoryRow, first: bool, out: &mut Vec<u8>) {
    let (path, path_hex) = path_keys(&row.path);
    push_item(&DirectoryV1 { path, path_hex, sums: SumsV1::new(&row.numbers) }, first, out);
}

#[derive(Serialize)]
struct SumsV1 {
    files: u64,
    unknown_files: u64,
    size_bytes: u64,
    pages: u64,
    cached_pages: Option<u64>,
    dirty_pages: Option<u64>,
    writeback_pages: Option<u64>,
    recently_evicted_pages: Option<u64>,
}

impl SumsV1 {
    fn new(row: &RowNumbers) -> Self {
        let known = |value: Observed<u64>| value.value();
        Self {
            files: row.files,
            unknown_files: row.unknown_files,
            size_bytes: row.size_bytes,
            pages: row.pages,
            cached_pages: known(row.cached_pages),
            dirty_pages: known(row.dirty_pages),
            writeback_pages: known(row.writeback_pages),
            recently_evicted_pages: known(row.recently_evicted_pages),
        }
    }
}

#[derive(Serialize)]
struct SkippedV1 {
    not_cacheable: u64,
    repeated_links: u64,
    symlinks: u64,
    other_file_systems: u64,
    vanished: u64,
}

impl SkippedV1 {
    fn new(skipped: &Skipped) -> Self {
        Self {
            not_cacheable: skipped.not_cacheable,
            repeated_links: skipped.repeated_links,
            symlinks: skipped.symlinks,
            other_file_systems: skipped.other_file_systems,
            vanished: skipped.vanished,
        }
    }
}

#[derive(Serialize)]
struct UnreadableV1<'a> {
    path: Cow<'a, str>,
    path_hex: Option<String>,
    reason: &'a str,
}

/// Appends what stands behind the rows, with a line end.
pub fn json_tail(
    total: &TotalNumbers,
    unreadable: &[Unreadable],
    page_bytes: u64,
    out: &mut Vec<u8>,
) {
    let key = |name: &str, value: Vec<u8>, out: &mut Vec<u8>| {
        out.extend_from_slice(format!(",\"{name}\":").as_bytes());
        out.extend_from_slice(&value);
    };
    out.extend_from_slice(b"\n]");
    key("totals", plain(&SumsV1::new(&total.row)), out);
    key("skipped", plain(&SkippedV1::new(&total.skipped)), out);
    out.extend_from_slice(b",\"unreadable\":[");
    for (number, unreadable) in unreadable.iter().enumerate() {
        let (path, path_hex) = path_keys(&unreadable.path);
        let row = UnreadableV1 { path, path_hex, reason: &unreadable.reason };
        push_item(&row, number == 0, out);
    }
    out.push(b']');
    key("partial", plain(&total.partial), out);
    key("page_size_bytes", plain(&page_bytes), out);
    out.extend_from_slice(b"}\n");
}

fn push_item(value: &impl Serialize, first: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if first { b"\n" } else { b",\n" });
    out.extend_from_slice(&plain(value));
}

/// Our wire types have string keys and no failing parts, so serialising them cannot fail.
fn plain(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
