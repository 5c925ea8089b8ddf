//! Blocks: what stands between the records and the bytes of the file.
//!
//! A block's head is checked apart from its payload: a damaged length is found before anything is read by it.

use std::io::{self, Read, Write};

use crc32fast::Hasher;

use crate::check::MAX_VERSION_BYTES;
use crate::error::{Place, SnapshotError};
use crate::{FORMAT_VERSION, cursor};

/// As PNG's: no text begins so, and a transfer that changes line ends, strips the high bit or stops at Ctrl-Z breaks it.
pub(crate) const SIGNATURE: [u8; 8] = *b"\x89HSET\r\n\x1a";
/// A block is closed once its payload has so many bytes.
pub(crate) const FULL_BYTES: usize = 64 * 1024;
/// No payload is longer: a full block and the largest record beyond it.
pub(crate) const MAX_BYTES: usize = 128 * 1024;
/// A head without its CRC.
const FIELDS_BYTES: usize = 5;

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Header = 1,
    Records = 2,
    Trailer = 3,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Header, Self::Records, Self::Trailer].into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// The CRC of a block's head. Its number is in it, so that a block that moved, or is there twice, is found.
fn head_check(number: u64, head: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(head);
    hasher.finalize()
}

/// Puts blocks out, and keeps a CRC over all of it but the CRCs. A CRC over bytes and their own CRC is the same whatever the
/// bytes are: with them in it, it would tell the lengths of the blocks and nothing of what is in them.
pub(crate) struct BlockWriter<W> {
    output: W,
    number: u64,
    all: Hasher,
}

impl<W: Write> BlockWriter<W> {
    /// Begins the file. What it writes is the same in every version of the format.
    pub(crate) fn new(output: W, written_by: &str) -> io::Result<Self> {
        let mut start = SIGNATURE.to_vec();
        start.extend(FORMAT_VERSION.to_le_bytes());
        start.push(written_by.len() as u8);
        start.extend(written_by.as_bytes());
        let mut writer = Self { output, number: 0, all: Hasher::new() };
        writer.put(&start, crc32fast::hash(&start))?;
        Ok(writer)
    }

    pub(crate) fn block(&mut self, kind: Kind, payload: &[u8]) -> io::Result<()> {
        let mut head = vec![kind as u8];
        head.extend((payload.len() as u32).to_le_bytes());
        let check = head_check(self.number, &head);
        self.number += 1;
        self.put(&head, check)?;
        self.put(payload, crc32fast::hash(payload))
    }

    fn put(&mut self, bytes: &[u8], check: u32) -> io::Result<()> {
        self.all.update(bytes);
        self.output.write_all(bytes)?;
        self.output.write_all(&check.to_le_bytes())
    }

