//! `--pid` and `--cgroup`: the files of processes instead of those of a tree.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_facts::Pid;
use hotset_sys::cgroup::GroupError;
use hotset_sys::proc::ProcError;
use hotset_sys::proc::files::ProcessFiles;
use hotset_sys::tree::{Found, Selection, Visitor, Walked};

/// Processes, and whether it is a mistake that one of them has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processes {
    pids: Vec<Pid>,
    required: bool,
}

impl Processes {
    /// One process.
    pub fn one(pid: Pid) -> Self {
        Self { pids: vec![pid], required: true }
    }

    /// Those of a control group and of the groups below it, of which one can end at any time.
    ///
    /// # Errors
    /// Where it is none, or can't be read.
    pub fn of_group(group: &Path) -> Result<Self, GroupError> {
        Ok(Self { pids: hotset_sys::cgroup::processes(group)?, required: false })
    }

    /// Shows each of their files once to the first of the visitors. A process that may not be looked at is unreadable.
    pub(super) fn visit<V: Visitor>(
        &self,
        selection: &Selection,
        stop: &AtomicBool,
        mut visitors: Vec<V>,
    ) -> Walked<V> {
        let mut files = ProcessFiles::new();
        let mut interrupted = false;
        if let Some(visitor) = visitors.first_mut() {
            let mut visitor = Selected { selection, visitor };
            for &pid in &self.pids {
                interrupted |= stop.load(Ordering::Relaxed);
                if interrupted {
                    break;
                }
                let place = PathBuf::from(format!("/proc/{pid}"));
                match files.visit(pid, 0, &mut visitor) {
                    Ok(false) if self.required => {
                        visitor.unreadable(&place, &"there is no such process");
                    }
                    Ok(_) => {}
                    Err(ProcError::Read { error, .. }) => visitor.unreadable(&place, &error),
                    Err(error) => visitor.unreadable(&place, &error),
                }
            }
        }
        Walked { visitors, skipped: files.skipped(), interrupted }
    }
}

/// Passes on those files of processes that were asked for.
struct Selected<'a, V> {
    selection: &'a Selection,
    visitor: &'a mut V,
}

impl<V: Visitor> Visitor for Selected<'_, V> {
    fn file(&mut self, file: &Found<'_>) {
        let filter = self.selection.filter.as_deref();
        if file.size_bytes >= self.selection.min_size_bytes
            && filter.is_none_or(|filter| filter.takes(file.path))
        {
            self.visitor.file(file);
        }
    }

    fn unreadable(&mut self, path: &Path, error: &dyn Display) {
        self.visitor.unreadable(path, error);
    }
}
