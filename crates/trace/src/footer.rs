//! The end of a file, which says where everything is.

use bytes::Bytes;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::ChunkReader;

use crate::decode::guarded;
use crate::error::TraceError;
use crate::output::{MARK, MARK_BYTES, TAIL_BYTES};

/// What a Parquet file begins and ends with.
const SIGNATURE: &[u8] = b"PAR1";
/// The same of a file whose footer is encrypted.
const ENCRYPTED: &[u8] = b"PARE";
/// The longest footer that is read: room for the lists of a million files, and a bound for what a wrong length can ask for.
const MAX_FOOTER_BYTES: usize = 512 << 20;

/// Whether a file that begins so is one of Parquet: a trace, or what only a trace's error tells.
pub fn is_parquet(begin: &[u8]) -> bool {
    begin.starts_with(SIGNATURE) || begin.starts_with(ENCRYPTED)
}

/// Bytes of a file.
///
/// # Errors
/// Those of the input; that there are fewer.
pub(crate) fn bytes_at<R: ChunkReader>(
    input: &R,
    what: &str,
    offset: u64,
    length: usize,
) -> Result<Bytes, TraceError> {
    let failed =
        |source| TraceError::Read { what: what.to_owned(), offset, length: length as u64, source };
    input.get_bytes(offset, length).map_err(failed)
}

/// Reads the footer, and holds it to its checksum where it has one.
///
/// # Errors
/// What it is instead, where the file is none of Parquet; where it ends early or is damaged.
pub(crate) fn read<R: ChunkReader>(input: &R) -> Result<ParquetMetaData, TraceError> {
    let length = input.len();
    let begin = bytes_at(input, "the beginning", 0, length.min(4) as usize)?;
    if begin != SIGNATURE {
        return Err(TraceError::NotATrace { found: describe(&begin, length) });
    }
    let tail_at = length.saturating_sub(TAIL_BYTES as u64).max(SIGNATURE.len() as u64);
    let tail = bytes_at(input, "the end", tail_at, (length - tail_at) as usize)?;
    let (size, signature) = tail.split_at(tail.len().min(4));
    if signature == ENCRYPTED {
        return Err(TraceError::NotATrace { found: "an encrypted Parquet file".to_owned() });
    }
    let size: Option<[u8; 4]> = size.try_into().ok();
    let Some(size) = size.filter(|_| signature == SIGNATURE) else {
        return Err(TraceError::Truncated {
            found: format!("byte {length} is its end, and there is no footer before it"),
            expected: "a footer that ends with \"PAR1\"; a part that was not finished has none"
                .to_owned(),
        });
    };
    let size = u32::from_le_bytes(size) as usize;
    let room = (tail_at as usize).saturating_sub(SIGNATURE.len()).min(MAX_FOOTER_BYTES);
    if size > room {
        return Err(TraceError::damaged(
            format!("byte {tail_at}"),
            format!("a footer of {size} bytes"),
            format!("at most {room} bytes, as many as stand before it"),
        ));
    }
    let at = tail_at - size as u64;
    let footer = bytes_at(input, "the footer", at, size)?;
    check(input, &footer, at)?;
    guarded(|| ParquetMetaDataReader::decode_metadata(&footer)).map_err(|error| {
        TraceError::damaged(format!("the footer, byte {at}"), error.to_string(), "a Parquet footer")
    })
}

/// Holds a footer to the checksum before it, where there is one.
fn check<R: ChunkReader>(input: &R, footer: &[u8], at: u64) -> Result<(), TraceError> {
    let Some(mark_at) = at.checked_sub(MARK_BYTES as u64) else { return Ok(()) };
    let mark = bytes_at(input, "the checksum of the footer", mark_at, MARK_BYTES)?;
    let Some(wanted) = mark.strip_prefix(&MARK).and_then(|sum| <[u8; 4]>::try_from(sum).ok())
    else {
        return Ok(());
    };
    let (wanted, found) = (u32::from_le_bytes(wanted), crc32fast::hash(footer));
    if wanted == found {
        return Ok(());
    }
    Err(TraceError::damaged(
        format!("the footer, bytes {at} to {}", at + footer.len() as u64),
        format!("CRC-32 {found:08x}"),
        format!("CRC-32 {wanted:08x}"),
    ))
}

/// What a file is that does not begin as one of Parquet.
fn describe(begin: &[u8], length: u64) -> String {
    match begin {
        [] => "an empty file".to_owned(),
        ENCRYPTED => "an encrypted Parquet file".to_owned(),
        [b'{' | b'[', ..] => format!("JSON of {length} bytes"),
        [b'\x89', b'H', b'S', b'E'] => "a hotset snapshot, saved by `hotset save`".to_owned(),
        _ => format!(
            "a file of {length} bytes that begins with {:?}",
            begin.escape_ascii().to_string()
        ),
    }
}
