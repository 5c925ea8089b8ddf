//! Which files occupy the cache of the whole machine, by a walk over what is mounted here: for where the kernel's own lists
//! can't be read.

mod mounts;
mod visitor;

use std::sync::atomic::AtomicBool;

use hotset_facts::{CachedFile, CachedFileSystem, Unreadable};

use crate::proc::{ProcError, mountinfo};
use crate::tree::{Selection, walk};
use mounts::places;
use visitor::Counter;

/// What was found.
#[derive(Debug)]
pub struct WalkScan {
    /// The file systems mounted here that have pages in the cache or could not be walked.
    pub file_systems: Vec<CachedFileSystem>,
    /// The files with most pages, those first.
    pub files: Vec<CachedFile>,
    /// The first of the paths that could not be read.
    pub unreadable: Vec<Unreadable>,
    /// How many there are.
    pub unreadable_count: u64,
    /// Files whose state the kernel does not tell this user.
    pub unknown_files: u64,
    /// True where `stop` ended it.
    pub interrupted: bool,
}

/// Walks every file system that is mounted here and has files on a local device or in memory, each once, and asks about
/// each file. Lists the `top` with most pages among those of at least `min_size_bytes`.
///
/// # Errors
/// Where /proc/self/mountinfo can't be read.
pub fn scan(top: usize, min_size_bytes: u64, stop: &AtomicBool) -> Result<WalkScan, ProcError> {
    let places = places(&mountinfo::own()?);
    let (walked, mut file_systems): (Vec<_>, Vec<_>) =
        places.into_iter().partition(|place| place.gap.is_none());
    let roots = walked.iter().filter_map(|place| place.mount_point.clone()).collect();
    let selection = Selection { roots, one_file_system: true, ..Selection::default() };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let counters = (0..threads).map(|_| Counter::new(walked.len(), top, min_size_bytes)).collect();
    let answer = walk(&selection, stop, counters);
    let mut all = Counter::new(walked.len(), top, min_size_bytes);
    answer.visitors.into_iter().for_each(|counter| all.merge(counter));
    let mut kept = walked;
    let files = all.finish(&mut kept);
    // The files' numbers count from the first.
    kept.append(&mut file_systems);
    Ok(WalkScan {
        file_systems: kept,
        files,
        unreadable: all.unreadable,
        unreadable_count: all.unreadable_count,
        unknown_files: all.unknown_files,
        interrupted: answer.interrupted,
    })
}

#[cfg(test)]
mod tests;
