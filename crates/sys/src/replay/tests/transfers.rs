//! Bytes that go from one file to another, what is told one write alone, and syncs of more and less than a file.

use hotset_facts::replay::PlanTransfer;

use super::*;

impl Place {
    /// A step that copies between two slots.
    fn copy(
        &mut self,
        kind: StepKind,
        [from, to]: [u32; 2],
        [begin, there, bytes, result]: [u64; 4],
    ) -> Step {
        self.plan.transfers.push(PlanTransfer { from, to, to_offset: there });
        let place = self.plan.transfers.len() as u32 - 1;
        step(kind, place, begin, bytes, result as i64)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.root(FileRole::Copy).join(name)).expect("a copy")
    }
}

#[test]
fn bytes_go_from_an_original_to_a_copy() {
    let mut place = Place::new();
    let original = place.path("from", FileRole::Original, Some(&[7; 10_000]));
    let copy = place.path("to", FileRole::Copy, Some(&[1; 100]));
    let slots = [place.slot(Some(original), false), place.slot(Some(copy), true)];
    let steps = vec![
        place.copy(StepKind::CopyRange, slots, [8_000, 50, 1 << 40, 2_000]),
        place.copy(StepKind::CopyRange, slots, [10_000, 0, 100, 0]),
        // Neither moved a position.
        step(StepKind::Read, slots[0], 0, 10, 10),
        step(StepKind::Seek, slots[1], 5_000, 0, 0),
        place.copy(StepKind::SendTo, slots, [9_000, 5_000, 600, 600]),
        step(StepKind::Write, slots[1], 5_600, 10, 10),
        step(StepKind::Read, slots[0], 10, 10_000, 9_990),
    ];
    place.thread(steps, Vec::new());
    same(&place.run());
    let bytes = place.bytes("to");
    assert_eq!(bytes.len(), 5_610);
    assert!(
        bytes[..50] == [1; 50] && bytes[50..2_050] == [7; 2_000] && bytes[5_000..5_600] == [7; 600]
    );
    assert_eq!(bytes[2_050..5_000], [0; 2_950]);
}

#[test]
fn an_original_takes_no_bytes() {
    let mut place = Place::new();
    let original = place.path("f", FileRole::Original, Some(&[7; 1_000]));
    let slots = [place.slot(Some(original), false), place.slot(Some(original), false)];
    let steps = [StepKind::CopyRange, StepKind::SendTo]
        .map(|kind| place.copy(kind, slots, [0, 500, 10, 10]));
    place.thread(steps.to_vec(), Vec::new());
    assert_eq!(place.run().threads[0].differences, 2);
    assert_eq!(fs::read(place.root(FileRole::Original).join("f")).expect("read"), [7; 1_000]);
}

#[test]
fn what_one_write_is_told_is_told_it_alone() {
    let mut place = Place::new();
    let copy = place.path("f", FileRole::Copy, Some(&[1; 100]));
    let slot = place.slot(Some(copy), true);
    let at_end = RecordFlags::APPEND.with(RecordFlags::SYNC);
    let steps = vec![
        Step { flags: at_end, ..step(StepKind::WriteAt, slot, 100, 10, 10) },
        step(StepKind::WriteAt, slot, 0, 10, 10),
        Step { flags: RecordFlags::SYNC, ..step(StepKind::Write, slot, 0, 5, 5) },
        step(StepKind::Write, slot, 5, 5, 5),
        step(StepKind::SyncRange, slot, 0, 4096, 0),
        Step { flags: RecordFlags::WAITED, ..step(StepKind::SyncRange, slot, 0, 0, 0) },
        step(StepKind::SyncAll, NO_SLOT, 0, 0, 0),
        step(StepKind::SyncRange, NO_SLOT, 0, 0, -9),
    ];
    place.thread(steps, Vec::new());
    same(&place.run());
    let bytes = place.bytes("f");
    assert_eq!((bytes.len(), &bytes[10..100]), (110, &[1; 90][..]));
}

#[test]
fn space_is_given_and_taken_in_the_recorded_mode() {
    let mut place = Place::new();
    let copy = place.path("f", FileRole::Copy, Some(&[1; 10_000]));
    let slot = place.slot(Some(copy), true);
    let punch = RecordFlags::KEEP_SIZE.with(RecordFlags::PUNCH_HOLE);
    let steps = vec![
        Step { flags: punch, ..step(StepKind::Allocate, slot, 4096, 4096, 0) },
        Step { flags: RecordFlags::KEEP_SIZE, ..step(StepKind::Allocate, slot, 0, 50_000, 0) },
        Step { flags: RecordFlags::PUNCH_HOLE, ..step(StepKind::Allocate, slot, 0, 1, -95) },
    ];
    place.thread(steps, Vec::new());
    same(&place.run());
    let bytes = place.bytes("f");
    assert_eq!((bytes.len(), &bytes[4096..8192], bytes[8192]), (10_000, &[0; 4096][..], 1));
}

#[test]
fn names_change_places_or_stay() {
    let mut place = Place::new();
    let one = place.path("one", FileRole::Copy, Some(&[1]));
    let two = place.path("two", FileRole::Copy, Some(&[2; 2]));
    let rename =
        |flags, result| Step { flags, ..step(StepKind::Rename, one, two.into(), 0, result) };
    let steps = vec![rename(RecordFlags::NOREPLACE, -17), rename(RecordFlags::EXCHANGE, 0)];
    place.thread(steps, Vec::new());
    same(&place.run());
    assert_eq!((place.bytes("one"), place.bytes("two")), (vec![2; 2], vec![1]));
}

#[test]
fn a_file_without_a_name_is_made_in_the_copies() {
    let mut place = Place::new();
    let copies = place.path("", FileRole::Copy, None);
    let originals = place.path("", FileRole::Original, None);
    let [slot, other] = [place.slot(None, true), place.slot(None, true)];
    let open = |slot, path: u32, result| {
        let flags = RecordFlags::TMPFILE;
        Step { flags, ..step(StepKind::Open, slot, path.into(), 0, result) }
    };
    let steps = vec![
        open(slot, copies, 0),
        step(StepKind::Write, slot, 0, 100, 100),
        step(StepKind::ReadAt, slot, 50, 100, 50),
        open(other, originals, -30),
    ];
    place.thread(steps, Vec::new());
    same(&place.run());
}
