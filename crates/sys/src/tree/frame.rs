//! The directories between a thread's root and where it is, of which only the lowest are kept open.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{SeekFrom, Stat};
use rustix::io::Errno;

use super::dirents::Entries;
use super::opener::Opener;

/// A directory that is being read.
pub(super) struct Frame {
    /// Nothing while it is closed to save descriptors.
    pub(super) dir: Option<Arc<OwnedFd>>,
    pub(super) entries: Entries,
    /// Whether the directory can have entries beyond those.
    pub(super) more: bool,
    /// Where to go on reading once all entries before are dealt with or dropped.
    pub(super) cookie: u64,
    /// The length of its path.
    pub(super) path_len: usize,
    /// Levels below its root.
    pub(super) depth: u32,
    pub(super) dev: u64,
    ino: u64,
}

impl Frame {
    /// A directory of which nothing was read.
    pub(super) fn new(
        dir: OwnedFd,
        stat: &Stat,
        buffer: Vec<u8>,
        path_len: usize,
        depth: u32,
    ) -> Self {
        Self {
            dir: Some(Arc::new(dir)),
            entries: Entries::in_buffer(buffer),
            more: true,
            cookie: 0,
            path_len,
            depth,
            dev: stat.st_dev,
            ino: stat.st_ino,
        }
    }

    /// Its descriptor, while it has one.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.dir.as_ref().map(|dir| dir.as_fd())
    }

    /// Reads the next entries; false at its end.
    pub(super) fn read_on(&mut self) -> Result<bool, Errno> {
        match &self.dir {
            Some(dir) if self.more => self.entries.fill(dir.as_fd()),
            _ => Ok(false),
        }
    }

    /// Takes half of its entries out, as a directory of their own.
    pub(super) fn split(&mut self) -> Option<Self> {
        let dir = self.dir.clone()?;
        let (entries, cookie) = self.entries.split()?;
        self.cookie = cookie;
        Some(Self { dir: Some(dir), entries, more: false, ..*self })
    }

    fn is(&self, stat: &Stat) -> bool {
        (self.dev, self.ino) == (stat.st_dev, stat.st_ino)
    }
}

/// The open and closed directories of a thread, the one nearest to the root first.
#[derive(Default)]
pub(super) struct Stack {
    frames: Vec<Frame>,
    /// The closed ones are `1..first_open`.
    first_open: usize,
}

impl Stack {
    /// Puts a directory on top, and closes the one furthest above it where more than `limit` are open.
    pub(super) fn push(&mut self, frame: Frame, limit: usize) {
        if self.frames.is_empty() {
            self.first_open = 1;
        }
        self.frames.push(frame);
        // The lowest stays open: it may hold entries that exist nowhere else, and is what closed ones are found from.
        while self.frames.len() - self.first_open > limit {
            let frame = &mut self.frames[self.first_open];
            frame.dir = None;
            frame.entries = Entries::default();
            frame.more = true;
            self.first_open += 1;
        }
    }

    /// Takes the top off.
    pub(super) fn pop(&mut self) -> Option<Frame> {
        let top = self.frames.pop();
        self.first_open = self.first_open.min(self.frames.len()).max(1);
        top
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
    }

    /// Splits the directory nearest to the root that has entries left.
    pub(super) fn split_highest(&mut self) -> Option<Frame> {
        let first_open = self.first_open;
        let mut open =
            self.frames.iter_mut().enumerate().filter(|(i, _)| *i == 0 || *i >= first_open);
        open.find(|(_, frame)| frame.entries.left() > 0)?.1.split()
    }

    /// Opens the top again, if it is closed, from the directory below it that was left. Fails where the directory was
    /// moved or removed meanwhile.
    pub(super) fn reopen_top(
        &mut self,
        left: Option<BorrowedFd<'_>>,
        path: &[u8],
        opener: &mut Opener,
        follow: bool,
    ) -> Result<(), Errno> {
        let Some(top) = self.frames.last().filter(|frame| frame.dir.is_none()) else {
            return Ok(());
        };
        let parent = left.and_then(|left| {
            opener.directory(left, c"..", false).ok().filter(|(_, stat)| top.is(stat))
        });
        let (dir, _) = match parent {
            Some(found) => found,
            None => self.by_name(path, opener, follow)?,
        };
        let index = self.frames.len() - 1;
        let top = &mut self.frames[index];
        rustix::fs::seek(&dir, SeekFrom::Start(top.cookie))?;
        top.dir = Some(Arc::new(dir));
        self.first_open = index;
        Ok(())
    }

    /// Goes down by name again, for a directory that was moved or entered through a symbolic link.
    fn by_name(
        &self,
        path: &[u8],
        opener: &mut Opener,
        follow: bool,
    ) -> Result<(OwnedFd, Stat), Errno> {
        let mut found: Option<(OwnedFd, Stat)> = None;
        for pair in self.frames.windows(2) {
            let name = path.get(pair[0].path_len..pair[1].path_len).ok_or(Errno::NOENT)?;
            let name = name.strip_prefix(b"/").unwrap_or(name);
            let name = CString::new(name).map_err(|_| Errno::INVAL)?;
            let dir = match &found {
                Some((dir, _)) => dir.as_fd(),
                None => pair[0].fd().ok_or(Errno::STALE)?,
            };
            found = Some(opener.directory(dir, &name, follow)?);
        }
        match (found, self.frames.last()) {
            (Some(found), Some(top)) if top.is(&found.1) => Ok(found),
            _ => Err(Errno::STALE),
        }
    }
}
