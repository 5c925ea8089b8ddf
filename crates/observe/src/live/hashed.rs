//! The rows of the compat build: a hash, from which what is given up is deleted.
//!
//! Between the last look at a row and its deletion lies about a microsecond; what another CPU adds in it is lost. Rows are
//! only given up when their process has ended or they were idle for long.

use std::collections::HashMap;

use libbpf_rs::{Map, MapCore, MapFlags};

use super::assembly::{Assembly, Fate, Memory};
use super::counters::{COUNTERS, Counted, of};
use crate::ObserveError;
use crate::batch;
use crate::record::{Row, RowKey, bytes_of, read};

/// What is remembered of each row.
#[derive(Debug)]
pub(crate) struct Hashed {
    memory: HashMap<RowKey, Memory>,
    others: Counted,
    room: usize,
}

impl Hashed {
    pub(crate) fn new(max_rows: u32) -> Self {
        Self { memory: HashMap::new(), others: [0; COUNTERS], room: max_rows as usize }
    }

    /// Rows that were in use at the last sample, and how many there can be.
    pub(crate) fn load(&self) -> (usize, usize) {
        (self.memory.len(), self.room)
    }

    /// Keys of a process's rows or of a file's.
    pub(crate) fn matching(&self, fits: impl Fn(&Memory) -> bool) -> Vec<RowKey> {
        let rows = self.memory.iter().filter(|(_, memory)| fits(memory));
        rows.map(|(key, _)| *key).collect()
    }

    /// One pass over all rows.
    pub(crate) fn pass(
        &mut self,
        rows: &Map<'_>,
        assembly: &mut Assembly<'_>,
    ) -> Result<(), ObserveError> {
        let mut given = Vec::new();
        batch::for_each(rows, |key, value| {
            let (Some(key), Some(row)) = (read::<RowKey>(key), read::<Row>(value)) else { return };
            if key == (RowKey { owner: 0, dev: 0, ino: 0 }) {
                assembly.others(&mut self.others, &of(&row));
                return;
            }
            let memory = self.memory.entry(key).or_insert(Memory::FREE);
            if assembly.row(memory, key, row.mode, &of(&row)) == Fate::GiveUp {
                given.push(key);
            }
        })
        .map_err(|error| ObserveError::table("rows", error))?;
        for key in given {
            let Some(mut memory) = self.memory.remove(&key) else { continue };
            let last = rows.lookup(bytes_of(&key), MapFlags::ANY);
            let last = last.map_err(|error| ObserveError::table("rows", error))?;
            // Already gone is as good.
            let _ = rows.delete(bytes_of(&key));
            if let Some(row) = last.and_then(|bytes| read::<Row>(&bytes)) {
                assembly.last(&mut memory, &of(&row));
            }
        }
        Ok(())
    }

    /// Calls `each` with copies of rows.
    pub(crate) fn look(
        rows: &Map<'_>,
        keys: &[RowKey],
        mut each: impl FnMut(&Row),
    ) -> Result<(), ObserveError> {
        for key in keys {
            let found = rows.lookup(bytes_of(key), MapFlags::ANY);
            let found = found.map_err(|error| ObserveError::table("rows", error))?;
            if let Some(row) = found.and_then(|bytes| read::<Row>(&bytes)) {
                each(&row);
            }
        }
        Ok(())
    }
}
