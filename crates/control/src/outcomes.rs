//! What became of each file: gathered by the threads of a walk, then put together.

use std::cmp::Reverse;
use std::fmt::Display;
use std::path::Path;
use std::time::Instant;

use hotset_facts::{
    ControlNote, ControlReport, ControlTotals, ControlVerb, ControlledFile, FileId, Observed,
    Reason, Unreadable,
};
use hotset_sys::cache::CacheChange;
use hotset_sys::tree::{Visitor, Walked};

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
pub enum Named {
    /// Those with the most pages that are not where they should be.
    #[default]
    Largest,
    /// Every file that is not as it should be.
    Short,
    /// Every file.
    All,
}

/// What one thread of a walk gathers.
#[derive(Debug)]
pub(crate) struct Outcomes {
    verb: ControlVerb,
    named: Named,
    files: Vec<ControlledFile>,
    left_out: u64,
    unreadable: Vec<Unreadable>,
    pub(crate) totals: ControlTotals,
}

impl Outcomes {
    pub(crate) fn new(verb: ControlVerb, named: Named) -> Self {
        Self {
            verb,
            named,
            files: Vec::new(),
            left_out: 0,
            unreadable: Vec::new(),
            totals: ControlTotals::default(),
        }
    }

    pub(crate) fn add(&mut self, file: ControlledFile) {
        self.totals.add(self.verb, &file);
        if self.named == Named::All || !file.is_reached(self.verb) {
            self.files.push(file);
        }
        if self.files.len() >= 2 * NAMED_FILES {
            self.keep_largest();
        }
    }

    pub(crate) fn add_unreadable(&mut self, path: &Path, error: &dyn Display) {
        let reason = error.to_string();
        self.unreadable.push(Unreadable { path: path.to_owned(), reason });
    }

    /// Files whose state nobody can tell come last.
    fn keep_largest(&mut self) {
        if self.named == Named::Largest && self.files.len() > NAMED_FILES {
            self.files.sort_by_key(|file| Reverse(file.short_pages(self.verb)));
            self.left_out += (self.files.len() - NAMED_FILES) as u64;
            self.files.truncate(NAMED_FILES);
        }
    }

    fn merge(&mut self, other: Self) {
        self.files.extend(other.files);
        self.left_out += other.left_out;
        self.unreadable.extend(other.unreadable);
        self.totals.merge(&other.totals);
        self.keep_largest();
    }

    /// Puts together what the threads of a walk that began at `begun` gathered.
    pub(crate) fn report<V: Visitor + Into<Self>>(
        mut self,
        walked: Walked<V>,
        begun: Instant,
    ) -> ControlReport {
        for visitor in walked.visitors {
            self.merge(visitor.into());
        }
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.unreadable.sort();
        self.totals.wall_ns = hotset_facts::units::nanos(begun.elapsed());
        ControlReport {
            verb: self.verb,
            files: self.files,
            files_left_out: self.left_out,
            unreadable: self.unreadable,
            not_cacheable: walked.skipped.not_cacheable,
            totals: self.totals,
            notes: Vec::new(),
            interrupted: walked.interrupted,
        }
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
    let missing = Observed::Missing(Reason::not_measured("it could not be changed"));
    let pages = hotset_sys::pages_of(size_bytes);
    let change = CacheChange { pages, cached_before: missing, cached_after: missing };
    ControlledFile { error: Some(error.to_string()), ..changed(path, id, size_bytes, change) }
}

#[cfg(test)]
mod tests {
    use hotset_facts::Skipped;
    use hotset_sys::tree::Found;

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

    struct Thread(Outcomes);

    impl Visitor for Thread {
        fn file(&mut self, _: &Found<'_>) {}
        fn unreadable(&mut self, _: &Path, _: &dyn Display) {}
    }

    impl From<Thread> for Outcomes {
        fn from(thread: Thread) -> Self {
            thread.0
        }
    }

    /// 5,000 files that lack 0 to 4,999 pages, smallest first, found by two threads.
    fn report(named: Named) -> ControlReport {
        let new = || Outcomes::new(ControlVerb::Warm, named);
        let (mut a, mut b) = (new(), new());
        for pages in 0..5000 {
            let half = if pages % 2 == 0 { &mut a } else { &mut b };
            half.add(short_of(pages));
        }
        b.add_unreadable(Path::new("/z"), &"gone");
        a.add_unreadable(Path::new("/y"), &"gone");
        let visitors = vec![Thread(a), Thread(b)];
        let skipped = Skipped { not_cacheable: 3, ..Skipped::default() };
        new().report(Walked { visitors, skipped, interrupted: true }, Instant::now())
    }

    #[test]
    fn the_largest_are_named_however_late_they_are_found() {
        let report = report(Named::Largest);
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
        let short = report(Named::Short);
        assert_eq!((short.files.len(), short.files_left_out), (4999, 0));
        let all = report(Named::All);
        assert_eq!((all.files.len(), all.files_left_out), (5000, 0));
    }

    #[test]
    fn a_file_of_unknown_state_gives_way_to_one_that_is_known_to_be_short() {
        let mut outcomes = Outcomes::new(ControlVerb::Warm, Named::Largest);
        let unknown = Observed::Missing(Reason::denied("not the owner"));
        outcomes.add(ControlledFile { cached_after: unknown, ..short_of(9) });
        (1..2 * NAMED_FILES as u64).for_each(|pages| outcomes.add(short_of(pages)));
        assert_eq!(outcomes.files.len(), NAMED_FILES);
        assert!(outcomes.files.iter().all(|file| file.cached_after.value().is_some()));
        assert_eq!((outcomes.left_out, outcomes.totals.files_unknown), (1000, 1));
    }
}
