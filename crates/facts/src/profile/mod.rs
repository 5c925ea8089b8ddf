//! One observed run: who did what to which file.

mod sensor;
mod sites;
mod target;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::SystemTime;

pub use sensor::{Sensor, SensorLevel, SensorLosses};
pub use sites::{CallSites, SiteContexts, SiteIo, SiteRow};
pub use target::Target;

use serde::{Deserialize, Serialize};

use crate::format::{Argv, Path, Time, mark};
use crate::{Environment, FileId, Io, LookupCounters, Lookups, Observed, PackedIo, Pid, Reason};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ExitKeys", into = "ExitKeys")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ExitStatus {
    /// It returned this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

impl ExitStatus {
    /// Decodes a wait(2) status.
    pub fn from_wait_status(status: i32) -> Self {
        match status & 0x7f {
            0 => Self::Code((status >> 8) & 0xff),
            signal => Self::Signal(signal),
        }
    }
}

/// How a process ended: its exit code, or the signal that ended it.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ExitKeys {
    /// Its exit code; null where a signal ended it.
    #[serde(deserialize_with = "crate::format::required")]
    exit_code: Option<i32>,
    /// The signal that ended it; null where none did.
    #[serde(deserialize_with = "crate::format::required")]
    signal: Option<i32>,
}

impl From<ExitStatus> for ExitKeys {
    fn from(exit: ExitStatus) -> Self {
        match exit {
            ExitStatus::Code(code) => Self { exit_code: Some(code), signal: None },
            ExitStatus::Signal(signal) => Self { exit_code: None, signal: Some(signal) },
        }
    }
}

impl TryFrom<ExitKeys> for ExitStatus {
    type Error = &'static str;

    fn try_from(keys: ExitKeys) -> Result<Self, Self::Error> {
        let code = keys.exit_code.map(Self::Code);
        code.or(keys.signal.map(Self::Signal)).ok_or("expected a number in exit_code or signal")
    }
}

/// The same of a process that may still run.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ObservedExit {
    /// Its exit code; null where a signal ended it, or it still runs.
    #[serde(deserialize_with = "crate::format::required")]
    exit_code: Option<Observed<i32>>,
    /// The signal that ended it; null where none did.
    #[serde(deserialize_with = "crate::format::required")]
    signal: Option<i32>,
}

impl From<&Observed<ExitStatus>> for ObservedExit {
    fn from(exit: &Observed<ExitStatus>) -> Self {
        match exit.map(ExitKeys::from) {
            Observed::Value(ExitKeys { exit_code, signal }) => {
                Self { exit_code: exit_code.map(Observed::Value), signal }
            }
            Observed::Missing(reason) => {
                Self { exit_code: Some(Observed::Missing(reason)), signal: None }
            }
        }
    }
}

impl From<ObservedExit> for Observed<ExitStatus> {
    fn from(keys: ObservedExit) -> Self {
        match (keys.signal, keys.exit_code) {
            (Some(signal), _) => Self::Value(ExitStatus::Signal(signal)),
            (None, Some(code)) => code.map(ExitStatus::Code),
            (None, None) => Self::Missing(mark::UNSAID),
        }
    }
}

crate::format::stands_for!(ObservedExit => Observed<ExitStatus>);

/// The observed command, or for an attached session the time that it was observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::format::about("argv", "The command's words; empty for a whole host or a control group.")))]
pub struct Command {
    /// What was observed.
    pub target: Target,
    /// The command's words; empty for a whole host or a control group.
    #[serde(flatten, with = "Argv")]
    pub argv: Vec<OsString>,
    /// How it ended; missing where it still runs.
    #[serde(flatten, with = "ObservedExit")]
    pub exit: Observed<ExitStatus>,
    /// Wall time from start to exit, or of the observation.
    pub wall_ns: u64,
    /// User CPU time of the command and the children that it waited for.
    pub user_ns: Observed<u64>,
    /// System CPU time of the same.
    pub system_ns: Observed<u64>,
    /// The largest resident set of one of these processes.
    pub max_rss_bytes: Observed<u64>,
    /// Processes of the command that still ran when it ended.
    pub still_running: u32,
}

