//! Open file descriptions.

use std::collections::HashMap;

use hotset_facts::replay::PlanSlot;
use hotset_facts::trace::RecordFlags;

/// No slot: an open that failed, or one whose descriptor no record is about.
pub(super) const NO_SLOT: u32 = u32::MAX;

#[derive(Debug)]
struct Known {
    slot: PlanSlot,
    /// The last record that closed a descriptor of it.
    closed_by: Option<u32>,
}

/// All of them, by their place in the plan.
#[derive(Debug, Default)]
pub(super) struct Slots {
    places: HashMap<u64, u32>,
    all: Vec<Known>,
}

impl Slots {
    /// A description that an open made.
    pub(super) fn open(&mut self, description: u64, file: Option<u32>, flags: RecordFlags) -> u32 {
        let place = self.add(file, None);
        self.places.insert(description, place);
        if let Some(known) = self.all.get_mut(place as usize) {
            known.slot.append = flags.has(RecordFlags::APPEND);
            known.slot.sync = flags.has(RecordFlags::SYNC);
        }
        self.uses(place, flags);
        place
    }

    /// Whether anything was seen to be done by a description.
    pub(super) fn knows(&self, description: u64) -> bool {
        self.places.contains_key(&description)
    }

    /// A description that is used: one that nobody was seen to open is opened before, by this path. Nothing where there is none.
    pub(super) fn used(
        &mut self,
        description: u64,
        file: Option<u32>,
        path: Option<u32>,
    ) -> Option<u32> {
        if let Some(place) = self.places.get(&description) {
            // What closed it closed a copy: another descriptor is still there, and may never be seen to be closed.
            if let Some(known) = self.all.get_mut(*place as usize) {
                known.closed_by = None;
            }
            return Some(*place);
        }
        let place = self.add(file, Some(path?));
        self.places.insert(description, place);
        Some(place)
    }

    fn add(&mut self, file: Option<u32>, opened_before: Option<u32>) -> u32 {
        let place = u32::try_from(self.all.len()).unwrap_or(NO_SLOT);
        let slot = PlanSlot {
            file,
            opened_before,
            writes: false,
            direct: false,
            append: false,
            sync: false,
        };
        self.all.push(Known { slot, closed_by: None });
        place
    }

    /// How it was opened, as one of its records says. Where somebody was seen to open it, a write that is synced or at the end all the
    /// same was told so itself (pwritev2).
    pub(super) fn uses(&mut self, place: u32, flags: RecordFlags) {
        if let Some(known) = self.all.get_mut(place as usize) {
            known.slot.direct |= flags.has(RecordFlags::DIRECT);
            if known.slot.opened_before.is_some() {
                known.slot.append |= flags.has(RecordFlags::APPEND);
                known.slot.sync |= flags.has(RecordFlags::SYNC);
            }
        }
    }

    /// It is written to, or its file is changed through it.
    pub(super) fn writes(&mut self, place: u32) {
        if let Some(known) = self.all.get_mut(place as usize) {
            known.slot.writes = true;
        }
    }

    /// A descriptor of it is closed.
    pub(super) fn closed(&mut self, place: u32, record: u32) {
        if let Some(known) = self.all.get_mut(place as usize) {
            known.closed_by = Some(record);
        }
    }

    /// Whether this record closed its last descriptor.
    pub(super) fn is_last_close(&self, place: u32, record: u32) -> bool {
        self.all.get(place as usize).is_some_and(|known| known.closed_by == Some(record))
    }

    pub(super) fn file(&self, place: u32) -> Option<u32> {
        self.all.get(place as usize)?.slot.file
    }

    pub(super) fn finish(self) -> Vec<PlanSlot> {
        self.all.into_iter().map(|known| known.slot).collect()
    }
}
