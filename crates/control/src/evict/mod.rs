//! Evicting: asking the kernel to forget the files, and finding out what stayed and why.

mod outcome;

use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use hotset_facts::{ControlNote, ControlReport, ControlVerb, ControlledFile};
use hotset_sys::cache::{self, ByteSpan, Dirty};
use hotset_sys::proc::meminfo;
use hotset_sys::tree::{Found, Selection, Visitor, Walked, walk};

use crate::ControlFailure;
use crate::outcomes::{Controlled, Named, Outcomes, changed, unchanged};

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
    pub named: Named,
}

/// Asks the kernel to forget the files, and says what stayed and why.
pub fn evict(options: &EvictOptions, stop: &AtomicBool) -> Controlled {
    let begun = Instant::now();
    let visitors = (0..THREADS)
        .map(|_| EvictVisitor {
            outcomes: Outcomes::new(ControlVerb::Evict, options.named),
            span: options.span,
            dirty: options.dirty,
        })
        .collect();
    let walked = walk(&options.selection, stop, visitors);
    let mut report = Outcomes::new(ControlVerb::Evict, options.named).report(walked, begun);
    name_holders(&mut report.files);
    Controlled { report, notes: Vec::new() }
}

/// Drops all clean cache of the host, after writing out what is dirty if asked.
///
/// # Errors
/// Where this user may not, or /proc/meminfo can't be read.
pub fn evict_everything(dirty: Dirty) -> Result<Controlled, ControlFailure> {
    let begun = Instant::now();
    let before = meminfo::now()?;
    cache::drop_everything(dirty == Dirty::Write).map_err(ControlFailure::DropCaches)?;
    let after = meminfo::now()?;
    let nothing: Walked<EvictVisitor> =
        Walked { visitors: Vec::new(), skipped: Default::default(), interrupted: false };
    let report: ControlReport =
        Outcomes::new(ControlVerb::Evict, Named::Largest).report(nothing, begun);
    Ok(Controlled { report, notes: vec![ControlNote::Dropped { before, after }] })
}

struct EvictVisitor {
    outcomes: Outcomes,
    span: ByteSpan,
    dirty: Dirty,
}

impl Visitor for EvictVisitor {
    fn file(&mut self, file: &Found<'_>) {
        let outcome = match cache::evict_span(file.fd, file.path, self.span, self.dirty) {
            Ok(evicted) => ControlledFile {
                stayed: evicted.stayed,
                ..changed(file.path, file.id, evicted.size_bytes, evicted.change)
            },
            Err(error) => unchanged(file.path, file.id, file.size_bytes, &error),
        };
        self.outcomes.add(outcome);
    }

    fn unreadable(&mut self, path: &Path, error: &dyn Display) {
        self.outcomes.add_unreadable(path, error);
    }
}

impl From<EvictVisitor> for Outcomes {
    fn from(visitor: EvictVisitor) -> Self {
        visitor.outcomes
    }
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
