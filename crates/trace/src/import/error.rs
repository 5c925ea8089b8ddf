//! Why an input could not be imported.

use std::io;

/// Why an input could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The bytes could not be had.
    #[error("reading failed after line {line}: {source}")]
    Read {
        /// Lines, or records of a binary format, that were read before.
        line: u64,
        /// What the input said.
        source: io::Error,
    },
    /// It holds nothing.
    #[error("the input is empty; expected {expected}")]
    Empty {
        /// What the format has.
        expected: &'static str,
    },
    /// It is something else.
    #[error("{unit} {line}: {reason}; no {unit} before it was readable. Expected {expected}")]
    WrongFormat {
        /// What the format is made of: lines, or records where it is binary.
        unit: &'static str,
        /// The number of the first one that was refused, from 1.
        line: u64,
        /// Why it was.
        reason: String,
        /// What the format has.
        expected: &'static str,
    },
    /// A column that is needed is not there.
    #[error("line 1: no column {column}; the columns are {found}. Expected {expected}")]
    NoColumn {
        /// The name or number of the column.
        column: String,
        /// What the header has.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
}
