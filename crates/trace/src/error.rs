//! What can be wrong with a trace, and where.

use std::io;

use parquet::errors::ParquetError;

use crate::meta::SCHEMA;

/// Why a trace was not written, or was refused.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The output failed.
    #[error("writing the trace failed: {0}")]
    Output(#[from] io::Error),
    /// There is no room for more records.
    #[error("writing the trace ended early: {0}")]
    NoRoom(#[source] io::Error),
    /// The records could not be encoded, or the output failed meanwhile.
    #[error("writing the trace failed: {0}")]
    Encode(#[source] ParquetError),
    /// A record that no reader could use.
    #[error("record {record}, {column}: {found}; expected {expected}")]
    Refused {
        /// Which record of the trace, from 0.
        record: u64,
        /// The column.
        column: &'static str,
        /// What was given.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// The bytes could not be read.
    #[error("reading {what} (byte {offset}, {length} bytes) failed: {source}")]
    Read {
        /// What was to be read.
        what: String,
        /// Where it begins, from 0.
        offset: u64,
        /// How long it is.
        length: u64,
        /// What the input said.
        source: ParquetError,
    },
    /// It is another kind of file.
    #[error("not a hotset trace: {found}; expected a Parquet file written by `hotset record`")]
    NotATrace {
        /// What it is, as far as that is known.
        found: String,
    },
    /// It was written in a version of the format that is not known.
    #[error(
        "the trace has the schema {found}; this hotset ({}) reads {SCHEMA}. Use a newer hotset",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The version that it names.
        found: String,
    },
    /// It ends too early.
    #[error("the trace is cut off: {found}; expected {expected}")]
    Truncated {
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
    /// It holds something else than it should.
    #[error("the trace is damaged at {place}: {found}; expected {expected}")]
    Damaged {
        /// Where: a byte, a row group, a row or a key, and the column.
        place: String,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
    /// Parts that don't make a whole.
    #[error("{found}; expected {expected}")]
    Parts {
        /// What was given.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// A part that is not as it should be.
    #[error("part {number}: {source}")]
    Part {
        /// Which one of those that were given, from 0.
        number: usize,
        /// What is wrong with it.
        source: Box<Self>,
    },
}

impl TraceError {
    /// Whether the output had no room for what was written: what was written before is whole, and can be finished.
    pub fn is_no_room(&self) -> bool {
        matches!(self, Self::NoRoom(_))
    }

    pub(crate) fn damaged(
        place: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Damaged { place: place.into(), found: found.into(), expected: expected.into() }
    }

    pub(crate) fn parts(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Parts { found: found.into(), expected: expected.into() }
    }
}
