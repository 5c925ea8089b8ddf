//! Identities: which file, which process.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::format::time::DeviceNumber;

/// A process id (thread group id) in the observer's PID namespace.
pub type Pid = u32;

/// A device number as user space sees it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(try_from = "DeviceNumber", into = "DeviceNumber")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dev {
    /// The major number.
    pub major: u32,
    /// The minor number.
    pub minor: u32,
}

impl Dev {
    /// Decodes the kernel's internal `dev_t`: 12 bits major, 20 bits minor (include/linux/kdev_t.h).
    pub fn from_kernel(dev: u32) -> Self {
        Self { major: dev >> 20, minor: dev & 0xf_ffff }
    }
}

impl fmt::Display for Dev {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// A file: the device of its file system, its inode number, and which of the files that had this number it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileId {
    /// The file system's device (`st_dev`; for overlayfs that of the layer which holds the pages).
    pub dev: Dev,
    /// The inode number.
    pub ino: u64,
    /// What the file system counts up, or draws, when it gives the number of a deleted file to another; 0 where it keeps
    /// none. Not there for what was learned from stat(2), which does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
}

impl FileId {
    /// A file as stat(2) tells it.
    pub fn new(dev: Dev, ino: u64) -> Self {
        Self { dev, ino, generation: None }
    }

    /// Whether stat(2) tells both apart; with equal device and number, one may still be the other's successor.
    pub fn same_inode(&self, other: &Self) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} inode {}", self.dev, self.ino)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_device_numbers_decode() {
        assert_eq!(Dev::from_kernel((253 << 20) | 1).to_string(), "253:1");
    }
}
