//! `hotset.residency/1`: a listing by `hotset ls`. It is written as it comes, by several threads: the head, a row a file,
//! and the tail. Each row has a `missing` of its own.

use std::path::PathBuf;

use hotset_analysis::listing::{DirectoryRow, RowNumbers, TotalNumbers};
use hotset_facts::format::Path;
use hotset_facts::{
    CacheCell, FileId, ListedFile, Observed, Residency, ResidencySource, Skipped, Unreadable,
};
use serde::{Deserialize, Serialize};

use super::observed::{Rows, from_object, to_object};
use super::{Document, ReadError};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.residency/1";

/// What stands before the first file.
pub fn json_head() -> String {
    format!("{{\"schema\":\"{SCHEMA}\",\"hotset\":\"{}\",\"files\":[", super::VERSION)
}

/// Appends a file, with a comma where it is not the first.
pub fn json_file(file: &ListedFile, numbers: &RowNumbers, first: bool, out: &mut Vec<u8>) {
    push_row(&FileKeys::new(file, numbers), first, out);
}

/// What stands between the files and the directories, of which only a roll-up has any.
pub fn json_directories() -> &'static str {
    "\n],\"directories\":["
}

/// Appends a directory, with a comma where it is not the first.
pub fn json_directory(row: &DirectoryRow, first: bool, out: &mut Vec<u8>) {
    let sums = Sums::from(&row.numbers);
    push_row(&DirectoryKeys { path: row.path.clone(), sums }, first, out);
}

/// Appends what stands behind the rows, with a line end.
pub fn json_tail(
    total: &TotalNumbers,
    unreadable: &[Unreadable],
    page_bytes: u64,
    out: &mut Vec<u8>,
) {
    let tail = Tail {
        totals: Sums::from(&total.row),
        skipped: total.skipped,
        unreadable: unreadable.to_vec(),
        partial: total.partial,
        page_size_bytes: page_bytes,
    };
    out.extend_from_slice(b"\n],");
    // Without the brace that the head has.
    out.extend_from_slice(to_object(&tail).get(1..).unwrap_or_default());
    out.push(b'\n');
}

fn push_row(row: &impl Serialize, first: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if first { b"\n" } else { b",\n" });
    out.extend_from_slice(&to_object(row));
}

/// A listing as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The files.
    pub files: Vec<ListedFile>,
    /// Directories with the sums below them, where these were asked for.
    pub directories: Vec<(PathBuf, Sums)>,
    /// The sums of all.
    pub totals: Sums,
    /// What was passed over.
    pub skipped: Skipped,
    /// What could not be looked at.
    pub unreadable: Vec<Unreadable>,
    /// It was stopped before its end.
    pub partial: bool,
    /// Bytes of a base page.
    pub page_size_bytes: u64,
}

/// What the functions above wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_listing(document: &Document<'_>) -> Result<Listing, ReadError> {
    #[derive(Deserialize)]
    struct Parts {
        files: Rows<FileKeys>,
        directories: Rows<DirectoryKeys>,
        #[serde(flatten)]
        rest: serde_json::Map<String, serde_json::Value>,
    }
    document.must_be(SCHEMA)?;
    let mut text = serde_json::Deserializer::from_str(document.text.get());
    let parts: Parts = serde_path_to_error::deserialize(&mut text)
        .map_err(|error| ReadError::in_part("", &error))?;
    let tail: Tail = from_object(serde_json::Value::Object(parts.rest))?;
    Ok(Listing {
        files: parts.files.0.into_iter().map(ListedFile::from).collect(),
        directories: parts.directories.0.into_iter().map(|row| (row.path, row.sums)).collect(),
        totals: tail.totals,
        skipped: tail.skipped,
        unreadable: tail.unreadable,
        partial: tail.partial,
        page_size_bytes: tail.page_size_bytes,
    })
}

/// A file, and how much of it is cached.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileKeys {
    #[serde(flatten, with = "Path")]
    path: PathBuf,
    #[serde(flatten)]
    id: FileId,
    /// Its size; the capacity for a block device.
    size_bytes: u64,
    #[serde(flatten)]
    state: State,
    /// Where the cached pages lie: for each stretch of the file, its pages and the cached among them. Null where nobody
    /// asked or can tell.
    #[serde(deserialize_with = "hotset_facts::format::required")]
    cells: Option<Vec<(u64, u64)>>,
}

