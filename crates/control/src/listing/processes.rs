//! `--pid` and `--cgroup`: the files of processes instead of those of a tree.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use hotset_sys::proc::ProcError;
use hotset_sys::proc::files::ProcessFiles;
use hotset_sys::tree::{Found, Selection, Visitor, Walked};

use super::looker::Looker;

/// The processes, and whether it is a mistake that one of them has ended.
pub(super) struct Processes {
    pids: Vec<u32>,
    required: bool,
}

impl Processes {
    /// One process.
    pub(super) fn one(pid: u32) -> Self {
        Self { pids: vec![pid], required: true }
    }

    /// Those of a control group and of the groups below it.
    ///
    /// # Errors
    /// Where it is none, or can't be read.
    pub(super) fn of_group(directory: &Path) -> Result<Self> {
        let named = || format!("--cgroup {}", directory.display());
        let pids = hotset_sys::cgroup::processes(directory).with_context(named)?;
        Ok(Self { pids, required: false })
    }

    /// Shows each of their files once to the first of the lookers. A process that may not be looked at is unreadable.
    pub(super) fn look<'a>(
        &self,
        selection: &Selection,
        stop: &AtomicBool,
        mut visitors: Vec<Looker<'a>>,
    ) -> Walked<Looker<'a>> {
        let mut files = ProcessFiles::new();
        let mut interrupted = false;
        if let Some(looker) = visitors.first_mut() {
            let mut visitor = Selected { selection, looker };
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

/// Those files of processes that were asked for.
struct Selected<'s, 'l, 'a> {
    selection: &'s Selection,
    looker: &'l mut Looker<'a>,
}

impl Visitor for Selected<'_, '_, '_> {
    fn file(&mut self, file: &Found<'_>) {
        let filter = self.selection.filter.as_deref();
        if file.size_bytes >= self.selection.min_size_bytes
            && filter.is_none_or(|filter| filter.takes(file.path))
        {
            self.looker.file(file);
        }
    }

    fn unreadable(&mut self, path: &Path, error: &dyn Display) {
        self.looker.unreadable(path, error);
    }
}
