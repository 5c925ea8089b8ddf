//! Commands and processes: how they ended, what was observed.

use std::ffi::OsString;
use std::path::PathBuf;

use hotset_facts::{
    Command, ExitStatus, LookupCounters, NotMeasured, Observed, ProcessRow, Sensor, SensorLevel,
    Target,
};
use serde::{Deserialize, Serialize};

use super::adapt::{Maybe, Wire as _, converted, remote};
use super::intern::intern;
use super::io::IoDef;
use super::observed::Null;
use super::path::{CgroupPath, Words};

/// How a process ended: its exit code, or the signal that ended it.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Exit {
    /// Null where a signal ended it, or it still runs.
    #[serde(with = "Maybe::<Null::<i32>>")]
    exit_code: Option<Observed<i32>>,
    /// Null where it ended by itself.
    signal: Option<i32>,
}

impl From<Observed<ExitStatus>> for Exit {
    fn from(exit: Observed<ExitStatus>) -> Self {
        match exit {
            Observed::Value(ExitStatus::Signal(signal)) => {
                Self { exit_code: None, signal: Some(signal) }
            }
            Observed::Value(ExitStatus::Code(code)) => {
                Self { exit_code: Some(Observed::Value(code)), signal: None }
            }
            Observed::Missing(reason) => {
                Self { exit_code: Some(Observed::Missing(reason)), signal: None }
            }
        }
    }
}

impl From<Exit> for Observed<ExitStatus> {
    fn from(keys: Exit) -> Self {
        match (keys.signal, keys.exit_code) {
            (Some(signal), _) => Self::Value(ExitStatus::Signal(signal)),
            (None, Some(code)) => code.map(ExitStatus::Code),
            (None, None) => Self::Missing(super::observed::UNSAID),
        }
    }
}

/// The same of a process that did end.
#[derive(Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PlainExit {
    /// Null where a signal ended it.
    pub(crate) exit_code: Option<i32>,
    /// Null where it ended by itself.
    pub(crate) signal: Option<i32>,
}

impl From<ExitStatus> for PlainExit {
    fn from(exit: ExitStatus) -> Self {
        match exit {
            ExitStatus::Code(code) => Self { exit_code: Some(code), signal: None },
            ExitStatus::Signal(signal) => Self { exit_code: None, signal: Some(signal) },
        }
    }
}

impl TryFrom<PlainExit> for ExitStatus {
    type Error = &'static str;

    fn try_from(keys: PlainExit) -> Result<Self, Self::Error> {
        let code = keys.exit_code.map(Self::Code);
        code.or(keys.signal.map(Self::Signal)).ok_or("expected a number in exit_code or signal")
    }
}

/// What was observed.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TargetKeys {
    /// What kind of thing.
    kind: TargetKind,
    /// The process, where it is one.
    pid: Option<u32>,
    #[serde(flatten, with = "CgroupPath")]
    cgroup: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum TargetKind {
    Command,
    Pid,
    Cgroup,
    System,
}

impl From<Target> for TargetKeys {
    fn from(target: Target) -> Self {
        let (kind, pid, cgroup) = match target {
            Target::Command => (TargetKind::Command, None, None),
            Target::Pid(pid) => (TargetKind::Pid, Some(pid), None),
            Target::Cgroup(path) => (TargetKind::Cgroup, None, Some(path)),
            Target::System => (TargetKind::System, None, None),
        };
        Self { kind, pid, cgroup }
    }
}

impl TryFrom<TargetKeys> for Target {
    type Error = &'static str;

    fn try_from(keys: TargetKeys) -> Result<Self, Self::Error> {
        Ok(match (keys.kind, keys.pid, keys.cgroup) {
            (TargetKind::Command, ..) => Self::Command,
            (TargetKind::Pid, Some(pid), _) => Self::Pid(pid),
            (TargetKind::Cgroup, _, Some(path)) => Self::Cgroup(path),
            (TargetKind::System, ..) => Self::System,
            (TargetKind::Pid, None, _) => return Err("expected a number in pid"),
            (TargetKind::Cgroup, _, None) => return Err("expected a path in cgroup"),
        })
    }
}

