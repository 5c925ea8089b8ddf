//! What `lab load` asks the sensor: the calls of a load without those of the runtime's start, and how loading a library
//! splits into looking files up and reading them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_analysis::lab::words;
use hotset_facts::units::exact_bytes;
use hotset_facts::{
    CountedBy, DoubtCode, FileId, FileRow, FileSet, FilledBy, LabCell, LabDoubt, LabFact,
    LabSample, LabSession, LabSize, LabSkipped, LabUnit, LearnedBy, LookupCounters, Observed,
    Reason, StateReached, WantedState,
};
use hotset_lab::experiment::{ObservedRun, Sensor, cell_id, file_calls};
use hotset_lab::probes::Probe;
use hotset_lab::{Invocation, States, build, from_paths};

use super::plan::{Library, library_factors, probes, runtime_of};
use crate::{AfterRun, Request};

/// More rounds would tell no more of what is a difference between two runs under the sensor.
const MOST_ROUNDS: u32 = 15;
/// Why something is missing after Ctrl-C.
const INTERRUPTED: &str = "interrupted";
/// Why there is no time of looking up.
const NO_LOOKUPS: &str = "in every round, its lookups were fewer or took less time than those of a start that loads nothing";

/// Counts what a load does beyond the same program loading nothing.
pub(super) fn count_calls(
    sensor: &mut dyn Sensor,
    invocation: &Invocation,
    files: &[PathBuf],
) -> Result<u64, String> {
    let calls = file_calls(sensor, invocation, files)?;
    let nothing = Invocation { argv: loading_nothing(&invocation.argv), ..invocation.clone() };
    let all = lookups(&sensor.observe(invocation)?)?;
    let start = lookups(&sensor.observe(&nothing)?)?;
    // A start differs by a few from the next one where a runtime has threads.
    Ok(calls + all.calls.saturating_sub(start.calls))
}

/// The same words with `count=0`.
fn loading_nothing(argv: &[OsString]) -> Vec<OsString> {
    let zero = |word: &OsString| match word.to_str() {
        Some(text) if text.starts_with("count=") => "count=0".into(),
        _ => word.clone(),
    };
    argv.iter().map(zero).collect()
}

fn lookups(seen: &ObservedRun) -> Result<LookupCounters, String> {
    match seen.lookups {
        Observed::Value(counters) => Ok(counters),
        Observed::Missing(reason) => Err(reason.to_string()),
    }
}

/// Adds looking up and reading to a session that loaded libraries. Where the sensor can't tell, the session says so.
pub(super) fn after(session: &mut LabSession, run: &mut AfterRun<'_>) {
    if run.is_stopped() {
        return;
    }
    let libraries = &run.request.options.libraries;
    if libraries.is_empty() && run.request.size == LabSize::Quick && run.sensor.is_some() {
        let why = "not counted with --quick; the default size and --full count them";
        session.skipped.push(LabSkipped::new("system calls", why));
    }
    for (place, library) in libraries.iter().enumerate() {
        if !libraries.iter().take(place).any(|other| other == library) {
            add_library(session, run, library);
        }
    }
}

fn add_library(session: &mut LabSession, run: &mut AfterRun<'_>, library: &str) {
    let stop = run.stop;
    let added = match run.sensor.as_deref_mut() {
        None => Err("--no-bpf was given".to_owned()),
        Some(sensor) => Parts::of(run.request, library, sensor)
            .and_then(|mut parts| parts.measure(session, stop)),
    };
    if let Err(why) = added {
        // What is interrupted fails, whatever it says itself.
        let why = if stop.load(Ordering::Relaxed) { INTERRUPTED.to_owned() } else { why };
        session.skipped.push(LabSkipped::new(format!("looking up and reading {library}"), why));
    }
}

/// A library under the sensor.
struct Parts<'a> {
    sensor: &'a mut dyn Sensor,
    probe: Probe,
    called: String,
    library: Library,
    set: FileSet,
    ids: Vec<FileId>,
}

/// What one run under the sensor counted beyond a start that loads nothing.
struct LoadCounts {
    lookup: Option<(u64, u64)>,
    failed: Option<u64>,
    read: (u64, u64),
    read_bytes: u64,
    device_bytes: u64,
    reached: Observed<StateReached>,
}

impl<'a> Parts<'a> {
    fn of(request: &Request, called: &str, sensor: &'a mut dyn Sensor) -> Result<Self, String> {
        let (all, _) = probes(request)?;
        let probe = runtime_of(&all, called)?.clone();
        let library = Library::of(&probe, called)?;
        let (candidates, _) = from_paths(library.files.clone(), &AtomicBool::new(false));
        let set = build(LearnedBy::Given, &candidates, None);
        let ids = set.members.iter().map(|member| member.id).collect();
        Ok(Self { sensor, probe, called: called.to_owned(), library, set, ids })
    }

