//! From the records of a trace to a plan, in two passes: record by record ([`PlanBuilder::add`]), and then in the order of time,
//! when it is known which names and files change ([`PlanBuilder::finish`]).

mod convert;
mod family;
mod files;
mod links;
mod mappings;
mod moves;
mod names;
mod order;
#[cfg(test)]
mod order_tests;
mod paths;
#[cfg(test)]
mod paths_tests;
mod residency;
mod rings;
mod shared;
mod slots;
mod syncs;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod threads;
mod transfers;
#[cfg(test)]
mod transfers_tests;

use std::collections::{BTreeMap, HashMap};

use hotset_facts::replay::{LeftOut, PlanTotals, ReplayPlan, Step, StepKind};
use hotset_facts::trace::{ProcessIndex, TraceBatch, TraceLists, TraceRecord};

use files::Files;
use links::Links;
use mappings::Mappings;
use moves::Moves;
use names::Names;
use shared::Sharing;
use slots::Slots;
use threads::{Draft, Thread, Threads};
use transfers::Transfers;

/// Makes a plan of a trace.
pub struct PlanBuilder<'a> {
    lists: &'a TraceLists,
    all_on_copies: bool,
    paths: Paths,
    files: Files,
    slots: Slots,
    mappings: Mappings,
    transfers: Transfers,
    names: Names,
    links: Links,
    moves: Moves,
    threads: Threads,
    /// By process and path, the record that last opened a directory.
    directories: HashMap<(ProcessIndex, u32), u32>,
    left_out: BTreeMap<LeftOut, u64>,
    recorded: PlanTotals,
    /// The beginning of the first record, and the end of the last.
    span: Option<(u64, u64)>,
    /// Records until now.
    records: u32,
}

/// Paths, each once.
#[derive(Default)]
struct Paths {
    all: Vec<Vec<u8>>,
    known: HashMap<Vec<u8>, u32>,
}

impl Paths {
    fn place(&mut self, path: &[u8]) -> u32 {
        if let Some(place) = self.known.get(path) {
            return *place;
        }
        let place = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(path.to_vec());
        self.known.insert(path.to_vec(), place);
        place
    }

    fn bytes(&self, place: u32) -> &[u8] {
        self.all.get(place as usize).map_or(&[], Vec::as_slice)
    }
}

impl<'a> PlanBuilder<'a> {
    /// A plan of no record yet. The lists are those of the whole trace.
    pub fn new(lists: &'a TraceLists) -> Self {
        Self {
            lists,
            all_on_copies: false,
            paths: Paths::default(),
            files: Files::default(),
            slots: Slots::default(),
            mappings: Mappings::default(),
            transfers: Transfers::default(),
            names: Names::default(),
            links: Links::default(),
            moves: Moves::default(),
            threads: Threads::default(),
            directories: HashMap::new(),
            left_out: BTreeMap::new(),
            recorded: PlanTotals::default(),
            span: None,
            records: 0,
        }
    }

    /// Has a plan that reads copies too where nothing changes: for a host that has not the files of the recording.
    #[must_use]
    pub fn all_on_copies(self) -> Self {
        Self { all_on_copies: true, ..self }
    }

    /// Takes the next records of the trace.
    pub fn add(&mut self, batch: &TraceBatch) {
        for record in &batch.records {
            let end_ns = record.start_ns.saturating_add(record.duration_ns.unwrap_or(0));
            let (begin, end) = self.span.unwrap_or((record.start_ns, end_ns));
            self.span = Some((begin.min(record.start_ns), end.max(end_ns)));
            if !self.takes_end(record, batch) {
                let step = self.step(record, batch);
                self.take(record, step);
            }
            self.records = self.records.saturating_add(1);
        }
    }

    /// Puts the step that a record became behind those of its thread, or counts why it is none.
    fn take(&mut self, record: &TraceRecord, step: Result<Step, LeftOut>) {
        let step = match step {
            Ok(step) => step,
            Err(reason) => return *self.left_out.entry(reason).or_default() += 1,
        };
        let end_ns = record.start_ns.saturating_add(record.duration_ns.unwrap_or(0));
        self.recorded.records += 1;
        match record.duration_ns {
            // Of those in flight together, the sum says nothing.
            Some(_) if step.kind.is_in_flight() => {}
            // Who took the bytes took a part of the time.
            Some(_) if step.kind == StepKind::Send => self.recorded.untimed += 1,
            Some(duration_ns) => self.recorded.duration_ns += duration_ns,
            None => self.recorded.untimed += 1,
        }
        self.recorded.device_read_bytes += record.device_read_bytes.unwrap_or(0);
        let draft = Draft { start_ns: record.start_ns, end_ns, step };
        self.threads.add(record, self.lists, draft);
    }

    /// The plan.
    pub fn finish(mut self) -> ReplayPlan {
        self.all_sent();
        if let Some((begin, end)) = self.span {
            self.recorded.span_ns = end - begin;
        }
        let mut threads = self.threads.all;
        for thread in &mut threads {
            thread.drafts.sort_by_key(|draft| draft.start_ns);
        }
        let requests_ns = threads.iter().map(|thread| rings::time_ns(&thread.drafts));
        self.recorded.duration_ns += requests_ns.sum::<u64>();
        let (shared, shared_ns) = drop_shared_closes(&mut threads, &self.slots);
        if shared > 0 {
            *self.left_out.entry(LeftOut::SharedClose).or_default() += shared;
            self.recorded.records -= shared;
            self.recorded.duration_ns -= shared_ns;
        }
        let changed = self.names.changed(&self.paths.all, &mut self.files, self.all_on_copies);
        let changed_files = self.files.changed();
        let sharing = Sharing {
            names: &changed,
            files: changed_files,
            slots: &self.slots,
            mappings: &self.mappings,
            transfers: &self.transfers,
            syncs_all: syncs_all(&threads),
        };
        let (threads, covered_ns) = order::threads(threads, sharing);
        self.recorded.covered_ns = covered_ns;
        let paths = changed.paths(self.paths.all);
        let mappings = self.mappings.finish(&self.files);
        let slots = self.slots.finish();
        let files = self.files.finish(self.all_on_copies);
        ReplayPlan {
            paths,
            there: changed.there,
            files,
            slots,
            transfers: self.transfers.all,
            mappings,
            threads,
            left_out: self.left_out,
            recorded: self.recorded,
        }
    }
}

/// Whether any step syncs all files.
fn syncs_all(threads: &[Thread]) -> bool {
    let mut drafts = threads.iter().flat_map(|thread| &thread.drafts);
    drafts.any(|draft| draft.step.kind == StepKind::SyncAll)
}

/// A descriptor that is closed while its description has others is none of a replay, which has one each. Says how many records
/// closed one, and how long they took.
fn drop_shared_closes(threads: &mut [Thread], slots: &Slots) -> (u64, u64) {
    let (mut dropped, mut dropped_ns) = (0, 0);
    for draft in threads.iter_mut().flat_map(|thread| &mut thread.drafts) {
        let Step { kind, target, record, .. } = draft.step;
        if kind == StepKind::Close && !slots.is_last_close(target, record) {
            dropped += 1;
            dropped_ns += draft.end_ns - draft.start_ns;
        }
    }
    for thread in threads {
        thread.drafts.retain(|draft| {
            let Step { kind, target, record, .. } = draft.step;
            kind != StepKind::Close || slots.is_last_close(target, record)
        });
    }
    (dropped, dropped_ns)
}
