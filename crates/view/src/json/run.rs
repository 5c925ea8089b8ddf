//! The run as a whole: where, what, by which instrument.

use std::borrow::Cow;
use std::time::SystemTime;

use hotset_analysis::Summary;
use hotset_facts::{Environment, Filesystem, Sensor, SensorLevel, Target};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use super::counters::IoV1;
use super::rows::{
    FileV1, FindingV1, List, LookupsV1, ProcessV1, VerdictV1, exit_keys, lossy, path_keys,
};

/// The whole document.
pub(super) struct ProfileV1<'a>(pub(super) &'a Summary);

impl Serialize for ProfileV1<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let summary = self.0;
        let profile = &summary.profile;
        let files = List(|| profile.files.iter().map(|file| FileV1::new(summary, file)));
        let processes = List(|| profile.processes.iter().map(|row| ProcessV1::new(summary, row)));
        let findings = List(|| summary.findings.iter().map(FindingV1::from));
        let verdicts = List(|| summary.verdicts.iter().map(VerdictV1::from));
        let mut keys = serializer.serialize_struct("ProfileV1", 12)?;
        keys.serialize_field("schema", "hotset.profile/1")?;
        keys.serialize_field("hotset", env!("CARGO_PKG_VERSION"))?;
        keys.serialize_field("started_at", &rfc3339(profile.started_at))?;
        keys.serialize_field("environment", &EnvironmentV1::from(&profile.environment))?;
        keys.serialize_field("command", &CommandV1::from(&profile.command))?;
        keys.serialize_field("sensor", &SensorV1::from(&profile.sensor))?;
        keys.serialize_field("totals", &IoV1::new(&profile.totals, &summary.totals))?;
        keys.serialize_field("files", &files)?;
        keys.serialize_field("processes", &processes)?;
        keys.serialize_field("lookups", &LookupsV1(summary))?;
        keys.serialize_field("findings", &findings)?;
        keys.serialize_field("verdicts", &verdicts)?;
        keys.end()
    }
}

/// RFC 3339 in UTC; a clock beyond the year 9999 prints as its end.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::MAX).to_string()
}

#[derive(Serialize)]
struct FilesystemV1<'a> {
    mount: Cow<'a, str>,
    mount_hex: Option<String>,
    #[serde(rename = "type")]
    fs_type: String,
    device: String,
    dev: String,
    options: String,
    read_ahead_kb: Option<u64>,
}

impl<'a> From<&'a Filesystem> for FilesystemV1<'a> {
    fn from(filesystem: &'a Filesystem) -> Self {
        let (mount, mount_hex) = path_keys(&filesystem.mount);
        Self {
            mount,
            mount_hex,
            fs_type: filesystem.fs_type.clone(),
            device: filesystem.device.clone(),
            dev: filesystem.dev.to_string(),
            options: filesystem.options.clone(),
            read_ahead_kb: filesystem.read_ahead_kb.value(),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct EnvironmentV1<'a> {
    kernel: String,
    page_size_bytes: u64,
    cpus: u32,
    memory_bytes: u64,
    memory_limit_bytes: Option<u64>,
    evicts_idle_cache: bool,
    filesystems: Vec<FilesystemV1<'a>>,
}

impl<'a> From<&'a Environment> for EnvironmentV1<'a> {
    fn from(environment: &'a Environment) -> Self {
        Self {
            kernel: environment.kernel.clone(),
            page_size_bytes: environment.page_size_bytes,
            cpus: environment.cpus,
            memory_bytes: environment.memory_bytes,
            memory_limit_bytes: environment.memory_limit_bytes,
            evicts_idle_cache: environment.evicts_idle_cache,
            filesystems: environment.filesystems.iter().map(FilesystemV1::from).collect(),
        }
    }
}

#[derive(Serialize)]
struct TargetV1 {
    kind: &'static str,
    pid: Option<u32>,
    cgroup: Option<String>,
}

impl From<&Target> for TargetV1 {
    fn from(target: &Target) -> Self {
        let (kind, pid, cgroup) = match target {
            Target::Command => ("command", None, None),
            Target::Pid(pid) => ("pid", Some(*pid), None),
            Target::Cgroup(path) => ("cgroup", None, Some(path.to_string_lossy().into_owned())),
            Target::System => ("system", None, None),
        };
        Self { kind, pid, cgroup }
    }
}

#[derive(Serialize)]
struct CommandV1<'a> {
    target: TargetV1,
    argv: Vec<Cow<'a, str>>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    wall_ns: u64,
    user_ns: Option<u64>,
    system_ns: Option<u64>,
    max_rss_bytes: Option<u64>,
    still_running: u32,
}

impl<'a> From<&'a hotset_facts::Command> for CommandV1<'a> {
    fn from(command: &'a hotset_facts::Command) -> Self {
        let (exit_code, signal) = exit_keys(command.exit);
        Self {
            target: TargetV1::from(&command.target),
            argv: lossy(&command.argv),
            exit_code,
            signal,
            wall_ns: command.wall_ns,
            user_ns: command.user_ns.value(),
            system_ns: command.system_ns.value(),
            max_rss_bytes: command.max_rss_bytes.value(),
            still_running: command.still_running,
        }
    }
}

#[derive(Serialize)]
struct NotMeasuredV1 {
    what: String,
    reason: String,
}

#[derive(Serialize)]
struct SensorV1 {
    name: &'static str,
    level: &'static str,
    events_lost: u64,
    entries_lost: u64,
    not_measured: Vec<NotMeasuredV1>,
}

impl From<&Sensor> for SensorV1 {
    fn from(sensor: &Sensor) -> Self {
        let not_measured = sensor.not_measured.iter();
        Self {
            name: sensor.name,
            level: match sensor.level {
                SensorLevel::Full => "full",
                SensorLevel::Reduced => "reduced",
                SensorLevel::Unprivileged => "unprivileged",
            },
            events_lost: sensor.events_lost,
            entries_lost: sensor.entries_lost,
            not_measured: not_measured
                .map(|n| NotMeasuredV1 { what: n.what.clone(), reason: n.reason.clone() })
                .collect(),
        }
    }
}
