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

/// A file: the device of its file system and its inode number.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileId {
    /// The file system's device (`st_dev`; for overlayfs that of the layer which holds the pages).
    pub dev: Dev,
    /// The inode number.
    pub ino: u64,
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
