//! Which files occupy the cache of the whole machine, by the kernel's own lists of superblocks and inodes.
//!
//! Everything with pages is seen, whether anybody has it open or not, and wherever it is mounted. `docs/method.md` says how,
//! and what this can't see.

mod convert;
mod paths;
mod programs;
mod record;
mod states;
#[cfg(test)]
mod tests;
mod walk;

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_facts::{CachedFile, CachedFileSystem, Reason};
use hotset_sys::proc::mountinfo;

use crate::ObserveError;
use convert::{file_of, file_system_of};
use programs::Programs;

/// What to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Files at most; the kernel gives room for 65,536.
    pub top: usize,
    /// The size in bytes that a listed file has at least. All files are counted, whatever their size.
    pub min_size_bytes: u64,
}

/// What was found.
#[derive(Debug)]
pub struct InodeScan {
    /// All file systems that have pages, or could not be seen whole.
    pub file_systems: Vec<CachedFileSystem>,
    /// The files with most pages, those first.
    pub files: Vec<CachedFile>,
    /// Whether there are more file systems, and why they are not listed.
    pub gap: Option<Reason>,
    /// True where `stop` ended it.
    pub interrupted: bool,
}

const MANY_FILE_SYSTEMS: Reason =
    Reason::not_measured("more file systems than the list has room for");

/// Tries whether [`scan`] would work here: loads its programs and looks at the list of file systems.
///
/// # Errors
/// Why it would not.
pub fn probe() -> Result<usize, ObserveError> {
    Programs::load()?.superblocks().map(|(found, _)| found.len())
}

/// Counts the pages of every inode in memory, and names the files that have most. Until `stop` is set; what was counted by
/// then is in the answer.
///
/// # Errors
/// Where the kernel is too old, refuses (root is needed), or changes its lists too fast.
pub fn scan(request: &Request, stop: &AtomicBool) -> Result<InodeScan, ObserveError> {
    let mut programs = Programs::load()?;
    let (superblocks, all) = programs.superblocks()?;
    let wanted = request.top as u64;
    let mut pass =
        walk::everything(&mut programs, &superblocks, wanted, request.min_size_bytes, stop)?;
    pass.walked.retain(|walked| walked.sums.inodes_with_pages > 0 || walked.gap.is_some());
    let mut rows = programs.rows(pass.rows)?;
    let largest = |row: &record::Inode| (Reverse(row.pages), row.dev, row.ino);
    if rows.len() > request.top && request.top > 0 {
        rows.select_nth_unstable_by_key(request.top - 1, largest);
    }
    rows.truncate(request.top);
    rows.sort_by_key(largest);
    let mounts = mountinfo::own().unwrap_or_default();
    let file_systems: Vec<_> =
        pass.walked.iter().map(|walked| file_system_of(walked, &mounts)).collect();
    let mut files = Vec::with_capacity(rows.len());
    for row in &rows {
        let place = pass.walked.iter().position(|w| w.superblock.pointer == row.superblock);
        let Some(place) = place else { continue };
        let found = paths::of(&mut programs, row)?;
        files.push(file_of(row, place, found, &file_systems[place], &mounts));
    }
    states::ask(&mut files, &file_systems, stop);
    let gap = (!all).then_some(MANY_FILE_SYSTEMS);
    Ok(InodeScan { file_systems, files, gap, interrupted: stop.load(Ordering::Relaxed) })
}
