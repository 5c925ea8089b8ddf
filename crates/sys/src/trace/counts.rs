//! What a traced command looked up, and what can't be said of it.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use hotset_facts::FailedLookup;

use super::gap::TraceGap;
use super::lookup::Asked;
use super::memory::path_asked;
use super::processes::{Processes, TracedProcess};

/// Distinct failed paths that are kept, as many as the sensor keeps; beyond, they are counted without a name.
const MAX_FAILED_PATHS: usize = 65_536;

/// What the processes of a command did, besides the files that they used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TraceCounts {
    /// In the order in which they began.
    pub processes: Vec<TracedProcess>,
    /// Paths of failed lookups, most asked for first.
    pub failed_paths: Vec<FailedLookup>,
    /// What was not seen, or was otherwise than without a tracer.
    pub gaps: BTreeSet<TraceGap>,
}

/// The counts so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) processes: Processes,
    pub(super) gaps: BTreeSet<TraceGap>,
    failed: HashMap<PathBuf, u64>,
}

impl Counts {
    /// A call of a process has ended.
    pub(super) fn looked_up(
        &mut self,
        place: usize,
        task: libc::pid_t,
        asked: &Asked,
        answer: i64,
    ) {
        let Some(failed) = asked.has_failed(answer) else { return };
        let process = &mut self.processes.list[place];
        process.lookups += 1;
        if !failed {
            return;
        }
        process.failed_lookups += 1;
        let Some(path) = path_asked(task, asked.directory, asked.path) else { return };
        let is_full = self.failed.len() >= MAX_FAILED_PATHS;
        match self.failed.get_mut(&path) {
            Some(calls) => *calls += 1,
            None if is_full => {}
            None => drop(self.failed.insert(path, 1)),
        }
    }

    pub(super) fn take(&mut self) -> TraceCounts {
        let named = std::mem::take(&mut self.failed).into_iter();
        let mut failed_paths: Vec<_> =
            named.map(|(path, calls)| FailedLookup { path, calls }).collect();
        failed_paths.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.path.cmp(&b.path)));
        let gaps = std::mem::take(&mut self.gaps);
        TraceCounts { processes: self.processes.take(), failed_paths, gaps }
    }
}
