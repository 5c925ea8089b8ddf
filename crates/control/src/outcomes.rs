//! What became of each file: gathered by the threads of a walk, then put together.

use std::cmp::Reverse;
use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use hotset_facts::{
    ControlNote, ControlReport, ControlTotals, ControlVerb, ControlledFile, FileId, Observed,
    Reason, Unreadable,
};
use hotset_sys::cache::{CacheChange, ControlError};
use hotset_sys::tree::{Found, Selection, Visitor, Walked, walk};

/// Files that are not as they should be and that a report names at most, if not all are asked for: the rest is counted.
const NAMED_FILES: usize = 1000;

/// The end of a command that changes cache states.
#[derive(Debug)]
pub struct Controlled {
    /// What was reached; its notes are not filled in.
    pub report: ControlReport,
    /// What else the reader has to know.
    pub notes: Vec<ControlNote>,
}

/// Which files a report names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NamedFiles {
    /// Those with the most pages that are not where they should be.
    #[default]
    Largest,
    /// Every file that is not as it should be.
    Short,
    /// Every file.
    All,
}

/// What became of the files so far.
#[derive(Debug)]
pub(crate) struct Outcomes {
    named: NamedFiles,
    begun: Instant,
    report: ControlReport,
}

/// A thread of a walk: what it does with a file, and what became of its files.
struct Thread<F> {
    visit: F,
    outcomes: Outcomes,
}

impl Outcomes {
    /// The clock of the report runs from now on.
    pub(crate) fn new(verb: ControlVerb, named: NamedFiles) -> Self {
        let report = ControlReport {
            verb,
            files: Vec::new(),
            files_left_out: 0,
            unreadable: Vec::new(),
            not_cacheable: 0,
            totals: ControlTotals::default(),
            notes: Vec::new(),
            interrupted: false,
        };
        Self { named, begun: Instant::now(), report }
    }

    /// Shows each file of a selection to one of `visits`, each of which has a thread.
    pub(crate) fn gather<F>(self, selection: &Selection, stop: &AtomicBool, visits: Vec<F>) -> Self
    where
        F: FnMut(&Found<'_>, &mut Self) + Send,
    {
        let (verb, named) = (self.report.verb, self.named);
        let thread = |visit| Thread { visit, outcomes: Self::new(verb, named) };
        let threads = visits.into_iter().map(thread).collect();
        self.merge_walked(walk(selection, stop, threads))
    }

    fn merge_walked<F>(mut self, walked: Walked<Thread<F>>) -> Self {
        walked.visitors.into_iter().for_each(|thread| self.merge(thread.outcomes));
        self.report.not_cacheable += walked.skipped.not_cacheable;
        self.report.interrupted |= walked.interrupted;
        self
    }

    pub(crate) fn add(&mut self, file: ControlledFile) {
        self.report.totals.add(self.report.verb, &file);
        if self.named == NamedFiles::All || !file.is_reached(self.report.verb) {
            self.report.files.push(file);
        }
        if self.report.files.len() >= 2 * NAMED_FILES {
            self.keep_largest();
        }
    }

    /// Adds a file that was to be changed, or why it could not be.
    pub(crate) fn add_result(
        &mut self,
        file: &Found<'_>,
        result: Result<ControlledFile, ControlError>,
    ) {
        let failed = |error| unchanged(file.path, file.id, file.size_bytes, &error);
        self.add(result.unwrap_or_else(failed));
    }

    pub(crate) fn add_fetched(&mut self, bytes: u64) {
        self.report.totals.fetched_bytes += bytes;
    }

    /// Files whose state nobody can tell come last.
    fn keep_largest(&mut self) {
        let ControlReport { verb, files, files_left_out, .. } = &mut self.report;
        if self.named == NamedFiles::Largest && files.len() > NAMED_FILES {
            files.sort_by_key(|file| Reverse(file.short_pages(*verb)));
            *files_left_out += (files.len() - NAMED_FILES) as u64;
            files.truncate(NAMED_FILES);
        }
    }

    fn merge(&mut self, other: Self) {
        self.report.files.extend(other.report.files);
        self.report.files_left_out += other.report.files_left_out;
        self.report.unreadable.extend(other.report.unreadable);
        self.report.totals.merge(&other.report.totals);
        self.keep_largest();
    }

    /// The end.
    pub(crate) fn report(self) -> ControlReport {
        let mut report = self.report;
        report.files.sort_by(|a, b| a.path.cmp(&b.path));
        report.unreadable.sort();
        report.totals.wall_ns = hotset_facts::units::nanos(self.begun.elapsed());
        report
    }
}

impl<F: FnMut(&Found<'_>, &mut Outcomes) + Send> Visitor for Thread<F> {
    fn file(&mut self, file: &Found<'_>) {
        (self.visit)(file, &mut self.outcomes);
    }

    fn unreadable(&mut self, path: &Path, error: &dyn Display) {
        let reason = error.to_string();
        self.outcomes.report.unreadable.push(Unreadable { path: path.to_owned(), reason });
    }
}

/// A file and what became of its pages.
pub(crate) fn changed(
    path: &Path,
    id: FileId,
    size_bytes: u64,
    change: CacheChange,
) -> ControlledFile {
    ControlledFile {
        path: path.to_owned(),
        id,
        size_bytes,
        pages: change.pages,
        cached_before: change.cached_before,
        cached_after: change.cached_after,
        stayed: Vec::new(),
        not_cached: None,
        error: None,
    }
}

/// A file whose state stays unknown, because it could not be changed.
pub(crate) fn unchanged(
    path: &Path,
    id: FileId,
    size_bytes: u64,
    error: &dyn Display,
) -> ControlledFile {
    let missing =
        Observed::Missing(Reason::not_measured("it could not be warmed, evicted or pinned"));
    let pages = hotset_sys::pages_of(size_bytes);
    let change = CacheChange { pages, cached_before: missing, cached_after: missing };
    ControlledFile { error: Some(error.to_string()), ..changed(path, id, size_bytes, change) }
}

#[cfg(test)]
mod tests {
    use hotset_facts::Skipped;

