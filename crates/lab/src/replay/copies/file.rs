//! One copy: the bytes that steps are about, from where they come from.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

/// A base page: of a page that is written in part, the rest is there to be read.
const PAGE_BYTES: u64 = 4096;
/// What is made up is written in such pieces.
const PIECE_BYTES: usize = 256 << 10;

/// Where the bytes of copies come from.
#[derive(Debug)]
pub(in crate::replay) enum Origin {
    /// The files of that name below this directory, that of the host or another. No symbolic link leads out of it.
    Below(OwnedFd),
    /// Nowhere: they are made up.
    Nowhere,
}

/// A file that is copied.
#[derive(Debug)]
pub(super) struct CopiedFile {
    /// Its names below the directory of copies: the others are links to the first.
    pub(super) names: Vec<PathBuf>,
    /// Where its bytes come from.
    pub(super) source: PathBuf,
    pub(super) size_bytes: u64,
    /// Ranges of it that steps are about, in whole pages.
    pub(super) ranges: Vec<(u64, u64)>,
    /// Steps change it; else one copy serves all replays.
    pub(super) is_changed: bool,
    /// It is a copy of nothing: a change of the plan made it, and its bytes stand for those of others.
    pub(super) is_new: bool,
}

impl CopiedFile {
    /// Makes it: whether its bytes had to be made up because those of its original are not there. A file that has no original is none.
    pub(super) fn make(&self, path: &Path, from: &Origin) -> io::Result<bool> {
        let copy = File::options().write(true).create_new(true).open(path)?;
        copy.set_len(self.size_bytes)?;
        let original = if self.is_new { None } else { from.open(&self.source) };
        let mut is_made_up = false;
        for (begin, end) in &self.ranges {
            let end = (*end).min(self.size_bytes);
            let at = match &original {
                Some(original) => copy_range(original, &copy, *begin, end)?,
                None => *begin,
            };
            is_made_up |= at < end && !self.is_new;
            make_up(&copy, at, end)?;
        }
        Ok(is_made_up)
    }
}

impl Origin {
    /// A file to read from, if there is one of this name.
    pub(in crate::replay) fn open(&self, path: &Path) -> Option<File> {
        let Self::Below(root) = self else { return None };
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let open = |flags| openat2(root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT);
        let opened = match open(flags | OFlags::NOATIME) {
            // Only its owner may ask that its time of access stays.
            Err(Errno::PERM) => open(flags),
            opened => opened,
        };
        let file = File::from(opened.ok()?);
        file.metadata().is_ok_and(|of| of.is_file()).then_some(file)
    }
}

/// Copies bytes, by reference where the file system can; up to where the original ends.
fn copy_range(from: &File, to: &File, begin: u64, end: u64) -> io::Result<u64> {
    let mut at = begin;
    while at < end {
        let (mut there, mut here) = (at, at);
        let bytes = usize::try_from(end - at).unwrap_or(usize::MAX);
        match rustix::fs::copy_file_range(from, Some(&mut there), to, Some(&mut here), bytes) {
            Ok(0) => break,
            Ok(copied) => at += copied as u64,
            // From another file system, or from one that can't.
            Err(_) => {
                let mut piece = vec![0; bytes.min(PIECE_BYTES)];
                match from.read_at(&mut piece, at)? {
                    0 => break,
                    read => {
                        to.write_all_at(piece.get(..read).unwrap_or_default(), at)?;
                        at += read as u64;
                    }
                }
            }
        }
    }
    Ok(at.min(end))
}

/// Bytes that no file system compresses.
fn make_up(file: &File, mut at: u64, end: u64) -> io::Result<()> {
    let mut random = hotset_facts::random::Random::new(at);
    while at < end {
        let bytes = (end - at).min(PIECE_BYTES as u64) as usize;
        let words = bytes.div_ceil(8);
        let mut piece: Vec<u8> = (0..words).flat_map(|_| random.number().to_ne_bytes()).collect();
        piece.truncate(bytes);
        file.write_all_at(&piece, at)?;
        at += bytes as u64;
    }
    Ok(())
}

/// These ranges in whole pages, as far as a file of this size has any.
pub(super) fn whole_pages(ranges: &[(u64, u64)], size_bytes: u64) -> Vec<(u64, u64)> {
    let end = size_bytes.next_multiple_of(PAGE_BYTES);
    let mut whole: Vec<(u64, u64)> = Vec::new();
    for (begin, last) in ranges {
        let begin = begin - begin % PAGE_BYTES;
        let last = last.next_multiple_of(PAGE_BYTES).min(end);
        match whole.last_mut() {
            Some(before) if begin <= before.1 => before.1 = before.1.max(last),
            _ if begin < last => whole.push((begin, last)),
            _ => {}
        }
    }
    whole
}
