//! One interval, added up by process, file, control group, command and device.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use hotset_facts::{Dev, HostMemory, Interval, LiveIo, LiveLosses, LiveProcess, LiveRow, Observed};

use super::LiveNumbers;

/// What one process did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessNumbers {
    /// Which one, of [`Interval::processes`].
    pub process: u32,
    /// Files that it did something with.
    pub files: u32,
    /// What it did.
    pub numbers: LiveNumbers,
}

/// What was done with one file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FileNumbers {
    /// Which one, of [`Interval::files`].
    pub file: u32,
    /// Processes that did something with it.
    pub processes: u32,
    /// What they did.
    pub numbers: LiveNumbers,
}

/// What the processes of one control group did.
#[derive(Debug, Clone, PartialEq)]
pub struct CgroupNumbers {
    /// Its path; nothing for the processes whose group is not known.
    pub path: Option<Arc<str>>,
    /// Processes of it in this interval.
    pub processes: u32,
    /// What they did.
    pub numbers: LiveNumbers,
}

/// What all processes of one name did.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandNumbers {
    /// The name of the program, at most 15 bytes.
    pub comm: Arc<str>,
    /// Processes with this name in this interval.
    pub processes: u32,
    /// What they did.
    pub numbers: LiveNumbers,
}

/// What was done with the files of one file system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MountNumbers {
    /// Its device.
    pub dev: Dev,
    /// Files of it in this interval.
    pub files: u32,
    /// What was done with them.
    pub numbers: LiveNumbers,
}

/// An interval, added up. The sum of `processes`, of `files`, of `cgroups`, of `commands` and of `mounts` is each
/// `totals` less `others`.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalSummary {
    /// Everything, with what was counted for nobody.
    pub totals: LiveNumbers,
    /// What was counted for nobody: a table was full, or who it belongs to had ended.
    pub others: LiveNumbers,
    /// By process, in the order of [`Interval::processes`].
    pub processes: Vec<ProcessNumbers>,
    /// By file, in the order of [`Interval::files`].
    pub files: Vec<FileNumbers>,
    /// By control group, in the order in which they came up.
    pub cgroups: Vec<CgroupNumbers>,
    /// By name of program, in the order in which they came up.
    pub commands: Vec<CommandNumbers>,
    /// By file system, in the order in which they came up.
    pub mounts: Vec<MountNumbers>,
    /// Pages that left the cache but for truncation and unlinking.
    pub evicted_pages: Observed<u64>,
    /// The host.
    pub host: HostMemory,
    /// Losses since the session began.
    pub losses: LiveLosses,
}

/// Adds up an interval, in one pass over its rows.
pub fn summarise_interval(interval: &Interval) -> IntervalSummary {
    let seconds = interval.length_ns as f64 / 1e9;
    let zero = LiveNumbers::new(LiveIo::default(), seconds);
    let mut others = LiveNumbers::new(interval.others, seconds);
    let mut totals = others;
    let mut processes = number(interval.processes.len(), |process| ProcessNumbers {
        process,
        files: 0,
        numbers: zero,
    });
    let mut files =
        number(interval.files.len(), |file| FileNumbers { file, processes: 0, numbers: zero });
    for LiveRow { process, file, io } in &interval.rows {
        totals.add_part(io);
        // A row of nobody is no sensor's doing; it must not unbalance the sums.
        match (processes.get_mut(*process as usize), files.get_mut(*file as usize)) {
            (Some(process), Some(file)) => {
                process.files = process.files.saturating_add(1);
                process.numbers.add_part(io);
                file.processes = file.processes.saturating_add(1);
                file.numbers.add_part(io);
            }
            _ => others.add_part(io),
        }
    }
    let (cgroups, commands) = by_process(&interval.processes, &processes, zero);
    let mounts = by_mount(interval, &files, zero);
    IntervalSummary {
        totals,
        others,
        processes,
        files,
        cgroups,
        commands,
        mounts,
        evicted_pages: interval.evicted_pages,
        host: interval.host.clone(),
        losses: interval.losses.clone(),
    }
}

/// Rows with the numbers 0 to `count`.
fn number<T>(count: usize, row: impl FnMut(u32) -> T) -> Vec<T> {
    (0..u32::try_from(count).unwrap_or(u32::MAX)).map(row).collect()
}

fn by_process(
    who: &[LiveProcess],
    rows: &[ProcessNumbers],
    zero: LiveNumbers,
) -> (Vec<CgroupNumbers>, Vec<CommandNumbers>) {
    let mut cgroups = Groups::default();
    let mut commands = Groups::default();
    for (process, row) in who.iter().zip(rows) {
        let path = process.cgroup.as_value();
        let group: &mut CgroupNumbers =
            cgroups.of(path, || CgroupNumbers { path: path.cloned(), processes: 0, numbers: zero });
        group.processes = group.processes.saturating_add(1);
        group.numbers.add_part(&row.numbers.io);
        let command: &mut CommandNumbers = commands.of(&process.comm, || CommandNumbers {
            comm: Arc::clone(&process.comm),
            processes: 0,
            numbers: zero,
        });
        command.processes = command.processes.saturating_add(1);
        command.numbers.add_part(&row.numbers.io);
    }
    (cgroups.rows, commands.rows)
}

fn by_mount(interval: &Interval, rows: &[FileNumbers], zero: LiveNumbers) -> Vec<MountNumbers> {
    let mut mounts = Groups::default();
    for (file, row) in interval.files.iter().zip(rows) {
        let mount: &mut MountNumbers =
            mounts.of(file.id.dev, || MountNumbers { dev: file.id.dev, files: 0, numbers: zero });
        mount.files = mount.files.saturating_add(1);
        mount.numbers.add_part(&row.numbers.io);
    }
    mounts.rows
}

/// Rows found by a key.
struct Groups<K, T> {
    at: HashMap<K, usize>,
    rows: Vec<T>,
}

impl<K, T> Default for Groups<K, T> {
    fn default() -> Self {
        Self { at: HashMap::new(), rows: Vec::new() }
    }
}

impl<K: Hash + Eq, T> Groups<K, T> {
    fn of(&mut self, key: K, new: impl FnOnce() -> T) -> &mut T {
        let next = self.rows.len();
        let at = *self.at.entry(key).or_insert(next);
        if at == next {
            self.rows.push(new());
        }
        &mut self.rows[at]
    }
}

#[cfg(test)]
mod tests;
