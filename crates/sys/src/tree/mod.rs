//! One walker for every command that looks at files.
//!
//! Each thread goes down one branch at a time with a stack of its own, reads directories in blocks, and opens what it finds
//! relative to the directory, so that no path is ever too long and none is looked up twice. A thread without work gets half
//! of the entries that another has read but not reached, the ones nearest to the root first; a flat directory is shared the
//! same way. Memory does not grow with the number of files, nor of entries in a directory; it grows with the depth, by some
//! tens of bytes a level, and by some tens of bytes for every file with more than one name. With `follow_links`, every file
//! and directory can have another name, and all are remembered.
//!
//! What is counted once: hard links; a root that was named twice; a file or directory that is a root itself and also lies
//! below another one (it belongs to its own root). The last holds for up to [`MAX_COMPARED_ROOTS`] roots. A directory that a
//! bind mount shows a second time is walked a second time.

mod dirents;
mod frame;
mod opener;
mod places;
mod roots;
mod seen;
mod share;
#[cfg(test)]
mod tests;
mod worker;

use std::fmt;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hotset_facts::{FileId, Skipped};
use rustix::fs::Stat;

pub(crate) use opener::Opener;
pub(crate) use places::Places;
pub use roots::MAX_COMPARED_ROOTS;

/// What to look at.
#[derive(Clone, Default)]
pub struct Selection {
    /// Files and directories. Symbolic links among them are followed, block devices are taken.
    pub roots: Vec<PathBuf>,
    /// Levels below a root that are entered; 0 is the roots' own files only.
    pub max_depth: Option<u32>,
    /// Don't enter directories of other file systems than their root's (another device in stat(2), as for `du -x`; a
    /// btrfs subvolume is one). A single file that is mounted from elsewhere is taken.
    pub one_file_system: bool,
    /// Follow symbolic links that are found in directories, each target once.
    pub follow_links: bool,
    /// Leave out files of fewer bytes, without counting them.
    pub min_size_bytes: u64,
    /// Which directories to enter and which files to take, if not all.
    pub filter: Option<Arc<dyn PathFilter>>,
}

impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection")
            .field("roots", &self.roots)
            .field("max_depth", &self.max_depth)
            .field("one_file_system", &self.one_file_system)
            .field("follow_links", &self.follow_links)
            .field("min_size_bytes", &self.min_size_bytes)
            .field("filter", &self.filter.is_some())
            .finish()
    }
}

/// Which directories to enter and which files to take, by path. Asked before anything is opened.
pub trait PathFilter: Send + Sync {
    /// Whether this directory is entered. Not asked about roots.
    fn enters(&self, dir: &Path) -> bool;
    /// Whether this file is taken; asked about roots too.
    fn takes(&self, file: &Path) -> bool;
}

/// A file that was found: a regular one, or a block device that is a root. Open for reading, not waiting, and without
/// touching the access time where that is allowed.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// Its root's path with the names below it.
    pub path: &'a Path,
    /// Closed after the visit.
    pub fd: BorrowedFd<'a>,
    /// Its identity.
    pub id: FileId,
    /// Its size in bytes; the capacity for a block device.
    pub size_bytes: u64,
    /// What fstat(2) said after it was opened: links, mode, owner, times.
    pub stat: &'a Stat,
    /// The index of its root among the selection's.
    pub root: usize,
    /// The device of the directory where it was found. On overlayfs the file's own can be another; both together tell
    /// the file system.
    pub place_dev: u64,
}

/// What is done with what is found. Each belongs to one thread.
pub trait Visitor: Send {
    /// A file; never the same one twice.
    fn file(&mut self, file: &Found<'_>);
    /// A path that can't be read, with the kernel's answer; a directory that can't be is named once.
    fn unreadable(&mut self, path: &Path, error: &dyn fmt::Display);
}

/// The end of a walk.
#[derive(Debug)]
pub struct Walked<V> {
    /// The visitors, as they were given.
    pub visitors: Vec<V>,
    /// What was passed over.
    pub skipped: Skipped,
    /// True where the walk was stopped before its end.
    pub interrupted: bool,
}

/// Shows every selected file to one of `visitors`, with a thread for each, as far as the system
/// allows threads; the first one's is the calling thread. Without a visitor nothing is looked at. Once `stop` is true the walk ends after the files that are being visited.
pub fn walk<V: Visitor>(
    selection: &Selection,
    stop: &AtomicBool,
    mut visitors: Vec<V>,
) -> Walked<V> {
    let shared = share::Shared::new(selection, stop, visitors.len());
    let mut skipped = Skipped::default();
    if let Some((first, others)) = visitors.split_first_mut() {
        std::thread::scope(|scope| {
            let shared = &shared;
            let threads: Vec<_> = others
                .iter_mut()
                .filter_map(|visitor| {
                    let run = || worker::Worker::new(shared, visitor).run();
                    // Where there can't be another thread, fewer do it all.
                    let spawned = std::thread::Builder::new().spawn_scoped(scope, run);
                    spawned.inspect_err(|_| shared.one_fewer()).ok()
                })
                .collect();
            skipped = worker::Worker::new(shared, first).run();
            for thread in threads {
                match thread.join() {
                    Ok(part) => skipped.merge(&part),
                    // A visitor's panic goes on where a visitor of this thread would have panicked.
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }
    Walked { visitors, skipped, interrupted: shared.was_interrupted() }
}
