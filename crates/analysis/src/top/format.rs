//! What there is of each kind in a frame, as it is written: under the kind's name.

use hotset_facts::format::stands_for;
use serde::{Deserialize, Serialize};

use super::item::{FileItem, GroupItem, KeptLine, LineState, Lines, ProcessItem, Unlisted};

/// Processes, files and control groups that did something, or were used.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct LinesKeys {
    /// Processes that did something in the interval, or ended in it.
    processes: Vec<KeptLine<ProcessItem>>,
    /// Files that were used in it.
    files: Vec<KeptLine<FileItem>>,
    /// Control groups of these processes.
    cgroups: Vec<KeptLine<GroupItem>>,
}

impl From<&[Lines; 3]> for LinesKeys {
    fn from(lines: &[Lines; 3]) -> Self {
        // Lines of the interval itself, and not those that a screen keeps. They come first, so that indices hold.
        fn happened<T: Clone>(lines: &[KeptLine<T>]) -> Vec<KeptLine<T>> {
            let is =
                |line: &&KeptLine<T>| matches!(line.state, LineState::Active | LineState::Ended);
            lines.iter().filter(is).cloned().collect()
        }
        let mut keys = Self { processes: Vec::new(), files: Vec::new(), cgroups: Vec::new() };
        for lines in lines {
            match lines {
                Lines::Processes(lines) => keys.processes = happened(lines),
                Lines::Files(lines) => keys.files = happened(lines),
                Lines::Groups(lines) => keys.cgroups = happened(lines),
            }
        }
        keys
    }
}

impl From<LinesKeys> for [Lines; 3] {
    fn from(mut keys: LinesKeys) -> Self {
        for line in keys.processes.iter_mut().filter(|line| line.item.process.ended) {
            line.state = LineState::Ended;
        }
        [Lines::Processes(keys.processes), Lines::Files(keys.files), Lines::Groups(keys.cgroups)]
    }
}

/// The sums of what has no line.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct UnlistedKeys {
    /// Of processes.
    processes: Unlisted,
    /// Of files.
    files: Unlisted,
    /// Of control groups.
    cgroups: Unlisted,
}

impl From<&[Unlisted; 3]> for UnlistedKeys {
    fn from([processes, files, cgroups]: &[Unlisted; 3]) -> Self {
        Self { processes: *processes, files: *files, cgroups: *cgroups }
    }
}

impl From<UnlistedKeys> for [Unlisted; 3] {
    fn from(keys: UnlistedKeys) -> Self {
        [keys.processes, keys.files, keys.cgroups]
    }
}

stands_for!(LinesKeys => [Lines; 3], UnlistedKeys => [Unlisted; 3]);
