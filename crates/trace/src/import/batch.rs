//! Batches while they are filled.

use std::collections::HashMap;

use hotset_facts::trace::{
    FileIndex, PathIndex, ProcessIndex, Site, SiteIndex, TraceBatch, TraceFile, TraceProcess,
    TraceRecord,
};

/// Records of a batch: about 2 MiB of them.
const RECORDS: usize = 8192;

/// Bytes of paths of a batch, beyond which it is handed out early.
const PATH_BYTES: usize = 4 << 20;

/// Fills batches, and counts what was added to the lists of the whole trace.
#[derive(Default)]
pub struct BatchBuilder {
    batch: TraceBatch,
    paths: HashMap<Vec<u8>, PathIndex>,
    path_bytes: usize,
    files: u32,
    processes: u32,
    sites: u32,
    records: u64,
}

impl BatchBuilder {
    /// Where a path stands in this batch. It must be asked for anew for each record.
    pub(super) fn path(&mut self, path: &[u8]) -> PathIndex {
        if let Some(index) = self.paths.get(path) {
            return *index;
        }
        let index = PathIndex(u32::try_from(self.batch.paths.len()).unwrap_or(u32::MAX));
        self.batch.paths.push(path.to_vec());
        self.paths.insert(path.to_vec(), index);
        self.path_bytes += path.len();
        index
    }

    pub(super) fn add_file(&mut self, file: TraceFile) -> FileIndex {
        let index = FileIndex(self.files);
        self.files = self.files.saturating_add(1);
        self.batch.added.files.push(file);
        index
    }

    pub(super) fn add_process(&mut self, process: TraceProcess) -> ProcessIndex {
        let index = ProcessIndex(self.processes);
        self.processes = self.processes.saturating_add(1);
        self.batch.added.processes.push(process);
        index
    }

    pub(super) fn add_site(&mut self, site: Site) -> SiteIndex {
        let index = SiteIndex(self.sites);
        self.sites = self.sites.saturating_add(1);
        self.batch.added.sites.push(site);
        index
    }

    pub(super) fn push(&mut self, record: TraceRecord) {
        self.batch.records.push(record);
        self.records += 1;
    }

    /// Records that were made since the beginning.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    pub(super) fn is_full(&self) -> bool {
        self.batch.records.len() >= RECORDS || self.path_bytes >= PATH_BYTES
    }

    /// The batch, if there is anything in it.
    pub(super) fn take(&mut self) -> Option<TraceBatch> {
        self.paths.clear();
        self.path_bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        let is_empty = batch.records.is_empty()
            && batch.added.files.is_empty()
            && batch.added.processes.is_empty()
            && batch.added.sites.is_empty();
        (!is_empty).then_some(batch)
    }
}
