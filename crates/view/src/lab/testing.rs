//! Sessions for the views' tests.

use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use hotset_analysis::baseline::FailAbove;
use hotset_analysis::lab::{
    ConstLevel, LabAnswer, LabTerms, PublishedFigure, against, saved_session, summarise_lab,
};
use hotset_facts::{
    CountedBy, Dev, DoubtCode, Environment, Factor, Filesystem, FilledBy, HostIdentity,
    LabBaseline, LabCell, LabConditions, LabDoubt, LabFact, LabSample, LabSession, LabSize,
    LabSkipped, LabUnit, Level, Observed, OtherPrograms, Reason, StateReached, WantedState,
};

use super::LabResult;

const NOBODY: Reason = Reason::not_measured("calls are counted in runs of their own");

/// What a sample of a cell looks like, from its time in nanoseconds an operation.
fn sample(round: u32, ns: u64, cold: bool) -> LabSample {
    let cached_pages = if cold { 0 } else { 256 };
    let reached = StateReached { pages: 256, cached_pages, stuck_pages: 0, unknown_files: 0 };
    LabSample {
        round,
        wall_ns: ns * 1000,
        operations: 1000,
        cpu_ns: Observed::Value(ns * 900),
        bytes: 1 << 20,
        syscalls: Observed::Missing(NOBODY),
        reached_before: Observed::Value(reached),
        device_read_bytes: Observed::Value(if cold { 1 << 20 } else { 0 }),
        device_write_bytes: Observed::Value(0),
        major_faults: Observed::Value(u64::from(cold) * 16),
        minor_faults: Observed::Value(21),
        doubts: Vec::new(),
    }
}

