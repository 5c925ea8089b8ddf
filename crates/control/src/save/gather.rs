//! What a thread of the walk does with a file: look which pages are cached, and write that.

use std::fmt::Display;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hotset_facts::{Dev, FileId, NamedFew, PageRange};
use hotset_snapshot::{SavedFile, WriteError, Writer};
use hotset_sys::cache;
use hotset_sys::proc::users::FileUsers;
use hotset_sys::tree::{Found, Visitor};

use super::destination::Destination;
use super::systems::Systems;
use crate::unchanged::mtime_of;

/// Ranges of a file that are held before the snapshot is taken for the rest of it.
const HELD_RANGES: usize = 4096;

/// What all threads share.
pub(super) struct Shared<'a> {
    pub(super) out: Mutex<Out>,
    pub(super) users: FileUsers,
    pub(super) systems: Systems,
    /// The roots, absolute and without links, in the order of the selection.
    pub(super) roots: Vec<PathBuf>,
    /// The same as they were given.
    pub(super) given: Vec<PathBuf>,
    /// Files that are not to be saved: the snapshot itself.
    pub(super) own: Vec<FileId>,
    pub(super) stop: &'a AtomicBool,
}

/// The snapshot as far as it is written.
pub(super) struct Out {
    pub(super) writer: Writer<BufWriter<Destination>>,
    numbers: Vec<(Dev, u32)>,
    /// What went wrong with the output; nothing more is written then.
    pub(super) failed: Option<WriteError>,
}

impl Out {
    pub(super) fn new(writer: Writer<BufWriter<Destination>>) -> Self {
        Self { writer, numbers: Vec::new(), failed: None }
    }

    /// Begins a file.
    pub(super) fn begin(
        &mut self,
        file: &mut SavedFile,
        dev: Dev,
        systems: &Systems,
    ) -> Result<(), WriteError> {
        let known = self.numbers.iter().find(|(of, _)| *of == dev).map(|(_, number)| *number);
        file.file_system = match known {
            Some(number) => number,
            None => {
                let number = self.writer.file_system(&systems.of(dev))?;
                self.numbers.push((dev, number));
                number
            }
        };
        self.writer.file(file)
    }
}

/// One thread's part.
pub(super) struct SaveVisitor<'a> {
    shared: &'a Shared<'a>,
    pub(super) uncached: u64,
    pub(super) refused: NamedFew,
}

impl<'a> SaveVisitor<'a> {
    pub(super) fn new(shared: &'a Shared<'a>) -> Self {
        Self { shared, uncached: 0, refused: NamedFew::default() }
    }

    fn saved(&self, file: &Found<'_>) -> Result<SavedFile, rustix::io::Errno> {
        let stat = rustix::fs::fstat(file.fd)?;
        let (given, root) = (self.shared.given.get(file.root), self.shared.roots.get(file.root));
        let path = absolute(file.path, given.zip(root));
        Ok(SavedFile {
            path: path.as_os_str().as_bytes().to_vec(),
            file_system: 0,
            ino: file.id.ino,
            size_bytes: file.size_bytes,
            mtime: mtime_of(&stat),
            users: self.shared.users.count(file.id),
        })
    }
}

/// The path of a file that was found below a root: as it was given, and absolute without links.
fn absolute(path: &Path, root: Option<(&PathBuf, &PathBuf)>) -> PathBuf {
    let below = root.and_then(|(given, root)| Some((root, path.strip_prefix(given).ok()?)));
    match below {
        // Joining nothing would add a slash, and no file has one at its end.
        Some((root, below)) if below.as_os_str().is_empty() => root.clone(),
        Some((root, below)) => root.join(below),
        None => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

impl Visitor for SaveVisitor<'_> {
    fn file(&mut self, file: &Found<'_>) {
        if self.shared.own.contains(&file.id) {
            return;
        }
        // Most files of a large tree have nothing cached, and one call tells.
        let whole = cache::cached_pages_in(file.fd, 0, file.size_bytes);
        if whole == Ok(0) && !cache::hides_pages(file.fd) {
            self.uncached += 1;
            return;
        }
        let saved = match self.saved(file) {
            Ok(saved) => saved,
            Err(errno) => return self.refused.add(file.path, format!("fstat failed: {errno}")),
        };
        let mut pending = Pending {
            shared: self.shared,
            file: saved,
            dev: file.id.dev,
            ranges: Vec::new(),
            out: None,
            refused: None,
        };
        let span = PageRange { first: 0, count: hotset_sys::pages_of(file.size_bytes) };
        let looked = cache::visit_ranges(file.fd, span, |range| pending.add(range));
        match looked {
            Err(error) => self.refused.add(file.path, error.cause.to_string()),
            Ok(()) if pending.is_empty() => self.uncached += 1,
            Ok(()) => {}
        }
        pending.flush();
        if let Some(reason) = pending.refused {
            self.refused.add(file.path, reason);
        }
    }

    fn unreadable(&mut self, path: &Path, error: &dyn Display) {
        self.refused.add(path, error.to_string());
    }
}

/// A file whose ranges come one by one: few are written at once when all are there, many as they come.
struct Pending<'a> {
    shared: &'a Shared<'a>,
    file: SavedFile,
    dev: Dev,
    ranges: Vec<PageRange>,
    /// Held from the first write to the last: no other file may come between.
    out: Option<MutexGuard<'a, Out>>,
    /// Why the format can't hold this file.
    refused: Option<String>,
}

impl Pending<'_> {
    fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.out.is_none()
    }

    fn add(&mut self, range: PageRange) -> ControlFlow<()> {
        self.ranges.push(range);
        if self.ranges.len() >= HELD_RANGES {
            self.flush();
        }
        let stopped = self.shared.stop.load(Ordering::Relaxed);
        if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn flush(&mut self) {
        if self.ranges.is_empty() {
            return;
        }
        let first = self.out.is_none();
        let shared = self.shared;
        let out = self
            .out
            .get_or_insert_with(|| shared.out.lock().unwrap_or_else(PoisonError::into_inner));
        if out.failed.is_none() && self.refused.is_none() {
            let begun =
                if first { out.begin(&mut self.file, self.dev, &shared.systems) } else { Ok(()) };
            match begun.and_then(|()| out.writer.ranges(&self.ranges)) {
                Ok(()) => {}
                // Before anything of it was written; the next file goes on.
                Err(WriteError::Refused { expected, found }) if first => {
                    self.refused =
                        Some(format!("can't be saved: expected {expected}, found {found}"));
                }
                Err(error) => {
                    out.failed = Some(error);
                    // Nothing that is still found could be written.
                    shared.stop.store(true, Ordering::Relaxed);
                }
            }
        }
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_its_root_is_told_without_the_words_that_were_typed() {
        let told = |path: &str, given: &str, root: &str| {
            absolute(Path::new(path), Some((&given.into(), &root.into())))
        };
        assert_eq!(told("./sub/f", ".", "/srv/db"), Path::new("/srv/db/sub/f"));
        assert_eq!(told("link/f", "link", "/srv/db"), Path::new("/srv/db/f"));
        assert_eq!(told("../x/f", "../x/", "/srv/x"), Path::new("/srv/x/f"));
        let file = told("link", "link", "/srv/db/f");
        assert_eq!(
            file.as_os_str(),
            "/srv/db/f",
            "a root that is the file itself, and no slash behind it"
        );
        assert_eq!(absolute(Path::new("/a/b"), None), Path::new("/a/b"));
    }
}
