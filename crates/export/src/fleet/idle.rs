//! Files that are cached and that nothing used in a span: rows of intervals are those of the busiest alone.
//!
//! A span here is that of a file of rows, or as many of them as make ten minutes: the kernel's list of inodes takes 0.3 s of CPU to read on a
//! host with 80,000 cached files, and of a minute it says little that a file was not used.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hotset_facts::fleet::{CountedIo, FileIntervalRow, IntervalKey, Workload};
use hotset_facts::{CachedFile, Dev, Interval};
use hotset_fleet::Rows;

use super::rows::device;
use crate::Say;

/// Names the files that have most pages in the cache of this host, those first; only such that no process has mapped, for what is read of a
/// mapping that is there can't be counted.
pub type LargestCached = fn() -> Result<Vec<CachedFile>, String>;

/// Rows of a span, at most.
const MOST: usize = 20;
/// Shorter spans go on in the next, but for the last one of a session.
const SHORTEST_NS: u64 = 600_000_000_000;
/// Files of a span that are kept in mind. Where there are more, which are idle is not known.
const REMEMBERED: usize = 200_000;

/// What was used in the span under way.
#[derive(Debug, Default)]
pub(super) struct SpanFiles {
    used: HashSet<(Dev, u64)>,
    length_ns: u64,
}

/// A span that ended, until rows are made of it.
#[derive(Debug)]
struct Ended {
    key: IntervalKey,
    /// What a file has that nothing was counted of: nothing, as far as this host can count.
    io: CountedIo,
    used: HashSet<(Dev, u64)>,
}

/// Hands ended spans from who samples to who looks at files.
#[derive(Debug, Clone, Default)]
pub(super) struct EndedSpan(Arc<Mutex<Option<Ended>>>);

impl SpanFiles {
    pub(super) fn add(&mut self, interval: &Interval) {
        self.length_ns = self.length_ns.saturating_add(interval.length_ns);
        for row in &interval.rows {
            if self.used.len() > REMEMBERED {
                return;
            }
            if let Some(file) = interval.files.get(row.file as usize) {
                // The kernel's list has the device of the file system, a subvolume of btrfs another.
                self.used.extend([(file.id.dev, file.id.ino), (file.mounted, file.id.ino)]);
            }
        }
    }

    /// Ends the span, whose last interval has this key, if it is long enough or the last; the next begins then.
    pub(super) fn end(
        &mut self,
        ended: &EndedSpan,
        key: &IntervalKey,
        io: CountedIo,
        is_last: bool,
    ) {
        if self.length_ns < SHORTEST_NS && !is_last {
            return;
        }
        let Self { used, length_ns } = std::mem::take(self);
        // One that was not taken yet is of a span whose rows were lost.
        *ended.lock() = (used.len() <= REMEMBERED).then(|| Ended {
            key: IntervalKey { length_ns, ..key.clone() },
            io,
            used,
        });
    }
}

impl EndedSpan {
    fn lock(&self) -> MutexGuard<'_, Option<Ended>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds rows to those of a span that ended.
pub(super) struct IdleFiles {
    largest: LargestCached,
    ended: EndedSpan,
    most: usize,
    say: Say,
    said: bool,
}

impl IdleFiles {
    /// Not more than `most` rows a span.
    pub(super) fn new(largest: LargestCached, ended: EndedSpan, most: usize, say: Say) -> Self {
        Self { largest, ended, most: most.min(MOST), say, said: false }
    }