    use super::*;

    /// A file of 9,000 pages of which so many are missing.
    fn short_of(pages: u64) -> ControlledFile {
        let change = CacheChange {
            pages: 9000,
            cached_before: Observed::Value(0),
            cached_after: Observed::Value(9000 - pages),
        };
        let path = format!("/{pages:05}");
        changed(Path::new(&path), FileId::default(), 9000 * 4096, change)
    }

    /// 5,000 files that lack 0 to 4,999 pages, smallest first, found by two threads.
    fn report(named: NamedFiles) -> ControlReport {
        let new = || Outcomes::new(ControlVerb::Warm, named);
        let mut visitors = vec![];
        for path in ["/z", "/y"] {
            let visit = |_: &Found<'_>, _: &mut Outcomes| {};
            let mut thread = Thread { visit, outcomes: new() };
            thread.unreadable(Path::new(path), &"gone");
            visitors.push(thread);
        }
        for pages in 0..5000 {
            visitors[pages as usize % 2].outcomes.add(short_of(pages));
        }
        let skipped = Skipped { not_cacheable: 3, ..Skipped::default() };
        new().merge_walked(Walked { visitors, skipped, interrupted: true }).report()
    }

    #[test]
    fn the_largest_are_named_however_late_they_are_found() {
        let report = report(NamedFiles::Largest);
        let missing: Vec<_> =
            report.files.iter().filter_map(|file| file.short_pages(ControlVerb::Warm)).collect();
        assert_eq!(missing, (4000..5000).collect::<Vec<u64>>(), "by path, as the names are made");
        assert_eq!(report.files_left_out, 3999, "the one that lacks nothing counts as reached");
        assert_eq!((report.totals.files, report.totals.files_reached), (5000, 1));
        assert_eq!((report.not_cacheable, report.interrupted), (3, true));
        let names: Vec<_> = report.unreadable.iter().map(|path| path.path.clone()).collect();
        assert_eq!(names, [Path::new("/y"), Path::new("/z")]);
    }

    #[test]
    fn all_are_named_where_they_are_asked_for() {
        let short = report(NamedFiles::Short);
        assert_eq!((short.files.len(), short.files_left_out), (4999, 0));
        let all = report(NamedFiles::All);
        assert_eq!((all.files.len(), all.files_left_out), (5000, 0));
    }

    #[test]
    fn a_file_of_unknown_state_gives_way_to_one_that_is_known_to_be_short() {
        let mut outcomes = Outcomes::new(ControlVerb::Warm, NamedFiles::Largest);
        let unknown = Observed::Missing(Reason::denied("not the owner"));
        outcomes.add(ControlledFile { cached_after: unknown, ..short_of(9) });
        (1..2 * NAMED_FILES as u64).for_each(|pages| outcomes.add(short_of(pages)));
        let report = outcomes.report();
        assert_eq!(report.files.len(), NAMED_FILES);
        assert!(report.files.iter().all(|file| file.cached_after.value().is_some()));
        assert_eq!((report.files_left_out, report.totals.files_unknown), (1000, 1));
    }
}
