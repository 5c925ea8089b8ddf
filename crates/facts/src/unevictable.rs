//! Why pages stay in the cache after an eviction.

use serde::{Deserialize, Serialize};

use crate::{Observed, Pid};

/// Why pages stay in the cache after they were to be evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Unevictable {
    /// Dirty: not written out, or written to again meanwhile.
    Dirty,
    /// Being written out.
    Writeback,
    /// Mapped by a process, as libc always is.
    Mapped,
    /// Locked into memory by a process.
    Locked,
    /// The file system has no other place for them (tmpfs).
    MemoryOnly,
    /// Cached again by something else meanwhile, or used by the kernel in a way that it doesn't tell.
    Unknown,
}

impl Unevictable {
    /// A phrase for where nobody is named who keeps them.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Dirty => "dirty and not ours to write back",
            Self::Writeback => "being written out",
            Self::Mapped => "mapped by another process",
            Self::Locked => "locked in memory",
            Self::MemoryOnly => "on a file system that lives in memory",
            Self::Unknown => "for an unknown reason",
        }
    }
}

/// Pages that stayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stayed {
    /// What keeps them.
    pub reason: Unevictable,
    /// How many base pages; null where it isn't known.
    #[serde(deserialize_with = "crate::format::required")]
    pub pages: Option<u64>,
    /// The process that holds them.
    #[serde(flatten, with = "HolderKeys")]
    pub holder: Option<(Pid, String)>,
}

/// The process that holds the pages; null where none was found.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct HolderKeys {
    /// The PID of the process that holds the pages; null where none was found.
    #[serde(deserialize_with = "crate::format::required")]
    pid: Option<Pid>,
    /// The kernel's short name for it; null where none was found.
    #[serde(deserialize_with = "crate::format::required")]
    comm: Option<String>,
}

impl From<&Option<(Pid, String)>> for HolderKeys {
    fn from(holder: &Option<(Pid, String)>) -> Self {
        let (pid, comm) = holder.clone().unzip();
        Self { pid, comm }
    }
}

impl From<HolderKeys> for Option<(Pid, String)> {
    fn from(keys: HolderKeys) -> Self {
        keys.pid.map(|pid| (pid, keys.comm.unwrap_or_default()))
    }
}

crate::format::stands_for!(HolderKeys => Option<(Pid, String)>);

/// A process that maps a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHolder {
    /// Its PID.
    pub pid: Pid,
    /// The kernel's short name for it, any bytes made text.
    pub comm: String,
    /// Base pages of the file that it has in its page tables; missing where this user may not know.
    pub pages: Observed<u64>,
    /// True where it has locked some of them.
    pub locked: bool,
}

impl FileHolder {
    /// How it keeps pages in the cache; nothing where it maps the file and has none of its pages.
    pub fn keeps(&self) -> Option<Unevictable> {
        match self.pages {
            _ if self.locked => Some(Unevictable::Locked),
            Observed::Value(0) => None,
            _ => Some(Unevictable::Mapped),
        }
    }
}
