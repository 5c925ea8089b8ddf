//! What each call site asked for, added up while records come: for reports that keep no record.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use hotset_facts::trace::{OperationClass, Site, SiteIndex, TraceBatch, TraceFile, TraceRecord};
use hotset_facts::{CallSites, SiteIo, SiteRow};

use super::naming::Named;

/// Rows while they are added up; what finds no place is added to the row of its site without a file.
const MAX_ROWS: usize = 1 << 17;
/// Rows that are kept in the end.
const KEPT_ROWS: usize = 4_096;

/// What a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Of {
    File(u32),
    /// A directory that a path was looked up in, and not found.
    Directory(u32),
    Unknown,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct SiteTable {
    sites: Vec<Site>,
    files: Vec<TraceFile>,
    directories: Vec<Vec<u8>>,
    by_directory: HashMap<Vec<u8>, u32>,
    rows: HashMap<(SiteIndex, OperationClass, Of), SiteIo>,
}

impl SiteTable {
    /// Adds records, which have their sites.
    pub(crate) fn add(&mut self, mut batch: TraceBatch) {
        self.sites.append(&mut batch.added.sites);
        self.files.append(&mut batch.added.files);
        for record in &batch.records {
            let Some(site) = record.site else { continue };
            let of = self.of(record, &batch);
            let mut key = (site, record.class, of);
            if self.rows.len() >= MAX_ROWS && !self.rows.contains_key(&key) {
                key.2 = Of::Unknown;
            }
            self.rows.entry(key).or_default().add(&io(record));
        }
    }

