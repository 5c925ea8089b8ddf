//! A file in, records out.

use std::collections::HashMap;

use hotset_facts::trace::{TraceHead, TraceLists};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;

use crate::batches::Batches;
use crate::chunk::Chunk;
use crate::columns::{Column, Columns};
use crate::error::TraceError;
use crate::footer;
use crate::meta::{CHECKS, Keys, PART, Part, TOTALS, Totals};

/// A trace that is read: what it says of itself, and its records. It trusts nothing: what it hands out was checked.
pub struct Reader<R: ChunkReader> {
    input: R,
    meta: ParquetMetaData,
    head: TraceHead,
    lists: TraceLists,
    totals: Totals,
    part: Option<Part>,
    checks: Option<Vec<Vec<u32>>>,
    /// Where each column that is known stands among those of the file.
    places: HashMap<Column, usize>,
}

impl<R: ChunkReader> Reader<R> {
    /// Reads what a trace says of itself: its footer, and none of its records. The input is a file, or bytes.
    ///
    /// # Errors
    /// What it is instead, where it is no trace; its version, where that is not known; what is damaged.
    pub fn new(input: R) -> Result<Self, TraceError> {
        let meta = footer::read(&input)?;
        let file = meta.file_metadata();
        let pairs = file.key_value_metadata().map(Vec::as_slice).unwrap_or_default();
        let keys = Keys(pairs);
        let head = keys.head(|| {
            format!("a Parquet file of {}", file.created_by().unwrap_or("an unknown program"))
        })?;
        let places = places(&meta)?;
        let lists = keys.lists()?;
        let rows = u64::try_from(file.num_rows()).ok();
        let of_groups: i64 = meta.row_groups().iter().map(|group| group.num_rows()).sum();
        let Some(rows) = rows.filter(|rows| i64::try_from(*rows) == Ok(of_groups)) else {
            let found = format!("{} rows", file.num_rows());
            return Err(TraceError::damaged(
                "the footer",
                found,
                format!("{of_groups} rows, those of its row groups"),
            ));
        };
        let counted =
            Totals { records: rows, lost: lists.gaps.iter().map(|gap| gap.records).sum() };
        let totals: Totals = keys.get(TOTALS)?.unwrap_or(counted);
        if totals.records != rows {
            let found = format!("{} records", totals.records);
            return Err(TraceError::damaged(
                format!("key {TOTALS}"),
                found,
                format!("{rows}, the rows of the file"),
            ));
        }
        let checks: Option<Vec<Vec<u32>>> = keys.get(CHECKS)?;
        if let Some(checks) = &checks {
            fits(checks, &meta)?;
        }
        let part = keys.get(PART)?;
        Ok(Self { input, head, lists, totals, part, checks, places, meta })
    }

    /// What it is a trace of.
    pub fn head(&self) -> &TraceHead {
        &self.head
    }

    /// The lists that records point into. Those of a part hold what was added since the part before.
    pub fn lists(&self) -> &TraceLists {
        &self.lists
    }

    /// How many records it holds.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Which part of a trace it is; nothing for a whole one.
    pub fn part(&self) -> Option<Part> {
        self.part
    }

    /// Whether its bytes have checksums. Those that other tools wrote have none: what is damaged in them may be read as
    /// something else.
    pub fn is_checked(&self) -> bool {
        self.checks.is_some()
    }

    /// Whether the file has this column.
    pub fn has(&self, column: Column) -> bool {
        self.places.contains_key(&column)
    }

    /// Its records, a row group after the other, some thousand at a time. The lists of these batches are empty: they are
    /// [`Reader::lists`]. What is not among `columns` is not read, and `None` in each record.
    pub fn batches(&self, columns: Columns) -> Batches<'_, R> {
        Batches::new(self, columns)
    }

    pub(crate) fn meta(&self) -> &ParquetMetaData {
        &self.meta
    }

    pub(crate) fn place(&self, column: Column) -> Option<usize> {
        self.places.get(&column).copied()
    }

    /// The checksums of a row group's columns.
    pub(crate) fn checks_of(&self, group: usize) -> Option<&[u32]> {
        self.checks.as_ref()?.get(group).map(Vec::as_slice)
    }

    /// One column of a row group.
    ///
    /// # Errors
    /// Where it can't be read, or is damaged.
    pub(crate) fn chunk(&self, group: usize, place: usize) -> Result<Chunk, TraceError> {
        let columns = self.meta.row_groups().get(group).map(|group| group.columns());
        let Some(column) = columns.and_then(|columns| columns.get(place)) else {
            let found = format!("no column {place}");
            return Err(TraceError::damaged(
                format!("row group {group}"),
                found,
                "all columns of the schema",
            ));
        };
        let name = || format!("row group {group}, column {}", column.column_path().string());
        let check = self.checks_of(group).and_then(|checks| checks.get(place)).copied();
        Chunk::read(&self.input, &name, column, check)
    }
}

/// Whether there is a checksum for each column of each row group.
fn fits(checks: &[Vec<u32>], meta: &ParquetMetaData) -> Result<(), TraceError> {
    let groups = meta.row_groups();
    let columns = meta.file_metadata().schema_descr().num_columns();
    if checks.len() == groups.len() && checks.iter().all(|of_group| of_group.len() == columns) {
        return Ok(());
    }
    let found = format!("checksums of {} row groups", checks.len());
    let expected = format!("those of {} row groups, {columns} for each", groups.len());
    Err(TraceError::damaged(format!("key {CHECKS}"), found, expected))
}

/// Where each known column stands, if it is of its type.
fn places(meta: &ParquetMetaData) -> Result<HashMap<Column, usize>, TraceError> {
    let schema = meta.file_metadata().schema_descr();
    let mut places = HashMap::new();
    for column in Column::ALL {
        let mut found = schema.columns().iter().enumerate();
        // Of a nested column, the path has several parts.
        let Some((place, descr)) = found.find(|(_, descr)| match descr.path().parts() {
            [name] => name == column.name(),
            _ => false,
        }) else {
            continue;
        };
        let place_name = || format!("the schema, column {}", column.name());
        if descr.physical_type() != column.kind().physical() || descr.max_rep_level() > 0 {
            let found = format!("type {}", descr.physical_type());
            let expected = format!("{}", column.kind().physical());
            return Err(TraceError::damaged(place_name(), found, expected));
        }
        places.insert(*column, place);
    }
    match Column::ALL.iter().find(|column| !column.is_nullable() && !places.contains_key(column)) {
        Some(column) => {
            let found = format!("no column {}", column.name());
            Err(TraceError::damaged("the schema", found, "the columns start_ns, op and class"))
        }
        None => Ok(places),
    }
}
