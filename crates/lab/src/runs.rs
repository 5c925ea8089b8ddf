//! One run: prepared, brought into its state, verified, timed, and looked at.

use std::time::Instant;

use hotset_facts::units::nanos;
use hotset_facts::{BenchRun, FileSet, Observed, WantedState};
use hotset_sys::launch::Timed;

use crate::command::Command;
use crate::fileset::changed;
use crate::hooks::Hook;
use crate::host::HostLoad;
use crate::planned::{CommandPlan, LabError};
use crate::rounds::Place;
use crate::state::{States, verify};

/// A command with all that its runs need.
pub(crate) struct Bench {
    pub(crate) plan: CommandPlan,
    pub(crate) command: Command,
    pub(crate) set: FileSet,
}

impl Bench {
    /// One run in this state. Between the verification and the spawn there is nothing.
    pub(crate) fn run(
        &mut self,
        state: WantedState,
        place: Place,
        began: Instant,
    ) -> Result<BenchRun, LabError> {
        self.plan.run_hook(Hook::Prepare)?;
        // What the hook or an earlier run changed is not this run's doing.
        let _ = changed(&mut self.set);
        let not_started = |error| self.plan.not_started(error);
        self.command.rewind().map_err(not_started)?;
        let (before, host) = States::default()
            .reach(state, &mut self.set, HostLoad::now)
            .map_err(LabError::State)?;
        let timed = self.command.run_rewound().map_err(not_started)?;
        let host = HostLoad::now().since(host);
        let after = verify(state, &self.set);
        let inputs_changed = changed(&mut self.set);
        let run = BenchRun {
            reached_before: before,
            reached_after: after,
            inputs_changed,
            ..facts(place, &timed, host, began)
        };
        self.plan.run_hook(Hook::Conclude)?;
        Ok(run)
    }
}

fn facts(place: Place, timed: &Timed, host: HostLoad, began: Instant) -> BenchRun {
    let usage = timed.usage;
    let unknown = Observed::Missing(hotset_facts::Reason::not_measured("not looked at yet"));
    BenchRun {
        condition: place.cell,
        round: place.round,
        position: place.position,
        repeat: place.repeat,
        started_after_ns: nanos(timed.started.saturating_duration_since(began)),
        wall_ns: nanos(timed.wall),
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        max_rss_bytes: usage.max_rss_bytes,
        exit: timed.exit,
        reached_before: unknown,
        reached_after: unknown,
        device_read_bytes: Observed::Value(usage.device_read_bytes),
        major_faults: usage.major_faults,
        minor_faults: usage.minor_faults,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        steal_ns: host.steal_ns,
        cpu_pressure_ns: host.cpu_pressure_ns,
        io_pressure_ns: host.io_pressure_ns,
        inputs_changed: Vec::new(),
    }
}
