//! Sessions for the views' tests.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use hotset_analysis::baseline::FailAbove;
use hotset_analysis::bench::{BenchSummary, against, saved_session, summarise_bench};
use hotset_facts::{
    Baseline, BenchCommand, BenchRun, BenchSession, Condition, ConditionRole, Dev, ExitStatus,
    FileId, FileRow, FileSet, HostIdentity, Io, LearnedBy, LearnedIo, Observed, OtherPrograms,
    Reason, SetMember, StateReached, StopReason, StuckPages, Timer, Unevictable, Unreadable,
    WantedState, Warmup,
};

use crate::testing::{environment, read_file};

const PAGES: u64 = 7_410;

fn run(condition: usize, state: WantedState, round: u32, wall_us: u64) -> BenchRun {
    let cached = if state == WantedState::Cold { 795 } else { PAGES };
    let reached = |cached_pages, stuck_pages| {
        let pages = PAGES;
        Observed::Value(StateReached { pages, cached_pages, stuck_pages, unknown_files: 0 })
    };
    let new_pages = PAGES - cached;
    BenchRun {
        condition,
        round,
        position: (round + condition as u32) % 2,
        repeat: 0,
        started_after_ns: u64::from(round) * 700_000_000 + condition as u64 * 200_000_000,
        wall_ns: wall_us * 1_000,
        user_ns: 70_000_000.min(wall_us * 700),
        system_ns: 9_000_000 + new_pages * 2_000,
        max_rss_bytes: 31 << 20,
        exit: ExitStatus::Code(0),
        reached_before: reached(cached, cached.min(795)),
        reached_after: reached(PAGES, 795),
        device_read_bytes: Observed::Value(new_pages * 4096),
        major_faults: new_pages / 64,
        minor_faults: 2_400,
        voluntary_switches: 12 + new_pages / 32,
        involuntary_switches: 3,
        steal_ns: Observed::Value(0),
        cpu_pressure_ns: Observed::Value(900_000),
        io_pressure_ns: Observed::Missing(Reason::unsupported("no PSI in this kernel")),
        inputs_changed: Vec::new(),
    }
}

fn command(name: &str) -> BenchCommand {
    BenchCommand {
        name: name.to_owned(),
        argv: name.split(' ').map(OsString::from).collect(),
        shell: None,
        parameters: Vec::new(),
    }
}

fn member(path: &str, ino: u64, pages: u64) -> SetMember {
    SetMember {
        path: PathBuf::from(path),
        id: FileId::new(Dev { major: 253, minor: 0 }, ino),
        size_bytes: pages * 4096,
        mtime_ns: 1_785_000_000_000_000_000,
        hole_bytes: 0,
        may_be_compressed: false,
        read: true,
        mapped: false,
        written: false,
        cannot_evict: None,
    }
}

fn set() -> FileSet {
    let libc = SetMember {
        mapped: true,
        cannot_evict: Some(StuckPages { pages: 795, reason: Unevictable::Mapped }),
        ..member("/usr/lib/x86_64-linux-gnu/libc.so.6", 13, 812)
    };
    FileSet {
        learned_by: LearnedBy::Sensor,
        members: vec![member("/srv/app/model.bin", 12, PAGES - 812), libc],
        unreadable: Vec::new(),
    }
}

fn learned(files: Vec<FileRow>) -> Observed<LearnedIo> {
    let mut totals = Io::zero();
    files.iter().for_each(|file| totals.add(&file.io()));
    Observed::Value(LearnedIo { state: WantedState::Cold, wall_ns: 433_000_000, totals, files })
}

fn condition(command: usize, state: WantedState) -> Condition {
    Condition { command, state, role: ConditionRole::Measured }
}

