//! The device of a file: how far it reads ahead.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Doing, Outcome};

/// The setting of the device that a file is on.
pub(super) struct ReadAhead(PathBuf);

impl ReadAhead {
    pub(super) fn of(file: &Path) -> Outcome<Self> {
        let device = file.metadata().doing(file.display())?.dev();
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        Ok(Self(format!("/sys/dev/block/{major}:{minor}/queue/read_ahead_kb").into()))
    }

    /// Sets it for files that are opened from now on.
    pub(super) fn set_kib(&self, kib: u64) -> Outcome<()> {
        std::fs::write(&self.0, kib.to_string()).doing(self.0.display())
    }
}