/// The observed command, or for an attached session the time that it was observed.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Command")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CommandDef {
    #[serde(with = "TargetKeys")]
    target: Target,
    #[serde(flatten, with = "Words")]
    argv: Vec<OsString>,
    #[serde(flatten, with = "Exit")]
    exit: Observed<ExitStatus>,
    /// Wall time from start to exit, or of the observation.
    wall_ns: u64,
    /// User CPU time of the command and the children that it waited for.
    #[serde(with = "Null::<u64>")]
    user_ns: Observed<u64>,
    /// System CPU time of the same.
    #[serde(with = "Null::<u64>")]
    system_ns: Observed<u64>,
    /// The largest resident set of one of these processes.
    #[serde(with = "Null::<u64>")]
    max_rss_bytes: Observed<u64>,
    /// Processes of the command that still ran when it ended.
    still_running: u32,
}

/// The instrument and its losses.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SensorKeys {
    /// Which sensor, e.g. `bpf`, `bpf-compat`, `proc`.
    name: String,
    /// How much it could see.
    level: Level,
    /// Names and failed paths that are missing; counts are not.
    events_lost: u64,
    /// Counters that went to an "others" row, and pages of unknown origin.
    entries_lost: u64,
    /// What was not measured, with reasons.
    not_measured: Vec<NotMeasuredKeys>,
}

impl From<Sensor> for SensorKeys {
    fn from(sensor: Sensor) -> Self {
        Self {
            name: sensor.name.to_owned(),
            level: Level(sensor.level),
            events_lost: sensor.events_lost,
            entries_lost: sensor.entries_lost,
            not_measured: NotMeasuredKeys::of(&sensor.not_measured),
        }
    }
}

impl From<SensorKeys> for Sensor {
    fn from(keys: SensorKeys) -> Self {
        Self {
            name: intern(&keys.name),
            level: keys.level.0,
            events_lost: keys.events_lost,
            entries_lost: keys.entries_lost,
            not_measured: NotMeasuredKeys::facts(&keys.not_measured),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Level(#[serde(with = "LevelDef")] SensorLevel);

#[derive(Serialize, Deserialize)]
#[serde(remote = "SensorLevel", rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum LevelDef {
    Full,
    Reduced,
    Unprivileged,
}

/// A counter, or what else could not be measured.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NotMeasuredKeys {
    /// Its name, e.g. `mmap.faults`.
    what: String,
    /// Why, and what would help.
    reason: String,
}

impl NotMeasuredKeys {
    pub(crate) fn of(gaps: &[NotMeasured]) -> Vec<Self> {
        let keys = |gap: &NotMeasured| {
            let reason = gap.reason.clone();
            let entry = move |what: &str| Self { what: what.to_owned(), reason: reason.clone() };
            gap.feature.unmeasured().into_iter().map(entry)
        };
        gaps.iter().flat_map(keys).collect()
    }

    pub(crate) fn facts(all: &[Self]) -> Vec<NotMeasured> {
        NotMeasured::from_saved(all.iter().map(|gap| (gap.what.as_str(), gap.reason.as_str())))
    }
}

/// A process.
#[derive(Serialize, Deserialize)]
#[serde(remote = "ProcessRow")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ProcessDef {
    /// Its id.
    pid: u32,
    /// Its parent's id when it was first seen.
    ppid: u32,
    /// The kernel's short name for it.
    comm: String,
    /// Its words after the last exec, cut at the sensor's bound.
    #[serde(flatten, with = "Words")]
    argv: Vec<OsString>,
    #[serde(flatten, with = "Exit")]
    exit: Observed<ExitStatus>,
    /// All minor faults, anonymous memory included.
    #[serde(with = "Null::<u64>")]
    minor_faults: Observed<u64>,
    /// All major faults.
    #[serde(with = "Null::<u64>")]
    major_faults: Observed<u64>,
    /// Its path lookups.
    #[serde(with = "Null::<LookupCountersDef>")]
    lookups: Observed<LookupCounters>,
    #[serde(flatten, with = "IoDef")]
    io: hotset_facts::Io,
}

/// Path lookups: open, stat, access and the like.
#[derive(Serialize, Deserialize)]
#[serde(remote = "LookupCounters")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LookupCountersDef {
    /// Calls that resolve a path.
    calls: u64,
    /// Calls that ended in ENOENT or ENOTDIR.
    failed: u64,
    /// Nanoseconds in all of them.
    time_ns: u64,
    /// Nanoseconds in the failed ones.
    failed_time_ns: u64,
}

remote!(
    CommandDef => Command, ProcessDef => ProcessRow,
    LookupCountersDef => LookupCounters,
);
converted!(PlainExit => ExitStatus, Exit => Observed<ExitStatus>, TargetKeys => Target, SensorKeys => Sensor);
