//! The rows of the full build: slots of an array that tasks remember, given back through a ring.

use std::sync::atomic::Ordering;

use libbpf_rs::Map;

use super::assembly::{Assembly, Fate, Memory};
use super::counters::{Counted, ROW_WORDS, read};
use super::free::FreeList;
use super::window::{GROUP, Window};
use crate::ObserveError;
use crate::batch;
use crate::record::{NO_OWNER, Row, RowKey, bytes_of};

/// Rows that are mapped at once, 3.5 MiB.
const WINDOW_ROWS: usize = 16 * GROUP;
const MODE_WORD: usize = std::mem::offset_of!(Row, mode) / 8;

/// What is remembered of each slot.
#[derive(Debug)]
pub(crate) struct Slots {
    memory: Vec<Memory>,
    others: Counted,
    used: usize,
    room: usize,
}

impl Slots {
    pub(crate) fn new(max_rows: u32) -> Self {
        let others = [0; super::counters::COUNTERS];
        Self { memory: vec![Memory::FREE], others, used: 0, room: max_rows as usize }
    }

    /// Rows that were in use at the last sample, and how many there can be.
    pub(crate) fn load(&self) -> (usize, usize) {
        (self.used, self.room)
    }

    /// Slots of a process's rows or of a file's.
    pub(crate) fn matching(&self, fits: impl Fn(&Memory) -> bool) -> Vec<u32> {
        let slots = self.memory.iter().enumerate().filter(|(_, memory)| fits(memory));
        slots.map(|(slot, _)| slot as u32).collect()
    }

    /// One pass over all rows up to the highest that was ever used.
    pub(crate) fn pass(
        &mut self,
        rows: &Map<'_>,
        index: &Map<'_>,
        free: &mut FreeList,
        made: u64,
        assembly: &mut Assembly<'_>,
    ) -> Result<(), ObserveError> {
        let failed = |error| ObserveError::table("rows", error);
        let end = (usize::try_from(made).unwrap_or(usize::MAX).saturating_add(1)).min(self.room);
        if self.memory.len() < end {
            self.memory.resize(end, Memory::FREE);
        }
        let (mut given, mut freed) = (Vec::new(), Vec::new());
        self.used = 0;
        for first in (0..end).step_by(WINDOW_ROWS) {
            let count = WINDOW_ROWS.min(end - first);
            let offset = (first * ROW_WORDS * 8) as u64;
            let window =
                Window::open(rows_fd(rows), offset, count * ROW_WORDS * 8).map_err(failed)?;
            for (step, row) in window.words().chunks_exact(ROW_WORDS).take(count).enumerate() {
                let slot = first + step;
                if slot == 0 {
                    assembly.others(&mut self.others, &read(row));
                    continue;
                }
                let memory = &mut self.memory[slot];
                match visit(row, memory, assembly) {
                    Visit::Free => {}
                    Visit::Used => self.used += 1,
                    Visit::Given(key) => {
                        self.used += 1;
                        given.push(key);
                    }
                    Visit::Freed => freed.push(slot as u32),
                }
            }
        }
        // Marked as given up above, and only now out of the index: until then everybody finds this one row.
        batch::delete(index, &given).map_err(|error| ObserveError::table("row_index", error))?;
        free.give(&freed);
        Ok(())
    }

    /// Calls `each` with copies of rows.
    pub(crate) fn look(
        rows: &Map<'_>,
        slots: &[u32],
        mut each: impl FnMut(&Row),
    ) -> Result<(), ObserveError> {
        use libbpf_rs::{MapCore, MapFlags};
        let mut value = vec![0_u8; rows.value_size() as usize];
        for slot in slots {
            let found = rows.lookup_into(&slot.to_ne_bytes(), &mut value, MapFlags::ANY);
            if found.map_err(|error| ObserveError::table("rows", error))?
                && let Some(row) = crate::record::read(&value)
            {
                each(&row);
            }
        }
        Ok(())
    }
}

fn rows_fd<'a>(map: &'a Map<'_>) -> std::os::fd::BorrowedFd<'a> {
    use std::os::fd::AsFd;
    map.as_fd()
}

enum Visit {
    Free,
    Used,
    Given(RowKey),
    Freed,
}

fn visit(
    row: &[std::sync::atomic::AtomicU64],
    memory: &mut Memory,
    assembly: &mut Assembly<'_>,
) -> Visit {
    let head = row[0].load(Ordering::Acquire);
    if memory.is_given() {
        // No program that found the row before it was given up is still at work by now.
        assembly.last(memory, &read(row));
        row.iter().for_each(|word| word.store(0, Ordering::Release));
        return Visit::Freed;
    }
    let (owner, dev) = (head as u32, (head >> 32) as u32);
    match owner {
        0 => Visit::Free,
        NO_OWNER => {
            Assembly::unused(memory);
            Visit::Used
        }
        _ => {
            let key = RowKey { owner, dev, ino: row[1].load(Ordering::Relaxed) };
            let mode = row[MODE_WORD].load(Ordering::Relaxed) as u32;
            match assembly.row(memory, key, mode, &read(row)) {
                Fate::Keep => Visit::Used,
                Fate::GiveUp => {
                    row[0].store(u64::from(NO_OWNER) | u64::from(dev) << 32, Ordering::Release);
                    debug_assert_eq!(bytes_of(&key).len(), 16);
                    Visit::Given(key)
                }
            }
        }
    }
}
