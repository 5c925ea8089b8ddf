//! The bytes of one column of a row group, checked before anything is decoded.

use bytes::{Buf as _, Bytes, buf::Reader as BytesReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};

use crate::error::TraceError;
use crate::footer::bytes_at;
use crate::pages::{self, Alike, WrongPage};

/// The largest column chunk that is read: that of a row group of ours is below 2 MiB, others' are larger.
const MAX_CHUNK_BYTES: u64 = 1 << 30;

/// A column chunk in memory, at its place in the file.
pub(crate) struct Chunk {
    start: u64,
    bytes: Bytes,
    alike: Alike,
}

impl Chunk {
    /// Reads a column chunk.
    ///
    /// # Errors
    /// Where it stands outside of the file, or its checksum is another.
    pub(crate) fn read<R: ChunkReader>(
        input: &R,
        place: &dyn Fn() -> String,
        column: &ColumnChunkMetaData,
        check: Option<u32>,
    ) -> Result<Self, TraceError> {
        // `byte_range` of Parquet's own panics where these are below zero.
        let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let range = u64::try_from(start).ok().zip(u64::try_from(column.compressed_size()).ok());
        let inside = range.filter(|(start, size)| {
            start.checked_add(*size).is_some_and(|end| end <= input.len())
                && *size <= MAX_CHUNK_BYTES
        });
        let Some((start, size)) = inside else {
            return Err(TraceError::damaged(
                place(),
                format!("{} bytes from byte {start}", column.compressed_size()),
                format!("at most {MAX_CHUNK_BYTES} bytes inside of the file's {}", input.len()),
            ));
        };
        let bytes = bytes_at(input, &place(), start, size as usize)?;
        let found = check.map(|wanted| (wanted, crc32fast::hash(&bytes)));
        if let Some((wanted, found)) = found.filter(|(wanted, found)| wanted != found) {
            return Err(TraceError::damaged(
                format!("{} (bytes {start} to {})", place(), start + size),
                format!("CRC-32 {found:08x}"),
                format!("CRC-32 {wanted:08x}"),
            ));
        }
        let alike = pages::check(&bytes, column.num_values()).map_err(
            |WrongPage { at, found, expected }| {
                let place = format!("{}, the page at byte {}", place(), start + at as u64);
                TraceError::damaged(place, found, expected)
            },
        )?;
        Ok(Self { start, bytes, alike })
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// What its values have in common.
    pub(crate) fn alike(&self) -> Alike {
        self.alike
    }

    fn from(&self, offset: u64) -> ParquetResult<Bytes> {
        let begin = offset.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        match begin.filter(|begin| *begin <= self.bytes.len()) {
            Some(begin) => Ok(self.bytes.slice(begin..)),
            None => Err(ParquetError::EOF(format!("byte {offset} is outside of the column"))),
        }
    }
}

impl Length for Chunk {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for Chunk {
    type T = BytesReader<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        self.from(start).map(Bytes::reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let rest = self.from(start)?;
        if length > rest.len() {
            let end = format!("{length} bytes from byte {start} are more than the column has");
            return Err(ParquetError::EOF(end));
        }
        Ok(rest.slice(..length))
    }
}
