//! Standard output for rows that several threads find.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};

/// Where rows go: whole ones, and once the reader is gone none.
#[derive(Debug)]
pub(crate) struct RowStream {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Dropped from the first row: what stands between two rows.
    separator: Option<u8>,
    failed: Option<io::Error>,
}

impl RowStream {
    /// Rows that begin with `separator`, if one is given, which the first row loses.
    pub(crate) fn new(separator: Option<u8>) -> Self {
        Self { state: Mutex::new(State { separator, failed: None }) }
    }

    /// Prints rows; false where nobody reads them any more.
    pub(crate) fn rows(&self, rows: &[u8]) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let separator = if rows.is_empty() { None } else { state.separator.take() };
        let rows = match separator {
            Some(separator) if rows.first() == Some(&separator) => &rows[1..],
            _ => rows,
        };
        state.write(rows)
    }

    /// Prints what is no row; false where nobody reads it any more.
    pub(crate) fn text(&self, text: &[u8]) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).write(text)
    }

    /// From here on, rows have no separator before the first one again.
    pub(crate) fn restart(&self, separator: u8) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).separator = Some(separator);
    }

    /// Whether everything was printed. A reader that went away had what it wanted.
    ///
    /// # Errors
    /// The first that standard output gave.
    pub(crate) fn finish(self) -> Result<()> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let written = state.failed.map_or(Ok(()), Err);
        super::while_read(written).context("standard output").map(drop)
    }
}

impl State {
    fn write(&mut self, bytes: &[u8]) -> bool {
        if self.failed.is_none() {
            let mut out = io::stdout().lock();
            self.failed = out.write_all(bytes).and_then(|()| out.flush()).err();
        }
        self.failed.is_none()
    }
}
