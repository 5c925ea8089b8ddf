//! Reading a snapshot as a stream, trusting none of it.

use std::io::Read;

use crate::block::{BlockReader, Kind};
use crate::cursor::Cursor;
use crate::error::SnapshotError;
use crate::types::{FileSystem, Header, Record, SavedFile, Totals};
use crate::{decode, encode};

/// Reads a snapshot: every record that comes out was checked by itself, and the whole is good once
/// [`Reader::next_record`] has answered `None`.
pub struct Reader<R> {
    blocks: BlockReader<R>,
    header: Header,
    file_systems: Vec<FileSystem>,
    /// Where the next record begins in the block.
    at: usize,
    previous: Vec<u8>,
    last_path: Option<Vec<u8>>,
    file: Option<Open>,
    totals: Totals,
    check: Option<u32>,
}

/// The file whose ranges are being read.
struct Open {
    pages: u64,
    end: Option<u64>,
}

/// What a snapshot holds that was found good from its first byte to its last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Where and when it was made.
    pub header: Header,
    /// The file systems of its files.
    pub file_systems: Vec<FileSystem>,
    /// How much it holds.
    pub totals: Totals,
    /// The CRC of its content: two snapshots of different content rarely have the same.
    pub check: u32,
}

/// Reads a snapshot to its end, and says what it holds.
///
/// # Errors
/// The first thing that is wrong with it, and where.
pub fn verify(input: impl Read) -> Result<Verified, SnapshotError> {
    let mut reader = Reader::new(input)?;
    while reader.next_record()?.is_some() {}
    let check = reader.check.unwrap_or_default();
    Ok(Verified {
        header: reader.header,
        file_systems: reader.file_systems,
        totals: reader.totals,
        check,
    })
}

impl<R: Read> Reader<R> {
    /// Reads the header. The input should be buffered or a file: it is read a block at a time.
    ///
    /// # Errors
    /// Where the input is no snapshot, is of a later version, or is damaged in its first bytes.
    pub fn new(input: R) -> Result<Self, SnapshotError> {
        let (mut blocks, written_by) = BlockReader::new(input)?;
        let kind = blocks.next("the header")?;
        if kind != Kind::Header {
            let found = format!("{kind:?}");
            return Err(SnapshotError::damaged(blocks.payload_offset, "the header", found));
        }
        let mut cursor = Cursor::new(&blocks.payload, 0, blocks.payload_offset);
        let header = decode::header(&mut cursor, written_by)?;
        let at = blocks.payload.len();
        Ok(Self {
            blocks,
            header,
            file_systems: Vec::new(),
            at,
            previous: Vec::new(),
            last_path: None,
            file: None,
            totals: Totals::default(),
            check: None,
        })
    }

    /// Where and when it was made.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The file systems that were named so far; every file's own is among them.
    pub fn file_systems(&self) -> &[FileSystem] {
        &self.file_systems
    }

    /// What was read so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The CRC that [`Verified`] has, once the end was reached.
    pub fn check(&self) -> Option<u32> {
        self.check
    }

    /// The next file or ranges; `None` once the end was reached and all of it is good.
    ///
    /// # Errors
    /// What is wrong, and where. Nothing more can be read then.
    pub fn next_record(&mut self) -> Result<Option<Record>, SnapshotError> {
        self.next_unplaced().map_err(|error| error.after(self.last_path.as_deref()))
    }

    fn next_unplaced(&mut self) -> Result<Option<Record>, SnapshotError> {
        loop {
            if self.check.is_some() {
                return Ok(None);
            }
            if self.at >= self.blocks.payload.len() {
                self.next_block()?;
                continue;
            }
            if let Some(record) = self.record()? {
                return Ok(Some(record));
            }
        }
    }

    fn next_block(&mut self) -> Result<(), SnapshotError> {
        let kind = self.blocks.next("more records or the trailer")?;
        self.at = 0;
        self.previous.clear();
        match kind {
            Kind::Records if self.blocks.payload.is_empty() => Err(SnapshotError::damaged(
                self.blocks.payload_offset,
                "a record",
                "an empty block",
            )),
            Kind::Records => Ok(()),
            Kind::Trailer => self.trailer(),
            Kind::Header => Err(SnapshotError::damaged(
                self.blocks.payload_offset,
                "more records or the trailer",
                "a second header",
            )),
        }
    }

    /// A file system answers nothing: it is put into its table.
    fn record(&mut self) -> Result<Option<Record>, SnapshotError> {
        let mut cursor = Cursor::new(&self.blocks.payload, self.at, self.blocks.payload_offset);
        let start = cursor.offset();
        let tag = cursor.byte("a record")?;
        let record = match tag {
            encode::FILE => {
                let file = decode::file(&mut cursor, &self.previous, self.file_systems.len())?;
                self.at = cursor.at;
                self.open(&file, start)?;
                Some(Record::File(file))
            }
            encode::RANGES => {
                let Some(file) = &mut self.file else {
                    return Err(SnapshotError::damaged(
                        start,
                        "a file before its ranges",
                        "ranges",
                    ));
                };
                let ranges = decode::ranges(&mut cursor, file.end, file.pages)?;
                self.at = cursor.at;
                file.end = ranges.last().map(|range| range.end());
                self.totals.ranges += ranges.len() as u64;
                let pages: u64 = ranges.iter().map(|range| range.count).sum();
                self.totals.pages = self.totals.pages.saturating_add(pages);
                Some(Record::Ranges(ranges))
            }
            encode::FILE_SYSTEM => {
                let fs = decode::file_system(&mut cursor, self.file_systems.len())?;
                self.at = cursor.at;
                self.close_file(start)?;
                self.file_systems.push(fs);
                None
            }
            _ => return Err(SnapshotError::damaged(start, "a record of kind 1 to 3", tag)),
        };
        Ok(record)
    }

    fn open(&mut self, file: &SavedFile, start: u64) -> Result<(), SnapshotError> {
        self.close_file(start)?;
        self.previous.clone_from(&file.path);
        self.last_path = Some(file.path.clone());
        let pages = file.size_bytes.div_ceil(self.header.page_size);
        self.file = Some(Open { pages, end: None });
        self.totals.files += 1;
        Ok(())
    }

    fn close_file(&mut self, offset: u64) -> Result<(), SnapshotError> {
        match self.file.take() {
            Some(Open { end: None, .. }) => {
                Err(SnapshotError::damaged(offset, "a range of the file before", "none"))
            }
            _ => Ok(()),
        }
    }

    fn trailer(&mut self) -> Result<(), SnapshotError> {
        let start = self.blocks.payload_offset;
        let mut cursor = Cursor::new(&self.blocks.payload, 0, start);
        let (totals, check) = decode::trailer(&mut cursor)?;
        self.at = self.blocks.payload.len();
        self.close_file(start)?;
        if totals != self.totals {
            let found = format!("{totals:?} after {:?}", self.totals);
            return Err(SnapshotError::damaged(start, "the sums of all files", found));
        }
        let right = self.blocks.check_before;
        if check != right {
            let found = format!("{check:08x} for bytes that make {right:08x}");
            return Err(SnapshotError::damaged(start, "the checksum of the whole", found));
        }
        self.blocks.require_end()?;
        self.check = Some(check);
        Ok(())
    }
}
