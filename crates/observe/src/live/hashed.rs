//! The rows of the compat build: a hash, from which released rows are deleted.
//!
//! Between the last look at a row and its deletion lies about a microsecond; what another CPU adds in it is lost. Rows are
//! only released when their process has ended or they were idle for long.

use std::collections::HashMap;

use hotset_facts::LiveIo;
use libbpf_rs::{Map, MapCore};

use super::assembly::{Assembly, RowAction, RowState};
use super::counters::of;
use crate::ObserveError;
use crate::batch;
use crate::record::{Row, RowKey, bytes_of, read};
use crate::tables::value_of;

/// What is remembered of each row.
#[derive(Debug)]
pub(crate) struct Hashed {
    states: HashMap<RowKey, RowState>,
    others: LiveIo,
    room: usize,
}

impl Hashed {
    pub(crate) fn new(max_rows: u32) -> Self {
        Self { states: HashMap::new(), others: LiveIo::ZERO, room: max_rows as usize }
    }

    /// Rows that were in use at the last sample, and how many there can be.
    pub(crate) fn occupancy(&self) -> (usize, usize) {
        (self.states.len(), self.room)
    }

    /// Keys of a process's rows or of a file's.
    pub(crate) fn matching(&self, fits: impl Fn(&RowState) -> bool) -> Vec<RowKey> {
        let rows = self.states.iter().filter(|(_, state)| fits(state));
        rows.map(|(key, _)| *key).collect()
    }

    /// One pass over all rows.
    pub(crate) fn scan(
        &mut self,
        rows: &Map<'_>,
        assembly: &mut Assembly<'_>,
    ) -> Result<(), ObserveError> {
        let mut released = Vec::new();
        batch::for_each(rows, |key, value| {
            let (Some(key), Some(row)) = (read::<RowKey>(key), read::<Row>(value)) else { return };
            if key == RowKey::OTHERS {
                assembly.add_others(&mut self.others, &of(&row));
                return;
            }
            let state = self.states.entry(key).or_default();
            if assembly.add_row(state, key, (row.mode.into(), row.mounted), &of(&row))
                == RowAction::Release
            {
                released.push(key);
            }
        })
        .map_err(|error| ObserveError::table("rows", error))?;
        for key in released {
            let Some(mut state) = self.states.remove(&key) else { continue };
            let last = value_of::<Row>(rows, "rows", &key)?;
            // A row that is gone already needs no deletion.
            let _ = rows.delete(bytes_of(&key));
            if let Some(row) = last {
                assembly.add_late(&mut state, &of(&row));
            }
        }
        Ok(())
    }
}
