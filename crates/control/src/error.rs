//! Why a command failed as a whole, before or beside what its report says of single files.

use std::io;
use std::path::PathBuf;

use hotset_snapshot::{SnapshotError, WriteError};
use hotset_sys::cache::ControlError;
use hotset_sys::proc::ProcError;

use crate::pin::PinRefused;

/// A failure of the whole command; what was at fault is the source, where there is one.
#[derive(Debug, thiserror::Error)]
pub enum ControlFailure {
    /// Only root may do that.
    #[error("evict --everything")]
    DropCaches(#[source] ControlError),
    /// A file of /proc can't be read.
    #[error(transparent)]
    Proc(#[from] ProcError),
    /// A limit is too small for the files.
    #[error("not pinned")]
    Pin(#[from] PinRefused),
    /// A file, a snapshot as a rule, can't be opened, read or written.
    #[error("{}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A snapshot can't be written.
    #[error("{}", path.display())]
    Write {
        /// The snapshot.
        path: PathBuf,
        /// What went wrong.
        source: WriteError,
    },
    /// A snapshot is damaged.
    #[error("{}: nothing was restored", path.display())]
    Damaged {
        /// The snapshot.
        path: PathBuf,
        /// Where and how.
        source: SnapshotError,
    },
    /// A snapshot can't be read again.
    #[error("{}", path.display())]
    Unreadable {
        /// The snapshot.
        path: PathBuf,
        /// Where and how.
        source: SnapshotError,
    },
    /// The path leads to something that can't be used.
    #[error("{}: {why}", path.display())]
    Unusable {
        /// The path.
        path: PathBuf,
        /// What was expected, and what it is.
        why: String,
    },
    /// The directory in whose place the saved files should be looked for is none.
    #[error("--root {}: expected a directory", .0.display())]
    Root(PathBuf),
}

impl ControlFailure {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }

    pub(crate) fn unusable(path: impl Into<PathBuf>, why: impl Into<String>) -> Self {
        Self::Unusable { path: path.into(), why: why.into() }
    }
}
