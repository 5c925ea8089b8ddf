//! The host of a saved result, as it was written.

use serde::Deserialize;

/// What [`super::EnvironmentV1`] writes.
#[derive(Deserialize)]
pub(crate) struct EnvironmentIn {
    pub(crate) kernel: String,
    pub(crate) page_size_bytes: u64,
    pub(crate) cpus: u32,
    pub(crate) memory_bytes: u64,
    pub(crate) memory_limit_bytes: Option<u64>,
    pub(crate) evicts_idle_cache: bool,
    pub(crate) filesystems: Vec<FilesystemIn>,
}

/// One of its file systems.
#[derive(Deserialize)]
pub(crate) struct FilesystemIn {
    pub(crate) mount: String,
    pub(crate) mount_hex: Option<String>,
    #[serde(rename = "type")]
    pub(crate) fs_type: String,
    pub(crate) device: String,
    pub(crate) dev: String,
    pub(crate) options: String,
    pub(crate) read_ahead_kb: Option<u64>,
}
