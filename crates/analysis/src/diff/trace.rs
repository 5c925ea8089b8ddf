//! A recording as one side of a comparison, summed up batch by batch under the names of a profile.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use hotset_facts::format::constant;
use hotset_facts::trace::{
    Operation, OperationClass, PathIndex, RecordFlags, TraceBatch, TraceHead, TraceLists,
    TraceProcess, TraceRecord, TraceSource,
};
use hotset_facts::{FileKind, NamedCounter, NotMeasured, Observed, Reason, Unit};

use super::counters::Counters;
use super::difference::{ComparedKind, SideAbout};
use super::profile::{program, words};
use super::side::{Doubts, RowsBy, Side, SideFinding, SideRow, gaps, is_end_of_name};
use super::sums::{Sum, Sums};
use crate::Outcome;
use crate::explain::Explanation;
use crate::trace::RequestKind;

/// Paths of lookups that are told apart.
const MOST_PATHS: usize = 1 << 16;
/// A path has at most so many bytes in Linux (`PATH_MAX`), and longer ones are cut.
const PATH_MAX: usize = 4096;

/// Sums up the records of a trace. Its memory is that of its files and processes, and of 65,536 paths of lookups of each kind.
#[derive(Debug)]
pub struct TraceSide<'a> {
    head: &'a TraceHead,
    lists: &'a TraceLists,
    totals: Sums,
    operations: Vec<u64>,
    files: Vec<Sums>,
    processes: Vec<Sums>,
    failed: Paths,
    found: Paths,
    reads_without_pages: u64,
    records: u64,
}

impl<'a> TraceSide<'a> {
    /// Of a trace with this head and all of these lists.
    pub fn new(head: &'a TraceHead, lists: &'a TraceLists) -> Self {
        Self {
            head,
            lists,
            totals: Sums::default(),
            operations: vec![0; Operation::ALL.len()],
            files: vec![Sums::default(); lists.files.len()],
            processes: vec![Sums::default(); lists.processes.len()],
            failed: Paths::default(),
            found: Paths::default(),
            reads_without_pages: 0,
            records: 0,
        }
    }

    /// Counts the records of a batch.
    pub fn add(&mut self, batch: &TraceBatch) {
        self.failed.begin(batch);
        self.found.begin(batch);
        for record in &batch.records {
            self.count(record, batch);
        }
    }

    fn count(&mut self, record: &TraceRecord, batch: &TraceBatch) {
        self.records += 1;
        if let Some(calls) = self.operations.get_mut(record.operation as usize) {
            *calls += 1;
        }
        let moved = record.result.is_some_and(|result| result > 0);
        let is_read =
            record.class == OperationClass::Read && !record.flags.has(RecordFlags::DIRECT);
        if is_read && moved && record.pages.is_none() {
            self.reads_without_pages += 1;
        }
        self.totals.count(record);
        let file = record.file.and_then(|file| self.files.get_mut(file.0 as usize));
        let process = record.process.and_then(|process| self.processes.get_mut(process.0 as usize));
        file.into_iter().chain(process).for_each(|sums| sums.count(record));
        let is_lookup = matches!(record.class, OperationClass::Open | OperationClass::Lookup);
        match RequestKind::of(record) {
            RequestKind::FailedLookup => self.failed.count(record.path, batch),
            _ if is_lookup && record.result.is_some_and(|result| result >= 0) => {
                self.found.count(record.path, batch);
            }
            _ => {}
        }
    }

    /// The recording as a side, with what `explain` found in it.
    pub fn finish(self, explanation: &Explanation) -> Side {
        let totals = self.totals();
        let (files, cached) = self.files();
        let findings = explanation.findings.iter().map(|finding| SideFinding {
            rule: finding.rule,
            severity: finding.severity,
            title: finding.title.clone(),
            saving_high_ns: finding.saving.high_ns,
        });
        let undecided = explanation.verdicts.iter().filter_map(|verdict| match verdict.outcome {
            Outcome::NotEnoughData(reason) => Some((verdict.rule, reason)),
            Outcome::Clear => None,
        });
        let lost = self.lists.gaps.iter().map(|gap| gap.records);
        Side {
            about: about(self.head),
            kind: ComparedKind::Recordings,
            gaps: gaps(&self.head.not_measured, &totals),
            totals,
            files,
            processes: self.processes(),
            findings: Observed::Value(findings.collect()),
            undecided: undecided.collect(),
            sites: None,
            doubts: Doubts {
                rows_by: RowsBy::Sensor,
                lost: lost.fold(0, u64::saturating_add),
                unnamed_lookups: self.failed.unnamed,
                unnamed_found: self.found.unnamed,
                cached,
                lacks: self.head.lacks.clone(),
                is_empty: self.records == 0,
            },
            pids: self.lists.processes.iter().map(|process| process.pid).collect(),
            failed_lookups: Observed::Value(self.failed.rows()),
            found_lookups: Observed::Value(self.found.rows()),
        }
    }

