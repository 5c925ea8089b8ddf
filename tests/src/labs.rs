//! Made-up sessions of every experiment, in the shape that `hotset lab` measures: what a page has to cope with.

use std::time::{Duration, UNIX_EPOCH};

use hotset_facts::{
    CountedBy, DoubtCode, Environment, Factor, FilledBy, LabCell, LabConditions, LabDoubt, LabFact,
    LabSample, LabSession, LabSize, LabSkipped, LabUnit, Level, Observed, Reason, StateReached,
    WantedState,
};

/// Rounds of each session.
const ROUNDS: u32 = 9;
const MIB: u64 = 1 << 20;

type Levels = Vec<(&'static str, Level)>;

fn name(name: &str) -> Level {
    Level::Name(name.to_owned())
}

fn sample(round: u32, ns: f64, cold: bool, bytes: u64) -> LabSample {
    // Noise that only adds, as that of real runs, and is the same each time.
    let noise = 1.0 + f64::from(2_654_435_761_u32.wrapping_mul(round + 3) % 97) / 1500.0;
    let cached_pages = if cold { 0 } else { 256 };
    LabSample {
        round,
        wall_ns: (ns * noise).max(1.0) as u64,
        operations: 1,
        cpu_ns: Observed::Value((ns * 0.8) as u64),
        bytes,
        syscalls: Observed::Missing(Reason::not_measured("calls are counted in runs of their own")),
        reached_before: Observed::Value(StateReached {
            pages: 256,
            cached_pages,
            stuck_pages: 0,
            unknown_files: 0,
        }),
        device_read_bytes: Observed::Value(if cold { bytes } else { 0 }),
        device_write_bytes: Observed::Value(0),
        major_faults: Observed::Value(u64::from(cold)),
        minor_faults: Observed::Value(21),
        doubts: Vec::new(),
    }
}

fn cell(experiment: &str, levels: &Levels, ns: f64, cold: bool, bytes: u64) -> LabCell {
    let words = levels.iter().map(|(_, level)| match level {
        Level::Number(number) => number.to_string(),
        Level::Name(name) => name.clone(),
    });
    let id: Vec<String> = [experiment.to_owned()].into_iter().chain(words).collect();
    LabCell {
        id: id.join("/"),
        factors: levels
            .iter()
            .map(|(name, level)| Factor { name: (*name).into(), level: level.clone() })
            .collect(),
        unit: LabUnit::Nanoseconds,
        state_wanted: if cold { WantedState::Cold } else { WantedState::Warm },
        filled_by: if cold { FilledBy::Nothing } else { FilledBy::LargeFolios },
        syscalls_by: CountedBy::Nobody,
        samples: (0..ROUNDS).map(|round| sample(round, ns, cold, bytes)).collect(),
    }
}

fn reread() -> Vec<LabCell> {
    let mut cells = Vec::new();
    for (what, extra) in [("read", 0.0), ("read+parse", 5.0)] {
        for size in [1024, MIB, 1024 * MIB] {
            for (cache, each) in [("warm", 0.1), ("evicted", 0.9), ("direct", 0.8)] {
                for which in ["first", "later"] {
                    let levels = vec![
                        ("what", name(what)),
                        ("size_bytes", Level::Number(size)),
                        ("cache", name(cache)),
                        ("which", name(which)),
                    ];
                    let ns = 3_000.0 + size as f64 * (each + extra);
                    cells.push(cell("reread", &levels, ns, cache != "warm", size));
                }
            }
        }
    }
    cells
}

fn buffer() -> Vec<LabCell> {
    let mut cells = Vec::new();
    let buffers = [0, 16, 64, 256, 1024, 4095, 4096, 4097, 16_384, 65_536, MIB];
    for buffer in buffers {
        for power in 6..=20 {
            let total = 1_u64 << power;
            for (sync, cost) in [("none", 0.0), ("fsync", 900_000.0)] {
                let levels = vec![
                    ("total_bytes", Level::Number(total)),
                    ("piece_bytes", Level::Number(16)),
                    ("buffer_bytes", Level::Number(buffer)),
                    ("sync", name(sync)),
                    ("writer", name("native")),
                ];
                let calls = total.div_ceil(buffer.max(16));
                let ns = 2_000.0 + calls as f64 * 350.0 + total as f64 * 0.3 + cost;
                let mut one = cell("buffer", &levels, ns, false, total);
                one.syscalls_by = CountedBy::Sensor;
                one.filled_by = FilledBy::Written;
                one.samples.iter_mut().for_each(|sample| sample.syscalls = Observed::Value(calls));
                cells.push(one);
            }
        }
    }
    cells
}

fn access() -> Vec<LabCell> {
    let mut cells = Vec::new();
    let methods = [
        ("fread", 40.0),
        ("fread_unbuffered", 420.0),
        ("read", 350.0),
        ("pread", 330.0),
        ("preadv2_nowait", 345.0),
        ("mmap", 110.0),
        ("mmap_random", 130.0),
        ("io_uring_1", 600.0),
        ("io_uring_32", 260.0),
        ("direct_1", 70_000.0),
        ("direct_32", 9_000.0),
    ];
    for (method, ns) in methods {
        for (order, slower) in [("sequential", 1.0), ("reverse", 1.4), ("random", 2.1)] {
            for block in [1000, 4096, 65_536] {
                for state in ["cold", "warm"] {
                    let cold = state == "cold";
                    let levels = vec![
                        ("method", name(method)),
                        ("order", name(order)),
                        ("block_bytes", Level::Number(block)),
                        ("state", name(state)),
                    ];
                    let ns = ns
                        * slower
                        * (block as f64 / 1000.0).sqrt()
                        * if cold { 60.0 } else { 1.0 };
                    let mut one = cell("access", &levels, ns, cold, 64 * MIB);
                    one.unit = LabUnit::NanosecondsPerOperation;
                    cells.push(one);
                }
            }
        }
    }
    let doubt = LabDoubt {
        code: DoubtCode::DeviceReadsWhileWarm,
        text: "4096 bytes were read from the device though all was cached".to_owned(),
        invalidates: true,
    };
    // Some of one cell, and all of another.
    cells[1].samples[3].doubts.push(doubt.clone());
    cells[3].samples.iter_mut().for_each(|sample| sample.doubts.push(doubt.clone()));
    cells
}

fn load() -> Vec<LabCell> {
    let mut cells = Vec::new();
    for (runtime, each) in [("ruby", 1.0), ("python", 1.2), ("node", 2.0), ("java", 8.0)] {
        for (at, what) in
            ["load_empty", "load_class", "load_one", "read_text", "exists"].iter().enumerate()
        {
            for state in ["cold", "warm"] {
                let cold = state == "cold";
                let levels =
                    vec![("runtime", name(runtime)), ("what", name(what)), ("state", name(state))];
                let ns = 2e6 * each * (at + 1) as f64 * if cold { 3.0 } else { 1.0 };
                cells.push(cell("load", &levels, ns, cold, MIB));
            }
        }
    }
    cells
}

fn direct() -> Vec<LabCell> {
    let mut cells = Vec::new();
    for (case, bytes) in [("dd", 512 * MIB), ("app", 32 * MIB)] {
        for mode in ["direct", "cached"] {
            for state in ["cold", "warm"] {
                let cold = state == "cold" || mode == "direct";
                let levels =
                    vec![("case", name(case)), ("mode", name(mode)), ("state", name(state))];
                let ns = bytes as f64 * if cold { 0.9 } else { 0.15 };
                cells.push(cell("direct", &levels, ns, cold, bytes));
            }
        }
    }
    cells
}

/// A session of an experiment on a host with this kernel; `slower` times as slow as it could be.
pub fn session(experiment: &str, kernel: &str, slower: f64) -> LabSession {
    let mut cells = match experiment {
        "reread" => reread(),
        "buffer" => buffer(),
        "access" => access(),
        "load" => load(),
        "direct" => direct(),
        other => panic!("no made-up session of {other}"),
    };
    for sample in cells.iter_mut().flat_map(|cell| &mut cell.samples) {
        sample.wall_ns = (sample.wall_ns as f64 * slower) as u64;
    }
    LabSession {
        version: "0.1.0".to_owned(),
        experiment: experiment.to_owned(),
        started_at: UNIX_EPOCH + Duration::from_secs(1_760_000_000),
        took_ns: 25_000_000_000,
        environment: Environment {
            kernel: kernel.to_owned(),
            page_size_bytes: 4096,
            cpus: 2,
            memory_bytes: 8 << 30,
            memory_limit_bytes: None,
            filesystems: Vec::new(),
            evicts_idle_cache: true,
        },
        conditions: LabConditions {
            directory: "/var/tmp/hotset-lab".to_owned(),
            filesystem: "ext4".to_owned(),
            read_ahead_kb: Observed::Value(128),
            load_hundredths_before: Observed::Value(12),
            load_hundredths_after: Observed::Value(340),
            cpu_pressure_permille: Observed::Value(12),
            evicted_while_idle_pages: Observed::Value(1440),
            null_engine_ps: Observed::Value(310),
            clock_ns: Observed::Value(52),
        },
        size: LabSize::Quick,
        seed: 42,
        rounds: ROUNDS,
        interrupted: false,
        cells,
        skipped: vec![LabSkipped {
            what: "java".to_owned(),
            why: "not installed; apt-get install default-jdk-headless".to_owned(),
        }],
        facts: vec![LabFact::new("largest folio", "64 KiB".to_owned())],
    }
}
