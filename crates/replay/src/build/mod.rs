//! From the records of a trace to a plan, in two passes: record by record ([`PlanBuilder::add`]), and then in the order of time,
//! when it is known which names and files change ([`PlanBuilder::finish`]).

mod convert;
mod files;
mod mappings;
mod names;
mod order;
#[cfg(test)]
mod order_tests;
mod residency;
mod rings;
mod shared;
mod slots;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod threads;

use std::collections::{BTreeMap, HashMap};

use hotset_facts::replay::{LeftOut, PlanTotals, ReplayPlan, Step, StepKind};
use hotset_facts::trace::{TraceBatch, TraceLists};

use files::Files;
use mappings::Mappings;
use names::Names;
use slots::Slots;
use threads::{Draft, Thread, Threads};

/// Makes a plan of a trace.
pub struct PlanBuilder<'a> {
    lists: &'a TraceLists,
    all_on_copies: bool,
    paths: Paths,
    files: Files,
    slots: Slots,
    mappings: Mappings,
    names: Names,
    threads: Threads,
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
            names: Names::default(),
            threads: Threads::default(),
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
            match self.step(record, batch) {
                Ok(step) => {
                    let draft = Draft { start_ns: record.start_ns, end_ns, step };
                    self.recorded.records += 1;
                    match record.duration_ns {
                        // Of those in flight together, the sum says nothing.
                        Some(_) if rings::is_request(&draft) => {}
                        Some(duration_ns) => self.recorded.duration_ns += duration_ns,
                        None => self.recorded.untimed += 1,
                    }
                    self.recorded.device_read_bytes += record.device_read_bytes.unwrap_or(0);
                    self.threads.add(record, self.lists, draft);
                }
                Err(reason) => *self.left_out.entry(reason).or_default() += 1,
            }
            self.records = self.records.saturating_add(1);
        }
    }

    /// The plan.
    pub fn finish(mut self) -> ReplayPlan {
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
        let (threads, covered_ns) =
            order::threads(threads, &changed, &self.slots, &self.mappings, changed_files);
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
            mappings,
            threads,
            left_out: self.left_out,
            recorded: self.recorded,
        }
    }
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