    /// The CRC of all bytes so far but the CRCs.
    pub(crate) fn check(&self) -> u32 {
        self.all.clone().finalize()
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

/// Takes blocks in.
pub(crate) struct BlockReader<R> {
    input: R,
    number: u64,
    offset: u64,
    all: Hasher,
    /// The payload of the current block.
    pub(crate) payload: Vec<u8>,
    /// Where it begins in the file.
    pub(crate) payload_offset: u64,
    /// The CRC of all bytes before the current block but the CRCs.
    pub(crate) check_before: u32,
}

impl<R: Read> BlockReader<R> {
    /// Reads the start of the file; answers with it who wrote it.
    pub(crate) fn new(input: R) -> Result<(Self, String), SnapshotError> {
        let mut reader = Self {
            input,
            number: 0,
            offset: 0,
            all: Hasher::new(),
            payload: Vec::new(),
            payload_offset: 0,
            check_before: 0,
        };
        let mut start = [0; SIGNATURE.len() + 3];
        let got = reader.fill(&mut start)?;
        let signature = got.min(SIGNATURE.len());
        if got == 0 || start[..signature] != SIGNATURE[..signature] {
            return Err(SnapshotError::NotASnapshot);
        }
        reader.require_all(got, start.len(), "the version of the format")?;
        let [.., low, high, length] = start;
        let mut text = vec![0; usize::from(length)];
        let got = reader.fill(&mut text)?;
        reader.require_all(got, text.len(), "the version of hotset that wrote it")?;
        let right = reader.all.clone().finalize();
        reader.check(
            0,
            right,
            "the version of hotset that wrote it",
            "the checksum of the file's start",
        )?;
        let written_by = cursor::text(text.clone(), start.len() as u64)?;
        if text.len() > MAX_VERSION_BYTES {
            let found = format!("{} bytes", text.len());
            return Err(SnapshotError::damaged(10, "a version of at most 64 bytes", found));
        }
        match u16::from_le_bytes([low, high]) {
            FORMAT_VERSION => Ok((reader, written_by)),
            0 => Err(SnapshotError::damaged(8, "a version of the format from 1 on", 0)),
            version => Err(SnapshotError::Newer { version, written_by }),
        }
    }

    /// Reads the next block into `payload`. `expected` is what the file lacks if it ends here.
    pub(crate) fn next(&mut self, expected: &'static str) -> Result<Kind, SnapshotError> {
        let start = self.offset;
        self.check_before = self.all.clone().finalize();
        let mut fields = [0; FIELDS_BYTES];
        let got = self.fill(&mut fields)?;
        self.require_all(got, FIELDS_BYTES, expected)?;
        let right = head_check(self.number, &fields);
        self.check(start, right, expected, "the checksum of a block's head")?;
        let kind = Kind::from_byte(fields[0]).ok_or_else(|| {
            SnapshotError::damaged(start, "a kind of block from 1 to 3", fields[0])
        })?;
        let length = u32::from_le_bytes([fields[1], fields[2], fields[3], fields[4]]) as usize;
        if length > MAX_BYTES {
            return Err(SnapshotError::damaged(start + 1, "a block of at most 128 KiB", length));
        }
        self.number += 1;
        self.payload_offset = self.offset;
        let mut payload = std::mem::take(&mut self.payload);
        payload.resize(length, 0);
        let got = self.fill(&mut payload)?;
        self.require_all(got, length, "the rest of a block")?;
        let right = crc32fast::hash(&payload);
        self.check(
            self.payload_offset,
            right,
            "the checksum of a block",
            "the checksum of this block",
        )?;
        self.payload = payload;
        Ok(kind)
    }

    /// Nothing may follow the trailer.
    pub(crate) fn require_end(&mut self) -> Result<(), SnapshotError> {
        let end = self.offset;
        match self.fill(&mut [0])? {
            0 => Ok(()),
            _ => Err(SnapshotError::damaged(end, "the end of the file", "more bytes")),
        }
    }

    /// Reads a CRC, which has to be `right`; `missing` and `wrong` say what is expected where it isn't there or is another.
    fn check(
        &mut self,
        at: u64,
        right: u32,
        missing: &'static str,
        wrong: &'static str,
    ) -> Result<(), SnapshotError> {
        let mut stored = [0; 4];
        let got = self.read(&mut stored)?;
        self.require_all(got, stored.len(), missing)?;
        let stored = u32::from_le_bytes(stored);
        if stored == right {
            return Ok(());
        }
        let found = format!("{stored:08x} for bytes that make {right:08x}");
        Err(SnapshotError::damaged(at, wrong, found))
    }

    /// Reads until `bytes` are full or the input ends, and counts them into the CRC of the whole.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<usize, SnapshotError> {
        let got = self.read(bytes)?;
        self.all.update(&bytes[..got]);
        Ok(got)
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, SnapshotError> {
        let mut got = 0;
        while got < bytes.len() {
            match self.input.read(&mut bytes[got..]) {
                Ok(0) => break,
                Ok(read) => got += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    let place = Place::at(self.offset + got as u64);
                    return Err(SnapshotError::Read { place, source });
                }
            }
        }
        self.offset += got as u64;
        Ok(got)
    }

    fn require_all(
        &self,
        got: usize,
        wanted: usize,
        expected: &'static str,
    ) -> Result<(), SnapshotError> {
        if got == wanted {
            return Ok(());
        }
        Err(SnapshotError::Truncated { place: Place::at(self.offset), expected })
    }
}
