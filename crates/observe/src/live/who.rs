//! Who did what a sample tells: asked before its rows are read, so that none is missed of a process that ended.

use hotset_facts::Observed;

use super::LiveSession;
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