    /// Adds them where these are the rows of a span, not of an interval. It asks the kernel, which takes a second on a host with many files.
    pub(super) fn add(&mut self, rows: &mut Rows) {
        if !rows.host.is_empty() || self.most == 0 {
            return;
        }
        let Some(ended) = self.ended.lock().take() else { return };
        match (self.largest)() {
            Ok(largest) => rows.files.extend(idle_rows(&ended, &largest, self.most)),
            Err(why) if !self.said => {
                self.said = true;
                (self.say)(&format_args!(
                    "--parquet: which files are cached without being used is not known: {why}; docs/fleet-format.md says what is missing then"
                ));
            }
            Err(_) => {}
        }
    }
}

fn idle_rows(ended: &Ended, largest: &[CachedFile], most: usize) -> Vec<FileIntervalRow> {
    let idle = largest.iter().filter(|file| {
        file.path.as_value().is_some() && !ended.used.contains(&(file.id.dev, file.id.ino))
    });
    let rows = idle.take(most).map(|file| FileIntervalRow {
        key: ended.key.clone(),
        who: Workload::default(),
        path: file.path.as_value().map(|path| path.to_string_lossy().as_ref().into()),
        device: device(&file.id).into(),
        inode: file.id.ino,
        deleted: false,
        io: ended.io.clone(),
        size_bytes: Some(file.size_bytes),
        cached_pages: Some(file.cached_pages),
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use hotset_facts::{FileId, LiveIo, Observed, PageHolder, Reason};

    use super::*;

    const DEV: Dev = Dev { major: 8, minor: 1 };

    fn cached(ino: u64, pages: u64) -> CachedFile {
        CachedFile {
            path: Observed::Value(PathBuf::from(format!("/srv/{ino}"))),
            reachable: true,
            deleted: false,
            holder: PageHolder::Regular,
            id: FileId::new(DEV, ino),
            file_system: 0,
            device: None,
            size_bytes: 5000,
            cached_pages: pages,
            state: Observed::Missing(Reason::not_measured("nobody asked")),
            holders: Vec::new(),
            mapped: Some(false),
        }
    }

    fn ended(used: &[u64]) -> Ended {
        let key = IntervalKey { length_ns: 60, sequence: 7, ..IntervalKey::default() };
        let io = CountedIo { io: LiveIo::ZERO, lacks: Vec::new() };
        Ended { key, io, used: used.iter().map(|ino| (DEV, *ino)).collect() }
    }

    fn inodes(rows: &[FileIntervalRow]) -> Vec<u64> {
        rows.iter().map(|row| row.inode).collect()
    }

    #[test]
    fn what_was_used_and_what_has_no_name_is_left_out() {
        let mut nameless = cached(4, 6);
        nameless.path = Observed::Missing(Reason::not_measured("no name"));
        let largest = [cached(1, 9), cached(2, 8), cached(3, 7), nameless, cached(5, 2)];
        let rows = idle_rows(&ended(&[2]), &largest, 20);
        assert_eq!(inodes(&rows), [1, 3, 5]);
        assert_eq!(inodes(&idle_rows(&ended(&[]), &largest, 2)), [1, 2]);
        let row = &rows[0];
        assert_eq!((row.path.as_deref(), &*row.device), (Some("/srv/1"), "8:1"));
        assert_eq!((row.size_bytes, row.cached_pages), (Some(5000), Some(9)));
        assert_eq!((&row.who, row.key.sequence), (&Workload::default(), 7));
        assert!(row.io.io.is_idle());
    }

    #[test]
    fn rows_are_added_once_and_to_those_of_a_span() {
        let span = EndedSpan::default();
        let largest: LargestCached = || Ok((1..100).map(|ino| cached(ino, 9)).collect());
        let mut idle = IdleFiles::new(largest, span.clone(), 1000, |_| ());
        let mut rows = Rows::default();
        idle.add(&mut rows);
        assert!(rows.files.is_empty(), "no span has ended");
        *span.lock() = Some(ended(&[]));
        idle.add(&mut rows);
        assert_eq!(rows.files.len(), MOST);
        idle.add(&mut rows);
        assert_eq!(rows.files.len(), MOST);
        // Who wants no files has none.
        *span.lock() = Some(ended(&[]));
        let mut none = Rows::default();
        IdleFiles::new(largest, span, 0, |_| ()).add(&mut none);
        assert!(none.files.is_empty());
    }

    #[test]
    fn a_kernel_that_refuses_adds_nothing() {
        let span = EndedSpan::default();
        *span.lock() = Some(ended(&[]));
        let mut idle = IdleFiles::new(|| Err("no".to_owned()), span.clone(), 20, |_| ());
        let mut rows = Rows::default();
        idle.add(&mut rows);
        assert!(rows.files.is_empty() && idle.said);
    }

    #[test]
    fn where_too_many_files_were_used_nothing_is_said_to_be_idle() {
        let span = EndedSpan::default();
        let io = CountedIo { io: LiveIo::ZERO, lacks: Vec::new() };
        let used = (0..=REMEMBERED as u64).map(|ino| (DEV, ino)).collect();
        let mut files = SpanFiles { used, length_ns: SHORTEST_NS };
        files.end(&span, &IntervalKey::default(), io.clone(), false);
        assert!(span.lock().is_none());
        files.end(&span, &IntervalKey::default(), io, true);
        assert!(span.lock().as_ref().is_some_and(|ended| ended.used.is_empty()));
    }

    #[test]
    fn short_spans_go_on_until_ten_minutes_have_passed_or_the_session_ends() {
        let span = EndedSpan::default();
        let io = CountedIo { io: LiveIo::ZERO, lacks: Vec::new() };
        let mut files = SpanFiles::default();
        let mut end = |ino: u64, length_ns: u64, is_last: bool| {
            files.used.insert((DEV, ino));
            files.length_ns += length_ns;
            files.end(&span, &IntervalKey::default(), io.clone(), is_last);
            span.lock().take().map(|ended| (ended.used.len(), ended.key.length_ns))
        };
        let half = SHORTEST_NS / 2;
        assert_eq!(end(1, half, false), None);
        assert_eq!(end(2, half, false), Some((2, SHORTEST_NS)));
        assert_eq!(end(3, half, false), None);
        assert_eq!(end(4, 1, true), Some((2, half + 1)));
    }
}