/// A cell whose samples vary by a few percent around a time.
fn cell(experiment: &str, factors: &[(&'static str, Level)], ns: u64, rounds: u32) -> LabCell {
    let cold = factors.contains(&("begins", Level::Name("cold".to_owned())));
    let words = factors.iter().map(|(_, level)| match level {
        Level::Number(number) => number.to_string(),
        Level::Name(name) => name.clone(),
    });
    let id = [experiment.to_owned()].into_iter().chain(words).collect::<Vec<_>>();
    let samples =
        (0..rounds).map(|round| sample(round, ns + ns * u64::from(round * 7 % 5) / 100, cold));
    LabCell {
        id: id.join("/"),
        factors: factors
            .iter()
            .map(|(name, level)| Factor { name: (*name).into(), level: level.clone() })
            .collect(),
        unit: LabUnit::NanosecondsPerOperation,
        state_wanted: if cold { WantedState::Cold } else { WantedState::Warm },
        filled_by: if cold { FilledBy::Nothing } else { FilledBy::LargeFolios },
        syscalls_by: CountedBy::Nobody,
        samples: samples.collect(),
    }
}

fn environment() -> Environment {
    let filesystem = |mount: &str, read_ahead_kb| Filesystem {
        mount: PathBuf::from(mount),
        fs_type: "ext4".to_owned(),
        device: "/dev/vda1".to_owned(),
        dev: Dev { major: 253, minor: 1 },
        options: "rw,relatime".to_owned(),
        read_ahead_kb,
    };
    let none = Observed::Missing(Reason::unsupported("the device has no queue"));
    Environment {
        kernel: "6.12.9-amd64".to_owned(),
        memory_limit_bytes: Some(6 << 30),
        filesystems: vec![filesystem("/", Observed::Value(128)), filesystem("/nix", none)],
        ..hotset_analysis::fixtures::host()
    }
}

/// Three ways of reading, three sizes, two states; one cell has a sample that doesn't count, one has no other. No
/// experiment has factors of these names, so that nothing here changes with what an experiment wants to show.
pub(crate) fn access() -> LabSession {
    let name = |name: &str| Level::Name(name.to_owned());
    let mut cells = Vec::new();
    for (method, warm) in [("pread", 300), ("mmap", 120), ("io_uring_32", 250)] {
        for (block, times) in [(1000, 1), (4096, 2), (65_536, 20)] {
            for (state, slower) in [("cold", 40), ("warm", 1)] {
                let factors = [
                    ("way", name(method)),
                    ("course", name("random")),
                    ("chunk_bytes", Level::Number(block)),
                    ("begins", name(state)),
                ];
                cells.push(cell("access", &factors, warm * times * slower, 7));
            }
        }
    }
    doubt(&mut cells);
    LabSession {
        version: "0.1.0".to_owned(),
        experiment: "access".to_owned(),
        started_at: UNIX_EPOCH + Duration::from_nanos(1_760_000_000_123_456_789),
        took_ns: 21_300_000_000,
        environment: environment(),
        conditions: LabConditions {
            directory: "/var/tmp/hotset-lab".to_owned(),
            filesystem: "ext4".to_owned(),
            read_ahead_kb: Observed::Value(128),
            load_hundredths_before: Observed::Value(12),
            load_hundredths_after: Observed::Value(104),
            cpu_pressure_permille: Observed::Missing(Reason::unsupported("no PSI in this kernel")),
            evicted_while_idle_pages: Observed::Value(0),
            null_engine_ps: Observed::Value(310),
            clock_ns: Observed::Value(52),
        },
        size: LabSize::Quick,
        seed: 42,
        rounds: 7,
        interrupted: false,
        cells,
        skipped: vec![LabSkipped {
            what: "O_DIRECT on tmpfs".to_owned(),
            why: "the file system can't; --dir names another".to_owned(),
        }],
        facts: vec![LabFact::new("largest folio", "64 KiB".to_owned())],
    }
}

fn doubt(cells: &mut [LabCell]) {
    let doubt = |invalidates| LabDoubt {
        code: DoubtCode::DeviceReadsWhileWarm,
        text: "4096 bytes were read from the device though all was cached".to_owned(),
        invalidates,
    };
    if let Some(first) = cells.get_mut(1).and_then(|cell| cell.samples.get_mut(2)) {
        first.doubts.push(doubt(true));
        first.reached_before = Observed::Missing(Reason::denied("needs root"));
    }
    let all = cells.get_mut(3).map_or(&mut [][..], |cell| &mut cell.samples);
    all.iter_mut().for_each(|sample| sample.doubts.push(doubt(true)));
}

/// A session of an experiment that asks and draws nothing of its own, with an answer and a figure that tests can know.
pub(crate) fn present(session: LabSession) -> LabResult {
    let mut summary = summarise_lab(session, |_, _| Vec::new());
    summary.answers = vec![LabAnswer {
        question: "Which way is best at random?".to_owned(),
        answer: "mmap takes 120 ns per read, 2.50x faster than pread, the next.".to_owned(),
        number: "2.50x".to_owned(),
        confidence: "95 % CI 2.41 to 2.58, 7 rounds".to_owned(),
        evidence: vec!["access/mmap/random/1000/warm".to_owned()],
    }];
    let question =
        "fread, read, pread, mmap, io_uring or direct; forwards, backwards or at random?";
    LabResult { summary, question, charts: &[], published: PUBLISHED }
}

const PUBLISHED: &[PublishedFigure] = &[
    PublishedFigure {
        source: "an article",
        machine: "a server of 2007",
        what: "mapped, 1000 bytes at a time, cold",
        value: 7101.3,
        unit: "ns",
        here: &[
            ("way", ConstLevel::Name("mmap")),
            ("chunk_bytes", ConstLevel::Number(1000)),
            ("begins", ConstLevel::Name("cold")),
        ],
        or_here: &[],
    },
    PublishedFigure {
        source: "an article",
        machine: "a server of 2007",
        what: "a hit rate",
        value: 49.8,
        unit: "%",
        here: &[],
        or_here: &[],
    },
];

/// [`access`] as a result.
pub(crate) fn result() -> LabResult {
    present(access())
}

fn identity() -> HostIdentity {
    HostIdentity {
        cpu_model: Observed::Value("AMD EPYC 7B13".to_owned()),
        machine: Observed::Missing(Reason::unsupported("no names")),
    }
}

fn others() -> OtherPrograms {
    OtherPrograms { cpu_ns: Observed::Value(2_000_000_000), within_ns: 21_300_000_000 }
}

/// A baseline of sessions of [`access`], a day apart.
pub(crate) fn saved(sessions: u64) -> LabBaseline {
    let of = |day: u64| {
        let mut session = access();
        session.started_at += Duration::from_secs(day * 24 * 3600);
        saved_session(&session, &identity(), others())
    };
    let sessions = (0..sessions).filter_map(|day| of(day).ok()).collect();
    LabBaseline { name: "main".to_owned(), sessions }
}

/// [`access`] beside a baseline in which all that can be said of one is to be said.
pub(crate) fn beside_baseline() -> LabResult {
    let mut baseline = saved(2);
    for session in &mut baseline.sessions {
        session.size = LabSize::Default;
        session.environment.kernel = "6.1.0".to_owned();
        session.conditions.cpu_pressure_permille = Observed::Value(20);
        for cell in &mut session.cells {
            let is = |level: &str| cell.id.contains(level);
            let share = if is("mmap/random/1000") { 0.5 } else { 1.0 };
            let grown = if is("pread/random/65536/cold") { 2 } else { 1 };
            for sample in &mut cell.samples {
                sample.wall_ns = (sample.wall_ns as f64 * share) as u64;
                sample.bytes *= grown;
            }
        }
        session.cells.retain(|cell| !cell.id.ends_with("io_uring_32/random/4096/warm"));
        let extra = session.cells.first().cloned();
        session.cells.extend(extra.map(|cell| hotset_facts::LabBaselineCell {
            id: "access/read/random/1000/cold".to_owned(),
            ..cell
        }));
    }
    let mut session = access();
    session.conditions.cpu_pressure_permille = Observed::Value(60);
    for sample in session.cells.iter_mut().skip(16).flat_map(|cell| &mut cell.samples) {
        sample.wall_ns /= 2;
        sample.cpu_ns = sample.cpu_ns.map(|ns| ns / 2);
    }
    let fail_above = FailAbove { wall: Some(0.05), cpu: Some(0.5) };
    let terms = LabTerms { fail_above, other_host: false, together: 1 };
    let mut result = present(session);
    let summary = &mut result.summary;
    summary.baseline = Some(against(&summary.session, &identity(), others(), &baseline, terms));
    result
}
