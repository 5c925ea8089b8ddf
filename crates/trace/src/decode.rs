//! Values of one column of a row group.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use crate::chunk::Chunk;
use crate::columns::{Column, Kind};
use crate::error::TraceError;

/// Values as they come, without nulls.
pub(crate) enum Values {
    Int32(ColumnReaderImpl<Int32Type>, Vec<i32>),
    Int64(ColumnReaderImpl<Int64Type>, Vec<i64>),
    Bytes(ColumnReaderImpl<ByteArrayType>, Vec<ByteArray>),
}

/// A column that is decoded.
pub(crate) struct Decoder {
    pub(crate) column: Column,
    pub(crate) group: usize,
    pub(crate) values: Values,
    /// For each row 1, or 0 for a null; empty where the column has no nulls.
    pub(crate) levels: Vec<i16>,
    /// What the level is of a value that is there.
    pub(crate) present: i16,
}

impl Decoder {
    /// Begins with the first row.
    ///
    /// # Errors
    /// Where it is compressed in a way that is not known.
    pub(crate) fn new(
        column: Column,
        group: usize,
        chunk: Chunk,
        meta: &ColumnChunkMetaData,
        rows: usize,
    ) -> Result<Self, TraceError> {
        let pages = guarded(|| SerializedPageReader::new(Arc::new(chunk), meta, rows, None));
        let pages = Box::new(pages.map_err(|error| damaged(column, group, 0, &error))?);
        let descr = meta.column_descr_ptr();
        let present = descr.max_def_level();
        let values = match column.kind() {
            Kind::Int32 => Values::Int32(ColumnReaderImpl::new(descr, pages), Vec::new()),
            Kind::Int64 => Values::Int64(ColumnReaderImpl::new(descr, pages), Vec::new()),
            Kind::String | Kind::Binary => {
                Values::Bytes(ColumnReaderImpl::new(descr, pages), Vec::new())
            }
        };
        Ok(Self { column, group, values, levels: Vec::new(), present })
    }

    /// Decodes so many rows.
    ///
    /// # Errors
    /// Where they are damaged, or fewer.
    pub(crate) fn read(&mut self, row: usize, rows: usize) -> Result<(), TraceError> {
        self.levels.clear();
        let read = match &mut self.values {
            Values::Int32(reader, values) => read(reader, values, &mut self.levels, rows),
            Values::Int64(reader, values) => read(reader, values, &mut self.levels, rows),
            Values::Bytes(reader, values) => read(reader, values, &mut self.levels, rows),
        };
        let found = read.map_err(|error| damaged(self.column, self.group, row, &error))?;
        if found == rows {
            return Ok(());
        }
        let place = format!("row group {}, column {}", self.group, self.column.name());
        let found = format!("it ends after row {}", row + found);
        Err(TraceError::damaged(place, found, format!("at least {} rows", row + rows)))
    }
}

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    values: &mut Vec<T::T>,
    levels: &mut Vec<i16>,
    rows: usize,
) -> Result<usize, ParquetError> {
    values.clear();
    guarded(|| reader.read_records(rows, Some(levels), None, values).map(|(records, ..)| records))
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in a decoder whose panic becomes an error of the trace. A panic hook asks this, so that it does not
/// print what the user gets as an error.
pub fn catches_panics() -> bool {
    IS_GUARDED.get()
}

/// Runs a decoder of Parquet's, which panics on some input that can't be: an integer without end, for example. What has checksums
/// was checked before, so this is about files of other tools. Whoever gets the error uses the decoder no more.
///
/// # Errors
/// Those of the decoder, or that it panicked.
pub(crate) fn guarded<T>(
    decode: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, ParquetError> {
    let panicked =
        |_| Err(ParquetError::General("its decoder stopped at bytes that can't be".to_owned()));
    let outer = IS_GUARDED.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    IS_GUARDED.set(outer);
    decoded.unwrap_or_else(panicked)
}

fn damaged(column: Column, group: usize, row: usize, error: &ParquetError) -> TraceError {
    let place = format!("row group {group}, column {}, from row {row}", column.name());
    TraceError::damaged(place, error.to_string(), format!("values of type {:?}", column.kind()))
}