/// The cache state of a file, in base pages.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct State {
    /// Pages that it spans.
    pages: u64,
    /// Pages in the cache.
    cached_pages: Observed<u64>,
    /// Dirty pages.
    dirty_pages: Observed<u64>,
    /// Pages being written back.
    writeback_pages: Observed<u64>,
    /// Pages that were cached once and evicted.
    evicted_pages: Observed<u64>,
    /// Pages evicted so lately that reading them again would count as part of the working set.
    recently_evicted_pages: Observed<u64>,
    /// Which system call answered.
    #[serde(deserialize_with = "hotset_facts::format::required")]
    source: Option<ResidencySource>,
}

impl FileKeys {
    fn new(file: &ListedFile, numbers: &RowNumbers) -> Self {
        let cells = file.cells.iter().map(|cell| (cell.pages, cell.cached)).collect();
        Self {
            path: file.path.clone(),
            id: file.id,
            size_bytes: numbers.size_bytes,
            state: State {
                pages: numbers.pages,
                cached_pages: numbers.cached_pages,
                dirty_pages: numbers.dirty_pages,
                writeback_pages: numbers.writeback_pages,
                evicted_pages: numbers.evicted_pages,
                recently_evicted_pages: numbers.recently_evicted_pages,
                source: numbers.source,
            },
            cells: (!file.cells.is_empty()).then_some(cells),
        }
    }
}

impl From<FileKeys> for ListedFile {
    fn from(keys: FileKeys) -> Self {
        let FileKeys { path, id, size_bytes, state, cells } = keys;
        let cell = |(pages, cached)| CacheCell { pages, cached };
        let residency = |cached_pages| Residency {
            size_bytes,
            pages: state.pages,
            cached_pages,
            dirty_pages: state.dirty_pages,
            writeback_pages: state.writeback_pages,
            evicted_pages: state.evicted_pages,
            recently_evicted_pages: state.recently_evicted_pages,
            source: state.source.unwrap_or(ResidencySource::Mincore),
        };
        Self {
            path,
            id,
            size_bytes,
            state: state.cached_pages.map(residency),
            cells: cells.unwrap_or_default().into_iter().map(cell).collect(),
        }
    }
}

/// A directory, or a file that was named itself, and the sums below it.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DirectoryKeys {
    #[serde(flatten, with = "Path")]
    path: PathBuf,
    #[serde(flatten)]
    sums: Sums,
}

/// The sums of files, in base pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sums {
    /// How many there are.
    pub files: u64,
    /// Files among them whose state nobody knows.
    pub unknown_files: u64,
    /// Their bytes.
    pub size_bytes: u64,
    /// Pages that they span.
    pub pages: u64,
    /// Pages in the cache, of the files whose state is known.
    pub cached_pages: Observed<u64>,
    /// Dirty pages.
    pub dirty_pages: Observed<u64>,
    /// Pages being written back.
    pub writeback_pages: Observed<u64>,
    /// Pages evicted lately.
    pub recently_evicted_pages: Observed<u64>,
}

impl From<&RowNumbers> for Sums {
    fn from(row: &RowNumbers) -> Self {
        Self {
            files: row.files,
            unknown_files: row.unknown_files,
            size_bytes: row.size_bytes,
            pages: row.pages,
            cached_pages: row.cached_pages,
            dirty_pages: row.dirty_pages,
            writeback_pages: row.writeback_pages,
            recently_evicted_pages: row.recently_evicted_pages,
        }
    }
}

/// What stands behind the rows.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Tail {
    /// The sums of all.
    totals: Sums,
    skipped: Skipped,
    /// What could not be looked at.
    unreadable: Vec<Unreadable>,
    /// It was stopped before its end.
    partial: bool,
    /// Bytes of a base page.
    page_size_bytes: u64,
}

/// The whole, for its schema.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
pub(crate) struct Whole {
    /// The files.
    #[serde(rename = "files")]
    _files: Vec<super::schema_tests::Object<FileKeys>>,
    /// Directories with the sums below them; none where these were not asked for.
    #[serde(rename = "directories")]
    _directories: Vec<super::schema_tests::Object<DirectoryKeys>>,
    #[serde(flatten)]
    _tail: Tail,
}
