//! Evicting: asking the kernel to forget the files, and finding out what stayed and why.

mod outcome;

use std::sync::atomic::AtomicBool;

use hotset_facts::{ControlNote, ControlVerb, ControlledFile};
use hotset_sys::cache::{self, ByteSpan, Dirty};
use hotset_sys::proc::meminfo;
use hotset_sys::tree::{Found, Selection};

use crate::ControlFailure;
use crate::outcomes::{Controlled, NamedFiles, Outcomes, changed};

/// Evicting is work for a CPU and not for a device.
const THREADS: usize = 2;

/// What to evict.
#[derive(Debug)]
pub struct EvictOptions {
    /// Which files.
    pub selection: Selection,
    /// Which part of each.
    pub span: ByteSpan,
    /// What to do with dirty pages.
    pub dirty: Dirty,
    /// Which files the report names.
    pub named: NamedFiles,
}

/// Asks the kernel to forget the files, and says what stayed and why.
pub fn evict(options: &EvictOptions, stop: &AtomicBool) -> Controlled {
    let visit = |file: &Found<'_>, outcomes: &mut Outcomes| {
        let evicted = cache::evict_span(file.fd, file.path, options.span, options.dirty);
        let outcome = evicted.map(|evicted| ControlledFile {
            stayed: evicted.stayed,
            ..changed(file.path, file.id, evicted.size_bytes, evicted.change)
        });
        outcomes.add_result(file, outcome);
    };
    let outcomes = Outcomes::new(ControlVerb::Evict, options.named);
    let mut report = outcomes.gather(&options.selection, stop, vec![&visit; THREADS]).report();
    name_holders(&mut report.files);
    Controlled { report, notes: Vec::new() }
}

/// Drops all clean cache of the host, after writing out what is dirty if asked.
///
/// # Errors
/// Where this user may not, or /proc/meminfo can't be read.
pub fn evict_everything(dirty: Dirty) -> Result<Controlled, ControlFailure> {
    let outcomes = Outcomes::new(ControlVerb::Evict, NamedFiles::Largest);
    let before = meminfo::now()?;
    cache::drop_everything(dirty == Dirty::Write).map_err(ControlFailure::DropCaches)?;
    let after = meminfo::now()?;
    let notes = vec![ControlNote::Dropped { before, after }];
    Ok(Controlled { report: outcomes.report(), notes })
}

/// Puts processes in the place of what is not known: one look at all of them for all files.
fn name_holders(files: &mut [ControlledFile]) {
    let unexplained = || files.iter().filter(|file| outcome::is_unexplained(file));
    let asked: Vec<_> = unexplained().map(|file| (file.id, file.path.clone())).collect();
    let holders = cache::holders(&asked);
    for file in files.iter_mut().filter(|file| outcome::is_unexplained(file)) {
        outcome::name_holders(&mut file.stayed, holders.of(file.id));
    }
}

#[cfg(test)]
mod tests;
