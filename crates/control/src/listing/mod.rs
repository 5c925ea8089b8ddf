//! Listing how much of each file is cached.

mod processes;
mod visitor;

use std::sync::atomic::{AtomicBool, Ordering};

use hotset_analysis::listing::{KeptRows, Notes, RowChoice};
use hotset_facts::{ListedFile, ListingTotals, Skipped};
use hotset_sys::tree::{self, Selection};

use visitor::ResidencyVisitor;

pub use processes::Processes;

/// What to list.
#[derive(Debug)]
pub struct ListOptions {
    /// Which files; of processes, those of theirs that belong to it.
    pub selection: Selection,
    /// Processes whose files are listed instead of a tree.
    pub processes: Option<Processes>,
    /// Which rows, in which order.
    pub rows: RowChoice,
    /// Pictures of where the cached pages lie.
    pub cells: Cells,
    /// The question is whether everything is cached: the first file that isn't ends it, and what is still being read in
    /// doesn't count.
    pub asks_if_cached: bool,
    /// Every path that can't be read is named, and not only the first.
    pub name_all_unreadable: bool,
    /// Threads that look at files.
    pub threads: usize,
}

/// Where the cached pages of a file lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cells {
    /// Cells of a row; 0 where none are shown.
    pub count: usize,
    /// True where those of files that are wholly cached or not at all are wanted too.
    pub of_every_file: bool,
}

/// Takes rows that are printed as soon as they are found.
pub trait RowSink: Sync {
    /// Appends the row of a file.
    fn push(&self, file: &ListedFile, rows: &mut Vec<u8>);
    /// Prints rows; false where nobody reads them any more.
    fn print(&self, rows: &[u8]) -> bool;
}

/// Everything that was found.
#[derive(Debug)]
pub struct Listing {
    /// Sums over all files.
    pub totals: ListingTotals,
    /// What could not be told.
    pub notes: Notes,
    /// What was passed over.
    pub skipped: Skipped,
    /// True where every file is known to be wholly cached.
    pub all_cached: bool,
    /// Rows that were printed.
    pub shown: u64,
    /// True where somebody stopped it before its end.
    pub interrupted: bool,
    /// The rows that are still to be printed.
    pub kept: KeptRows,
}

/// Looks at files, and hands on rows as they are found where they need no order.
pub fn list(options: &ListOptions, stop: &AtomicBool, sink: &dyn RowSink) -> Listing {
    let shared = Shared { options, stop, sink, ended_early: AtomicBool::new(false) };
    let visitors = (0..options.threads.max(1)).map(|_| ResidencyVisitor::new(&shared)).collect();
    let walked = match &options.processes {
        Some(processes) => processes.visit(&options.selection, stop, visitors),
        None => tree::walk(&options.selection, stop, visitors),
    };
    let mut listing = Listing {
        totals: ListingTotals::default(),
        notes: Notes::new(options.name_all_unreadable),
        skipped: walked.skipped,
        all_cached: true,
        shown: 0,
        interrupted: walked.interrupted && !shared.ended_early.load(Ordering::Relaxed),
        kept: KeptRows::default(),
    };
    for mut visitor in walked.visitors {
        visitor.flush();
        listing.totals.merge(&visitor.totals);
        listing.notes.merge(visitor.notes);
        listing.all_cached &= visitor.all_cached;
        listing.shown += visitor.shown;
        listing.kept.merge(visitor.kept);
    }
    listing
}

/// What all threads share.
struct Shared<'a> {
    options: &'a ListOptions,
    stop: &'a AtomicBool,
    sink: &'a dyn RowSink,
    /// Nothing that is still to come would change what is said.
    ended_early: AtomicBool,
}

impl Shared<'_> {
    /// Prints rows; where nobody reads them any more, the walk ends.
    fn print(&self, rows: &[u8]) {
        if !self.sink.print(rows) {
            self.end_early();
        }
    }

    fn end_early(&self) {
        if !self.stop.swap(true, Ordering::Relaxed) {
            self.ended_early.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
