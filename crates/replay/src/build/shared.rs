//! What a step shares with others, and whether it changes that.

use std::collections::HashSet;

use hotset_facts::replay::{Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::mappings::Mappings;
use super::names::Changed;
use super::slots::{NO_SLOT, Slots};
use super::transfers::Transfers;

/// What two steps may share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Shared {
    Slot(u32),
    Mapping(u32),
    File(u32),
    Name(u32),
    /// All files that change.
    AllFiles,
}

/// What one step shares, and whether it changes it.
pub(super) type Uses = [Option<(Shared, bool)>; 5];

/// What is known of all files and names.
pub(super) struct Sharing<'a> {
    /// Which names change; that others are asked for takes no order.
    pub(super) names: &'a Changed,
    /// Files whose bytes or sizes change; that others are read takes no order.
    pub(super) files: HashSet<u32>,
    pub(super) slots: &'a Slots,
    pub(super) mappings: &'a Mappings,
    pub(super) transfers: &'a Transfers,
    /// Some step syncs all files: what changes one is ordered with it.
    pub(super) syncs_all: bool,
}

impl Sharing<'_> {
    /// What a step shares.
    pub(super) fn uses(&self, step: &Step) -> Uses {
        let [first, second, third, fourth] = self.own_uses(step);
        let changes_file =
            |shared: &Option<(Shared, bool)>| matches!(shared, Some((Shared::File(_), true)));
        let of_all = match step.kind {
            StepKind::SyncAll => Some((Shared::AllFiles, true)),
            _ if !self.syncs_all => None,
            StepKind::Store => Some((Shared::AllFiles, false)),
            _ if [first, second, third, fourth].iter().any(changes_file) => {
                Some((Shared::AllFiles, false))
            }
            _ => None,
        };
        [first, second, third, fourth, of_all]
    }

    /// Without all files.
    fn own_uses(&self, step: &Step) -> [Option<(Shared, bool)>; 4] {
        let target = step.target;
        match step.kind {
            StepKind::Open => {
                let makes = step.flags.has(RecordFlags::CREATE);
                let empties = step.flags.has(RecordFlags::TRUNCATE);
                let [name, above] = self.name(second(step), makes || empties);
                let slot = (target != NO_SLOT).then_some((Shared::Slot(target), true));
                [slot, name, above, self.file(self.slots.file(target), empties)]
            }
            StepKind::Close => [Some((Shared::Slot(target), true)), None, None, None],
            StepKind::Seek | StepKind::Read => {
                self.of_slot(target, step.flags.has(RecordFlags::POSITION), false)
            }
            StepKind::Write => self.of_slot(target, step.flags.has(RecordFlags::POSITION), true),
            StepKind::CopyRange | StepKind::SendTo => self.of_transfer(step),
            StepKind::Send
            | StepKind::ReadAt
            | StepKind::ReadRing
            | StepKind::Advise
            | StepKind::ReadAhead => self.of_slot(target, false, false),
            StepKind::WriteAt
            | StepKind::WriteRing
            | StepKind::Sync
            | StepKind::SyncRange
            | StepKind::SyncRing
            | StepKind::DataSync
            | StepKind::SetLength
            | StepKind::Allocate => self.of_slot(target, false, true),
            StepKind::Map => {
                let slot = self.mappings.get(target).and_then(|mapping| mapping.slot);
                let slot = slot.map(|slot| (Shared::Slot(slot), false));
                [Some((Shared::Mapping(target), true)), slot, None, None]
            }
            StepKind::Unmap => [Some((Shared::Mapping(target), true)), None, None, None],
            StepKind::Load | StepKind::Store | StepKind::AdviseMapping | StepKind::SyncMapping => {
                let file = self.mappings.get(target).map(|mapping| mapping.file);
                let syncs = step.kind == StepKind::SyncMapping;
                [Some((Shared::Mapping(target), false)), self.file(file, syncs), None, None]
            }
            StepKind::Stat | StepKind::Lstat | StepKind::Access | StepKind::ReadLink => {
                self.of_names(target, None, false)
            }
            StepKind::Truncate
            | StepKind::Unlink
            | StepKind::MakeDirectory
            | StepKind::RemoveDirectory => self.of_names(target, None, true),
            StepKind::Rename | StepKind::Link => self.of_names(target, Some(second(step)), true),
            StepKind::Symlink => self.of_names(second(step), None, true),
            StepKind::Drain | StepKind::SyncAll => [None; 4],
        }
    }

    /// A copy reads one file and changes another; sendfile(2) moves the position of that one.
    fn of_transfer(&self, step: &Step) -> [Option<(Shared, bool)>; 4] {
        let Some(transfer) = self.transfers.of(step) else { return [None; 4] };
        let moves = step.kind == StepKind::SendTo;
        [
            Some((Shared::Slot(transfer.from), false)),
            self.file(self.slots.file(transfer.from), false),
            Some((Shared::Slot(transfer.to), moves)),
            self.file(self.slots.file(transfer.to), true),
        ]
    }

    fn of_slot(
        &self,
        slot: u32,
        moves_position: bool,
        changes_file: bool,
    ) -> [Option<(Shared, bool)>; 4] {
        let file = self.file(self.slots.file(slot), changes_file);
        [Some((Shared::Slot(slot), moves_position)), file, None, None]
    }

    fn of_names(
        &self,
        path: u32,
        other: Option<u32>,
        changes: bool,
    ) -> [Option<(Shared, bool)>; 4] {
        let [first, above_first] = self.name(path, changes);
        let [second, above_second] = other.map_or([None; 2], |path| self.name(path, changes));
        [first, above_first, second, above_second]
    }

    /// A name that changes, and the nearest such name above it.
    fn name(&self, path: u32, changes: bool) -> [Option<(Shared, bool)>; 2] {
        let own = self.names.names.contains(&path).then_some((Shared::Name(path), changes));
        [own, self.names.above.get(&path).map(|above| (Shared::Name(*above), false))]
    }

    fn file(&self, file: Option<u32>, changes: bool) -> Option<(Shared, bool)> {
        file.filter(|file| self.files.contains(file)).map(|file| (Shared::File(file), changes))
    }
}

/// The second thing that a step is about.
fn second(step: &Step) -> u32 {
    u32::try_from(step.offset).unwrap_or(u32::MAX)
}
