//! A profile as one side of a comparison.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hotset_facts::{
    Feature, FileKind, FileRow, LookupCounters, Lookups, NamedCounter, Observed, ProcessRow,
    Profile, Reason, SensorLevel, Unit,
};

use super::counters::Counters;
use super::difference::{ComparedKind, SideAbout};
use super::side::{Doubts, RowsBy, Side, SideFinding, SideRow, gaps};
use crate::{Finding, Outcome, Summary};

/// A profile has the paths of failed lookups alone.
const NO_PATHS: Reason =
    Reason::not_measured("a profile keeps no paths of lookups that succeed; recordings do");

impl Side {
    /// A profile with what its rules found.
    pub fn of_summary(summary: &Summary) -> Self {
        let undecided = summary.verdicts.iter().filter_map(|verdict| match verdict.outcome {
            Outcome::NotEnoughData(reason) => Some((verdict.rule, reason)),
            Outcome::Clear => None,
        });
        let findings = summary.findings.iter().map(finding).collect();
        Self {
            findings: Observed::Value(findings),
            undecided: undecided.collect(),
            ..Self::of_profile(&summary.profile)
        }
    }

    /// A profile that no rule was asked about: its findings are not compared.
    pub fn of_profile(profile: &Profile) -> Self {
        let lookups = &profile.lookups;
        let failed = lookups.as_value().map(failed_rows);
        let totals = totals(profile);
        Self {
            about: about(profile),
            kind: ComparedKind::Profiles,
            gaps: gaps(&profile.sensor.not_measured, &totals),
            totals,
            files: profile.files.iter().map(file).collect(),
            processes: profile.processes.iter().map(process).collect(),
            failed_lookups: match lookups.reason() {
                None => Observed::Value(failed.unwrap_or_default()),
                Some(reason) => Observed::Missing(reason),
            },
            found_lookups: Observed::Missing(NO_PATHS),
            findings: Observed::Missing(Reason::not_measured("no rule was asked")),
            undecided: Vec::new(),
            sites: profile.sites.clone(),
            doubts: doubts(profile),
            pids: profile.processes.iter().map(|process| process.pid).collect(),
        }
    }
}

fn about(profile: &Profile) -> SideAbout {
    let sensor = &profile.sensor;
    SideAbout {
        path: None,
        hotset: String::new(),
        started_at: Some(profile.started_at),
        environment: Some(profile.environment.clone()),
        command: Some(profile.command.clone()),
        instrument: format!("{} ({})", sensor.name, sensor.level.as_str()),
    }
}

fn finding(finding: &Finding) -> SideFinding {
    SideFinding {
        rule: finding.rule,
        severity: finding.severity,
        title: finding.title.clone(),
        saving_high_ns: finding.saving.high_ns,
    }
}

fn doubts(profile: &Profile) -> Doubts {
    let page_size = profile.environment.page_size_bytes.max(1);
    let cached = profile.files.iter().filter(|file| file.kind == FileKind::Regular);
    let cached = cached.filter_map(|file| {
        let pages = file.size_bytes.value()?.div_ceil(page_size);
        Some((file.cached_before.value()?.min(pages), pages))
    });
    let sum = |sum: (u64, u64), one: (u64, u64)| {
        (sum.0.saturating_add(one.0), sum.1.saturating_add(one.1))
    };
    Doubts {
        rows_by: match profile.sensor.level {
            SensorLevel::Full | SensorLevel::Reduced => RowsBy::Sensor,
            SensorLevel::Traced => RowsBy::Tracing,
            SensorLevel::Unprivileged => RowsBy::Looking,
        },
        lost: profile.sensor.losses.of_counts(),
        unnamed_lookups: profile.lookups.as_value().map_or(0, |lookups| lookups.failed_unnamed),
        unnamed_found: 0,
        cached: cached.reduce(sum).filter(|(_, pages)| *pages > 0),
        lacks: Vec::new(),
        is_empty: profile.processes.is_empty(),
    }
}

