//! Reads of io_uring, in flight together.

use super::*;

const READ: StepKind = StepKind::ReadRing;
const DRAIN: StepKind = StepKind::Drain;

impl Place {
    /// One thread that may have so many reads in flight.
    fn ring(&mut self, ring_depth: u32, steps: Vec<Step>) {
        self.plan.threads.push(PlanThread { steps, ring_depth, ..PlanThread::default() });
    }

    fn refused(&self) -> String {
        let copies = fs::File::open(self.root(FileRole::Copy)).expect("a directory");
        let roots = Roots { originals: None, copies: copies.as_fd(), no_atime: true };
        Replay::new(&self.plan, roots).err().expect("it can't be made").to_string()
    }
}

#[test]
fn many_reads_come_to_what_was_recorded() {
    let mut place = Place::new();
    let bytes: u32 = 100_000;
    let path = place.path("f", FileRole::Original, Some(&vec![1; bytes as usize]));
    let (slot, never) = (place.slot(Some(path), false), place.slot(None, false));
    let mut steps = Vec::new();
    for at in 0..200_u32 {
        let offset = at * 7919 % bytes;
        let result = 4096.min(bytes - offset);
        steps.push(step(READ, slot, offset.into(), 4096, result.into()));
    }
    steps.push(step(READ, slot, 200_000, 10, 0));
    steps.push(step(READ, never, 0, 10, -9));
    steps.push(step(StepKind::ReadAt, slot, 0, 100, 100));
    steps.push(step(READ, slot, 0, 100_000, 100_000));
    steps.push(step(StepKind::Close, slot, 0, 0, 0));
    for depth in [1, 8, 64, 1000] {
        place.plan.threads.clear();
        place.ring(depth, steps.clone());
        same(&place.run());
        place.plan.threads[0].steps.push(step(DRAIN, 0, 0, 0, 0));
        same(&place.run());
    }
}

#[test]
fn reads_past_the_cache_have_parts_that_are_aligned() {
    let mut place = Place::new();
    let path = place.path("f", FileRole::Original, Some(&vec![1; 1 << 20]));
    let slot = place.slot(Some(path), false);
    place.plan.slots[slot as usize].direct = true;
    let reads = |at: u64| {
        let bytes = [4096, 512, 65_536][(at % 3) as usize];
        step(READ, slot, at * 65_536 % (1 << 20), bytes, bytes as i64)
    };
    place.ring(16, (0..100).map(reads).collect());
    same(&place.run());
}

#[test]
fn a_difference_is_told_with_the_record_of_its_read() {
    let mut place = Place::new();
    let path = place.path("f", FileRole::Original, Some(&[1; 50]));
    let slot = place.slot(Some(path), false);
    let reads = (0..40).map(|record| Step {
        bytes: 10,
        offset: u64::from(record) * 10,
        result: 10,
        ..Step::new(READ, slot, record)
    });
    place.ring(8, reads.collect());
    let run = place.run();
    assert_eq!((run.threads[0].differences, run.threads[0].told.len()), (35, 16));
    for told in &run.threads[0].told {
        let Difference { record, step, recorded, found } = *told;
        assert!((5..40).contains(&record));
        assert_eq!((step, recorded, found), (READ, 10, 0));
    }
}

#[test]
fn a_thread_goes_on_while_its_reads_are_in_flight() {
    let mut place = Place::new();
    let path = place.path("fifo", FileRole::Copy, None);
    let fifo = place.root(FileRole::Copy).join("fifo");
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, mode, 0).expect("a pipe with a name");
    let slot = place.slot(Some(path), true);
    // A pipe has nothing to be read until it is written to.
    let steps = vec![
        step(READ, slot, 0, 5, 5),
        step(READ, slot, 0, 5, 5),
        step(DRAIN, 0, 0, 2, 0),
        step(StepKind::Write, slot, 0, 5, 5),
        step(DRAIN, 0, 0, 1, 0),
        step(StepKind::Write, slot, 0, 5, 5),
        step(DRAIN, 0, 0, 0, 0),
    ];
    place.ring(2, steps);
    same(&place.run());
}

#[test]
fn what_can_not_be_in_flight_is_an_error() {
    let mut place = Place::new();
    let reads = |bytes| vec![step(READ, 0, 0, bytes, 0); 33_000];
    place.ring(33_000, reads(1));
    let error = place.refused();
    assert!(error.starts_with("io_uring") && error.contains("Invalid argument"), "{error}");
    place.plan.threads.clear();
    place.ring(2, reads(1 << 30));
    let error = place.refused();
    assert!(error.contains("1 GiB") && error.contains("out of memory"), "{error}");
}

#[test]
fn who_has_nothing_in_flight_waits_for_nothing() {
    let mut place = Place::new();
    place.thread(vec![step(DRAIN, 0, 0, 0, 0), step(DRAIN, 0, 0, 3, 0)], Vec::new());
    same(&place.run());
}

#[test]
fn writes_and_syncs_are_in_flight_with_reads() {
    let mut place = Place::new();
    // What a read leaves in its part of the buffer, a later write may write.
    let before: Vec<u8> = (0..1_u32 << 20).map(|at| u8::from(at % 8192 >= 4096)).collect();
    let path = place.path("f", FileRole::Copy, Some(&before));
    let slot = place.slot(Some(path), true);
    let mut steps = Vec::new();
    for at in 0..64_u64 {
        let flags = if at % 9 == 0 { RecordFlags::SYNC } else { RecordFlags::NONE };
        let write = step(StepKind::WriteRing, slot, at * 8192, 4096, 4096);
        steps.push(Step { flags, ..write });
        steps.push(step(READ, slot, at * 8192 + 4096, 4096, 4096));
        if at % 10 == 0 {
            steps.push(step(StepKind::SyncRing, slot, 0, 0, 0));
        }
    }
    steps.push(step(StepKind::WriteRing, NO_SLOT, 0, 10, -9));
    place.ring(8, steps);
    same(&place.run());
    let bytes = fs::read(place.root(FileRole::Copy).join("f")).expect("read");
    let written = bytes.chunks(8192).take(64);
    let is_written = |part: &[u8]| part[..4096] != [0; 4096] && part[4096..] == [1; 4096];
    assert!(written.clone().count() == 64 && written.into_iter().all(is_written));
}
