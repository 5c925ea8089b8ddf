//! One thread of a walk: how it goes down, comes back, and gives work away.

mod entry;

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use hotset_facts::Skipped;
use rustix::fs::{CWD, FileType, OFlags};
use rustix::io::Errno;

use super::frame::{Frame, Stack};
use super::share::{Piece, Shared, Task};
use super::{Opener, Places, Visitor};

/// Entries between two looks at whether another thread has nothing to do.
const SHARE_EVERY: u32 = 32;
/// Bytes of entries below which the directory at hand is not worth sharing.
const WORTH_SHARING: usize = 2 << 10;
/// Buffers that are kept for the next directories.
const KEPT_BUFFERS: usize = 16;

/// A thread with its visitor.
pub(super) struct Worker<'a, V> {
    shared: &'a Shared<'a>,
    visitor: &'a mut V,
    opener: Opener,
    places: Places,
    stack: Stack,
    /// The path of what is looked at.
    path: Vec<u8>,
    root: usize,
    root_dev: u64,
    buffers: Vec<Vec<u8>>,
    until_share: u32,
    skipped: Skipped,
}

/// How the reading of a directory came to a stop.
enum Scan {
    /// At its end.
    Done,
    /// At a directory in it.
    Enter(Frame),
    /// Because the walk is over.
    Stopped,
}

/// The directory at hand.
#[derive(Clone, Copy)]
struct Here<'a> {
    fd: BorrowedFd<'a>,
    dev: u64,
    depth: u32,
}

impl<'a, V: Visitor> Worker<'a, V> {
    pub(super) fn new(shared: &'a Shared<'a>, visitor: &'a mut V) -> Self {
        Self {
            shared,
            visitor,
            opener: Opener::new(),
            places: Places::default(),
            stack: Stack::default(),
            path: Vec::new(),
            root: 0,
            root_dev: 0,
            buffers: Vec::new(),
            until_share: SHARE_EVERY,
            skipped: Skipped::default(),
        }
    }

    /// Works until nothing is left for any thread, and tells what this one passed over.
    pub(super) fn run(mut self) -> Skipped {
        let guard = OnPanic(self.shared);
        while let Some(task) = self.shared.next() {
            match task {
                Task::Root(index) => self.begin(index),
                Task::Piece(piece) => {
                    (self.path, self.root, self.root_dev) =
                        (piece.path, piece.root, piece.root_dev);
                    self.stack.push(piece.frame, self.shared.open_limit);
                }
            }
            self.drain();
        }
        drop(guard);
        self.skipped
    }

