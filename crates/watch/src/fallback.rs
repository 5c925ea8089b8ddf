//! Without the sensor: what /proc, rusage and residency can say, and why the rest is missing.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hotset_facts::{
    ExitStatus, Feature, FileId, FileRow, Io, NotMeasured, Observed, Pid, ProcessRow, Profile,
    Reason, Sensor, SensorLevel, SensorLosses,
};
use hotset_lab::Invocation;
use hotset_sys::cache::{open_quietly, residency};
use hotset_sys::child::{Attendant, Ended, Running, Signals, Usage, supervise};
use hotset_sys::proc::{children, fds, maps, pid_io};

use crate::RunError;
use crate::children::{kill, start};
use crate::run::command;

const NO_SENSOR: Reason = Feature::Sensor.reason();
/// How often the command's open and mapped files are looked up.
const LOOK: Duration = Duration::from_millis(50);
/// Files that are remembered.
const MAX_FILES: usize = 10_000;

/// Runs a command without the sensor, for the reason `why`.
///
/// # Errors
/// Where the command did not run, or can't be waited for.
pub fn run_without_sensor(
    program: &Invocation,
    why: &str,
) -> Result<(Profile, ExitStatus), RunError> {
    run_with(program, why, &Signals::hold().map_err(RunError::Signals)?)
}

/// The same with signals held back already.
pub(crate) fn run_with(
    program: &Invocation,
    why: &str,
    signals: &Signals,
) -> Result<(Profile, ExitStatus), RunError> {
    let (profile, ended) =
        run_command(program, None, why, Some(signals), || start(program), &mut || false)?;
    Ok((profile, ended.exit))
}

/// What `start` starts, which is that program, in another directory where there is a `place`. Where it is `enough`, it is killed with its
/// children.
pub(crate) fn run_command(
    program: &Invocation,
    place: Option<&Path>,
    why: &str,
    signals: Option<&Signals>,
    start: impl FnOnce() -> io::Result<Running>,
    enough: &mut dyn FnMut() -> bool,
) -> Result<(Profile, Ended), RunError> {
    let mut files = Files::default();
    // What the command line names can be asked before anything touches it.
    files.look_at(&program.program);
    let place = place.unwrap_or(Path::new(""));
    for word in program.argv.iter().skip(1) {
        files.look_at(&place.join(word));
    }
    let started_at = SystemTime::now();
    let running = start().map_err(RunError::Start)?;
    let mut family = Family { pid: running.pid, files, enough };
    let ended = supervise(running, signals, LOOK, &mut family).map_err(RunError::Wait)?;
    let profile = profile(program, started_at, &running, &ended, family.files, why);
    Ok((profile, ended))
}

fn profile(
    program: &Invocation,
    started_at: SystemTime,
    running: &Running,
    ended: &Ended,
    files: Files,
    why: &str,
) -> Profile {
    let totals = totals(&ended.usage, NO_SENSOR);
    let devices: Vec<_> = files.known.keys().map(|id| id.dev).collect();
    let comm = program
        .program
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    Profile {
        started_at,
        environment: hotset_sys::environment(&devices, &[]),
        command: command(program, ended),
        sensor: Sensor {
            name: "proc",
            level: SensorLevel::Unprivileged,
            losses: SensorLosses::default(),
            not_measured: vec![NotMeasured { feature: Feature::Sensor, reason: why.to_owned() }],
        },
        totals,
        files: files.rows(),
        processes: vec![ProcessRow {
            pid: running.pid,
            ppid: std::process::id(),
            comm,
            argv: program.argv.clone(),
            exit: Observed::Value(ended.exit),
            minor_faults: Observed::Value(ended.usage.minor_faults),
            major_faults: Observed::Value(ended.usage.major_faults),
            lookups: Observed::Missing(NO_SENSOR),
            io: totals,
        }],
        lookups: Observed::Missing(NO_SENSOR),
        sites: None,
    }
}