    fn of(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Of {
        if let Some(file) = record.file {
            return Of::File(file.0);
        }
        let path = record.path.and_then(|path| batch.path(path));
        let parent = path.and_then(|path| Path::new(OsStr::from_bytes(path)).parent());
        let Some(parent) = parent.map(|parent| parent.as_os_str().as_bytes()) else {
            return Of::Unknown;
        };
        if let Some(known) = self.by_directory.get(parent) {
            return Of::Directory(*known);
        }
        let Ok(index) = u32::try_from(self.directories.len()) else { return Of::Unknown };
        if self.directories.len() >= MAX_ROWS {
            return Of::Unknown;
        }
        self.directories.push(parent.to_vec());
        self.by_directory.insert(parent.to_vec(), index);
        Of::Directory(index)
    }

    /// The rows that took most time, and the sites that they are of; `lost` requests came to no table.
    pub(crate) fn finish(self, named: Named, lost: u64) -> CallSites {
        let Self { sites, files, directories, rows, .. } = self;
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_unstable_by_key(|((site, class, of), io)| {
            (Reverse((io.time_ns, io.calls)), site.0, *class as u8, place(*of))
        });
        let others = rows.split_off(rows.len().min(KEPT_ROWS));
        let path = |of| match of {
            Of::File(index) => files.get(index as usize).and_then(|file| file.path.clone()),
            Of::Directory(index) => directories
                .get(index as usize)
                .map(|directory| PathBuf::from(OsStr::from_bytes(directory))),
            Of::Unknown => None,
        };
        let mut kept = Kept { all: sites, places: HashMap::new(), sites: Vec::new() };
        let rows = rows
            .into_iter()
            .filter_map(|((site, class, of), io)| {
                Some(SiteRow { site: kept.place(site)?, class, path: path(of), io })
            })
            .collect();
        CallSites {
            sites: kept.sites,
            rows,
            contexts: named.contexts,
            unknown_requests: named.records,
            lost_requests: lost,
            other_requests: others.iter().map(|(_, io)| io.calls).sum(),
        }
    }
}

fn place(of: Of) -> (u8, u32) {
    match of {
        Of::File(index) => (0, index),
        Of::Directory(index) => (1, index),
        Of::Unknown => (2, 0),
    }
}

/// Sites that a row is of.
struct Kept {
    all: Vec<Site>,
    places: HashMap<SiteIndex, u32>,
    sites: Vec<Site>,
}

impl Kept {
    fn place(&mut self, site: SiteIndex) -> Option<u32> {
        if let Some(known) = self.places.get(&site) {
            return Some(*known);
        }
        let place = u32::try_from(self.sites.len()).ok()?;
        self.sites.push(self.all.get(site.0 as usize)?.clone());
        self.places.insert(site, place);
        Some(place)
    }
}

fn io(record: &TraceRecord) -> SiteIo {
    let moves = matches!(record.class, OperationClass::Read | OperationClass::Write);
    let result = record.result.unwrap_or(0);
    SiteIo {
        calls: 1,
        failed: u64::from(result < 0),
        bytes: u64::try_from(result).ok().filter(|_| moves).unwrap_or(0),
        missed_pages: record.pages.map_or(0, |pages| pages.misses.into()),
        device_read_bytes: record.device_read_bytes.unwrap_or(0),
        time_ns: record.duration_ns.unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::FileKind;
    use hotset_facts::trace::{FileIndex, Operation, PathIndex, SiteState};

    use super::*;

    fn read(site: u32, file: u32, result: i64, duration_ns: u64) -> TraceRecord {
        TraceRecord {
            duration_ns: Some(duration_ns),
            file: Some(FileIndex(file)),
            result: Some(result),
            site: Some(SiteIndex(site)),
            ..TraceRecord::new(0, Operation::Read)
        }
    }

    fn batch(records: Vec<TraceRecord>) -> TraceBatch {
        let mut batch = TraceBatch { records, ..TraceBatch::default() };
        batch.paths = vec![b"/lib/x".to_vec(), b"/lib/y".to_vec()];
        batch
    }

    fn with_lists(mut batch: TraceBatch) -> TraceBatch {
        let file = |path: &str| TraceFile {
            path: Some(path.into()),
            kind: FileKind::Regular,
            id: None,
            size_bytes: None,
            cached_pages: None,
        };
        batch.added.files = vec![file("/a"), file("/b")];
        batch.added.sites = vec![Site { frames: Vec::new(), state: SiteState::Lost }; 3];
        batch
    }

    #[test]
    fn rows_are_summed_over_batches_and_the_costliest_comes_first() {
        let mut table = SiteTable::default();
        table.add(with_lists(batch(vec![read(2, 0, 10, 5), read(0, 1, 7, 100)])));
        table.add(batch(vec![read(2, 0, -5, 1), read(2, 0, 30, 4)]));
        let found = table.finish(Named::default(), 3);
        let row = |at: usize| {
            let row = &found.rows[at];
            (row.site, row.path.clone().expect("a path"), row.io)
        };
        let one = SiteIo { calls: 1, bytes: 7, time_ns: 100, ..SiteIo::default() };
        assert_eq!(row(0), (0, "/b".into(), one));
        let three = SiteIo { calls: 3, failed: 1, bytes: 40, time_ns: 10, ..SiteIo::default() };
        assert_eq!(row(1), (1, "/a".into(), three), "sites without a row are left out");
        assert_eq!((found.sites.len(), found.lost_requests), (2, 3));
    }

    #[test]
    fn paths_that_were_not_found_are_told_by_their_directory() {
        let asked = |path| TraceRecord {
            path: Some(PathIndex(path)),
            result: Some(-2),
            site: Some(SiteIndex(0)),
            ..TraceRecord::new(0, Operation::Openat)
        };
        let mut table = SiteTable::default();
        table.add(with_lists(batch(vec![asked(0), asked(1)])));
        let found = table.finish(Named::default(), 0);
        assert_eq!(found.rows.len(), 1);
        assert_eq!(found.rows[0].path, Some("/lib".into()));
        assert_eq!((found.rows[0].io.calls, found.rows[0].io.failed), (2, 2));
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut table = SiteTable::default();
        let many = (0..KEPT_ROWS as u32 + 10).map(|file| read(0, file, 1, 1)).collect();
        table.add(with_lists(batch(many)));
        let found = table.finish(Named::default(), 0);
        assert_eq!((found.rows.len(), found.other_requests), (KEPT_ROWS, 10));
    }
}
