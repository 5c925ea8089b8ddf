//! Without the sensor, by tracing: lookups, opens and processes as the sensor counts them, and what rusage and residency say beside.

use std::time::SystemTime;

use hotset_facts::units::plural;
use hotset_facts::{
    Dev, Feature, FileId, FileKind, FileRow, Io, LookupCounters, Lookups, NotMeasured, Observed,
    ProcessRow, Profile, Reason, Sensor, SensorLevel, SensorLosses,
};
use hotset_lab::Invocation;
use hotset_sys::child::Ended;
use hotset_sys::trace::{TraceCounts, TraceGap, Traced, TracedFile, TracedProcess};

use crate::fallback::{by_what_came, look_again, totals};
use crate::run::command;

/// Why requests for pages are not known.
const NO_REQUESTS: Reason = Feature::Requests.reason();
/// Why lookups have no time.
const NO_TIME: Reason =
    Reason::not_measured("each lookup is stopped to be counted, so that its time is not its own");
/// Why faults of a process are not known.
const NO_FAULTS: Reason = Reason::not_measured("it still runs, or was killed");
const NO_OTHERS: Reason = Reason::lost("more files were opened than tracing tells apart");

/// The profile of a traced run, for which there was no sensor for the reason `why`.
pub(crate) fn profile(
    program: &Invocation,
    started_at: SystemTime,
    why: &str,
    traced: &Traced,
) -> Profile {
    let none = TraceCounts::default();
    let counts = traced.counts.as_ref().unwrap_or(&none);
    // The first of them is enough: any of them makes counts wrong.
    let hidden = counts.gaps.iter().find(|gap| gap.hides_calls()).map(|gap| gap.reason());
    let totals = totals(&traced.usage, NO_REQUESTS);
    let ended = Ended {
        exit: traced.exit,
        usage: traced.usage,
        wall: traced.wall,
        was_killed: traced.was_killed,
    };
    let mut devices: Vec<Dev> = traced.files.iter().map(|file| file.id.dev).collect();
    devices.sort_unstable();
    devices.dedup();
    let mut command = command(program, &ended);
    command.still_running = traced.still_running;
    Profile {
        started_at,
        environment: hotset_sys::environment(&devices, &[]),
        command,
        sensor: Sensor {
            name: "trace",
            level: SensorLevel::Traced,
            losses: SensorLosses::default(),
            not_measured: not_measured(why, counts),
        },
        totals,
        files: files(traced, hidden),
        processes: processes(counts, totals, hidden),
        lookups: hidden.map_or_else(|| Observed::Value(lookups(counts)), Observed::Missing),
        sites: None,
    }
}

/// What was otherwise than without a tracer, in sentences.
pub(crate) fn disturbed(name: &str, traced: &Traced) -> Vec<String> {
    let gaps = traced.counts.iter().flat_map(|counts| &counts.gaps);
    let mut notes: Vec<String> =
        gaps.map(|gap| format!("\"{name}\": {}", gap.reason().detail)).collect();
    if traced.still_running > 0 {
        notes.push(format!(
            "\"{name}\" left {} behind: traced until hotset ends, and ended with it",
            plural(traced.still_running.into(), "process")
        ));
    }
    notes
}

fn not_measured(why: &str, counts: &TraceCounts) -> Vec<NotMeasured> {
    let requests = NotMeasured { feature: Feature::Requests, reason: why.to_owned() };
    let hides = counts.gaps.iter().filter(|gap| gap.hides_calls());
    let gaps = hides.map(|gap: &TraceGap| NotMeasured {
        feature: Feature::Tracing,
        reason: gap.reason().detail.to_owned(),
    });
    std::iter::once(requests).chain(gaps).collect()
}

fn lookups(counts: &TraceCounts) -> Lookups {
    let mut counters = LookupCounters::default();
    counts.processes.iter().for_each(|process| counters.add(&looked_up(process)));
    let named = counts.failed_paths.iter().map(|path| path.calls).sum();
    Lookups {
        counters,
        failed_unnamed: counters.failed.saturating_sub(named),
        failed_paths: counts.failed_paths.clone(),
    }
}

fn looked_up(process: &TracedProcess) -> LookupCounters {
    LookupCounters {
        calls: process.lookups,
        failed: process.failed_lookups,
        time_ns: Observed::Missing(NO_TIME),
        failed_time_ns: Observed::Missing(NO_TIME),
    }
}

fn files(traced: &Traced, hidden: Option<Reason>) -> Vec<FileRow> {
    let mut rows: Vec<FileRow> = traced.files.iter().map(|file| row(file, hidden)).collect();
    by_what_came(&mut rows);
    if traced.files_left_out > 0 {
        let mut others = FileRow::new(FileId::default(), NO_OTHERS);
        others.kind = FileKind::Others;
        rows.push(others);
    }
    rows
}

fn row(file: &TracedFile, hidden: Option<Reason>) -> FileRow {
    let mut row = FileRow::new(file.id, NO_REQUESTS);
    row.path = Observed::Value(file.path.clone());
    row.kind = file.kind;
    row.deleted = file.deleted;
    row.size_bytes = Observed::Value(file.size_bytes);
    row.cached_before = file.cached_before;
    row.opens = hidden.map_or(Observed::Value(file.opens), Observed::Missing);
    row.processes = file.processes;
    look_again(&mut row);
    row
}

fn processes(counts: &TraceCounts, totals: Io, hidden: Option<Reason>) -> Vec<ProcessRow> {
    let alone = counts.processes.len() == 1;
    let row = |process: &TracedProcess| {
        let faults = process.faults.map_or(Observed::Missing(NO_FAULTS), Observed::Value);
        let counters = Observed::Value(looked_up(process));
        let mut io = Io::missing(NO_REQUESTS);
        io.mmap.major_faults = faults.map(|(_, major)| major);
        ProcessRow {
            pid: process.pid,
            ppid: process.ppid,
            comm: process.comm.clone(),
            argv: process.argv.clone(),
            exit: process
                .exit
                .map_or(Observed::Missing(Reason::not_measured("it still runs")), Observed::Value),
            minor_faults: faults.map(|(minor, _)| minor),
            major_faults: faults.map(|(_, major)| major),
            lookups: hidden.map_or(counters, Observed::Missing),
            // wait4(2) tells of all processes together.
            io: if alone { totals } else { io },
        }
    };
    counts.processes.iter().map(row).collect()
}
