//! One interval while it is put together.

use std::collections::HashMap;

use hotset_facts::{LiveFile, LiveIo, LiveProcess, LiveRow, PackedLiveIo};

use super::counters::advance;
use super::files::Files;
use super::processes::Processes;
use crate::record::RowKey;

/// What is remembered of a row between samples. The table has 100,000 rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowState {
    /// Everything that was shown of it.
    before: PackedLiveIo,
    process: Place,
    file: Place,
    owner: u32,
    /// Samples in which it counted nothing, one after the other.
    idle: u16,
    stage: Stage,
}

/// An index into a list, if there is one; 0 stands for none.
#[derive(Debug, Clone, Copy, Default)]
struct Place(u32);

impl Place {
    fn of(index: Option<u32>) -> Self {
        Self(index.map_or(0, |index| index.saturating_add(1)))
    }

    fn get(self) -> Option<u32> {
        self.0.checked_sub(1)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    /// No process has it.
    #[default]
    Free,
    /// Seen once, before its process was registered.
    Orphan,
    InUse,
    /// Marked; what still comes in is read once more.
    Released,
}

impl RowState {
    /// What was counted since this was called last.
    fn advance(&mut self, counted: &LiveIo) -> LiveIo {
        let mut before = self.before.unpack();
        let known = before;
        let grown = advance(&mut before, counted);
        if before != known {
            self.before = before.into();
        }
        grown
    }

    pub(crate) fn is_released(&self) -> bool {
        self.stage == Stage::Released
    }

    pub(crate) fn owner(&self) -> u32 {
        if self.stage == Stage::InUse { self.owner } else { 0 }
    }

    pub(crate) fn file(&self) -> Option<u32> {
        self.file.get().filter(|_| self.stage == Stage::InUse)
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
pub(crate) fn idle_limit(used: usize, room: usize) -> u16 {
    match used * 8 {
        eighths if eighths > room * 7 => 1,
        eighths if eighths > room * 6 => 3,
        eighths if eighths > room * 4 => 10,
        _ => u16::MAX,
    }
}

/// The lists of one sample.
pub(crate) struct Assembly<'a> {
    pub(crate) now: u64,
    pub(crate) idle_limit: u16,
    pub(crate) known: &'a mut Processes,
    pub(crate) names: &'a mut Files,
    pub(crate) processes: Vec<LiveProcess>,
    pub(crate) files: Vec<LiveFile>,
    pub(crate) rows: Vec<LiveRow>,
    pub(crate) active_rows: u64,
    pub(crate) others: LiveIo,
    /// What is added to rows at the end: what came late, and where files are not told apart all that a process did on a
    /// file system.
    sums: HashMap<(u32, u32), PackedLiveIo>,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(
        now: u64,
        idle_limit: u16,
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
            active_rows: 0,
            others: LiveIo::default(),
            sums: HashMap::new(),
        }
    }

    /// Takes the counters of the row of everybody beyond the tables. It is of many files: where the call before on the same
    /// one ended is not known, and none is called sequential.
    pub(crate) fn add_others(&mut self, before: &mut LiveIo, counted: &LiveIo) {
        let grown = advance(before, counted);
        self.others.add(&LiveIo { sequential_reads: 0, sequential_writes: 0, ..grown });
    }

    /// Takes a row that is in use, of a file of this mode on a file system that is mounted by this device.
    pub(crate) fn add_row(
        &mut self,
        state: &mut RowState,
        key: RowKey,
        (mode, mounted): (u32, u32),
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
        let grown = state.advance(counted);
        let ended = state.process.get().and_then(|process| self.known.get(process));
        let ended = ended.map_or(Some(0), |process| process.ended);
        if grown.is_idle() {
            state.idle = state.idle.saturating_add(1);
        } else {
            state.idle = 0;
            self.active_rows += 1;
            state.file.get().into_iter().for_each(|file| self.names.mounted(file, mounted));
            match self.place(state, ended) {
                Some((process, file)) if self.names.are_apart() => {
                    self.rows.push(LiveRow { process, file, io: grown.into() });
                }
                Some(place) => self.sums.entry(place).or_default().add(&grown.into()),
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
            process: Place::of(process),
            file: Place::of(self.names.hold(key.file, mode)),
            owner: key.owner,
            stage: Stage::InUse,
            ..RowState::default()
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
        let process = self.known.place(state.process.get()?, self.now, &mut self.processes)?;
        let file = self.names.place(state.file.get()?, &mut self.files)?;
        Some((process, file))
    }

    /// A row that the sensor took and could not use. Whatever it held goes with it.
    pub(crate) fn release_unused(state: &mut RowState) {
        if state.stage != Stage::InUse {
            *state = RowState::default();
        }
        state.stage = Stage::Released;
    }

    /// Takes what a row counted after its release; it is free then.
    pub(crate) fn add_late(&mut self, state: &mut RowState, counted: &LiveIo) {
        let grown = state.advance(counted);
        let process = state.process.get().and_then(|process| self.known.get(process));
        let ended = process.map_or(Some(0), |process| process.ended);
        if !grown.is_idle() {
            match self.place(state, ended) {
                Some(place) => self.sums.entry(place).or_default().add(&grown.into()),
                None => self.others.add(&grown),
            }
        }
        if let Some(file) = state.file.get() {
            self.names.release(file);
        }
        if let Some(process) = state.process.get().and_then(|process| self.known.get_mut(process)) {
            process.rows = process.rows.saturating_sub(1);
        }
        *state = RowState::default();
    }

    /// Adds the sums to the rows of the same process and file, so that each pair stands once, and the processes that ended
    /// without a word.
    pub(crate) fn close(&mut self) {
        if !self.sums.is_empty() {
            for row in &mut self.rows {
                if let Some(late) = self.sums.remove(&(row.process, row.file)) {
                    row.io.add(&late);
                }
            }
            let rest = self.sums.drain();
            self.rows.extend(rest.map(|((process, file), io)| LiveRow { process, file, io }));
        }
        self.known.show_ended(self.now, &mut self.processes);
    }
}

#[cfg(test)]
mod tests;
