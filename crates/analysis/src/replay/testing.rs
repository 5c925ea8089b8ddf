//! Replays with known numbers.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use hotset_facts::replay::{
    Difference, LeftOut, PatternKind, PatternLane, PatternMark, PatternSide, PlanTotals,
    ReplayChange, ReplayFiles, ReplayPages, ReplayPattern, ReplaySample, ReplaySession,
    ReplayState, ReplayVariant, StepKind,
};
use hotset_facts::trace::{TraceHead, TraceSource};
use hotset_facts::{Command, Observed};

use crate::fixtures;

/// A replay of the recording as it is, or of a change, that took so many milliseconds.
pub fn sample(variant: usize, round: u32, busy_ms: u64) -> ReplaySample {
    ReplaySample {
        variant,
        state: ReplayState::Recorded,
        round,
        pages: ReplayPages { wanted: 100, cached: 100, ..ReplayPages::default() },
        wall_ns: busy_ms * 1_000_000,
        busy_ns: busy_ms * 1_000_000,
        untimed_ns: 0,
        waited_ns: 0,
        device_read_bytes: 1 << 20,
        device_write_bytes: 0,
        differences: 0,
        first_differences: Vec::new(),
    }
}

/// A sample in which a read returned less than was recorded.
pub fn differing(sample: ReplaySample) -> ReplaySample {
    let told = Difference { record: 12_345, step: StepKind::ReadAt, recorded: 4096, found: 100 };
    ReplaySample { differences: 3, first_differences: vec![told], ..sample }
}

/// A file that is opened and read in 20 pieces, or in one; before it, a lookup that finds nothing, or none.
pub fn pattern() -> ReplayPattern {
    let mark = |record, kind, step, lane, range: Option<(u64, u64)>| PatternMark {
        record,
        kind,
        step,
        lane: Some(lane),
        offset: range.map(|(offset, _)| offset),
        bytes: range.map(|(_, bytes)| bytes),
        direct: false,
    };
    let missed = mark(0, PatternKind::FailedLookup, StepKind::Stat, 1, None);
    let opened = mark(1, PatternKind::Open, StepKind::Open, 0, None);
    let read = |record: u32, bytes: u64| {
        let offset = u64::from(record - 2) * 100;
        mark(record, PatternKind::Read, StepKind::Read, 0, Some((offset, bytes)))
    };
    let small = (2..22).map(|record| read(record, 100));
    let side =
        |marks: Vec<PatternMark>| PatternSide { requests: marks.len() as u64, marks, in_flight: 0 };
    let lane = |path: &str| PatternLane { path: Some(path.into()), is_new: false };
    ReplayPattern {
        tid: 4_711,
        lanes: vec![lane("/srv/shop/data/orders.log"), lane("/etc/shop/orders.log")],
        more_lanes: 0,
        before: side([missed, opened].into_iter().chain(small).collect()),
        after: side(vec![opened, read(2, 2_000)]),
    }
}

fn head(command: Command) -> TraceHead {
    TraceHead {
        hotset: "0.1.0".to_owned(),
        source: TraceSource::Recorded,
        started_at: None,
        environment: None,
        command: Some(command),
        cost: None,
        memory: None,
        memory_steps: Vec::new(),
        reclaim: None,
        not_measured: Vec::new(),
        lacks: Vec::new(),
    }
}

/// Replays of 1,000 calls that took 90 ms in the kernel, where entering it takes 10 µs: 100 ms of I/O.
pub fn session(samples: Vec<ReplaySample>) -> ReplaySession {
    let profile = fixtures::profile();
    let changed = samples.iter().map(|sample| sample.variant).max().unwrap_or(0);
    let change = |change: &str, affected_steps, steps_before, steps_after| ReplayChange {
        change: change.to_owned(),
        affected_steps,
        steps_before,
        steps_after,
    };
    let changes = vec![change("buffer=64K", 950, 1_000, 70), change("cached", 70, 70, 70)];
    let variants = (0..=changed).map(|at| ReplayVariant {
        changes: if at == 0 { Vec::new() } else { changes.clone() },
        steps: 1_000,
        pattern: (at > 0).then(pattern),
    });
    let recorded = PlanTotals {
        records: 1_100,
        duration_ns: 90_000_000,
        untimed: 100,
        covered_ns: 90_000_000,
        device_read_bytes: 1 << 20,
        span_ns: 300_000_000,
    };
    ReplaySession {
        version: "0.1.0".to_owned(),
        started_at: UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        took_ns: 5_000_000_000,
        environment: profile.environment.clone(),
        trace: "app.parquet".into(),
        head: head(profile.command),
        gaps: 0,
        threads: 2,
        recorded,
        left_out: BTreeMap::from([(LeftOut::NoFile, 12), (LeftOut::Exec, 1)]),
        files: ReplayFiles {
            originals: 7,
            copies: 2,
            copied_bytes: 1 << 20,
            ..ReplayFiles::default()
        },
        memory_limit_bytes: None,
        syscall_ns: Observed::Value(10_000.0),
        seed: 7,
        rounds: samples.iter().map(|sample| sample.round + 1).max().unwrap_or(0),
        interrupted: false,
        variants: variants.collect(),
        samples,
    }
}
