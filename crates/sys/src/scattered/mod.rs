//! Bringing many ranges of many files into the cache, exactly those, in the order in which they lie on their devices.
//!
//! A [`Scattered`] set is filled file by file, put in order, read, and verified. It holds no file open and takes about 100
//! bytes a range and a file, so a caller with more than fits takes it in parts.

mod place;
mod read;

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use hotset_facts::{FileId, Observed, PageRange};

use crate::cache::{ResidencyCause, ResidencyError, cached_pages_in, hides_pages, visit_ranges};

pub use read::{Failure, Read};

/// A large range is read in parts of this size, so that threads can share it: four of the blocks that one fault reads.
const PART_BYTES: u64 = 8 << 20;

/// Ranges of files, to be read together.
#[derive(Debug, Default)]
pub struct Scattered {
    files: Vec<File>,
    ranges: Vec<PageRange>,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    id: FileId,
    ranges: std::ops::Range<usize>,
}

/// A part of a range that is missing, and lies in one piece on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    file: u32,
    range: PageRange,
    /// Its place on the device in bytes; nothing where nobody tells.
    physical: Option<u64>,
}

/// What was found of a file when it was added, in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Added {
    /// Pages of the ranges.
    pub wanted: u64,
    /// Pages among them that are cached and up to date already.
    pub cached: Observed<u64>,
}

/// What is cached of the whole set, in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reached {
    /// Pages that are cached and up to date.
    pub cached: u64,
    /// Pages of files about which the kernel tells this user nothing.
    pub unknown: u64,
}

impl Scattered {
    /// How many ranges there are.
    pub fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// True where nothing was added.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Pages that are missing, and would be read.
    pub fn missing_pages(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.range.count).sum()
    }

    /// Adds ranges of the open file `path`, ascending and apart from each other. What is cached of them is left out of what
    /// will be read.
    pub fn add(
        &mut self,
        path: &Path,
        fd: impl AsFd,
        id: FileId,
        size_bytes: u64,
        ranges: &[PageRange],
    ) -> Added {
        let fd = fd.as_fd();
        let wanted = ranges.iter().map(|range| range.count).sum();
        let start = self.ranges.len();
        let number = self.files.len() as u32;
        self.ranges.extend_from_slice(ranges);
        self.files.push(File { path: path.to_owned(), id, ranges: start..self.ranges.len() });
        let counted = cached_of(fd, size_bytes, ranges);
        let missing: Vec<PageRange> = match &counted {
            Ok(counted) => {
                let missing = ranges
                    .iter()
                    .zip(&counted.each)
                    .filter(|(range, cached)| **cached < range.count);
                missing.map(|(range, _)| *range).collect()
            }
            Err(_) => ranges.to_vec(),
        };
        place::pieces(fd, &missing, |range, physical| {
            self.pieces.push(Piece { file: number, range, physical });
        });
        let cached = match counted {
            Ok(counted) => Observed::Value(counted.each.iter().sum()),
            Err(error) => Observed::Missing(error.reason()),
        };
        Added { wanted, cached }
    }

    /// Puts what is to be read in the order of the devices; where a file system doesn't tell, of the inode numbers.
    pub fn order_by_device(&mut self) {
        let files = &self.files;
        self.pieces.sort_unstable_by_key(|piece| {
            let id = files[piece.file as usize].id;
            (id.dev, piece.physical, id.ino, piece.range.first)
        });
        self.pieces = shared_out(&self.pieces);
    }

    /// Puts what is to be read in the order of adding, each file from its start.
    pub fn order_as_added(&mut self) {
        self.pieces.sort_unstable_by_key(|piece| (piece.file, piece.range.first));
        self.pieces = shared_out(&self.pieces);
    }

    /// The same by path.
    pub fn order_by_path(&mut self) {
        let files = &self.files;
        self.pieces.sort_unstable_by(|a, b| {
            let [of_a, of_b] = [a, b].map(|piece| &files[piece.file as usize].path);
            of_a.cmp(of_b).then(a.range.first.cmp(&b.range.first))
        });
        self.pieces = shared_out(&self.pieces);
    }
}

/// The size in bytes of an open file that `stat` describes; the capacity of a block device.
///
/// # Errors
/// Where a block device doesn't tell.
pub fn size_bytes(fd: impl AsFd, stat: &rustix::fs::Stat) -> Result<u64, ResidencyCause> {
    crate::cache::residency::size_of(fd.as_fd(), stat)
}

/// Joins pieces that follow each other in their file, and cuts what is large at multiples of the part size.
fn shared_out(pieces: &[Piece]) -> Vec<Piece> {
    let part_pages = (PART_BYTES / crate::page_size()).max(1);
    let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut add = |piece: Piece| {
        let mut rest = piece;
        while rest.range.count > 0 {
            let room = part_pages - rest.range.first % part_pages;
            let count = rest.range.count.min(room);
            joined.push(Piece { range: PageRange { first: rest.range.first, count }, ..rest });
            rest.range =
                PageRange { first: rest.range.first + count, count: rest.range.count - count };
        }
    };
    let mut current: Option<Piece> = None;
    for piece in pieces {
        match &mut current {
            Some(last) if last.file == piece.file && last.range.end() == piece.range.first => {
                last.range.count += piece.range.count;
            }
            _ => {
                if let Some(done) = current.replace(*piece) {
                    add(done);
                }
            }
        }
    }
    if let Some(last) = current {
        add(last);
    }
    joined
}

/// Pages that are cached and up to date.
struct Counted {
    /// Of each range.
    each: Vec<u64>,
    /// From the first range's start to the last one's end, with what lies between ranges.
    all: u64,
}

/// How many pages of each range are cached and up to date.
fn cached_of(
    fd: BorrowedFd<'_>,
    size_bytes: u64,
    ranges: &[PageRange],
) -> Result<Counted, ResidencyError> {
    let mut counted = Counted { each: vec![0; ranges.len()], all: 0 };
    // Nothing at all is the usual case after a start, and known by one call.
    if cached_pages_in(fd, 0, size_bytes) == Ok(0) && !hides_pages(fd) {
        return Ok(counted);
    }
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
        return Ok(counted);
    };
    let span = PageRange { first: first.first, count: last.end() - first.first };
    let mut at = 0;
    visit_ranges(fd, span, |run| {
        counted.all += run.count;
        while at < ranges.len() && ranges[at].end() <= run.first {
            at += 1;
        }
        let overlapping = ranges[at..].iter().zip(&mut counted.each[at..]);
        for (range, count) in overlapping.take_while(|(range, _)| range.first < run.end()) {
            *count += range.end().min(run.end()) - range.first.max(run.first);
        }
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(counted)
}

#[cfg(test)]
mod tests;
