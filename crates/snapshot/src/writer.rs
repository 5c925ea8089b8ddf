//! Writing a snapshot as a stream.

use std::io::Write;

use hotset_facts::PageRange;

use crate::block::{BlockWriter, FULL_BYTES, Kind};
use crate::check::{self, MAX_RANGES, Wrong};
use crate::encode;
use crate::error::WriteError;
use crate::types::{FileSystem, Header, SavedFile, Totals};

/// Writes a snapshot: file systems before their files, each file before its ranges, then [`Writer::finish`], without
/// which no reader accepts it. After an error nothing more should be written.
pub struct Writer<W> {
    blocks: BlockWriter<W>,
    page_size: u64,
    records: Vec<u8>,
    previous: Vec<u8>,
    file_systems: usize,
    file: Option<Open>,
    totals: Totals,
}

/// The file whose ranges are being written.
struct Open {
    pages: u64,
    end: Option<u64>,
}

impl<W: Write> Writer<W> {
    /// Begins a snapshot.
    ///
    /// # Errors
    /// Where the output fails, or a value is outside of what [`Header`] allows.
    pub fn new(output: W, header: &Header) -> Result<Self, WriteError> {
        check::header(header).map_err(refused)?;
        check::written_by(&header.written_by).map_err(refused)?;
        let mut blocks = BlockWriter::new(output, &header.written_by)?;
        blocks.block(Kind::Header, &encode::header(header))?;
        Ok(Self {
            blocks,
            page_size: header.page_size,
            records: Vec::with_capacity(FULL_BYTES),
            previous: Vec::new(),
            file_systems: 0,
            file: None,
            totals: Totals::default(),
        })
    }

    /// Names a file system; answers the number that its files give.
    ///
    /// # Errors
    /// Where the output fails, a text is too long, or there are 4,096 file systems already.
    pub fn file_system(&mut self, fs: &FileSystem) -> Result<u32, WriteError> {
        check::file_system(self.file_systems, fs).map_err(refused)?;
        self.close_file()?;
        self.flush_if_full()?;
        encode::file_system(&mut self.records, fs);
        self.file_systems += 1;
        Ok(self.file_systems as u32 - 1)
    }

    /// Begins a file, which must get at least one range.
    ///
    /// # Errors
    /// Where the output fails, a value is outside of what [`SavedFile`] allows, or the file before has no ranges.
    pub fn file(&mut self, file: &SavedFile) -> Result<(), WriteError> {
        check::file(file, self.file_systems).map_err(refused)?;
        self.close_file()?;
        self.flush_if_full()?;
        encode::file(&mut self.records, file, &self.previous);
        self.previous.clone_from(&file.path);
        self.file = Some(Open { pages: file.size_bytes.div_ceil(self.page_size), end: None });
        self.totals.files += 1;
        Ok(())
    }

    /// Adds ranges to the file, in order; any number in any number of calls.
    ///
    /// # Errors
    /// Where the output fails, there is no file, or a range is empty, out of order, next to the one before, or beyond the
    /// file's size.
    pub fn ranges(&mut self, ranges: &[PageRange]) -> Result<(), WriteError> {
        for some in ranges.chunks(MAX_RANGES) {
            self.flush_if_full()?;
            let Some(file) = &mut self.file else {
                return Err(WriteError::refused("a file before its ranges", "ranges"));
            };
            let before = file.end;
            for range in some {
                file.end = Some(check::range(*range, file.end, file.pages).map_err(refused)?);
                self.totals.pages = self.totals.pages.saturating_add(range.count);
            }
            encode::ranges(&mut self.records, some, before);
            self.totals.ranges += some.len() as u64;
        }
        Ok(())
    }

    /// Writes what is left and the trailer; answers the output and what was written.
    ///
    /// # Errors
    /// Where the output fails, or the last file has no ranges.
    pub fn finish(mut self) -> Result<(W, Totals), WriteError> {
        self.close_file()?;
        self.flush()?;
        let trailer = encode::trailer(&self.totals, self.blocks.check());
        self.blocks.block(Kind::Trailer, &trailer)?;
        Ok((self.blocks.finish()?, self.totals))
    }

    fn close_file(&mut self) -> Result<(), WriteError> {
        match self.file.take() {
            Some(Open { end: None, .. }) => {
                Err(WriteError::refused("at least one range of each file", "none"))
            }
            _ => Ok(()),
        }
    }

    fn flush_if_full(&mut self) -> Result<(), WriteError> {
        if self.records.len() >= FULL_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        if !self.records.is_empty() {
            self.blocks.block(Kind::Records, &self.records)?;
            self.records.clear();
            // A block can be read without the one before.
            self.previous.clear();
        }
        Ok(())
    }
}

fn refused((expected, found): Wrong) -> WriteError {
    WriteError::refused(expected, found)
}
