//! What a thread does with one entry of a directory.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, OFlags, Stat};
use rustix::io::Errno;

use super::super::dirents::Entry;
use super::super::frame::Frame;
use super::super::{Found, Visitor};
use super::{Here, Worker};

impl<V: Visitor> Worker<'_, V> {
    /// Deals with one entry; what comes back is a directory to go into.
    pub(super) fn entry(&mut self, here: Here<'_>, entry: &Entry<'_>) -> Option<Frame> {
        let name = entry.name.to_bytes();
        if name == b"." || name == b".." {
            return None;
        }
        if self.path.last() != Some(&b'/') {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        let mut kind = entry.kind;
        if kind == FileType::Unknown {
            kind = self.look_up(here, entry.name, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        let through_link = kind == FileType::Symlink && self.shared.selection.follow_links;
        if through_link {
            kind = self.look_up(here, entry.name, AtFlags::empty())?;
        }
        match kind {
            FileType::Directory => return self.directory(here, entry.name, through_link),
            FileType::RegularFile => self.file(here, entry.name, through_link),
            FileType::Symlink => self.skipped.symlinks += 1,
            // Opening a device can do things; who wants one names it.
            _ => self.skipped.not_cacheable += 1,
        }
        None
    }

    fn look_up(&mut self, here: Here<'_>, name: &CStr, flags: AtFlags) -> Option<FileType> {
        match rustix::fs::statat(here.fd, name, flags) {
            Ok(stat) => return Some(FileType::from_raw_mode(stat.st_mode)),
            // A link to nothing, or to itself.
            Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) if flags.is_empty() => {
                self.skipped.symlinks += 1;
            }
            Err(Errno::NOENT) => self.skipped.vanished += 1,
            Err(errno) => self.unreadable(errno),
        }
        None
    }

    fn directory(&mut self, here: Here<'_>, name: &CStr, through_link: bool) -> Option<Frame> {
        let selection = self.shared.selection;
        let depth = here.depth.saturating_add(1);
        if selection.max_depth.is_some_and(|max| depth > max)
            || selection.filter.as_deref().is_some_and(|filter| !filter.enters(self.path()))
        {
            return None;
        }
        let (fd, stat) = match self.opener.directory(here.fd, name, through_link) {
            Ok(opened) => opened,
            Err(errno) => {
                self.not_opened(errno);
                return None;
            }
        };
        let id = crate::file_id(&stat);
        if self.shared.roots.owned_by_another(id, self.root) {
            return None;
        }
        if selection.one_file_system && stat.st_dev != self.root_dev {
            self.skipped.other_file_systems += 1;
            return None;
        }
        if stat.st_dev != here.dev && self.places.has_no_pages(stat.st_dev, stat.st_dev, fd.as_fd())
        {
            self.skipped.not_cacheable += 1;
            return None;
        }
        if selection.follow_links && !self.shared.seen.is_new(id) {
            self.skipped.repeated_links += 1;
            return None;
        }
        Some(Frame::new(fd, &stat, self.buffer(), self.path.len(), depth))
    }

    fn file(&mut self, here: Here<'_>, name: &CStr, through_link: bool) {
        if self.shared.selection.filter.as_deref().is_some_and(|filter| !filter.takes(self.path()))
        {
            return;
        }
        let follow = if through_link { OFlags::empty() } else { OFlags::NOFOLLOW };
        match self.opener.open(here.fd, name, follow) {
            Ok(fd) => self.opened(&fd, Some(here.dev)),
            Err(errno) => self.not_opened(errno),
        }
    }

    /// Shows an open file to the visitor, if it is one. `place` is the directory's device, nothing for a root.
    pub(super) fn opened(&mut self, fd: &OwnedFd, place: Option<u64>) {
        let stat = match rustix::fs::fstat(fd) {
            Ok(stat) => stat,
            Err(errno) => return self.unreadable(errno),
        };
        self.opener.opened(fd, &stat);
        // The name can have changed its meaning since it was read.
        let is_file = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => true,
            FileType::BlockDevice => place.is_none(),
            _ => false,
        };
        let place_dev = place.unwrap_or(stat.st_dev);
        if !is_file
            || (place_dev != stat.st_dev
                && self.places.has_no_pages(place_dev, stat.st_dev, fd.as_fd()))
        {
            self.skipped.not_cacheable += 1;
            return;
        }
        let size_bytes = match crate::cache::size_of(fd.as_fd(), &stat) {
            Ok(size_bytes) => size_bytes,
            Err(cause) => {
                let path = Path::new(OsStr::from_bytes(&self.path));
                return self.visitor.unreadable(path, &cause);
            }
        };
        if size_bytes < self.shared.selection.min_size_bytes {
            return;
        }
        if self.is_repeated(&stat, place.is_none()) {
            self.skipped.repeated_links += 1;
            return;
        }
        let path = Path::new(OsStr::from_bytes(&self.path));
        let id = crate::file_id(&stat);
        let (fd, root) = (fd.as_fd(), self.root);
        self.visitor.file(&Found { path, fd, id, size_bytes, stat: &stat, root, place_dev });
    }

    fn is_repeated(&self, stat: &Stat, is_root: bool) -> bool {
        let shared = self.shared;
        let id = crate::file_id(stat);
        if !is_root && shared.roots.has_files() && shared.roots.owned_by_another(id, self.root) {
            return true;
        }
        let can_be = stat.st_nlink > 1
            || shared.selection.follow_links
            || (is_root && shared.selection.roots.len() > 1);
        can_be && !shared.seen.is_new(id)
    }
}