    fn measure(&mut self, session: &mut LabSession, stop: &AtomicBool) -> Result<(), String> {
        let mut states = vec![WantedState::Warm];
        if !self.library.files.is_empty() {
            states.push(WantedState::Cold);
        }
        let mut cells: Vec<LabCell> = states
            .iter()
            .flat_map(|&state| ["lookup", "read"].map(|part| self.cell(part, state)))
            .collect();
        let mut failed = Vec::new();
        let is_stopped = || stop.load(Ordering::Relaxed);
        'rounds: for round in 0..session.rounds.clamp(1, MOST_ROUNDS) {
            for (place, &state) in states.iter().enumerate() {
                if is_stopped() {
                    break 'rounds;
                }
                let counts = match self.run(state) {
                    // What is interrupted fails: what was counted before stays.
                    Err(_) if is_stopped() => break 'rounds,
                    counts => counts?,
                };
                failed.extend(counts.failed);
                let pair = cells.iter_mut().skip(2 * place);
                let read = read_sample(round, state, &counts);
                let samples = [lookup_sample(round, &counts), Some(read)];
                for (cell, sample) in pair.zip(samples) {
                    cell.samples.extend(sample);
                }
            }
        }
        failed.sort_unstable();
        if let Some(failed) = failed.get(failed.len() / 2) {
            session.facts.push(LabFact::new(format!("failed lookups of {}", self.called), *failed));
        }
        for cell in cells {
            if cell.samples.is_empty() {
                // Only a lookup can have none: what a round tells of reading is kept in any case.
                let why = if is_stopped() { INTERRUPTED } else { NO_LOOKUPS };
                session.skipped.push(LabSkipped::new(words::cell(&cell), why));
            } else {
                session.cells.push(cell);
            }
        }
        Ok(())
    }

    fn cell(&self, part: &str, state: WantedState) -> LabCell {
        let factors = library_factors(&self.probe, &self.called, part, state);
        let warm = state == WantedState::Warm;
        LabCell {
            id: cell_id(super::NAME, &factors),
            factors,
            unit: LabUnit::Nanoseconds,
            state_wanted: state,
            filled_by: if warm { FilledBy::LargeFolios } else { FilledBy::Nothing },
            syscalls_by: CountedBy::Sensor,
            samples: Vec::new(),
        }
    }

    fn run(&mut self, state: WantedState) -> Result<LoadCounts, String> {
        let nothing = Invocation::of(self.library.nothing.clone());
        let nothing = lookups(&self.sensor.observe(&nothing)?)?;
        let (reached, ()) = States::default().reach(state, &mut self.set, || ())?;
        let seen = self.sensor.observe(&Invocation::of(self.library.load.clone()))?;
        let all = lookups(&seen)?;
        let (mut read, mut read_bytes, mut device_bytes) = ((0, 0), 0, 0);
        let is_ours = |row: &&FileRow| self.ids.iter().any(|id| id.same_inode(&row.id));
        for row in seen.files.iter().filter(is_ours) {
            let io = row.io();
            if let Some(part) = io.read.as_value() {
                read = (read.0 + part.time_ns, read.1 + part.calls);
                read_bytes += part.bytes;
            }
            device_bytes += io.device.read_bytes.value().unwrap_or(0);
        }
        // The loading run starts a runtime too: what is less than that is noise, and no time.
        let time = all.time_ns.zip_with(nothing.time_ns, u64::checked_sub).value().flatten();
        let lookup = time.zip(all.calls.checked_sub(nothing.calls));
        let failed = all.failed.checked_sub(nothing.failed);
        Ok(LoadCounts { lookup, failed, read, read_bytes, device_bytes, reached })
    }
}

fn lookup_sample(round: u32, counts: &LoadCounts) -> Option<LabSample> {
    let (wall_ns, calls) = counts.lookup?;
    Some(sample(round, wall_ns, calls, 0, counts))
}

fn read_sample(round: u32, state: WantedState, counts: &LoadCounts) -> LabSample {
    let mut sample = sample(round, counts.read.0, counts.read.1, counts.read_bytes, counts);
    if state == WantedState::Warm && counts.device_bytes > 0 {
        sample.doubts.push(LabDoubt {
            code: DoubtCode::DeviceReadsWhileWarm,
            text: format!(
                "{} were read from the device; expected none",
                exact_bytes(counts.device_bytes)
            ),
            invalidates: true,
        });
    }
    sample
}

fn sample(round: u32, wall_ns: u64, calls: u64, bytes: u64, counts: &LoadCounts) -> LabSample {
    let unknown =
        Observed::Missing(Reason::not_measured("the sensor counts calls, not what surrounds them"));
    LabSample {
        round,
        wall_ns,
        operations: calls,
        cpu_ns: unknown,
        bytes,
        syscalls: Observed::Value(calls),
        reached_before: counts.reached,
        device_read_bytes: Observed::Value(counts.device_bytes),
        device_write_bytes: unknown,
        major_faults: unknown,
        minor_faults: unknown,
        doubts: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
