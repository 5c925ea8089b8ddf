//! Sessions for tests: commands in states with given times, and noise as machines make it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use hotset_facts::{
    BenchCommand, BenchRun, BenchSession, Condition, ConditionRole, Dev, ExitStatus, FileId,
    FileSet, LearnedBy, Observed, Reason, SetMember, StateReached, StopReason, Timer, WantedState,
    Warmup,
};

use hotset_facts::random::Random;

/// Pages of the files of every command here.
pub(crate) const PAGES: u64 = 10_000;
pub(crate) const PAGE: u64 = 4096;

/// A time around `base_ns` with positive, skewed noise of about `spread` and now and then a long delay: additive and
/// never negative, as on real machines.
pub(crate) fn noisy(rng: &mut Random, base_ns: f64, spread: f64) -> u64 {
    let skewed = -(1.0 - rng.unit()).ln() * spread;
    let delay = if rng.unit() < 0.05 { rng.unit() * 2.0 } else { 0.0 };
    (base_ns * (1.0 + skewed + delay)) as u64
}

pub(crate) fn condition(command: usize, state: WantedState) -> Condition {
    Condition { command, state, role: ConditionRole::Measured }
}

/// A run in which everything is as it should be for its state.
pub(crate) fn run(
    conditions: &[Condition],
    condition: usize,
    round: u32,
    wall_ns: u64,
) -> BenchRun {
    let state = conditions[condition].state;
    let cached = match state {
        WantedState::Cold | WantedState::ColdAll => 0,
        WantedState::Share(percent) => PAGES * u64::from(percent.get()) / 100,
        WantedState::Warm | WantedState::AsIs => PAGES,
    };
    let reached =
        |cached_pages| StateReached { pages: PAGES, cached_pages, ..StateReached::default() };
    let device = (PAGES - cached) * PAGE;
    let system = 1_000_000 + (PAGES - cached) * 1_000;
    BenchRun {
        condition,
        round,
        position: condition as u32,
        repeat: 0,
        started_after_ns: u64::from(round) * 1_000_000_000 + condition as u64 * 300_000_000,
        wall_ns,
        user_ns: 20_000_000.min(wall_ns / 2),
        system_ns: system.min(wall_ns / 2),
        max_rss_bytes: 30 << 20,
        exit: ExitStatus::Code(0),
        reached_before: Observed::Value(reached(cached)),
        reached_after: Observed::Value(reached(PAGES)),
        device_read_bytes: Observed::Value(device),
        major_faults: if device > 0 { 300 } else { 0 },
        minor_faults: 900,
        voluntary_switches: 40,
        involuntary_switches: 2,
        steal_ns: Observed::Value(0),
        cpu_pressure_ns: Observed::Value(0),
        io_pressure_ns: Observed::Value(0),
        inputs_changed: Vec::new(),
    }
}

/// One file that a command reads.
pub(crate) fn member(path: &str, ino: u64) -> SetMember {
    SetMember {
        path: PathBuf::from(path),
        id: FileId::new(Dev { major: 253, minor: 0 }, ino),
        size_bytes: PAGES * PAGE,
        mtime_ns: 1_785_000_000_000_000_000,
        hole_bytes: 0,
        may_be_compressed: false,
        read: true,
        mapped: false,
        written: false,
        cannot_evict: None,
    }
}

/// A session of named commands and conditions, with the wall times that `wall_ns` gives for a condition and a round.
pub(crate) fn session(
    names: &[&str],
    conditions: Vec<Condition>,
    rounds: u32,
    mut wall_ns: impl FnMut(usize, u32) -> u64,
) -> BenchSession {
    let mut runs = Vec::new();
    for round in 0..rounds {
        for index in 0..conditions.len() {
            runs.push(run(&conditions, index, round, wall_ns(index, round)));
        }
    }
    let unlearned = Reason::not_measured("no sensor in this session");
    BenchSession {
        version: "0.0.0".to_owned(),
        started_at: UNIX_EPOCH + Duration::from_secs(1_785_000_000),
        environment: crate::fixtures::host(),
        timer: Timer { resolution_ns: 1, spawn_noise_ns: Observed::Value(20_000) },
        commands: names
            .iter()
            .map(|name| BenchCommand {
                name: (*name).to_owned(),
                argv: name.split(' ').map(OsString::from).collect(),
                shell: None,
                parameters: Vec::new(),
            })
            .collect(),
        sets: names
            .iter()
            .map(|_| FileSet {
                learned_by: LearnedBy::Sensor,
                members: vec![member("/data/app.bin", 12)],
                unreadable: Vec::new(),
            })
            .collect(),
        learned: names.iter().map(|_| Observed::Missing(unlearned)).collect(),
        conditions,
        seed: 42,
        planned_rounds: rounds,
        warmup: Warmup::Rounds(0),
        runs,
        stop: StopReason::RunsDone,
    }
}