/// What wait4(2) tells of a child: nobody may be refused that, unlike its /proc/PID/io.
pub(crate) fn totals(usage: &Usage, others: Reason) -> Io {
    let mut totals = Io::missing(others);
    totals.mmap.major_faults = Observed::Value(usage.major_faults);
    // Without accounting it would be zero.
    if pid_io::own().ok().flatten().is_some() {
        totals.device.read_bytes = Observed::Value(usage.device_read_bytes);
        totals.device.write_bytes = Observed::Value(usage.device_write_bytes);
    }
    totals
}

/// Looks at a file for the last time: its size, and how much of it is cached now.
pub(crate) fn look_again(row: &mut FileRow) {
    row.cached_after = match row.path.as_value().map(|path| open_quietly(path)) {
        Some(Ok((fd, stat))) if hotset_sys::is_same_file(&fd, &stat, &row.id) => {
            // It may have grown since: what is cached is a share of what it is now.
            row.size_bytes = Observed::Value(u64::try_from(stat.st_size).unwrap_or(0));
            cached(&fd)
        }
        _ => Observed::Missing(Reason::not_measured(
            "its path leads to another file now, or to none",
        )),
    };
}

/// Those that were brought into the cache first.
pub(crate) fn by_what_came(rows: &mut [FileRow]) {
    let brought = |row: &FileRow| {
        let after = row.cached_after.value().unwrap_or(0);
        (after.saturating_sub(row.cached_before.value().unwrap_or(0)), after)
    };
    rows.sort_by_key(|row| std::cmp::Reverse(brought(row)));
}

/// A command and its children, looked at while they run.
struct Family<'a> {
    pid: Pid,
    files: Files,
    /// Says when not to wait for the end.
    enough: &'a mut dyn FnMut() -> bool,
}

impl Attendant for Family<'_> {
    fn attend(&mut self) -> ControlFlow<()> {
        self.files.look_at_family(self.pid);
        if (self.enough)() {
            let below = children::descendants(self.pid).unwrap_or_default();
            kill(&below.into_iter().map(|stat| stat.pid).collect::<Vec<_>>());
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// Files that the command was seen with.
#[derive(Default)]
struct Files {
    known: BTreeMap<FileId, FileRow>,
}

impl Files {
    fn look_at_family(&mut self, pid: Pid) {
        let below = children::descendants(pid).unwrap_or_default();
        for pid in std::iter::once(pid).chain(below.into_iter().map(|stat| stat.pid)) {
            for open in fds::of(pid).ok().flatten().unwrap_or_default() {
                self.look_at_new(open.id, &open.path);
            }
            for mapped in maps::of(pid).ok().flatten().unwrap_or_default() {
                self.look_at_new(mapped.id, &mapped.path);
            }
        }
    }

    fn look_at_new(&mut self, id: FileId, path: &Path) {
        if !self.known.contains_key(&id) {
            self.look_at(path);
        }
    }

    /// Asks how much of a file is cached, the first time that it is seen.
    fn look_at(&mut self, path: &Path) {
        if self.known.len() >= MAX_FILES {
            return;
        }
        let Ok((fd, stat)) = open_quietly(path) else { return };
        let id = hotset_sys::file_id(&stat);
        self.known.entry(id).or_insert_with(|| {
            let mut row = FileRow::new(id, NO_SENSOR);
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
            row.path = Observed::Value(path);
            row.size_bytes = Observed::Value(u64::try_from(stat.st_size).unwrap_or(0));
            row.cached_before = cached(&fd);
            row
        });
    }

    /// The rows, with what is cached now.
    fn rows(self) -> Vec<FileRow> {
        let mut rows: Vec<FileRow> = self.known.into_values().collect();
        for row in &mut rows {
            look_again(row);
        }
        by_what_came(&mut rows);
        rows
    }
}

fn cached(fd: &std::os::fd::OwnedFd) -> Observed<u64> {
    match residency(fd) {
        Ok(residency) => Observed::Value(residency.cached_pages),
        Err(error) => Observed::Missing(error.reason()),
    }
}
