//! Sessions for tests of this module and of the experiments' own.

use std::time::SystemTime;

use hotset_facts::{
    CountedBy, DoubtCode, Factor, FilledBy, LabCell, LabConditions, LabDoubt, LabSample,
    LabSession, LabSize, LabUnit, Level, Observed, Reason, StateReached, WantedState,
};

/// Why the samples here lack a number.
const NOBODY: Reason = Reason::not_measured("made by hand");

/// A sample that counts.
pub fn sample(round: u32, wall_ns: u64, operations: u64) -> LabSample {
    let reached = StateReached { pages: 4, cached_pages: 4, stuck_pages: 0, unknown_files: 0 };
    LabSample {
        round,
        wall_ns,
        operations,
        cpu_ns: Observed::Value(wall_ns / 2),
        bytes: 16_384,
        syscalls: Observed::Missing(NOBODY),
        reached_before: Observed::Value(reached),
        device_read_bytes: Observed::Value(0),
        device_write_bytes: Observed::Missing(NOBODY),
        major_faults: Observed::Value(0),
        minor_faults: Observed::Value(2),
        doubts: Vec::new(),
    }
}

/// The same, not to be averaged in.
pub fn invalid(sample: LabSample) -> LabSample {
    let doubt = LabDoubt {
        code: DoubtCode::StateNotReached,
        text: "3 of 4 pages were cached".to_owned(),
        invalidates: true,
    };
    LabSample { doubts: vec![doubt], ..sample }
}

/// A cell of named levels, a sample a round.
pub fn cell(factors: &[(&'static str, Level)], walls: &[u64]) -> LabCell {
    let factor = |(name, level): &(&'static str, Level)| Factor {
        name: (*name).into(),
        level: level.clone(),
    };
    let words = factors.iter().map(|(_, level)| match level {
        Level::Number(number) => number.to_string(),
        Level::Name(name) => name.clone(),
    });
    LabCell {
        id: words.collect::<Vec<_>>().join("/"),
        factors: factors.iter().map(factor).collect(),
        unit: LabUnit::Nanoseconds,
        state_wanted: WantedState::Warm,
        filled_by: FilledBy::LargeFolios,
        syscalls_by: CountedBy::Nobody,
        samples: (0..).zip(walls).map(|(round, &wall)| sample(round, wall, 10)).collect(),
    }
}

/// A session of these cells.
pub fn session(experiment: &str, cells: Vec<LabCell>) -> LabSession {
    LabSession {
        version: "0.1.0".to_owned(),
        experiment: experiment.to_owned(),
        started_at: SystemTime::UNIX_EPOCH,
        took_ns: 1,
        environment: crate::fixtures::host(),
        conditions: LabConditions {
            directory: "/tmp".to_owned(),
            filesystem: "ext4".to_owned(),
            read_ahead_kb: Observed::Value(128),
            load_hundredths_before: Observed::Value(10),
            load_hundredths_after: Observed::Missing(NOBODY),
            cpu_pressure_permille: Observed::Missing(NOBODY),
            evicted_while_idle_pages: Observed::Missing(NOBODY),
            null_engine_ps: Observed::Value(310),
            clock_ns: Observed::Value(26),
        },
        size: LabSize::Quick,
        seed: 1,
        rounds: cells.iter().map(|cell| cell.samples.len()).max().unwrap_or(0) as u32,
        interrupted: false,
        cells,
        skipped: Vec::new(),
        facts: Vec::new(),
    }
}
