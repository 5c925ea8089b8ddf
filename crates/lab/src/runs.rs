//! One run: prepared, brought into its state, verified, timed, and looked at.

use std::io;
use std::time::Instant;

use hotset_facts::units::nanos;
use hotset_facts::{BenchRun, FileSet, Observed, WantedState};

use crate::command::{Command, Ran};
use crate::fileset::changed;
use crate::hooks::{Hook, HookFailure, Hooks};
use crate::host::HostLoad;
use crate::rounds::Place;
use crate::state::{States, verify};

/// `ru_inblock` counts in units of so many bytes.
const BLOCK_BYTES: u64 = 512;

/// Why there was no run.
#[derive(Debug)]
pub(crate) enum RunFailure {
    Hook(Hook, HookFailure),
    State(String),
    Start(io::Error),
}

/// A command with all that its runs need.
pub(crate) struct Bench {
    pub(crate) command: Command,
    pub(crate) hooks: Hooks,
    pub(crate) set: FileSet,
}

impl Bench {
    pub(crate) fn hook(&self, hook: Hook) -> Result<(), RunFailure> {
        self.hooks.run(hook).map_err(|failure| RunFailure::Hook(hook, failure))
    }

    /// One run in this state. Between the verification and the spawn there is nothing.
    pub(crate) fn run(
        &mut self,
        state: WantedState,
        place: Place,
        began: Instant,
    ) -> Result<BenchRun, RunFailure> {
        self.hook(Hook::Prepare)?;
        // What the hook or an earlier run changed is not this run's doing.
        let _ = changed(&mut self.set);
        self.command.rewind().map_err(RunFailure::Start)?;
        let (before, host) = States::default()
            .reach(state, &mut self.set, HostLoad::now)
            .map_err(RunFailure::State)?;
        let ran = self.command.run_rewound().map_err(RunFailure::Start)?;
        let host = HostLoad::now().since(host);
        let after = verify(state, &self.set);
        let inputs_changed = changed(&mut self.set);
        let run = BenchRun {
            reached_before: before,
            reached_after: after,
            inputs_changed,
            ..facts(place, &ran, host, began)
        };
        self.hook(Hook::Conclude)?;
        Ok(run)
    }
}

fn facts(place: Place, ran: &Ran, host: HostLoad, began: Instant) -> BenchRun {
    let usage = ran.timed.usage;
    let unknown = Observed::Missing(hotset_facts::Reason::not_measured("not looked at yet"));
    BenchRun {
        condition: place.cell,
        round: place.round,
        position: place.position,
        repeat: place.repeat,
        started_after_ns: nanos(ran.timed.started.saturating_duration_since(began)),
        wall_ns: nanos(ran.timed.wall),
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        max_rss_bytes: usage.max_rss_bytes,
        exit: ran.exit,
        reached_before: unknown,
        reached_after: unknown,
        device_read_bytes: Observed::Value(usage.blocks_read.saturating_mul(BLOCK_BYTES)),
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
