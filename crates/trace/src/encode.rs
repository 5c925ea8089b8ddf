//! One column of a row group, as bytes.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::writer::{ColumnCloseResult, ColumnWriterImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesPtr, WriterVersion,
};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::cells::{Cells, NULL_32, NULL_64};
use crate::columns::{Column, Kind};

/// Rows that are handed to Parquet at a time: their values stay in the CPU's cache.
const SLICE_ROWS: usize = 2048;

/// How columns are written: values stand in a dictionary, but for `start_ns` and `offset`, which are deltas in as few bits as each
/// 32 of them take. A column of numbers whose dictionary outgrows a page goes on with deltas. What remains is compressed.
///
/// By `examples/measure` on a busy host of 2 CPUs, a million reads with real times: with deltas for all numbers a sequential
/// read took 5.69 bytes, with dictionaries 4.49 (random 7.76 and 6.98); of that 4.1 are `start_ns` and `duration_ns`, whose noise
/// nothing shortens. zstd level 3 saves 2 % of bytes and costs 10 to 25 % of the speed.
///
/// # Errors
/// As Parquet gives them; these settings have none.
pub(crate) fn properties() -> Result<WriterProperties, ParquetError> {
    let mut builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_created_by(concat!("hotset version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_data_page_row_count_limit(usize::MAX)
        .set_write_batch_size(SLICE_ROWS);
    for column in Column::ALL {
        let path = || column.name().into();
        let repeats = !matches!(column, Column::StartNs | Column::Offset);
        builder = builder.set_column_dictionary_enabled(path(), repeats);
        if matches!(column.kind(), Kind::Int32 | Kind::Int64) {
            builder = builder
                .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED)
                .set_column_statistics_enabled(path(), EnabledStatistics::Chunk);
        }
    }
    Ok(builder.build())
}

/// A column chunk: its bytes, and what Parquet says of them.
pub(crate) struct Chunk {
    pub(crate) bytes: Bytes,
    pub(crate) close: ColumnCloseResult,
}

/// Levels of rows that are all there, and of rows that are all null.
const PRESENT: [i16; SLICE_ROWS] = [1; SLICE_ROWS];
const ABSENT: [i16; SLICE_ROWS] = [0; SLICE_ROWS];

/// Writes one column of a row group.
pub(crate) struct ColumnEncoder<'a> {
    pub(crate) descr: ColumnDescPtr,
    pub(crate) props: WriterPropertiesPtr,
    /// The places of the rows in the order in which they are to stand; nothing where they stand so.
    pub(crate) order: Option<&'a [u32]>,
}

impl ColumnEncoder<'_> {
    /// Encodes values.
    ///
    /// # Errors
    /// As Parquet gives them.
    pub(crate) fn encode<'t>(
        &self,
        cells: &Cells,
        text: &dyn Fn(u32) -> Option<&'t ByteArray>,
    ) -> Result<Chunk, ParquetError> {
        match cells {
            Cells::Int32(values) => self.numbers::<Int32Type>(values, NULL_32),
            Cells::Int64(values) => self.numbers::<Int64Type>(values, NULL_64),
            Cells::Text(codes) => self.texts(codes, text),
        }
    }

    fn numbers<T: DataType>(&self, cells: &[T::T], null: T::T) -> Result<Chunk, ParquetError>
    where
        T::T: Copy,
    {
        let mut levels = Vec::with_capacity(SLICE_ROWS);
        self.column::<T>(|writer, nullable| {
            self.slices(cells, |slice| {
                let nulls = slice.iter().filter(|value| **value == null).count();
                let rows = slice.len();
                if !nullable {
                    writer.write_batch(slice, None, None)
                } else if nulls == 0 {
                    writer.write_batch(slice, PRESENT.get(..rows), None)
                } else if nulls == rows {
                    writer.write_batch(&[], ABSENT.get(..rows), None)
                } else {
                    levels.clear();
                    levels.extend(slice.iter().map(|value| i16::from(*value != null)));
                    let there = slice.iter().copied().filter(|value| *value != null);
                    writer.write_batch(&there.collect::<Vec<_>>(), Some(&levels), None)
                }
            })
        })
    }

    fn texts<'t>(
        &self,
        codes: &[u32],
        text: &dyn Fn(u32) -> Option<&'t ByteArray>,
    ) -> Result<Chunk, ParquetError> {
        let mut levels = Vec::with_capacity(SLICE_ROWS);
        let mut values: Vec<ByteArray> = Vec::with_capacity(SLICE_ROWS);
        // The code that all rows of the slice before had: counting references is what most of this takes.
        let mut same: Option<(u32, usize)> = None;
        self.column::<ByteArrayType>(|writer, nullable| {
            self.slices(codes, |slice| {
                let first = slice.first().copied().unwrap_or_default();
                let now = slice.iter().all(|code| *code == first).then_some((first, slice.len()));
                if now.is_none() || now != same {
                    values.clear();
                    levels.clear();
                    for code in slice {
                        let value = text(*code);
                        levels.push(i16::from(value.is_some()));
                        values.extend(value.cloned());
                    }
                    same = now;
                }
                writer.write_batch(&values, nullable.then_some(levels.as_slice()), None)
            })
        })
    }

    /// Hands the cells of a column over in their order, some at a time.
    fn slices<C: Copy>(
        &self,
        cells: &[C],
        mut each: impl FnMut(&[C]) -> Result<usize, ParquetError>,
    ) -> Result<(), ParquetError> {
        let Some(order) = self.order else {
            return cells.chunks(SLICE_ROWS).try_for_each(|slice| each(slice).map(|_| ()));
        };
        let mut gathered = Vec::with_capacity(SLICE_ROWS);
        order.chunks(SLICE_ROWS).try_for_each(|rows| {
            gathered.clear();
            gathered.extend(rows.iter().filter_map(|row| cells.get(*row as usize).copied()));
            each(&gathered).map(|_| ())
        })
    }

    /// Writes a column to memory. What writes its values is told whether it may have nulls.
    fn column<T: DataType>(
        &self,
        write: impl FnOnce(&mut ColumnWriterImpl<'_, T>, bool) -> Result<(), ParquetError>,
    ) -> Result<Chunk, ParquetError> {
        let mut sink = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut sink));
        let mut writer = ColumnWriterImpl::new(self.descr.clone(), self.props.clone(), pages);
        write(&mut writer, self.descr.max_def_level() > 0)?;
        let close = writer.close()?;
        Ok(Chunk { bytes: sink.into_inner()?.into(), close })
    }
}
