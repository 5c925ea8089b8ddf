//! Where rows and processes stand, which differs between the two builds.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering};

use hotset_facts::{Pid, SizeHistogram};
use libbpf_rs::{Map, MapCore};

use super::assembly::{Assembly, RowState};
use super::cgroups::Cgroups;
use super::counters::add_histograms;
use super::free::FreeList;
use super::hashed::Hashed;
use super::map_whole;
use super::processes::Processes;
use super::slots::Slots;
use super::window::{GROUP, Window};
use crate::ObserveError;
use crate::batch;
use crate::load::Loaded;
use crate::record::{Globals, NO_OWNER, OWNER_SLOTS, Plain, Process, Row, read};
use crate::select::Build;
use crate::tables::value_of;

const PROCESS_WORDS: usize = size_of::<Process>() / 8;

/// The tables of a build, and what user space remembers of them.
#[derive(Debug)]
pub(crate) enum Store {
    /// Arrays, mapped; what is free goes back through rings.
    Slots { slots: Slots, free_rows: FreeList, free_owners: FreeList, globals: Window },
    /// Hashes, from which is deleted.
    Hashed(Hashed),
}

impl Store {
    pub(crate) fn open(loaded: &Loaded) -> Result<Self, ObserveError> {
        let max_rows = loaded.map("rows")?.max_entries();
        if loaded.selection.build == Build::Compat {
            return Ok(Self::Hashed(Hashed::new(max_rows)));
        }
        Ok(Self::Slots {
            slots: Slots::new(max_rows),
            free_rows: FreeList::open(&loaded.map("free_rows")?, "free_rows")?,
            free_owners: FreeList::open(&loaded.map("free_owners")?, "free_owners")?,
            globals: map_whole(loaded, ".bss")?,
        })
    }

    /// Rows in use, and how many there can be.
    pub(crate) fn occupancy(&self) -> (usize, usize) {
        match self {
            Self::Slots { slots, .. } => slots.occupancy(),
            Self::Hashed(hashed) => hashed.occupancy(),
        }
    }

    /// Reads the table of processes.
    pub(crate) fn register_processes(
        &mut self,
        loaded: &Loaded,
        globals: &Globals,
        now: u64,
        processes: &mut Processes,
        cgroups: &mut Cgroups,
    ) -> Result<(), ObserveError> {
        let map = loaded.map("processes")?;
        let failed = |error| ObserveError::table("processes", error);
        let Self::Slots { free_owners, .. } = self else {
            return batch::for_each(&map, |_, value| {
                if let Some(process) = read::<Process>(value).filter(|process| process.owner != 0) {
                    processes.register(&process, now, cgroups);
                }
            })
            .map_err(failed);
        };
        let made = globals.next_process.min(u64::from(OWNER_SLOTS) - 1) as usize;
        let length =
            (made + 1).next_multiple_of(GROUP).min(OWNER_SLOTS as usize) * PROCESS_WORDS * 8;
        let window = Window::open(&map, 0, length).map_err(failed)?;
        let mut unused = Vec::new();
        for words in window.words().chunks_exact(PROCESS_WORDS).skip(1) {
            if words[offset_of!(Process, owner) / 8].load(Ordering::Acquire) == 0 {
                continue;
            }
            let Some(process) = process_in(words) else { continue };
            if process.tgid != 0 {
                processes.register(&process, now, cgroups);
            } else if process.ended != 0 {
                // Two threads raced for their process's entry, and this one was not needed.
                words.iter().for_each(|word| word.store(0, Ordering::Release));
                unused.push(next_owner(process.owner));
            }
        }
        free_owners.give(&unused);
        Ok(())
    }

    /// Calls `each` with what the table says now of each of these processes, and which of them it is.
    pub(crate) fn each_process(
        &self,
        loaded: &Loaded,
        owners: &[u32],
        mut each: impl FnMut(usize, &Process),
    ) -> Result<(), ObserveError> {
        let map = loaded.map("processes")?;
        let window = match self {
            Self::Slots { .. } if !owners.is_empty() => Some(all_processes(&map)?),
            _ => None,
        };
        for (at, owner) in owners.iter().enumerate() {
            let seen = match &window {
                Some(window) => process_in(slot_of(window, *owner)),
                None => value_of(&map, "processes", owner)?,
            };
            if let Some(process) = seen.filter(|process| process.owner == *owner) {
                each(at, &process);
            }
        }
        Ok(())
    }

    /// What the table says of one process now.
    pub(crate) fn process(&self, loaded: &Loaded, owner: u32) -> Option<Process> {
        let map = loaded.map("processes").ok()?;
        let key = match self {
            Self::Slots { .. } => owner % OWNER_SLOTS,
            Self::Hashed(_) => owner,
        };
        let process: Option<Process> = value_of(&map, "processes", &key).ok()?;
        process.filter(|process| process.owner == owner && owner != 0)
    }

