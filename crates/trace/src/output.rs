//! What a writer writes to: it holds the footer of the file back until its checksum is written before it.
//!
//! Parquet has checksums of pages (which its Rust writer does not write) and none of the footer, which says where every page is.
//! Between the last row group and the footer of a Parquet file may stand anything: here that is [`MARK`] and the CRC-32 of the
//! footer. The footer holds those of the column chunks.

use std::io::{self, Write};

use crate::error::TraceError;

/// What stands before the checksum of a footer.
pub(crate) const MARK: [u8; 4] = *b"HSCK";
/// Bytes of the mark and the checksum.
pub(crate) const MARK_BYTES: usize = 8;
/// Bytes behind a footer: its length, and the signature of Parquet.
pub(crate) const TAIL_BYTES: usize = 8;

/// An output whose footer is held back.
pub(crate) struct Output<W> {
    inner: W,
    bytes: u64,
    held: Option<Vec<u8>>,
}

impl<W: Write> Output<W> {
    /// Passes everything on, until [`Output::hold`].
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, bytes: 0, held: None }
    }

    /// What it writes to.
    pub(crate) fn inner(&self) -> &W {
        &self.inner
    }

    /// Holds what follows back.
    pub(crate) fn hold(&mut self) {
        self.held = Some(Vec::new());
    }

    /// Writes the checksum of the footer, and then the footer. Gives back the output, and how many bytes went there.
    ///
    /// # Errors
    /// Those of the output.
    pub(crate) fn finish(mut self) -> Result<(W, u64), TraceError> {
        let held = self.held.take().unwrap_or_default();
        let footer = held.get(..held.len().saturating_sub(TAIL_BYTES)).unwrap_or_default();
        self.inner.write_all(&MARK)?;
        self.inner.write_all(&crc32fast::hash(footer).to_le_bytes())?;
        self.inner.write_all(&held)?;
        self.inner.flush()?;
        Ok((self.inner, self.bytes + (MARK_BYTES + held.len()) as u64))
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.held {
            Some(held) => held.write(bytes),
            None => {
                let written = self.inner.write(bytes)?;
                self.bytes += written as u64;
                Ok(written)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
