//! Paths that were looked up and are not there.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use serde::Serialize;

use hotset_facts::format::Path;
use hotset_facts::trace::{PathIndex, TraceBatch, TraceRecord};

use super::counts::add;

/// Paths that are counted apart; a path has at most `PATH_MAX` (4,096) bytes in Linux, and longer ones are cut.
const MOST: usize = 1 << 13;
const PATH_MAX: usize = 4096;

/// A path that was looked up and is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = hotset_facts::format::about("path", "The path that was asked for.")))]
pub struct FailedPath {
    /// The path that was asked for.
    #[serde(flatten, with = "Path")]
    pub path: PathBuf,
    /// Calls that did not find it.
    pub calls: u64,
    /// How long they took together, in nanoseconds.
    pub time_ns: Option<u64>,
}

/// Lookups that failed (ENOENT, ENOTDIR), by path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedPaths {
    /// Calls that failed.
    pub calls: u64,
    /// How long they took together, in nanoseconds.
    pub time_ns: Option<u64>,
    /// Paths that are counted apart.
    pub known_paths: u64,
    /// Those that most calls asked for, the most asked for first.
    pub paths: Vec<FailedPath>,
    /// Calls for other paths, and for paths that are not known.
    pub other_calls: u64,
}

/// Counts them.
#[derive(Debug, Default)]
pub(super) struct FailedTally {
    calls: u64,
    time_ns: Option<u64>,
    at: HashMap<Box<[u8]>, usize>,
    rows: Vec<(u64, Option<u64>)>,
    /// Rows of the batch's paths that were looked for already.
    of_batch: Vec<Option<usize>>,
}

impl FailedTally {
    /// Paths of another batch come.
    pub(super) fn begin(&mut self, batch: &TraceBatch) {
        self.of_batch.clear();
        self.of_batch.resize(batch.paths.len(), None);
    }

    pub(super) fn count(&mut self, record: &TraceRecord, batch: &TraceBatch) {
        self.calls += 1;
        add(&mut self.time_ns, record.duration_ns);
        let row = record.path.and_then(|path| self.row(path, batch));
        let Some((calls, time_ns)) = row.and_then(|row| self.rows.get_mut(row)) else { return };
        *calls += 1;
        add(time_ns, record.duration_ns);
    }

    fn row(&mut self, index: PathIndex, batch: &TraceBatch) -> Option<usize> {
        let place = self.of_batch.get_mut(index.0 as usize)?;
        if place.is_some() {
            return *place;
        }
        let path = batch.path(index)?;
        let path = &path[..path.len().min(PATH_MAX)];
        *place = self.at.get(path).copied().or_else(|| {
            let next = self.rows.len();
            (next < MOST).then(|| {
                self.rows.push((0, None));
                self.at.insert(path.into(), next);
                next
            })
        });
        *place
    }

    pub(super) fn finish(self, top: usize) -> FailedPaths {
        let known_paths = self.rows.len() as u64;
        let paths = self.at.into_iter().filter_map(|(path, row)| {
            let &(calls, time_ns) = self.rows.get(row)?;
            let path = PathBuf::from(OsString::from_vec(path.into_vec()));
            Some(FailedPath { path, calls, time_ns })
        });
        let mut paths: Vec<FailedPath> = paths.collect();
        paths.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.path.cmp(&b.path)));
        paths.truncate(top);
        let shown: u64 = paths.iter().map(|path| path.calls).sum();
        let other_calls = self.calls.saturating_sub(shown);
        FailedPaths { calls: self.calls, time_ns: self.time_ns, known_paths, paths, other_calls }
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::Operation;

    use super::*;

    #[test]
    fn paths_beyond_the_bound_are_counted_as_others() {
        let mut tally = FailedTally::default();
        let paths = (0..MOST + 5).map(|number| format!("/{number}").into_bytes());
        let batch = TraceBatch { paths: paths.collect(), ..TraceBatch::default() };
        tally.begin(&batch);
        let record = |path: usize| TraceRecord {
            path: Some(PathIndex(path as u32)),
            duration_ns: Some(10),
            ..TraceRecord::new(0, Operation::Openat)
        };
        for path in (0..MOST + 5).chain([7, 7]) {
            tally.count(&record(path), &batch);
        }
        tally.count(&TraceRecord::new(0, Operation::Openat), &batch);
        let found = tally.finish(2);
        assert_eq!((found.calls, found.known_paths), (MOST as u64 + 8, MOST as u64));
        let first = FailedPath { path: "/7".into(), calls: 3, time_ns: Some(30) };
        assert_eq!((found.paths.first(), found.other_calls), (Some(&first), found.calls - 4));
    }
}