    fn begin(&mut self, index: usize) {
        let selection = self.shared.selection;
        let path = &selection.roots[index];
        self.root = index;
        self.path.clear();
        self.path.extend_from_slice(path.as_os_str().as_bytes());
        let stat = match rustix::fs::stat(path) {
            Ok(stat) => stat,
            Err(errno) => return self.unreadable(errno),
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        let useful =
            matches!(kind, FileType::Directory | FileType::RegularFile | FileType::BlockDevice);
        if !useful || self.places.named_has_no_pages(path, stat.st_dev) {
            self.skipped.not_cacheable += 1;
        } else if self.shared.roots.owned_by_another(crate::file_id(&stat), index) {
            self.skipped.repeated_links += 1;
        } else if kind == FileType::Directory {
            match self.opener.open(CWD, path.as_path(), OFlags::DIRECTORY) {
                Ok(fd) => self.begin_directory(fd),
                Err(errno) => self.unreadable(errno),
            }
        } else if selection.filter.as_deref().is_none_or(|filter| filter.takes(path)) {
            match self.opener.open(CWD, path.as_path(), OFlags::empty()) {
                Ok(fd) => self.opened(&fd, None),
                Err(errno) => self.unreadable(errno),
            }
        }
    }

    fn begin_directory(&mut self, fd: OwnedFd) {
        let stat = match rustix::fs::fstat(&fd) {
            Ok(stat) => stat,
            Err(errno) => return self.unreadable(errno),
        };
        self.opener.opened(&fd, &stat);
        self.root_dev = stat.st_dev;
        // Reached through a symbolic link before this root's turn.
        if self.shared.selection.follow_links && !self.shared.seen.is_new(crate::file_id(&stat)) {
            self.skipped.repeated_links += 1;
            return;
        }
        let frame = Frame::new(fd, &stat, self.buffer(), self.path.len(), 0);
        self.stack.push(frame, self.shared.open_limit);
    }

    /// Walks what is on the stack.
    fn drain(&mut self) {
        while let Some(mut top) = self.stack.pop() {
            self.path.truncate(top.path_len);
            match self.scan(&mut top) {
                Scan::Enter(child) => {
                    self.stack.push(top, self.shared.open_limit);
                    self.stack.push(child, self.shared.open_limit);
                    if self.shared.is_hungry() {
                        self.share_above();
                    }
                }
                Scan::Done => self.leave(top),
                Scan::Stopped => self.stack.clear(),
            }
        }
    }

    /// Goes back up from a directory that is done.
    fn leave(&mut self, done: Frame) {
        let follow = self.shared.selection.follow_links;
        let mut left = done.fd();
        while let Err(errno) = self.stack.reopen_top(left, &self.path, &mut self.opener, follow) {
            if let Some(lost) = self.stack.pop() {
                self.path.truncate(lost.path_len);
                self.unreadable(errno);
            }
            left = None;
        }
        if self.buffers.len() < KEPT_BUFFERS {
            self.buffers.push(done.entries.into_buffer());
        }
    }

    fn scan(&mut self, top: &mut Frame) -> Scan {
        loop {
            while top.entries.left() > 0 {
                if self.shared.stopped() {
                    return Scan::Stopped;
                }
                self.share_now_and_then(top);
                let Frame { dir, entries, cookie, path_len, depth, dev, .. } = &mut *top;
                let (Some(dir), Some(entry)) = (dir.as_ref(), entries.next()) else {
                    return Scan::Done;
                };
                *cookie = entry.cookie;
                self.path.truncate(*path_len);
                let here = Here { fd: dir.as_fd(), dev: *dev, depth: *depth };
                if let Some(child) = self.entry(here, &entry) {
                    return Scan::Enter(child);
                }
            }
            self.path.truncate(top.path_len);
            match top.read_on() {
                Ok(true) => {}
                // It was removed.
                Ok(false) | Err(Errno::NOENT) => return Scan::Done,
                Err(errno) => {
                    self.unreadable(errno);
                    return Scan::Done;
                }
            }
        }
    }

    fn share_now_and_then(&mut self, top: &mut Frame) {
        self.until_share -= 1;
        if self.until_share > 0 {
            return;
        }
        self.until_share = SHARE_EVERY;
        if self.shared.is_hungry() && !self.share_above() && top.entries.left() > WORTH_SHARING {
            self.path.truncate(top.path_len);
            self.give(top.split());
        }
    }

    /// Gives away what is nearest to the root, because most can hang on it.
    fn share_above(&mut self) -> bool {
        let piece = self.stack.split_highest();
        self.give(piece)
    }

    fn give(&self, frame: Option<Frame>) -> bool {
        let Some(frame) = frame else { return false };
        let path = self.path.get(..frame.path_len).unwrap_or_default().to_vec();
        self.shared.give(Piece { frame, path, root: self.root, root_dev: self.root_dev });
        true
    }

    fn not_opened(&mut self, errno: Errno) {
        match errno {
            // Removed, or replaced by a link or something else, since the directory was read.
            Errno::NOENT | Errno::LOOP | Errno::NOTDIR => self.skipped.vanished += 1,
            // A socket or a pipe by now.
            Errno::NXIO => self.skipped.not_cacheable += 1,
            errno => self.unreadable(errno),
        }
    }

    fn unreadable(&mut self, errno: Errno) {
        self.visitor.unreadable(Path::new(OsStr::from_bytes(&self.path)), &errno);
    }

    fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    fn buffer(&mut self) -> Vec<u8> {
        self.buffers.pop().unwrap_or_default()
    }
}

/// Keeps the other threads from waiting for one that died.
struct OnPanic<'a, 'b>(&'a Shared<'b>);

impl Drop for OnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}