/// Rounds of conditions with the wall times of `wall_us` and a ripple of up to two percent that looks random.
fn session(
    names: &[&str],
    conditions: Vec<Condition>,
    rounds: u32,
    wall_us: &[u64],
) -> BenchSession {
    let mut runs = Vec::new();
    for round in 0..rounds {
        for (index, condition) in conditions.iter().enumerate() {
            let base = wall_us.get(index).copied().unwrap_or(1);
            let mixed =
                (u64::from(round) * 8 + index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let ripple = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 44;
            runs.push(run(index, condition.state, round, base + ((base * ripple) >> 20) / 50));
        }
    }
    BenchSession {
        version: "0.1.0".to_owned(),
        started_at: UNIX_EPOCH + Duration::from_millis(1_785_000_000_123),
        environment: environment(),
        timer: Timer { resolution_ns: 1, spawn_noise_ns: Observed::Value(23_000) },
        commands: names.iter().map(|name| command(name)).collect(),
        sets: names.iter().map(|_| set()).collect(),
        learned: names.iter().map(|_| Observed::Missing(Reason::denied("needs CAP_BPF"))).collect(),
        conditions,
        seed: 4_815_162_342,
        planned_rounds: rounds,
        warmup: Warmup::Rounds(0),
        runs,
        stop: StopReason::PreciseEnough,
    }
}

/// One command, cold and warm, learned under the sensor.
pub(crate) fn cold_warm() -> BenchSession {
    let conditions = vec![condition(0, WantedState::Cold), condition(0, WantedState::Warm)];
    let mut session = session(&["python3 app.py"], conditions, 15, &[412_000, 96_000]);
    session.learned = vec![learned(vec![read_file(b"/srv/app/model.bin", 12, 6_598, 100)])];
    session
}

/// Two commands in two states with a noise floor, some runs that don't count, and different I/O.
pub(crate) fn versus() -> BenchSession {
    let mut conditions = vec![
        condition(0, WantedState::Cold),
        condition(0, WantedState::Warm),
        condition(1, WantedState::Cold),
        condition(1, WantedState::Warm),
    ];
    let twin = ConditionRole::NoiseFloor { twin_of: 1 };
    conditions.push(Condition { role: twin, ..condition(0, WantedState::Warm) });
    let names = ["load --format=json,v2 | sort", "load --format=bin"];
    let walls = [412_000, 96_000, 371_000, 96_100, 96_000];
    let mut session = session(&names, conditions, 20, &walls);
    session.planned_rounds = 15;
    session.stop = StopReason::MaxTime;
    for (command, value) in session.commands.iter_mut().zip(["json", "bin"]) {
        command.parameters = vec![("format".to_owned(), value.to_owned())];
    }
    if let Some(run) = session.runs.get_mut(6) {
        run.device_read_bytes = Observed::Value(3 << 20);
        run.major_faults = 12;
        run.wall_ns *= 2;
    }
    session.learned = vec![
        learned(vec![
            read_file(b"/srv/app/model.json", 12, 6_598, 100),
            read_file(b"/srv/app/schema.json", 14, 40, 100),
        ]),
        learned(vec![read_file(b"/srv/app/model.bin", 15, 2_100, 100)]),
    ];
    session
}

/// Nothing went as it should.
pub(crate) fn troubled() -> BenchSession {
    let conditions = vec![condition(0, WantedState::Cold), condition(0, WantedState::Warm)];
    let name = "cat nasty\u{1b}[31m\nname";
    let mut session = session(&[name], conditions, 4, &[90, 60]);
    session.stop = StopReason::Failed {
        condition: 1,
        exit: ExitStatus::Signal(11),
        output_tail: b"loading\n\x1b[2Jcannot open model\xff\n".to_vec(),
    };
    for run in session.runs.iter_mut().filter(|run| run.condition == 0) {
        run.reached_before = run.reached_after;
    }
    if let Some(set) = session.sets.first_mut() {
        set.unreadable.push(Unreadable {
            path: PathBuf::from("/root/secret"),
            reason: "Permission denied (os error 13)".to_owned(),
        });
    }
    session
}

/// A session that was interrupted before its first run.
pub(super) fn empty() -> BenchSession {
    let conditions = vec![condition(0, WantedState::AsIs)];
    let mut session = session(&["true"], conditions, 0, &[1]);
    session.stop = StopReason::Interrupted;
    session
}

pub(crate) fn all() -> Vec<(&'static str, BenchSummary)> {
    let sessions = [
        ("cold_warm", cold_warm()),
        ("versus", versus()),
        ("troubled", troubled()),
        ("empty", empty()),
    ];
    sessions.map(|(name, session)| (name, summarise_bench(session))).into()
}

pub(crate) fn identity() -> HostIdentity {
    HostIdentity {
        cpu_model: Observed::Value("AMD EPYC 7B13".to_owned()),
        machine: Observed::Missing(Reason::unsupported("neither flags nor names")),
    }
}

fn others() -> OtherPrograms {
    OtherPrograms { cpu_ns: Observed::Value(200_000_000), within_ns: 10_000_000_000 }
}

/// A baseline of sessions of [`versus`], a day apart.
pub(crate) fn saved(sessions: u64) -> Baseline {
    let of = |day: u64| {
        let mut session = versus();
        session.started_at += Duration::from_secs(day * 24 * 3600);
        saved_session(&summarise_bench(session), &identity(), others())
    };
    let sessions = (0..sessions).filter_map(|day| of(day).ok()).collect();
    Baseline { name: "main".to_owned(), sessions }
}

/// [`versus`] beside a baseline in which all that can be said of one is to be said.
pub(crate) fn beside_baseline() -> BenchSummary {
    let mut baseline = saved(2);
    for session in &mut baseline.sessions {
        session.environment.kernel = "6.1.0".to_owned();
        let Some(command) = session.commands.first_mut() else { continue };
        command.argv = vec!["load".into(), "--format=xml".into()];
        session
            .conditions
            .retain(|one| (one.condition.command, one.condition.state) != (1, WantedState::Cold));
        for one in &mut session.conditions {
            for sample in one.samples.iter_mut().filter(|_| one.condition.command == 0) {
                sample.wall_ns = sample.wall_ns * 5 / 6;
                sample.cpu_pressure_ns = Observed::Value(0);
            }
        }
    }
    let mut session = versus();
    session.conditions.iter_mut().for_each(|one| {
        if one.command == 1 && one.state == WantedState::Warm {
            one.state = WantedState::AsIs;
        }
    });
    let mut summary = summarise_bench(session);
    let limits = FailAbove { wall: Some(0.05), cpu: Some(0.5) };
    summary.baseline = Some(against(&summary, &identity(), others(), &baseline, limits, false));
    summary
}
