//! The keys of `hotset.profile/1` that a page shows.

use serde::Deserialize;

use crate::json::EnvironmentIn;

#[derive(Deserialize)]
pub(in crate::results) struct ProfileIn {
    pub(super) hotset: String,
    pub(super) started_at: String,
    pub(super) environment: EnvironmentIn,
    pub(super) command: CommandIn,
    pub(super) sensor: SensorIn,
    pub(super) totals: IoIn,
    pub(super) files: Vec<FileIn>,
    pub(super) findings: Vec<FindingIn>,
}

#[derive(Deserialize)]
pub(super) struct CommandIn {
    pub(super) target: TargetIn,
    pub(super) argv: Vec<String>,
    pub(super) wall_ns: u64,
}

#[derive(Deserialize)]
pub(super) struct TargetIn {
    pub(super) kind: String,
}

#[derive(Deserialize)]
pub(super) struct SensorIn {
    pub(super) name: String,
    pub(super) level: String,
    pub(super) events_lost: u64,
    pub(super) entries_lost: u64,
    pub(super) not_measured: Vec<NotMeasuredIn>,
}

#[derive(Deserialize)]
pub(super) struct NotMeasuredIn {
    pub(super) what: String,
    pub(super) reason: String,
}

#[derive(Deserialize)]
pub(super) struct IoIn {
    pub(super) read: ReadIn,
    pub(super) mmap: MmapIn,
    pub(super) device: DeviceIn,
    pub(super) time: TimeIn,
}

#[derive(Deserialize)]
pub(super) struct FileIn {
    pub(super) path: Option<String>,
    pub(super) read: ReadIn,
    pub(super) mmap: MmapIn,
    pub(super) device: DeviceIn,
}

#[derive(Deserialize)]
pub(super) struct ReadIn {
    pub(super) bytes: Option<u64>,
    pub(super) pages: Option<u64>,
    pub(super) hits: Option<u64>,
    pub(super) misses: Option<u64>,
    pub(super) time_ns: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct MmapIn {
    pub(super) major_faults: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct DeviceIn {
    pub(super) read_bytes: Option<u64>,
    pub(super) write_bytes: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct TimeIn {
    pub(super) hit_ns: Option<u64>,
    pub(super) wait_ns: Option<u64>,
    pub(super) miss_ns: Option<u64>,
    pub(super) fault_ns: Option<u64>,
    pub(super) direct_ns: Option<u64>,
    pub(super) write_ns: Option<u64>,
    pub(super) sync_ns: Option<u64>,
    pub(super) lookup_ns: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct FindingIn {
    pub(super) severity: String,
    pub(super) title: String,
    pub(super) advice: String,
    pub(super) files: Vec<String>,
    pub(super) saving_ns: SavingIn,
}

#[derive(Deserialize)]
pub(super) struct SavingIn {
    pub(super) low: u64,
    pub(super) high: u64,
}