crate::words! {
    /// What stands behind a row.
    pub enum FileKind {
        /// A regular file.
        Regular = "regular",
        /// A block device: a raw device, or the metadata of the file system on it.
        BlockDevice = "block_device",
        /// A directory that was synced.
        Directory = "directory",
        /// A file system that was synced as a whole (syncfs); its path is where it is mounted.
        FileSystem = "file_system",
        /// All file systems of the host (sync); it has no path.
        AllFileSystems = "all_file_systems",
        /// All files beyond the table's bound.
        Others = "others",
    }
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::format::about("path", "Its path as the first process that touched it saw it; null where it is not known.")))]
pub struct FileRow {
    /// Its path as the first process that touched it saw it.
    #[serde(flatten, with = "Path::<Observed<String>>")]
    pub path: Observed<PathBuf>,
    /// What it is.
    pub kind: FileKind,
    /// True where it had no name left when it was first seen.
    pub deleted: bool,
    /// Its identity.
    #[serde(flatten)]
    pub id: FileId,
    /// Its size when last seen.
    pub size_bytes: Observed<u64>,
    /// Pages that were cached when the run first touched it.
    pub cached_before: Observed<u64>,
    /// Pages that were cached when the report was made.
    pub cached_after: Observed<u64>,
    /// Successful opens.
    pub opens: Observed<u64>,
    /// Pages of it that were evicted during the run.
    pub evicted_pages: Observed<u64>,
    /// Pages among them that were dropped on request and not for want of memory: by posix_fadvise(POSIX_FADV_DONTNEED),
    /// madvise(MADV_PAGEOUT), drop_caches, or direct I/O over cached pages.
    pub dropped_pages: Observed<u64>,
    /// Pages among the dropped ones that the observed processes dropped themselves.
    pub dropped_by_run_pages: Observed<u64>,
    /// Processes that touched it.
    pub processes: u32,
    /// The counters; [`FileRow::io`] gives them.
    #[serde(flatten)]
    pub io: PackedIo,
}

impl FileRow {
    /// The counters.
    pub fn io(&self) -> Io {
        self.io.unpack()
    }

    /// A row with an identity and nothing else known.
    pub fn new(id: FileId, reason: Reason) -> Self {
        Self {
            path: Observed::Missing(reason),
            id,
            kind: FileKind::Regular,
            deleted: false,
            size_bytes: Observed::Missing(reason),
            cached_before: Observed::Missing(reason),
            cached_after: Observed::Missing(reason),
            opens: Observed::Missing(reason),
            evicted_pages: Observed::Missing(reason),
            dropped_pages: Observed::Missing(reason),
            dropped_by_run_pages: Observed::Missing(reason),
            processes: 0,
            io: Io::missing(reason).into(),
        }
    }
}

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::format::about("argv", "Its words after the last exec, cut at the sensor's bound.")))]
pub struct ProcessRow {
    /// Its PID.
    pub pid: Pid,
    /// The PID of its parent when it was first seen.
    pub ppid: Pid,
    /// The kernel's short name for it.
    pub comm: String,
    /// Its words after the last exec, cut at the sensor's bound.
    #[serde(flatten, with = "Argv")]
    pub argv: Vec<OsString>,
    /// How it ended; missing where it still runs.
    #[serde(flatten, with = "ObservedExit")]
    pub exit: Observed<ExitStatus>,
    /// All minor faults, anonymous memory included.
    pub minor_faults: Observed<u64>,
    /// All major faults.
    pub major_faults: Observed<u64>,
    /// Its path lookups.
    pub lookups: Observed<LookupCounters>,
    /// The counters.
    #[serde(flatten)]
    pub io: Io,
}

/// Everything that one run told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Profile {
    /// When the observation began.
    #[serde(with = "Time")]
    pub started_at: SystemTime,
    /// The host that it was measured on.
    pub environment: Environment,
    /// The command that was observed.
    pub command: Command,
    /// By which instrument, and what it lost.
    pub sensor: Sensor,
    /// The sum of all rows.
    pub totals: Io,
    /// Files, most from the device first.
    #[serde(skip)]
    pub files: Vec<FileRow>,
    /// Processes, in order of appearance.
    #[serde(skip)]
    pub processes: Vec<ProcessRow>,
    /// Path lookups.
    pub lookups: Observed<Lookups>,
    /// Who asked; only where call sites were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sites: Option<CallSites>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_exit_is_a_code_or_a_signal() {
        let exit = |json| serde_json::from_value::<ExitStatus>(json).ok();
        assert_eq!(exit(json!({"exit_code": 3, "signal": null})), Some(ExitStatus::Code(3)));
        assert_eq!(exit(json!({"exit_code": null, "signal": 9})), Some(ExitStatus::Signal(9)));
        assert_eq!(exit(json!({"exit_code": null, "signal": null})), None);
        assert_eq!(exit(json!({"exit_code": 3})), None);
    }

    #[test]
    fn wait_statuses_decode() {
        assert_eq!(ExitStatus::from_wait_status(0x0300), ExitStatus::Code(3));
        assert_eq!(ExitStatus::from_wait_status(9), ExitStatus::Signal(9));
        assert_eq!(
            ExitStatus::from_wait_status(0x80 | 11),
            ExitStatus::Signal(11),
            "with a core file"
        );
    }
}
