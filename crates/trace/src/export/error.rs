//! What came of an export.

use std::io;

/// Why an export ended early.
#[derive(Debug, thiserror::Error)]
pub enum ExportError<E> {
    /// The records could not be had.
    #[error(transparent)]
    Records(E),
    /// The output failed.
    #[error("writing failed: {0}")]
    Write(#[from] io::Error),
}

/// Something that the format does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// What was lost, and what that means.
    pub what: &'static str,
    /// Of how many records.
    pub records: u64,
}

/// What was written, and what was lost on the way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exported {
    /// Records that came.
    pub records: u64,
    /// Requests, slices, accesses or rows that were written.
    pub written: u64,
    /// What was lost, most first.
    pub losses: Vec<Loss>,
}

impl Exported {
    /// Counts a record that loses something.
    pub(super) fn lose(&mut self, what: &'static str) {
        match self.losses.iter_mut().find(|loss| loss.what == what) {
            Some(loss) => loss.records += 1,
            None => self.losses.push(Loss { what, records: 1 }),
        }
    }

    /// Orders the losses.
    pub(super) fn finish(mut self) -> Self {
        self.losses.sort_by_key(|loss| std::cmp::Reverse(loss.records));
        self
    }
}
