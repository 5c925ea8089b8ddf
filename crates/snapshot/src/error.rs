//! What can be wrong with a snapshot, and where.

use std::fmt;
use std::io;

use crate::{FORMAT_VERSION, HOTSET_VERSION};

/// Where in a snapshot something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The byte, from 0.
    pub offset: u64,
    /// The last file that was read well before it.
    pub last_path: Option<Vec<u8>>,
}

impl Place {
    pub(crate) fn at(offset: u64) -> Self {
        Self { offset, last_path: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.offset)?;
        match &self.last_path {
            Some(path) => write!(f, " (the last good file is {})", path.escape_ascii()),
            None => Ok(()),
        }
    }
}

/// Why a snapshot was refused.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The bytes could not be had.
    #[error("at {place}: reading failed: {source}")]
    Read {
        /// The place in the input.
        place: Place,
        /// What the input said.
        source: io::Error,
    },
    /// It begins as no snapshot does.
    #[error(
        "at byte 0: expected the signature of a hotset snapshot; this is another kind of file, or one \
         that was changed as if it were text"
    )]
    NotASnapshot,
    /// It was written in a later version of the format.
    #[error(
        "written by hotset {written_by} in version {version} of the format; this is hotset {HOTSET_VERSION}, \
         which reads versions up to {FORMAT_VERSION}"
    )]
    Newer {
        /// The version of the format.
        version: u16,
        /// Who wrote it.
        written_by: String,
    },
    /// It ends too early.
    #[error("truncated: it ends at {place}; expected {expected}")]
    Truncated {
        /// The place in the input.
        place: Place,
        /// What should have followed.
        expected: &'static str,
    },
    /// It holds something else than it should.
    #[error("damaged at {place}: expected {expected}, found {found}")]
    Damaged {
        /// The place in the input.
        place: Place,
        /// What should be there.
        expected: &'static str,
        /// What is.
        found: String,
    },
}

impl SnapshotError {
    pub(crate) fn damaged(offset: u64, expected: &'static str, found: impl fmt::Display) -> Self {
        Self::Damaged { place: Place::at(offset), expected, found: found.to_string() }
    }

    /// Where it is, for the errors that are somewhere.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Read { place, .. }
            | Self::Truncated { place, .. }
            | Self::Damaged { place, .. } => Some(place),
            Self::NotASnapshot | Self::Newer { .. } => None,
        }
    }

    /// Adds the last file that was read well.
    pub(crate) fn after(mut self, path: Option<&[u8]>) -> Self {
        if let Self::Read { place, .. }
        | Self::Truncated { place, .. }
        | Self::Damaged { place, .. } = &mut self
        {
            place.last_path = path.map(<[u8]>::to_vec);
        }
        self
    }
}

/// Why something was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No reader would accept it.
    #[error("expected {expected}, found {found}")]
    Refused {
        /// What would be right.
        expected: &'static str,
        /// What was given.
        found: String,
    },
}

impl WriteError {
    pub(crate) fn refused(expected: &'static str, found: impl fmt::Display) -> Self {
        Self::Refused { expected, found: found.to_string() }
    }
}
