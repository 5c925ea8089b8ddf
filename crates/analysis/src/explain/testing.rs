//! Recordings made by hand, for the tests of the rules.

use hotset_facts::trace::{
    FileIndex, Operation, PathIndex, ProcessIndex, RecordFlags, RecordPages, SiteIndex, TraceBatch,
    TraceFile, TraceLists, TraceProcess, TraceRecord,
};
use hotset_facts::{Environment, FileKind, Reason, Target};

use super::{EXPLAIN_RULES, Explainer, Explanation, TraceFinding};
use crate::fixtures::{costs, host};
use crate::trace::testing::head;
use crate::{Outcome, RuleVerdict};

pub(crate) const US: u64 = 1_000;
pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000_000_000;

/// What happens, one request after another of the thread that is set.
pub(crate) struct Script {
    records: Vec<TraceRecord>,
    paths: Vec<Vec<u8>>,
    pub(crate) lists: TraceLists,
    pub(crate) now: u64,
    pub(crate) tid: u32,
    pub(crate) process: u32,
    pub(crate) host: Environment,
    pub(crate) is_attached: bool,
}

impl Script {
    /// A Python program with eight files of 1 MiB.
    pub(crate) fn new() -> Self {
        let python = TraceProcess {
            pid: 7,
            ppid: None,
            comm: "python3".to_owned(),
            argv: vec!["python3".into(), "app.py".into()],
        };
        let mut script = Self {
            records: Vec::new(),
            paths: Vec::new(),
            lists: TraceLists { processes: vec![python.clone(), python], ..TraceLists::default() },
            now: 0,
            tid: 1,
            process: 0,
            host: host(),
            is_attached: false,
        };
        (0..8).for_each(|_| script.file(1 << 20));
        script
    }

    /// One more file.
    pub(crate) fn file(&mut self, size_bytes: u64) {
        let path = Some(format!("/data/{}", self.lists.files.len()).into());
        self.lists.files.push(TraceFile {
            path,
            kind: FileKind::Regular,
            id: None,
            size_bytes: Some(size_bytes),
            cached_pages: None,
        });
    }

    /// The thread does something else for so long.
    pub(crate) fn own(&mut self, ns: u64) {
        self.now += ns;
    }

    /// A request on a file that takes so long.
    pub(crate) fn call(&mut self, operation: Operation, file: u32, ns: u64) -> &mut TraceRecord {
        let record = TraceRecord {
            duration_ns: Some(ns),
            process: Some(ProcessIndex(self.process)),
            tid: Some(self.tid),
            file: Some(FileIndex(file)),
            description: Some(u64::from(file) + 1),
            result: Some(0),
            site: Some(SiteIndex(file)),
            ..TraceRecord::new(self.now, operation)
        };
        self.now += ns;
        self.records.push(record);
        self.records.last_mut().unwrap()
    }

    fn data(
        &mut self,
        operation: Operation,
        file: u32,
        offset: u64,
        bytes: u64,
        ns: u64,
    ) -> &mut TraceRecord {
        let pages = ((offset + bytes).div_ceil(4096) - offset / 4096) as u32;
        let record = self.call(operation, file, ns);
        record.offset = Some(offset);
        record.asked_bytes = Some(bytes);
        record.result = Some(bytes as i64);
        record.pages = Some(RecordPages { pages, hits: pages, ..RecordPages::default() });
        record
    }

    /// A read from the cache.
    pub(crate) fn read(&mut self, file: u32, offset: u64, bytes: u64, ns: u64) -> &mut TraceRecord {
        self.data(Operation::Pread, file, offset, bytes, ns)
    }

    /// A read that misses all of its pages and waits for them.
    pub(crate) fn miss(&mut self, file: u32, offset: u64, bytes: u64, ns: u64) -> &mut TraceRecord {
        let record = self.data(Operation::Pread, file, offset, bytes, ns);
        if let Some(pages) = &mut record.pages {
            (pages.hits, pages.misses) = (0, pages.pages);
        }
        record.flags = RecordFlags::WAITED;
        record
    }

    /// A write that creates its pages.
    pub(crate) fn write(
        &mut self,
        file: u32,
        offset: u64,
        bytes: u64,
        ns: u64,
    ) -> &mut TraceRecord {
        self.data(Operation::Write, file, offset, bytes, ns)
    }

    /// A call with a path: an open or a lookup that ends in `result`.
    pub(crate) fn path(
        &mut self,
        operation: Operation,
        path: &str,
        result: i64,
        ns: u64,
    ) -> &mut TraceRecord {
        let at = self.path_number(path);
        let record = self.call(operation, 0, ns);
        (record.file, record.description) = (None, None);
        record.path = Some(at);
        record.result = Some(result);
        record
    }

    /// The number of a path.
    pub(crate) fn path_number(&mut self, path: &str) -> PathIndex {
        let known = self.paths.iter().position(|known| known == path.as_bytes());
        let at = known.unwrap_or_else(|| {
            self.paths.push(path.as_bytes().to_vec());
            self.paths.len() - 1
        });
        PathIndex(at as u32)
    }

    /// All of it, in the order in which it ended.
    pub(crate) fn batch(&self) -> TraceBatch {
        let mut records = self.records.clone();
        records.sort_by_key(|record| record.start_ns + record.duration_ns.unwrap_or(0));
        TraceBatch { records, paths: self.paths.clone(), ..TraceBatch::default() }
    }

    /// What all of it comes to.
    pub(crate) fn explain(&self) -> Explanation {
        let mut head = head();
        if let Some(command) = &mut head.command {
            // Its length is that of the script.
            command.wall_ns = 0;
            if self.is_attached {
                command.target = Target::Pid { pid: 7 };
            }
        }
        head.environment = Some(self.host.clone());
        let costs = costs();
        let mut explainer = Explainer::new(&head, &self.lists, Some(&costs));
        explainer.add(&self.batch());
        explainer.finish()
    }

    /// What a rule finds.
    #[track_caller]
    pub(crate) fn finding(&self, rule: &str) -> TraceFinding {
        assert!(EXPLAIN_RULES.iter().any(|known| known.id == rule), "{rule}");
        let all = self.explain();
        let verdicts = all.verdicts;
        let found = all.findings.into_iter().find(|finding| finding.rule == rule);
        found.unwrap_or_else(|| panic!("{rule}: {verdicts:?}"))
    }

    /// The rule finds nothing.
    #[track_caller]
    pub(crate) fn clear(&self, rule: &'static str) {
        let all = self.explain();
        let said = all.findings.iter().find(|finding| finding.rule == rule);
        let verdict = RuleVerdict { rule, outcome: Outcome::Clear };
        assert!(all.verdicts.contains(&verdict), "{rule}: {said:?}");
    }

    /// The recording does not tell; why.
    #[track_caller]
    pub(crate) fn untold(&self, rule: &'static str) -> Reason {
        let all = self.explain();
        let verdict = all.verdicts.into_iter().find(|verdict| verdict.rule == rule);
        match verdict.map(|verdict| verdict.outcome) {
            Some(Outcome::NotEnoughData(reason)) => reason,
            other => panic!("{rule}: {other:?}"),
        }
    }

    /// The records so far, to change them.
    pub(crate) fn records(&mut self) -> &mut Vec<TraceRecord> {
        &mut self.records
    }
}
