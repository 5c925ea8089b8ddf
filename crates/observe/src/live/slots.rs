//! The rows of the full build: slots of an array that tasks remember, given back through a ring.

use std::sync::atomic::Ordering;

use hotset_facts::LiveIo;
use libbpf_rs::Map;

use super::assembly::{Assembly, RowAction, RowState};
use super::counters::{ROW_WORDS, read};
use super::free::FreeList;
use super::window::{GROUP, Window};
use crate::ObserveError;
use crate::batch;
use crate::record::{FileKey, NO_OWNER, Row, RowKey};

/// Rows that are mapped at once, 3.5 MiB.
const WINDOW_ROWS: usize = 16 * GROUP;
const FILE_WORD: usize = std::mem::offset_of!(Row, file) / 8;
const MOUNTED_WORD: usize = std::mem::offset_of!(Row, mounted) / 8;

/// What is remembered of each slot.
#[derive(Debug)]
pub(crate) struct Slots {
    states: Vec<RowState>,
    others: LiveIo,
    used: usize,
    room: usize,
}

impl Slots {
    pub(crate) fn new(max_rows: u32) -> Self {
        let others = LiveIo::ZERO;
        Self { states: vec![RowState::default()], others, used: 0, room: max_rows as usize }
    }

    /// Rows that were in use at the last sample, and how many there can be.
    pub(crate) fn occupancy(&self) -> (usize, usize) {
        (self.used, self.room)
    }

    /// Slots of a process's rows or of a file's.
    pub(crate) fn matching(&self, fits: impl Fn(&RowState) -> bool) -> Vec<u32> {
        let slots = self.states.iter().enumerate().filter(|(_, state)| fits(state));
        slots.map(|(slot, _)| slot as u32).collect()
    }

    /// One pass over all rows up to the highest that was ever used.
    pub(crate) fn scan(
        &mut self,
        rows: &Map<'_>,
        index: &Map<'_>,
        free: &mut FreeList,
        made: u64,
        assembly: &mut Assembly<'_>,
    ) -> Result<(), ObserveError> {
        let failed = |error| ObserveError::table("rows", error);
        let end = (usize::try_from(made).unwrap_or(usize::MAX).saturating_add(1)).min(self.room);
        if self.states.len() < end {
            self.states.resize_with(end, RowState::default);
        }
        let (mut released, mut freed) = (Vec::new(), Vec::new());
        let gone = |error| ObserveError::table("row_index", error);
        self.used = 0;
        for first in (0..end).step_by(WINDOW_ROWS) {
            let count = WINDOW_ROWS.min(end - first);
            let offset = (first * ROW_WORDS * 8) as u64;
            let window = Window::open(rows, offset, count * ROW_WORDS * 8).map_err(failed)?;
            for (step, row) in window.words().chunks_exact(ROW_WORDS).take(count).enumerate() {
                let slot = first + step;
                if slot == 0 {
                    assembly.add_others(&mut self.others, &read(row));
                    continue;
                }
                let state = &mut self.states[slot];
                match visit(row, state, assembly) {
                    Visit::Free => {}
                    Visit::Used => self.used += 1,
                    Visit::Released(key) => {
                        self.used += 1;
                        released.push(key);
                    }
                    Visit::Freed => freed.push(slot as u32),
                }
            }
            // Marked above, and only now out of the index: until then everybody finds this one row.
            batch::delete(index, &released).map_err(gone)?;
            released.clear();
        }
        free.give(&freed);
        Ok(())
    }
}

enum Visit {
    Free,
    Used,
    Released(RowKey),
    Freed,
}

fn visit(
    row: &[std::sync::atomic::AtomicU64],
    state: &mut RowState,
    assembly: &mut Assembly<'_>,
) -> Visit {
    let head = row[0].load(Ordering::Acquire);
    if state.is_released() {
        // No program that found the row before its release is still at work by now.
        assembly.add_late(state, &read(row));
        row.iter().for_each(|word| word.store(0, Ordering::Release));
        return Visit::Freed;
    }
    let (owner, mode) = (head as u32, (head >> 32) as u32);
    match owner {
        0 => Visit::Free,
        NO_OWNER => {
            Assembly::release_unused(state);
            Visit::Used
        }
        _ => {
            let word = |place: usize| row[FILE_WORD + place].load(Ordering::Relaxed);
            let (ino, place) = (word(0), word(1));
            let (dev, generation) = (place as u32, (place >> 32) as u32);
            let key = RowKey { file: FileKey { ino, dev, generation }, owner, pad: 0 };
            let mounted = row[MOUNTED_WORD].load(Ordering::Relaxed) as u32;
            match assembly.add_row(state, key, (mode, mounted), &read(row)) {
                RowAction::Keep => Visit::Used,
                RowAction::Release => {
                    row[0].store(u64::from(NO_OWNER) | u64::from(mode) << 32, Ordering::Release);
                    Visit::Released(key)
                }
            }
        }
    }
}
