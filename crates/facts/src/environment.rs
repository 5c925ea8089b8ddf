//! The host that a run happened on.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::format::Mount;
use crate::{Dev, Observed};

/// A mounted file system that the run touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Filesystem {
    /// Where it is mounted.
    #[serde(flatten, with = "Mount")]
    pub mount: PathBuf,
    /// Its type, e.g. `ext4`.
    #[serde(rename = "type")]
    pub fs_type: String,
    /// The mount's source, e.g. `/dev/vda`.
    pub device: String,
    /// Its device number.
    pub dev: Dev,
    /// Mount options.
    pub options: String,
    /// The device's read-ahead window in KiB.
    pub read_ahead_kb: Observed<u64>,
}

/// The conditions of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// `uname -r`.
    pub kernel: String,
    /// The base page size.
    pub page_size_bytes: u64,
    /// CPUs that are online.
    pub cpus: u32,
    /// Memory of the host.
    pub memory_bytes: u64,
    /// The tightest memory limit of the cgroups around the run; null where there is none.
    #[serde(deserialize_with = "crate::format::required")]
    pub memory_limit_bytes: Option<u64>,
    /// Set where the kernel evicts idle page cache by itself (a DAMON scheme with action `pageout`).
    pub evicts_idle_cache: bool,
    /// The file systems that the run touched.
    pub filesystems: Vec<Filesystem>,
}
