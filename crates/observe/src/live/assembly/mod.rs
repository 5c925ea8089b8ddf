//! One interval while it is put together.

use std::collections::HashMap;

use hotset_facts::{LiveFile, LiveIo, LiveProcess, LiveRow};

use super::counters::advance;
use super::files::Files;
use super::processes::Processes;
use crate::record::RowKey;

/// What is remembered of a row between samples.
#[derive(Debug, Clone)]
pub(crate) struct RowState {
    /// Everything that was shown of it.
    before: LiveIo,
    process: Option<u32>,
    file: Option<u32>,
    owner: u32,
    /// Samples in which it counted nothing, one after the other.
    idle: u32,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No process has it.
    Free,
    /// Seen once, before its process was registered.
    Orphan,
    InUse,
    /// Marked; what still comes in is read once more.
    Released,
}

impl RowState {
    pub(crate) const FREE: Self = Self {
        before: LiveIo::ZERO,
        process: None,
        file: None,
        owner: 0,
        idle: 0,
        stage: Stage::Free,
    };

    pub(crate) fn is_released(&self) -> bool {
        self.stage == Stage::Released
    }

    pub(crate) fn owner(&self) -> u32 {
        if self.stage == Stage::InUse { self.owner } else { 0 }
    }

    pub(crate) fn file(&self) -> Option<u32> {
        self.file.filter(|_| self.stage == Stage::InUse)
    }
}

/// What the scan does with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowAction {
    Keep,
    /// Its process ended, or it was idle for long.
    Release,
}

/// When an idle row is released, by how full the table is: 10 samples above a half, 3 above three quarters, 1 above seven
/// eighths; not at all below.
pub(crate) fn idle_limit(used: usize, room: usize) -> u32 {
    match used * 8 {
        eighths if eighths > room * 7 => 1,
        eighths if eighths > room * 6 => 3,
        eighths if eighths > room * 4 => 10,
        _ => u32::MAX,
    }
}

/// The lists of one sample.
pub(crate) struct Assembly<'a> {
    pub(crate) now: u64,
    pub(crate) idle_limit: u32,
    pub(crate) known: &'a mut Processes,
    pub(crate) names: &'a mut Files,
    pub(crate) processes: Vec<LiveProcess>,
    pub(crate) files: Vec<LiveFile>,
    pub(crate) rows: Vec<LiveRow>,
    pub(crate) others: LiveIo,
    late: HashMap<(u32, u32), LiveIo>,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(
        now: u64,
        idle_limit: u32,
        known: &'a mut Processes,
        names: &'a mut Files,
    ) -> Self {
        Self {
            now,
            idle_limit,
            known,
            names,
            processes: Vec::new(),
            files: Vec::new(),
            rows: Vec::new(),
            others: LiveIo::default(),
            late: HashMap::new(),
        }
    }

    /// Takes the counters of the row of everybody beyond the tables.
    pub(crate) fn add_others(&mut self, before: &mut LiveIo, counted: &LiveIo) {
        self.others.add(&advance(before, counted));
    }

    /// Takes a row that is in use.
    pub(crate) fn add_row(
        &mut self,
        state: &mut RowState,
        key: RowKey,
        mode: u32,
        counted: &LiveIo,
    ) -> RowAction {
        if state.stage == Stage::Free || state.stage == Stage::Orphan {
            let process = self.known.find(key.owner);
            if process.is_none() && state.stage == Stage::Free && key.owner != 0 {
                // It began after the processes were read: the next sample knows it.
                state.stage = Stage::Orphan;
                return RowAction::Keep;
            }
            self.begin(state, key, mode, process);
        }
        let grown = advance(&mut state.before, counted);
        let ended = state.process.and_then(|process| self.known.get(process));
        let ended = ended.map_or(Some(0), |process| process.ended);
        if grown.is_idle() {
            state.idle = state.idle.saturating_add(1);
        } else {
            state.idle = 0;
            match self.place(state, ended) {
                Some((process, file)) => self.rows.push(LiveRow { process, file, io: grown }),
                None => self.others.add(&grown),
            }
        }
        if ended.is_some() || state.idle >= self.idle_limit {
            state.stage = Stage::Released;
            return RowAction::Release;
        }
        RowAction::Keep
    }

    fn begin(&mut self, state: &mut RowState, key: RowKey, mode: u32, process: Option<u32>) {
        *state = RowState {
            process,
            file: self.names.hold(key.file, mode),
            owner: key.owner,
            stage: Stage::InUse,
            ..RowState::FREE
        };
        if let Some(process) = process.and_then(|process| self.known.get_mut(process)) {
            process.rows += 1;
        }
    }

    /// Where a row's process and file stand in this interval; none for a process that was shown as ended before.
    fn place(&mut self, state: &RowState, ended: Option<u64>) -> Option<(u32, u32)> {
        if ended.is_some_and(|ended| ended < self.now) {
            return None;
        }
        let process = self.known.place(state.process?, self.now, &mut self.processes)?;
        let file = self.names.place(state.file?, &mut self.files)?;
        Some((process, file))
    }

    /// A row that the sensor took and could not use. Whatever it held goes with it.
    pub(crate) fn release_unused(state: &mut RowState) {
        if state.stage != Stage::InUse {
            *state = RowState::FREE;
        }
        state.stage = Stage::Released;
    }

    /// Takes what a row counted after its release; it is free then.
    pub(crate) fn add_late(&mut self, state: &mut RowState, counted: &LiveIo) {
        let grown = advance(&mut state.before, counted);
        let process = state.process.and_then(|process| self.known.get(process));
        let ended = process.map_or(Some(0), |process| process.ended);
        if !grown.is_idle() {
            match self.place(state, ended) {
                Some(place) => self.late.entry(place).or_default().add(&grown),
                None => self.others.add(&grown),
            }
        }
        if let Some(file) = state.file {
            self.names.release(file);
        }
        if let Some(process) = state.process.and_then(|process| self.known.get_mut(process)) {
            process.rows = process.rows.saturating_sub(1);
        }
        *state = RowState::FREE;
    }

    /// Adds what came late to the rows of the same process and file, so that each pair stands once, and the processes that
    /// ended without a word.
    pub(crate) fn close(&mut self) {
        if !self.late.is_empty() {
            for row in &mut self.rows {
                if let Some(late) = self.late.remove(&(row.process, row.file)) {
                    row.io.add(&late);
                }
            }
            let rest = self.late.drain();
            self.rows.extend(rest.map(|((process, file), io)| LiveRow { process, file, io }));
        }
        self.known.show_ended(self.now, &mut self.processes);
    }
}

#[cfg(test)]
mod tests;
