//! One timed repetition.

use std::hint::black_box;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::OFlags;

use super::memory::{Area, FileMap};
use super::{BufferKind, CacheUse, Parse, Reread};
use crate::rawio::JobError;
use crate::rawio::open::{open, size};

/// O_DIRECT wants lengths and places in multiples of the device's blocks; this is one of all that are in use.
const DIRECT_BYTES: usize = 4096;

/// Calls that were made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Calls {
    open: u64,
    read: u64,
    mmap: u64,
}

impl Calls {
    pub(super) fn plus(self, more: Self) -> Self {
        Self {
            open: self.open + more.open,
            read: self.read + more.read,
            mmap: self.mmap + more.mmap,
        }
    }

    /// Those that were made at all. `mmap` is of files.
    pub(super) fn named(self) -> Vec<(&'static str, u64)> {
        let all =
            [("open", self.open), ("fstat", self.open), ("read", self.read), ("mmap", self.mmap)];
        all.into_iter().filter(|(_, calls)| *calls > 0).collect()
    }
}

/// What a repetition did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Did {
    pub(super) bytes: u64,
    pub(super) parsed: u64,
    pub(super) calls: Calls,
}

impl Did {
    pub(super) fn memory(bytes: usize) -> Self {
        Self { bytes: bytes as u64, parsed: 0, calls: Calls::default() }
    }
}

/// Opens, reads, parses where there is a parser, and closes.
pub(super) fn read(
    job: &Reread<'_>,
    kept: Option<&mut Area>,
    parse: Option<Parse<'_>>,
) -> Result<Did, JobError> {
    let direct = job.cache == CacheUse::Direct;
    let fd = open(job.path, if direct { OFlags::DIRECT } else { OFlags::empty() })?;
    let bytes = size(job.path, &fd)?;
    let mut calls = Calls { open: 1, ..Calls::default() };
    if matches!(job.buffer, BufferKind::Mmap | BufferKind::MmapPopulate) && bytes > 0 {
        let populate = job.buffer == BufferKind::MmapPopulate;
        let map = FileMap::new(fd.as_fd(), bytes, populate)
            .map_err(|error| JobError::call(job.path, "mmap", error))?;
        black_box(map.look());
        calls.mmap = 1;
        return Ok(Did { bytes, parsed: 0, calls });
    }
    let mut own = None;
    let area = match kept {
        Some(area) => area,
        None => own.insert(job.area(bytes)?),
    };
    if (area.len() as u64) < bytes {
        return Err(JobError::wrong(job.path, "the file grew while it was read again"));
    }
    calls.read = fill(fd.as_fd(), job.path, area.bytes(), bytes)?;
    let mut parsed = 0;
    if let Some(parse) = parse {
        let document = &mut area.bytes()[..bytes as usize];
        parsed = parsed_by(job, parse, document)?;
    }
    drop(own);
    drop(fd);
    Ok(Did { bytes, parsed, calls })
}

/// Parses `document` and nothing else.
pub(super) fn parse_only(
    job: &Reread<'_>,
    document: &mut [u8],
    parse: Parse<'_>,
) -> Result<Did, JobError> {
    let bytes = document.len() as u64;
    let parsed = parsed_by(job, parse, document)?;
    Ok(Did { bytes, parsed, calls: Calls::default() })
}

fn parsed_by(job: &Reread<'_>, parse: Parse<'_>, document: &mut [u8]) -> Result<u64, JobError> {
    parse(document).map_err(|why| JobError::wrong(job.path, format!("can't be parsed: {why}")))
}

/// Reads `bytes` bytes with as few calls as the kernel allows, and says how many those were. The buffer may be larger:
/// O_DIRECT asks beyond the end of a file whose size is no multiple of a block.
pub(super) fn fill(
    fd: BorrowedFd<'_>,
    path: &Path,
    buffer: &mut [u8],
    bytes: u64,
) -> Result<u64, JobError> {
    let wanted = bytes as usize;
    let ask = wanted.next_multiple_of(DIRECT_BYTES).min(buffer.len());
    let (mut got, mut calls) = (0, 0);
    while got < wanted {
        let read = rustix::io::read(fd, &mut buffer[got..ask])
            .map_err(|errno| JobError::call(path, "read", errno))?;
        calls += 1;
        if read == 0 {
            return Err(JobError::wrong(path, format!("ends at byte {got}, expected {wanted}")));
        }
        got += read;
    }
    Ok(calls)
}