    /// One pass over the rows.
    pub(crate) fn scan_rows(
        &mut self,
        loaded: &Loaded,
        globals: &Globals,
        assembly: &mut Assembly<'_>,
    ) -> Result<(), ObserveError> {
        let rows = loaded.map("rows")?;
        match self {
            Self::Slots { slots, free_rows, globals: shared, .. } => {
                let index = loaded.map("row_index")?;
                slots.scan(&rows, &index, free_rows, globals.next_row, assembly)?;
                free_rows.publish(tail_of(shared, offset_of!(Globals, free_rows_tail))?);
                Ok(())
            }
            Self::Hashed(hashed) => hashed.scan(&rows, assembly),
        }
    }

    /// Frees the entries of processes that have no row any more.
    pub(crate) fn free_processes(
        &mut self,
        loaded: &Loaded,
        owners: &[u32],
    ) -> Result<(), ObserveError> {
        let map = loaded.map("processes")?;
        let failed = |error| ObserveError::table("processes", error);
        match self {
            Self::Slots { free_owners, globals, .. } => {
                if !owners.is_empty() {
                    let window = all_processes(&map)?;
                    for owner in owners {
                        let words = slot_of(&window, *owner).iter();
                        words.for_each(|word| word.store(0, Ordering::Release));
                    }
                    let next: Vec<u32> = owners.iter().map(|owner| next_owner(*owner)).collect();
                    free_owners.give(&next);
                }
                free_owners.publish(tail_of(globals, offset_of!(Globals, free_owners_tail))?);
                Ok(())
            }
            Self::Hashed(_) => batch::delete(&map, owners).map_err(failed),
        }
    }

    /// Takes a PID out of the index, if it still stands for this owner.
    pub(crate) fn forget_pid(
        &self,
        loaded: &Loaded,
        pid: Pid,
        owner: u32,
    ) -> Result<(), ObserveError> {
        let index = loaded.map("process_index")?;
        if value_of(&index, "process_index", &pid)? == Some(owner) {
            // An entry that is gone already needs no deletion.
            let _ = index.delete(&pid.to_ne_bytes());
        }
        Ok(())
    }

    /// The sum of the histograms of rows; `None` where there is none, or one is not known any more.
    pub(crate) fn histogram(
        &self,
        loaded: &Loaded,
        fits: impl Fn(&RowState) -> bool,
    ) -> Option<(SizeHistogram, SizeHistogram)> {
        let rows: Map<'_> = loaded.map("rows").ok()?;
        let (mut sum, mut any, mut known) = (Default::default(), false, true);
        let mut each = |row: &_| {
            any = true;
            known &= add_histograms(&mut sum, row);
        };
        match self {
            Self::Slots { slots, .. } => read_rows(&rows, &slots.matching(fits), &mut each).ok()?,
            Self::Hashed(hashed) => read_rows(&rows, &hashed.matching(fits), &mut each).ok()?,
        }
        (any && known).then_some(sum)
    }
}

/// Calls `each` with copies of rows, by their slots or keys.
fn read_rows(
    rows: &Map<'_>,
    keys: &[impl Plain],
    mut each: impl FnMut(&Row),
) -> Result<(), ObserveError> {
    for key in keys {
        if let Some(row) = value_of(rows, "rows", key)? {
            each(&row);
        }
    }
    Ok(())
}

/// The table of processes of the full build.
fn all_processes(map: &Map<'_>) -> Result<Window, ObserveError> {
    let length = OWNER_SLOTS as usize * PROCESS_WORDS * 8;
    Window::open(map, 0, length).map_err(|error| ObserveError::table("processes", error))
}

/// The entry of an owner in it.
fn slot_of(processes: &Window, owner: u32) -> &[AtomicU64] {
    let first = (owner % OWNER_SLOTS) as usize * PROCESS_WORDS;
    processes.words().get(first..first + PROCESS_WORDS).unwrap_or(&[])
}

/// A copy of an entry, to which programs may write.
fn process_in(words: &[AtomicU64]) -> Option<Process> {
    let mut bytes = [0_u8; size_of::<Process>()];
    for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
    }
    read(&bytes)
}

/// The same slot once more, as another owner.
fn next_owner(owner: u32) -> u32 {
    match owner.wrapping_add(OWNER_SLOTS) {
        NO_OWNER => NO_OWNER.wrapping_add(OWNER_SLOTS),
        next => next,
    }
}

fn tail_of(globals: &Window, offset: usize) -> Result<&AtomicU64, ObserveError> {
    let tail = globals.words().get(offset / 8);
    tail.ok_or_else(|| ObserveError::table("globals", "is shorter than its type"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_owner_has_the_same_slot_and_is_never_the_mark_of_nobody() {
        assert_eq!(next_owner(5), OWNER_SLOTS + 5);
        let last = NO_OWNER - OWNER_SLOTS;
        assert_eq!(next_owner(last), OWNER_SLOTS - 1);
        assert_eq!(next_owner(last - 1) % OWNER_SLOTS, (last - 1) % OWNER_SLOTS);
    }
}
