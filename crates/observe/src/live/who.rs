//! Who did what a sample tells: asked before its rows are read, so that none is missed of a process that ended, and again afterwards.

use hotset_facts::{LiveFile, LiveProcess, Observed};

use super::{LiveSession, files};
use crate::ObserveError;

/// Running processes that are asked in each sample whether they are still there, and in which control group.
const CHECKED_PROCESSES: usize = 32;

impl LiveSession {
    /// Reads the table of processes.
    pub(super) fn register_processes(&mut self) -> Result<(), ObserveError> {
        let globals = self.globals()?;
        self.store.register_processes(
            &self.loaded,
            &globals,
            self.now,
            &mut self.processes,
            &mut self.cgroups,
        )
    }

    /// Asks once more who stands in a sample. What a row counted may be by a program, in a group or on a file that was not there yet when
    /// processes were registered and names taken.
    pub(super) fn name_again(
        &mut self,
        processes: &mut [LiveProcess],
        shown: &mut [LiveFile],
    ) -> Result<(), ObserveError> {
        let owners: Vec<u32> = processes.iter().map(|process| process.id).collect();
        let (known, cgroups) = (&mut self.processes, &mut self.cgroups);
        self.store.each_process(&self.loaded, &owners, |at, seen| {
            known.identify_again(seen, &mut processes[at], cgroups);
        })?;
        if shown.iter().any(files::is_unnamed) {
            self.ring.consume().map_err(|error| ObserveError::table("events", error))?;
            let mut names = self.files.borrow_mut();
            shown
                .iter_mut()
                .filter(|file| files::is_unnamed(file))
                .for_each(|file| names.name_again(file));
        }
        Ok(())
    }

    /// Asks some processes whether they are still there: an end can be missed, and a move to another group is not told.
    pub(super) fn check_processes(&mut self) -> Result<(), ObserveError> {
        for index in self.processes.next_to_check(CHECKED_PROCESSES) {
            let Some(known) = self.processes.get_mut(index) else { continue };
            match self.cgroups.of_process(known.pid) {
                Some(Some(group)) => known.cgroup = Observed::Value(group),
                Some(None) => {}
                None => {
                    known.ended = Some(self.now);
                    let (pid, owner) = (known.pid, known.owner);
                    self.store.forget_pid(&self.loaded, pid, owner)?;
                }
            }
        }
        Ok(())
    }
}
