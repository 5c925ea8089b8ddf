//! Parts of one recording: read as one trace, and made one file.

use std::io::Write;
use std::sync::Arc;

use hotset_facts::trace::{TraceBatch, TraceHead, TraceLists};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::reader::ChunkReader;
use parquet::file::writer::SerializedFileWriter;

use crate::columns::Columns;
use crate::encode::properties;
use crate::error::TraceError;
use crate::meta::{self, ListWriter, Totals};
use crate::output::Output;
use crate::reader::Reader;
use crate::writer::end_file;

/// The parts of a recording, in their order: as a whole, they read as a trace does.
pub struct Parts<R: ChunkReader> {
    readers: Vec<Reader<R>>,
    lists: TraceLists,
    totals: Totals,
    ended: bool,
}

/// What [`join()`] made.
#[derive(Debug)]
pub struct Joined<W> {
    /// The output, flushed.
    pub out: W,
    /// How many records it holds, and how many were lost.
    pub totals: Totals,
    /// Bytes of the file.
    pub bytes: u64,
    /// Whether the recording ended with the last part. If not, hotset was killed, and what it had not yet written is lost.
    pub ended: bool,
}

impl<R: ChunkReader> Parts<R> {
    /// Opens parts, in their order.
    ///
    /// # Errors
    /// Which part is missing, there twice, of another recording, or damaged.
    pub fn new(inputs: impl IntoIterator<Item = R>) -> Result<Self, TraceError> {
        let mut readers: Vec<Reader<R>> = Vec::new();
        for (number, input) in inputs.into_iter().enumerate() {
            let reader = Reader::new(input).map_err(|error| in_part(number, error))?;
            follows(readers.last(), &reader, number)?;
            readers.push(reader);
        }
        let Some(last) = readers.last() else {
            return Err(TraceError::parts("no part", "the parts of a recording, from part 0"));
        };
        let ended = last.part().is_some_and(|part| part.last);
        let (mut lists, mut totals) = (TraceLists::default(), Totals::default());
        for reader in &readers {
            lists.append(reader.lists().clone());
            totals.records += reader.totals().records;
            totals.lost += reader.totals().lost;
        }
        Ok(Self { readers, lists, totals, ended })
    }

    /// What they are a trace of, as the last of them knows it.
    pub fn head(&self) -> Option<&TraceHead> {
        self.readers.last().map(Reader::head)
    }

    /// The lists of all parts: what every record points into.
    pub fn lists(&self) -> &TraceLists {
        &self.lists
    }

    /// How many records they hold.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Whether the recording ended with the last of them.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Their records, one part after the other. See [`Reader::batches`].
    pub fn batches(
        &self,
        columns: Columns,
    ) -> impl Iterator<Item = Result<TraceBatch, TraceError>> + '_ {
        self.readers.iter().enumerate().flat_map(move |(number, reader)| {
            let named = move |error| in_part(number, error);
            reader.batches(columns).map(move |batch| batch.map_err(named))
        })
    }
}

/// Makes one file of parts, without decoding them. It holds the lists of all parts, and one column of a row group.
///
/// # Errors
/// Which part is damaged, or has other columns; those of the output.
pub fn join<R: ChunkReader, W: Write + Send>(
    parts: &Parts<R>,
    out: W,
) -> Result<Joined<W>, TraceError> {
    let (Some(first), Some(head)) = (parts.readers.first(), parts.head()) else {
        return Err(TraceError::parts("no part", "the parts of a recording, from part 0"));
    };
    let schema = first.meta().file_metadata().schema_descr().root_schema_ptr();
    let properties = Arc::new(properties().map_err(TraceError::Encode)?);
    let mut file = SerializedFileWriter::new(Output::new(out), schema, properties)
        .map_err(TraceError::Encode)?;
    file.append_key_value_metadata(meta::head_key(head)?);
    let mut checks: Vec<Vec<u32>> = Vec::new();
    for (number, reader) in parts.readers.iter().enumerate() {
        append(&mut file, reader, &mut checks).map_err(|error| in_part(number, error))?;
    }
    let mut lists = ListWriter::new();
    lists.extend(&parts.lists)?;
    for list in lists.finish() {
        file.append_key_value_metadata(list);
    }
    file.append_key_value_metadata(meta::json_key(meta::TOTALS, &parts.totals)?);
    file.append_key_value_metadata(meta::json_key(meta::CHECKS, &checks)?);
    let (out, bytes) = end_file(file)?;
    Ok(Joined { out, totals: parts.totals, bytes, ended: parts.ended })
}

/// Copies the row groups of a part.
fn append<R: ChunkReader, W: Write + Send>(
    file: &mut SerializedFileWriter<Output<W>>,
    part: &Reader<R>,
    checks: &mut Vec<Vec<u32>>,
) -> Result<(), TraceError> {
    let columns = part.meta().file_metadata().schema_descr().columns();
    if file.schema_descr().columns() != columns {
        let found = format!("{} columns, not those of part 0", columns.len());
        return Err(TraceError::damaged("the schema", found, "parts of one version of hotset"));
    }
    for (number, rows) in part.meta().row_groups().iter().enumerate() {
        let mut group = file.next_row_group().map_err(TraceError::Encode)?;
        let mut sums = Vec::with_capacity(rows.num_columns());
        for (place, column) in rows.columns().iter().enumerate() {
            let chunk = part.chunk(number, place)?;
            sums.push(crc32fast::hash(chunk.bytes()));
            let close = ColumnCloseResult {
                bytes_written: chunk.bytes().len() as u64,
                rows_written: u64::try_from(rows.num_rows()).unwrap_or_default(),
                metadata: column.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            group.append_column(&chunk, close).map_err(TraceError::Encode)?;
        }
        group.close().map_err(TraceError::Encode)?;
        checks.push(sums);
    }
    Ok(())
}

/// Whether a part is the one after those before it.
fn follows<R: ChunkReader>(
    before: Option<&Reader<R>>,
    reader: &Reader<R>,
    given: usize,
) -> Result<(), TraceError> {
    let Some(part) = reader.part() else {
        let found = format!("input {given} is a whole trace");
        return Err(TraceError::parts(found, "a part of one; a whole trace needs no joining"));
    };
    let previous = before.and_then(Reader::part);
    let expected = previous.map_or(0, |previous| previous.number.saturating_add(1));
    if part.number != expected {
        let found = match previous {
            Some(previous) if previous.number == part.number => {
                format!("part {} is there twice", part.number)
            }
            Some(previous) if part.number < previous.number => {
                format!("part {} comes after part {}", part.number, previous.number)
            }
            _ => format!("part {expected} is missing: part {} is in its place", part.number),
        };
        return Err(TraceError::parts(found, "all parts from 0, each once and in order"));
    }
    if let Some(previous) = previous.filter(|previous| previous.last) {
        let found = format!("part {} comes after part {}, the last", part.number, previous.number);
        return Err(TraceError::parts(found, "the parts of one recording"));
    }
    let of = |reader: &Reader<R>| {
        let head = reader.head();
        (head.hotset.clone(), head.source, head.started_at)
    };
    match before {
        Some(before) if of(before) != of(reader) => {
            let found = format!("part {} is of another recording than part 0", part.number);
            let expected = "parts with the same hotset, source and started_at";
            Err(TraceError::parts(found, expected))
        }
        _ => Ok(()),
    }
}

fn in_part(number: usize, error: TraceError) -> TraceError {
    TraceError::Part { number, source: Box::new(error) }
}
