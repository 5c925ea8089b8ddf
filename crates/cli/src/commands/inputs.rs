//! Files that hotset wrote, as a command is given them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use hotset_trace::is_parquet;

/// No result is this large; what is, is something else.
const MAX_BYTES: u64 = 1 << 30;

/// What a gzip file begins with (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Whether a regular file begins as a trace does. What is none, such as a pipe, would lose what is read.
pub(super) fn is_trace(path: &Path) -> io::Result<bool> {
    if !fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    let mut begin = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut begin)?;
    Ok(is_parquet(&begin))
}

/// All of a file of documents, decompressed where it is compressed; `-` is standard input.
///
/// # Errors
/// As the file gives them, and where it is larger than any result.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    }
    if bytes.starts_with(&GZIP) {
        let mut plain = Vec::new();
        MultiGzDecoder::new(bytes.as_slice()).take(MAX_BYTES + 1).read_to_end(&mut plain)?;
        bytes = plain;
    }
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(io::Error::other("larger than 1 GiB; expected what hotset writes with --json")),
        false => Ok(bytes),
    }
}

/// Whether both are the same file, whatever the paths say.
pub(super) fn is_same(file: &Path, output: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
    real(file).is_some_and(|file| real(output) == Some(file))
}
