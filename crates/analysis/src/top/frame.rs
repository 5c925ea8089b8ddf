//! One interval, as lines that a person can look at.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use hotset_facts::format::Time;
use hotset_facts::{HostMemory, Interval, LiveIo, LiveLosses, LiveProcess, LiveRow, Observed};

use super::format::{LinesKeys, UnlistedKeys};
use super::item::{
    FileItem, GroupItem, GroupMemory, KeptLine, Kind, Line, LineState, Lines, ProcessItem, Unlisted,
};

/// Who knows what people call users and control groups, and what memory these have.
pub trait Names {
    /// The name of a user.
    fn user(&mut self, uid: u32) -> Option<Arc<str>>;
    /// The name of the container, pod or unit that a control group is.
    fn group(&mut self, path: &Arc<str>) -> Option<Arc<str>>;
    /// The memory of a control group in the interval that ended.
    fn memory(&mut self, _path: &Arc<str>) -> GroupMemory {
        GroupMemory::default()
    }
}

/// Knows none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoNames;

impl Names for NoNames {
    fn user(&mut self, _: u32) -> Option<Arc<str>> {
        None
    }

    fn group(&mut self, _: &Arc<str>) -> Option<Arc<str>> {
        None
    }
}

/// One interval as lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopFrame {
    /// When it ended.
    #[serde(with = "Time")]
    pub at: SystemTime,
    /// When it ended, in nanoseconds since the session began.
    pub ended_after_ns: u64,
    /// How long it was, in nanoseconds.
    pub length_ns: u64,
    /// All that was counted, `others` with it.
    pub totals: LiveIo,
    /// What was counted for nobody: a table was full, or who it belongs to had ended.
    pub others: LiveIo,
    /// Its processes, files and control groups, in this order.
    #[serde(flatten, with = "LinesKeys")]
    pub lines: [Lines; 3],
    /// What each process did to each file, as far as both have a line.
    pub pairs: Vec<LiveRow>,
    /// The sums of what has no line, because a bound was reached.
    #[serde(with = "UnlistedKeys")]
    pub unlisted: [Unlisted; 3],
    /// Pages that left the cache but for truncation and unlinking.
    pub evicted_pages: Observed<u64>,
    /// The host.
    pub host: HostMemory,
    /// Losses since the session began.
    pub losses: LiveLosses,
}

impl TopFrame {
    /// The lines of an interval, in one pass over its rows.
    pub fn of(interval: Interval, names: &mut dyn Names) -> Self {
        let Interval { processes, files, rows, others, .. } = interval;
        let mut processes: Vec<KeptLine<ProcessItem>> =
            processes.into_iter().map(|process| process_line(process, names)).collect();
        let mut files: Vec<KeptLine<FileItem>> =
            files.into_iter().map(|file| Line::active(FileItem { file, processes: 0 })).collect();
        let mut totals = others;
        let mut by_process = vec![LiveIo::ZERO; processes.len()];
        for row in &rows {
            let io = row.io.unpack();
            totals.add(&io);
            if let Some(sum) = by_process.get_mut(row.process as usize) {
                sum.add(&io);
            }
            if let Some(line) = processes.get_mut(row.process as usize) {
                line.item.files = line.item.files.saturating_add(1);
            }
            if let Some(line) = files.get_mut(row.file as usize) {
                line.io.add(&row.io);
                line.item.processes = line.item.processes.saturating_add(1);
            }
        }
        for (line, io) in processes.iter_mut().zip(by_process) {
            line.io = io.into();
        }
        let groups = groups(&processes, names);
        Self {
            at: interval.at,
            ended_after_ns: interval.ended_after_ns,
            length_ns: interval.length_ns,
            totals,
            others,
            lines: [Lines::Processes(processes), Lines::Files(files), Lines::Groups(groups)],
            pairs: rows,
            unlisted: [Unlisted::default(); 3],
            evicted_pages: interval.evicted_pages,
            host: interval.host,
            losses: interval.losses,
        }
    }

    /// Its lines of one kind.
    pub fn of_kind(&self, kind: Kind) -> &Lines {
        &self.lines[kind as usize]
    }

    /// What is not among the lines of one kind.
    pub fn unlisted(&self, kind: Kind) -> &Unlisted {
        &self.unlisted[kind as usize]
    }

    /// How long it was, in seconds.
    pub fn seconds(&self) -> f64 {
        self.length_ns as f64 / 1e9
    }
}

fn process_line(process: LiveProcess, names: &mut dyn Names) -> KeptLine<ProcessItem> {
    let user = process.uid.value().and_then(|uid| names.user(uid));
    let state = if process.ended { LineState::Ended } else { LineState::Active };
    Line { state, ..Line::active(ProcessItem { process, user, files: 0 }) }
}

fn groups(processes: &[KeptLine<ProcessItem>], names: &mut dyn Names) -> Vec<KeptLine<GroupItem>> {
    let mut places: HashMap<Option<&Arc<str>>, usize> = HashMap::new();
    let mut groups: Vec<KeptLine<GroupItem>> = Vec::new();
    for line in processes {
        let path = &line.item.process.cgroup;
        let place = *places.entry(path.as_value()).or_insert_with(|| {
            let name = path.as_value().and_then(|path| names.group(path));
            let memory = path.as_value().map(|path| names.memory(path)).unwrap_or_default();
            let item = GroupItem { path: path.clone(), name, processes: 0, memory };
            groups.push(Line::active(item));
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(place) {
            group.io.add(&line.io);
            group.item.processes += 1;
        }
    }
    groups
}