fn totals(profile: &Profile) -> Counters {
    let command = &profile.command;
    let nanoseconds = |name, value| NamedCounter { name, unit: Unit::Nanoseconds, value };
    let no_sensor = Observed::Missing(Feature::Sensor.reason());
    // Without the sensor, rows are what processes had open or mapped when it was looked.
    let counted = |sum: Observed<u64>| match profile.sensor.level {
        SensorLevel::Unprivileged => no_sensor,
        SensorLevel::Full | SensorLevel::Reduced | SensorLevel::Traced => sum,
    };
    let of_files = |of: fn(&FileRow) -> Observed<u64>| counted(sum(&profile.files, of));
    // Tracing has rows of files that were opened or executed alone.
    let rows = match profile.sensor.level {
        SensorLevel::Traced => Observed::Missing(Feature::Requests.reason()),
        _ => of_files(|_| Observed::Value(1)),
    };
    let mut all = profile.totals.named();
    all.extend(lookup_counters(&profile.lookups));
    all.extend([
        nanoseconds("command.wall_ns", command.wall_ns.into()),
        nanoseconds("command.user_ns", command.user_ns),
        nanoseconds("command.system_ns", command.system_ns),
        NamedCounter::new("command.max_rss_bytes", Unit::Bytes, command.max_rss_bytes),
        count("command.still_running", u64::from(command.still_running).into()),
        count("files.rows", rows),
        count("files.opens", of_files(|file| file.opens)),
        pages("files.evicted_pages", of_files(|file| file.evicted_pages)),
        pages("files.dropped_pages", of_files(|file| file.dropped_pages)),
        pages("files.dropped_by_run_pages", of_files(|file| file.dropped_by_run_pages)),
        count("processes.rows", counted(sum(&profile.processes, |_| Observed::Value(1)))),
        count("processes.minor_faults", sum(&profile.processes, |one| one.minor_faults)),
        count("processes.major_faults", sum(&profile.processes, |one| one.major_faults)),
    ]);
    Counters::all(all)
}

fn count(name: &'static str, value: Observed<u64>) -> NamedCounter {
    NamedCounter { name, unit: Unit::Count, value }
}

fn pages(name: &'static str, value: Observed<u64>) -> NamedCounter {
    NamedCounter { name, unit: Unit::Pages, value }
}

/// A sum never hides a gap.
fn sum<T>(rows: &[T], of: impl Fn(&T) -> Observed<u64>) -> Observed<u64> {
    rows.iter().map(of).fold(Observed::Value(0), |a, b| a.zip_with(b, u64::saturating_add))
}

fn lookup_counters(lookups: &Observed<Lookups>) -> [NamedCounter; 5] {
    let of = |of: fn(&Lookups) -> Observed<u64>| match lookups {
        Observed::Value(lookups) => of(lookups),
        Observed::Missing(reason) => Observed::Missing(*reason),
    };
    let ns = |name, value| NamedCounter { name, unit: Unit::Nanoseconds, value };
    [
        count("lookups.calls", of(|all| all.counters.calls.into())),
        count("lookups.failed", of(|all| all.counters.failed.into())),
        ns("lookups.time_ns", of(|all| all.counters.time_ns)),
        ns("lookups.failed_time_ns", of(|all| all.counters.failed_time_ns)),
        count("lookups.failed_unnamed", of(|all| all.failed_unnamed.into())),
    ]
}

fn failed_rows(lookups: &Lookups) -> Vec<SideRow> {
    let row = |failed: &hotset_facts::FailedLookup| {
        let calls = Counters::not_zero([count("calls", failed.calls.into())]);
        SideRow::path(failed.path.clone().into(), calls)
    };
    lookups.failed_paths.iter().map(row).collect()
}

fn file(row: &FileRow) -> SideRow {
    let known = [
        count("opens", row.opens),
        NamedCounter { name: "size_bytes", unit: Unit::Bytes, value: row.size_bytes },
        pages("cached_before", row.cached_before),
        pages("cached_after", row.cached_after),
        pages("evicted_pages", row.evicted_pages),
        pages("dropped_pages", row.dropped_pages),
        pages("dropped_by_run_pages", row.dropped_by_run_pages),
    ];
    let name = match (&row.path, row.kind) {
        (_, FileKind::Others) => OsString::new(),
        (Observed::Value(path), _) => path.clone().into(),
        (Observed::Missing(_), FileKind::AllFileSystems) => OsString::new(),
        (Observed::Missing(_), _) => format!("({})", row.id).into(),
    };
    SideRow {
        name,
        kind: Some(row.kind),
        id: Some(row.id),
        program: None,
        counters: Counters::not_zero(known.into_iter().chain(row.io().named())),
    }
}

fn process(row: &ProcessRow) -> SideRow {
    let of = |of: fn(&LookupCounters) -> u64| row.lookups.map(|lookups| of(&lookups));
    let known = [
        count("minor_faults", row.minor_faults),
        count("major_faults", row.major_faults),
        count("lookups.calls", of(|lookups| lookups.calls)),
        count("lookups.failed", of(|lookups| lookups.failed)),
    ];
    SideRow {
        name: words(&row.argv, &row.comm),
        kind: None,
        id: None,
        program: Some(program(&row.argv, &row.comm)),
        counters: Counters::not_zero(known.into_iter().chain(row.io.named())),
    }
}

/// The words of a command with blanks between them; where they are not known, the kernel's short name for it.
pub(super) fn words(argv: &[OsString], comm: &str) -> OsString {
    match argv {
        [] => comm.into(),
        words => words.join(OsStr::new(" ")),
    }
}

/// The program of a command, without its directory.
pub(super) fn program(argv: &[OsString], comm: &str) -> OsString {
    let first = argv.first().filter(|first| !first.as_bytes().is_empty());
    let name = first.and_then(|first| Path::new(first).file_name());
    name.map_or_else(|| comm.into(), OsStr::to_owned)
}