    /// All counters: what the source does not tell is missing.
    fn totals(&self) -> Counters {
        let counted = self.totals.named();
        let known = counted.map(|one| match self.untold(one.name) {
            Some(reason) => NamedCounter { value: Observed::Missing(reason), ..one },
            None => one,
        });
        let operations = Operation::ALL.iter().zip(&self.operations).map(|(operation, &calls)| {
            let name = constant(&format!("operations.{}", operation.as_str()));
            NamedCounter::new(name, Unit::Count, calls)
        });
        let rows = [
            NamedCounter::new("records", Unit::Count, self.records),
            NamedCounter::new("files.rows", Unit::Count, self.lists.files.len() as u64),
            NamedCounter::new("processes.rows", Unit::Count, self.lists.processes.len() as u64),
        ];
        let command = self.head.command.as_ref();
        let command = command.into_iter().flat_map(|command| {
            let ns = |name, value| NamedCounter { name, unit: Unit::Nanoseconds, value };
            [
                ns("command.wall_ns", command.wall_ns.into()),
                ns("command.user_ns", command.user_ns),
                ns("command.system_ns", command.system_ns),
                NamedCounter::new("command.max_rss_bytes", Unit::Bytes, command.max_rss_bytes),
            ]
        });
        Counters::all(known.chain(command).chain(rows).chain(operations))
    }

    /// Why a counter has no value.
    fn untold(&self, name: &str) -> Option<Reason> {
        let lacks = |gap: &&NotMeasured| {
            let whats = gap.feature.unmeasured().into_iter();
            whats.filter_map(|what| name.strip_prefix(what)).any(is_end_of_name)
        };
        if let Some(gap) = self.head.not_measured.iter().find(lacks) {
            return Some(Reason::not_measured(constant(&gap.reason)));
        }
        if Sum::is_of_pages(name) && self.reads_without_pages > 0 {
            return Some(Reason::not_measured("some reads do not tell where their pages were"));
        }
        // The sensor has a record of all that it counts. Other sources have what they were asked for.
        let is_recorded = self.head.source == TraceSource::Recorded;
        let class = name.split('.').next().unwrap_or_default();
        let of_class = self.totals.named().filter(|one| one.name.starts_with(class));
        let has_none = of_class.into_iter().all(|one| one.value == Observed::Value(0));
        let what = "its source has no records that tell it";
        (!is_recorded && has_none).then_some(Reason::not_measured(what))
    }

    /// The files, and how many of their pages were cached before.
    fn files(&self) -> (Vec<SideRow>, Option<(u64, u64)>) {
        let page_size = self.head.environment.as_ref().map_or(4096, |host| host.page_size_bytes);
        let mut cached: Option<(u64, u64)> = None;
        let files = self.lists.files.iter().zip(&self.files).map(|(file, sums)| {
            if let (FileKind::Regular, Some(size), Some(pages)) =
                (file.kind, file.size_bytes, file.cached_pages)
            {
                let all = size.div_ceil(page_size.max(1));
                let (sum, of) = cached.unwrap_or_default();
                cached = Some((sum.saturating_add(pages.min(all)), of.saturating_add(all)));
            }
            SideRow {
                name: match (&file.path, file.id) {
                    (Some(path), _) => path.clone().into(),
                    (None, Some(id)) => format!("({id})").into(),
                    (None, None) => OsString::new(),
                },
                kind: Some(file.kind),
                id: file.id,
                program: None,
                counters: Counters::not_zero(sums.of_row()),
            }
        });
        let files = files.collect();
        (files, cached.filter(|(_, pages)| *pages > 0))
    }

    fn processes(&self) -> Vec<SideRow> {
        let row = |(process, sums): (&TraceProcess, &Sums)| SideRow {
            name: words(&process.argv, &process.comm),
            kind: None,
            id: None,
            program: Some(program(&process.argv, &process.comm)),
            counters: Counters::not_zero(sums.of_row()),
        };
        self.lists.processes.iter().zip(&self.processes).map(row).collect()
    }
}

fn about(head: &TraceHead) -> SideAbout {
    SideAbout {
        path: None,
        hotset: head.hotset.clone(),
        started_at: head.started_at,
        environment: head.environment.clone(),
        command: head.command.clone(),
        instrument: match head.source {
            TraceSource::Recorded => "hotset record".to_owned(),
            source => format!("import of {}", source.as_str()),
        },
    }
}

/// Paths that were looked up, and how often.
#[derive(Debug, Default)]
struct Paths {
    at: HashMap<Box<[u8]>, usize>,
    calls: Vec<u64>,
    unnamed: u64,
    /// Places of the batch's paths that were looked for already.
    of_batch: Vec<Option<usize>>,
}

impl Paths {
    fn begin(&mut self, batch: &TraceBatch) {
        self.of_batch.clear();
        self.of_batch.resize(batch.paths.len(), None);
    }

    fn count(&mut self, path: Option<PathIndex>, batch: &TraceBatch) {
        let place = path.and_then(|path| self.place(path, batch));
        match place.and_then(|place| self.calls.get_mut(place)) {
            Some(calls) => *calls += 1,
            None => self.unnamed += 1,
        }
    }

    fn place(&mut self, index: PathIndex, batch: &TraceBatch) -> Option<usize> {
        let known = self.of_batch.get_mut(index.0 as usize)?;
        if known.is_some() {
            return *known;
        }
        let path = batch.path(index)?;
        let path = &path[..path.len().min(PATH_MAX)];
        *known = self.at.get(path).copied().or_else(|| {
            let next = self.calls.len();
            (next < MOST_PATHS).then(|| {
                self.calls.push(0);
                self.at.insert(path.into(), next);
                next
            })
        });
        *known
    }

    fn rows(self) -> Vec<SideRow> {
        let calls = self.calls;
        let rows = self.at.into_iter().map(|(path, at)| {
            let calls = calls.get(at).copied().unwrap_or(0);
            let counter = NamedCounter::new("calls", Unit::Count, calls);
            SideRow::path(OsString::from_vec(path.into_vec()), Counters::not_zero([counter]))
        });
        let mut rows: Vec<SideRow> = rows.collect();
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        rows
    }
}
