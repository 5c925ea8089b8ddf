//! Traces for tests.

use hotset_facts::replay::ReplayPlan;
use hotset_facts::trace::{
    FileIndex, Operation, PathIndex, ProcessIndex, TraceBatch, TraceFile, TraceLists, TraceProcess,
    TraceRecord,
};
use hotset_facts::{FileKind, Pid};

use super::PlanBuilder;

/// A trace that is told record by record.
#[derive(Default)]
pub(crate) struct Trace {
    pub(crate) lists: TraceLists,
    batch: TraceBatch,
    /// When the next record begins, unless it says another time.
    now_ns: u64,
}

impl Trace {
    pub(crate) fn process(&mut self, pid: Pid, ppid: Option<Pid>) -> ProcessIndex {
        let comm = format!("p{pid}");
        self.lists.processes.push(TraceProcess { pid, ppid, comm, argv: Vec::new() });
        ProcessIndex(self.lists.processes.len() as u32 - 1)
    }

    pub(crate) fn file(&mut self, path: &str, size_bytes: u64) -> FileIndex {
        self.lists.files.push(TraceFile {
            path: Some(path.into()),
            kind: FileKind::Regular,
            id: None,
            size_bytes: Some(size_bytes),
            cached_pages: None,
        });
        FileIndex(self.lists.files.len() as u32 - 1)
    }

    pub(crate) fn path(&mut self, path: &str) -> PathIndex {
        let known = self.batch.paths.iter().position(|known| known == path.as_bytes());
        let place = known.unwrap_or_else(|| {
            self.batch.paths.push(path.as_bytes().to_vec());
            self.batch.paths.len() - 1
        });
        PathIndex(place as u32)
    }

    /// A record of 10 ns, 100 ns after the one before.
    pub(crate) fn add(
        &mut self,
        operation: Operation,
        thread: (ProcessIndex, u32),
        result: i64,
    ) -> &mut TraceRecord {
        self.now_ns += 100;
        let mut record = TraceRecord::new(self.now_ns, operation);
        record.duration_ns = Some(10);
        (record.process, record.tid) = (Some(thread.0), Some(thread.1));
        record.result = Some(result);
        self.batch.records.push(record);
        self.batch.records.last_mut().expect("a record")
    }

    pub(crate) fn on_path(
        &mut self,
        operation: Operation,
        thread: (ProcessIndex, u32),
        path: &str,
        result: i64,
    ) -> &mut TraceRecord {
        let path = self.path(path);
        let record = self.add(operation, thread, result);
        record.path = Some(path);
        record
    }

    /// Of an open file: its path, its description, bytes.
    pub(crate) fn on_file(
        &mut self,
        operation: Operation,
        thread: (ProcessIndex, u32),
        (path, file, description): (&str, FileIndex, u64),
        (offset, bytes): (u64, u64),
    ) -> &mut TraceRecord {
        let record = self.on_path(operation, thread, path, bytes as i64);
        (record.file, record.description) = (Some(file), Some(description));
        (record.offset, record.asked_bytes) = (Some(offset), Some(bytes));
        record
    }

    /// The record that was told last.
    pub(crate) fn last(&mut self) -> Option<&mut TraceRecord> {
        self.batch.records.last_mut()
    }

    pub(crate) fn plan_on_copies(&self) -> ReplayPlan {
        self.plan_by(PlanBuilder::new(&self.lists).all_on_copies())
    }

    pub(crate) fn plan(&self) -> ReplayPlan {
        self.plan_by(PlanBuilder::new(&self.lists))
    }

    fn plan_by(&self, mut builder: PlanBuilder<'_>) -> ReplayPlan {
        builder.add(&self.batch);
        builder.finish()
    }
}
