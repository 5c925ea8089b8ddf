//! The host of a result, identities of files, and times.

use std::time::SystemTime;

use hotset_facts::{Dev, Environment, FileId, Filesystem, Observed};
use serde::{Deserialize, Serialize};

use super::adapt::{List, Wire as _, converted, remote};
use super::observed::Null;
use super::path::Mount;

/// The host, and what of it changes the numbers.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Environment")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct EnvironmentDef {
    /// `uname -r`.
    kernel: String,
    /// Bytes of a base page: what all counts of pages are in.
    page_size_bytes: u64,
    /// CPUs that are online.
    cpus: u32,
    /// Memory of the host.
    memory_bytes: u64,
    /// The tightest limit of the control groups around the run; null where there is none.
    memory_limit_bytes: Option<u64>,
    /// The kernel evicts idle page cache by itself (DAMON).
    evicts_idle_cache: bool,
    /// The file systems that were used.
    #[serde(with = "List::<FilesystemDef>")]
    filesystems: Vec<Filesystem>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Filesystem")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FilesystemDef {
    #[serde(flatten, with = "Mount")]
    mount: std::path::PathBuf,
    /// Its type, e.g. `ext4`.
    #[serde(rename = "type")]
    fs_type: String,
    /// The mount's source, e.g. `/dev/vda`.
    device: String,
    /// Its device number.
    #[serde(with = "Device")]
    dev: Dev,
    /// Mount options.
    options: String,
    /// The device's read-ahead window in KiB.
    #[serde(with = "Null::<u64>")]
    read_ahead_kb: Observed<u64>,
}

/// A device number, such as `253:1`.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Device(#[cfg_attr(test, schemars(regex(pattern = "^[0-9]+:[0-9]+$")))] String);

impl From<Dev> for Device {
    fn from(dev: Dev) -> Self {
        Self(dev.to_string())
    }
}

impl TryFrom<Device> for Dev {
    type Error = String;

    fn try_from(Device(text): Device) -> Result<Self, String> {
        let numbers = text.split_once(':');
        let dev = numbers.and_then(|(major, minor)| {
            Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        dev.ok_or_else(|| format!("\"{text}\"; expected a device number such as 253:1"))
    }
}

/// Which file: its device and its inode.
#[derive(Serialize, Deserialize)]
#[serde(remote = "FileId")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileIdDef {
    /// The number of its device, such as `253:1`.
    #[serde(with = "Device")]
    dev: Dev,
    /// Its inode number.
    ino: u64,
}

/// A time by RFC 3339, in UTC. A clock beyond the year 9999 is written as its end.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Time(
    #[cfg_attr(
        test,
        schemars(regex(
            pattern = r"^-?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$"
        ))
    )]
    String,
);

impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Self {
        Self(rfc3339(time))
    }
}

/// As text, in UTC.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::MAX).to_string()
}

impl TryFrom<Time> for SystemTime {
    type Error = String;

    fn try_from(Time(text): Time) -> Result<Self, String> {
        let time: Result<jiff::Timestamp, _> = text.parse();
        let wrong = |_| format!("\"{text}\"; expected a time such as 2026-01-31T12:00:00Z");
        time.map(SystemTime::from).map_err(wrong)
    }
}

remote!(EnvironmentDef => Environment, FilesystemDef => Filesystem, FileIdDef => FileId);
converted!(Device => Dev, Time => SystemTime);
