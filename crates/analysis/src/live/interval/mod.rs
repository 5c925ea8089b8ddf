//! One interval, added up by control group, command and device.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use hotset_facts::{Dev, Interval, LiveIo, LiveRow};

use super::LiveNumbers;

/// An interval, added up. The sum of `cgroups`, of `commands` and of `mounts` is each `totals` less `others`.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalSummary {
    /// Everything, with what belongs to no process.
    pub totals: LiveNumbers,
    /// What belongs to no process: a table was full, or the process had ended.
    pub others: LiveIo,
    /// By path of the control group; `None` for the processes whose group is not known.
    pub cgroups: Vec<(Option<Arc<str>>, LiveIo)>,
    /// By name of the program, at most 15 bytes.
    pub commands: Vec<(Arc<str>, LiveIo)>,
    /// By device of the file system.
    pub mounts: Vec<(Dev, LiveIo)>,
}

/// Adds up an interval, in one pass over its rows.
pub fn summarise_interval(interval: &Interval) -> IntervalSummary {
    let mut others = interval.others;
    let mut processes = vec![LiveIo::ZERO; interval.processes.len()];
    let mut files = vec![LiveIo::ZERO; interval.files.len()];
    for LiveRow { process, file, io } in &interval.rows {
        let io = &io.unpack();
        // A row of a process that is not in the list is no sensor's doing; it must not unbalance the sums.
        match (processes.get_mut(*process as usize), files.get_mut(*file as usize)) {
            (Some(process), Some(file)) => {
                process.add(io);
                file.add(io);
            }
            _ => others.add(io),
        }
    }
    let with_io = || interval.processes.iter().zip(&processes);
    let cgroup = |process: &hotset_facts::LiveProcess| process.cgroup.as_value().cloned();
    IntervalSummary {
        totals: LiveNumbers::of_interval(interval),
        others,
        cgroups: sums_by(with_io().map(|(process, io)| (cgroup(process), io))),
        commands: sums_by(with_io().map(|(process, io)| (Arc::clone(&process.comm), io))),
        mounts: sums_by(interval.files.iter().zip(&files).map(|(file, io)| (file.mounted, io))),
    }
}

/// The sum of each key, in the order in which keys come up.
fn sums_by<'a, K: Hash + Eq + Clone>(
    parts: impl Iterator<Item = (K, &'a LiveIo)>,
) -> Vec<(K, LiveIo)> {
    let mut places = HashMap::new();
    let mut sums: Vec<(K, LiveIo)> = Vec::new();
    for (key, io) in parts {
        let place = *places.entry(key).or_insert_with_key(|key| {
            sums.push((key.clone(), LiveIo::ZERO));
            sums.len() - 1
        });
        sums[place].1.add(io);
    }
    sums
}

#[cfg(test)]
mod tests;
