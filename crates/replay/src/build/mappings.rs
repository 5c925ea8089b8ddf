//! Mappings of files, by process.

use std::collections::HashMap;

use hotset_facts::Pid;
use hotset_facts::replay::PlanMapping;
use hotset_facts::trace::RecordFlags;

use super::files::Files;

/// A base page (docs/trace-format.md).
const PAGE_BYTES: u64 = 4096;

/// All of them, by their place in the plan, and which each process has.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    all: Vec<PlanMapping>,
    live: HashMap<Pid, Vec<u32>>,
}

impl Mappings {
    /// A process maps bytes of a file.
    pub(super) fn map(
        &mut self,
        pid: Pid,
        (file, slot): (u32, u32),
        (offset, bytes): (u64, u64),
        flags: RecordFlags,
    ) -> u32 {
        let mapping = PlanMapping {
            file,
            slot: Some(slot),
            offset,
            bytes,
            is_shared: !flags.has(RecordFlags::PRIVATE),
            is_writable: flags.has(RecordFlags::STORE),
            is_made_before: false,
        };
        self.add(pid, mapping)
    }

    fn add(&mut self, pid: Pid, mapping: PlanMapping) -> u32 {
        let place = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(mapping);
        self.live.entry(pid).or_default().push(place);
        place
    }

    /// The mapping that a process, or the one that it was made by, has of a byte of a file.
    pub(super) fn find(
        &self,
        pid: Pid,
        parent: Option<Pid>,
        file: u32,
        offset: u64,
    ) -> Option<u32> {
        [Some(pid), parent].into_iter().flatten().find_map(|pid| {
            let mut live = self.live.get(&pid)?.iter().rev();
            live.find(|place| self.has(**place, file, offset)).copied()
        })
    }

    fn has(&self, place: u32, file: u32, offset: u64) -> bool {
        self.all.get(place as usize).is_some_and(|mapping| {
            mapping.file == file
                && offset
                    .checked_sub(mapping.offset)
                    .is_some_and(|within| mapping.is_made_before || within < mapping.bytes)
        })
    }

    /// One of the whole file, that nobody was seen to make.
    pub(super) fn made_before(&mut self, pid: Pid, file: u32) -> u32 {
        let mapping = PlanMapping {
            file,
            slot: None,
            offset: 0,
            bytes: 0,
            is_shared: false,
            is_writable: true,
            is_made_before: true,
        };
        self.add(pid, mapping)
    }

    /// A process unmaps bytes from this byte of a file on: the mapping that this takes away as a whole, if it is one.
    pub(super) fn unmap(&mut self, pid: Pid, file: u32, offset: u64, bytes: u64) -> Option<u32> {
        let all = &self.all;
        let live = self.live.get_mut(&pid)?;
        let is_it = |place: &u32| {
            all.get(*place as usize).is_some_and(|mapping| {
                (mapping.file, mapping.offset) == (file, offset)
                    && mapping.bytes <= bytes
                    && !mapping.is_made_before
            })
        };
        let at = live.iter().rposition(is_it)?;
        Some(live.remove(at))
    }

    /// A process runs another program.
    pub(super) fn clear(&mut self, pid: Pid) {
        self.live.remove(&pid);
    }

    /// A store into it happened: it can be stored into, whatever was asked for when it was made (mprotect(2)).
    pub(super) fn stored(&mut self, place: u32) {
        if let Some(mapping) = self.all.get_mut(place as usize) {
            mapping.is_writable = true;
        }
    }

    pub(super) fn get(&self, place: u32) -> Option<&PlanMapping> {
        self.all.get(place as usize)
    }

    /// Those that nobody was seen to make reach to the end of their files.
    pub(super) fn finish(mut self, files: &Files) -> Vec<PlanMapping> {
        for mapping in self.all.iter_mut().filter(|mapping| mapping.is_made_before) {
            let bytes = files.extent_bytes(mapping.file).max(1);
            mapping.bytes = bytes.checked_next_multiple_of(PAGE_BYTES).unwrap_or(bytes);
        }
        self.all
    }
}

/// Whether stores into it reach the file.
pub(super) fn reaches_file(mapping: &PlanMapping) -> bool {
    mapping.is_shared && mapping.is_writable
}
