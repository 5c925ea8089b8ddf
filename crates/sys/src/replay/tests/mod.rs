//! Small plans, done on files of their own.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hotset_facts::replay::{
    Difference, FileRole, PlanFile, PlanMapping, PlanPath, PlanSlot, PlanThread, Step, StepKind,
    Wait,
};
use hotset_facts::trace::RecordFlags;

use super::*;
use hotset_tests::scratch::Scratch;

mod ring;
mod transfers;

const NO_SLOT: u32 = u32::MAX;

/// A directory with `originals/` and `copies/`, and a plan that grows.
struct Place {
    scratch: Scratch,
    plan: ReplayPlan,
}

impl Place {
    fn new() -> Self {
        let scratch = Scratch::new("sys-replay");
        for below in ["originals", "copies"] {
            fs::create_dir(scratch.path(below)).expect("a directory");
        }
        Self { scratch, plan: ReplayPlan::default() }
    }

    fn root(&self, role: FileRole) -> PathBuf {
        self.scratch.path(if role == FileRole::Copy { "copies" } else { "originals" })
    }

    /// A path that leads to a file with these bytes, or to none.
    fn path(&mut self, name: &str, role: FileRole, bytes: Option<&[u8]>) -> u32 {
        if let Some(bytes) = bytes {
            fs::write(self.root(role).join(name), bytes).expect("a file");
        }
        self.plan.paths.push(PlanPath { bytes: format!("/{name}").into_bytes(), role });
        self.plan.paths.len() as u32 - 1
    }

    fn slot(&mut self, opened_before: Option<u32>, writes: bool) -> u32 {
        self.plan.slots.push(PlanSlot {
            file: None,
            opened_before,
            writes,
            direct: false,
            append: false,
            sync: false,
        });
        self.plan.slots.len() as u32 - 1
    }

    fn thread(&mut self, steps: Vec<Step>, waits: Vec<Wait>) {
        self.plan.threads.push(PlanThread { steps, waits, ..PlanThread::default() });
    }

    fn run(&self) -> ReplayRun {
        let open = |role| fs::File::open(self.root(role)).expect("a directory");
        let (originals, copies) = (open(FileRole::Original), open(FileRole::Copy));
        let roots =
            Roots { originals: Some(originals.as_fd()), copies: copies.as_fd(), no_atime: true };
        Replay::new(&self.plan, roots).expect("ready").run().expect("run")
    }
}

fn step(kind: StepKind, target: u32, offset: u64, bytes: u64, result: i64) -> Step {
    Step { offset, bytes, result, ..Step::new(kind, target, 7) }
}

fn same(run: &ReplayRun) {
    for thread in &run.threads {
        assert_eq!((thread.differences, thread.told.as_slice()), (0, &[][..]));
    }
}

#[test]
fn files_are_opened_read_and_closed_as_recorded() {
    let mut place = Place::new();
    let path = place.path("f", FileRole::Original, Some(&[1; 1000]));
    let absent = place.path("absent", FileRole::Original, None);
    let (slot, before) = (place.slot(None, false), place.slot(Some(path), false));
    let steps = vec![
        step(StepKind::Stat, path, 0, 0, 0),
        step(StepKind::Access, absent, 0, 0, -2),
        step(StepKind::Open, NO_SLOT, absent.into(), 0, -2),
        step(StepKind::Open, slot, path.into(), 0, 0),
        step(StepKind::Read, slot, 0, 600, 600),
        step(StepKind::Read, slot, 600, 600, 400),
        step(StepKind::Seek, slot, 100, 0, 0),
        step(StepKind::Read, slot, 100, 10, 10),
        step(StepKind::ReadAt, before, 990, 600, 10),
        step(StepKind::Send, before, 0, 1000, 1000),
        Step { flags: RecordFlags::RANDOM, ..step(StepKind::Advise, slot, 0, 0, 0) },
        step(StepKind::Close, slot, 0, 0, 0),
        step(StepKind::ReadAt, slot, 0, 1, -9),
    ];
    place.thread(steps, Vec::new());
    same(&place.run());
    same(&place.run());
}

#[test]
fn what_differs_is_told_with_both_results() {
    let mut place = Place::new();
    let path = place.path("f", FileRole::Original, Some(&[1; 10]));
    let slot = place.slot(Some(path), false);
    let steps = (0..20).map(|_| step(StepKind::ReadAt, slot, 0, 20, 20));
    place.thread(steps.collect(), Vec::new());
    let run = place.run();
    assert_eq!((run.threads[0].differences, run.threads[0].told.len()), (20, 16));
    let told = Difference { record: 7, step: StepKind::ReadAt, recorded: 20, found: 10 };
    assert_eq!(run.threads[0].told[0], told);
}

/// All that a directory says of itself and of what is in it.
fn state(directory: &Path) -> Vec<(PathBuf, [i64; 6])> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.push(directory.to_owned());
    paths.sort();
    let of = |path: PathBuf| {
        let meta = fs::symlink_metadata(&path).expect("metadata");
        let times = [meta.atime(), meta.atime_nsec(), meta.mtime_nsec(), meta.ctime_nsec()];
        let [a, b, c, d] = times;
        (path, [a, b, c, d, meta.size() as i64, meta.nlink() as i64])
    };
    paths.into_iter().map(of).collect()
}

#[test]
fn nothing_changes_an_original() {
    let mut place = Place::new();
    let path = place.path("f", FileRole::Original, Some(&[1; 5000]));
    let new = place.path("new", FileRole::Original, None);
    let copy = place.path("copy", FileRole::Copy, None);
    let (slot, writer) = (place.slot(Some(path), false), place.slot(None, true));
    let refused = |kind, target, offset: u32| step(kind, target, offset.into(), 0, -30);
    let create = Step { flags: RecordFlags::CREATE, ..refused(StepKind::Open, NO_SLOT, new) };
    let steps = vec![
        step(StepKind::ReadAt, slot, 0, 5000, 5000),
        step(StepKind::WriteAt, slot, 0, 10, -9),
        step(StepKind::SetLength, slot, 0, 0, -22),
        refused(StepKind::Open, writer, path),
        create,
        refused(StepKind::Unlink, path, 0),
        refused(StepKind::Rename, path, copy),
        refused(StepKind::Link, path, copy),
        refused(StepKind::Symlink, path, new),
        refused(StepKind::MakeDirectory, new, 0),
        refused(StepKind::RemoveDirectory, new, 0),
        refused(StepKind::Truncate, path, 0),
    ];
    place.thread(steps, Vec::new());
    // So that a read would change the time of access, also on a file system that is mounted with relatime.
    let old = std::time::SystemTime::UNIX_EPOCH;
    let times = fs::FileTimes::new().set_accessed(old);
    let file = fs::File::options().write(true).open(place.root(FileRole::Original).join("f"));
    file.and_then(|file| file.set_times(times)).expect("times");
    let before = state(&place.root(FileRole::Original));
    same(&place.run());
    assert_eq!(state(&place.root(FileRole::Original)), before);
}

#[test]
fn copies_are_made_written_renamed_and_removed() {
    let mut place = Place::new();
    let directory = place.path("d", FileRole::Copy, None);
    let made = place.path("d/made", FileRole::Copy, None);
    let renamed = place.path("d/renamed", FileRole::Copy, None);
    let words = place.path("words", FileRole::Copy, None);
    let link = place.path("link", FileRole::Copy, None);
    let (slot, other) = (place.slot(None, true), place.slot(None, true));
    let create =
        Step { flags: RecordFlags::CREATE, ..step(StepKind::Open, slot, made.into(), 0, 0) };
    let steps = vec![
        step(StepKind::MakeDirectory, directory, 0, 0, 0),
        create,
        step(StepKind::Write, slot, 0, 100, 100),
        step(StepKind::WriteAt, slot, 500, 100, 100),
        step(StepKind::DataSync, slot, 0, 0, 0),
        step(StepKind::Allocate, slot, 0, 4096, 0),
        step(StepKind::SetLength, slot, 300, 0, 0),
        step(StepKind::Sync, slot, 0, 0, 0),
        step(StepKind::Rename, made, renamed.into(), 0, 0),
        step(StepKind::Stat, made, 0, 0, -2),
        step(StepKind::Open, other, renamed.into(), 0, 0),
        step(StepKind::ReadAt, other, 250, 100, 50),
        step(StepKind::Truncate, renamed, 200, 0, 0),
        step(StepKind::Link, renamed, made.into(), 0, 0),
        step(StepKind::Symlink, words, link.into(), 0, 0),
        step(StepKind::ReadLink, link, 0, 0, 6),
        step(StepKind::Unlink, made, 0, 0, 0),
        step(StepKind::RemoveDirectory, directory, 0, 0, -39),
        step(StepKind::MakeDirectory, made, 0, 0, 0),
        step(StepKind::Unlink, made, 0, 0, 0),
    ];
    place.thread(steps, Vec::new());
    same(&place.run());
    let left = fs::metadata(place.root(FileRole::Copy).join("d/renamed")).expect("it is there");
    assert_eq!((left.len(), left.nlink()), (200, 1));
}

#[test]
fn nothing_leads_out_of_the_copies() {
    let mut place = Place::new();
    let target = place.root(FileRole::Original).join("f");
    place.path("f", FileRole::Original, Some(&[1; 10]));
    let words = place.path("words", FileRole::Original, None);
    place.plan.paths[words as usize].bytes = target.into_os_string().into_encoded_bytes();
    let link = place.path("link", FileRole::Copy, None);
    let up = place.path("../originals/f", FileRole::Copy, None);
    let (slot, other) = (place.slot(None, true), place.slot(None, true));
    let length = place.plan.paths[words as usize].bytes.len() as i64;
    let steps = vec![
        step(StepKind::Symlink, words, link.into(), 0, 0),
        step(StepKind::ReadLink, link, 0, 0, length),
        step(StepKind::Open, slot, link.into(), 0, -2),
        step(StepKind::Truncate, link, 0, 0, -2),
        step(StepKind::Open, other, up.into(), 0, -2),
        step(StepKind::Unlink, up, 0, 0, -2),
    ];
    place.thread(steps, Vec::new());
    let before = state(&place.root(FileRole::Original));
    let run = place.run();
    assert_eq!(state(&place.root(FileRole::Original)), before);
    same(&run);
}

#[test]
fn mappings_are_made_touched_and_taken_down() {
    let mut place = Place::new();
    let bytes = 64 << 10;
    let path = place.path("f", FileRole::Original, Some(&vec![1; bytes]));
    let copy = place.path("c", FileRole::Copy, Some(&vec![1; bytes]));
    let (slot, writer) = (place.slot(Some(path), false), place.slot(Some(copy), true));
    let file = PlanFile {
        index: 0,
        path: Some(path),
        role: FileRole::Original,
        is_changed: false,
        is_there: true,
        size_bytes: bytes as u64,
        cached: Vec::new(),
        touched: Vec::new(),
        parts: Vec::new(),
    };
    place.plan.files.push(file);
    let mapping = PlanMapping {
        file: 0,
        slot: Some(slot),
        offset: 4096,
        bytes: 8192,
        is_shared: false,
        is_writable: true,
        is_made_before: false,
    };
    let before =
        PlanMapping { slot: None, offset: 0, bytes: 65_536, is_made_before: true, ..mapping };
    let shared = PlanMapping { slot: Some(writer), offset: 0, is_shared: true, ..mapping };
    place.plan.mappings.extend([mapping, before, shared]);
    let steps = vec![
        step(StepKind::Load, 1, 60_000, 0, 0),
        step(StepKind::Map, 0, 4096, 8192, 0),
        step(StepKind::Load, 0, 8192, 0, 0),
        step(StepKind::Store, 0, 4096, 0, 0),
        Step { flags: RecordFlags::RANDOM, ..step(StepKind::AdviseMapping, 0, 4096, 4096, 0) },
        step(StepKind::Load, 0, 100, 0, -22),
        step(StepKind::Unmap, 0, 4096, 8192, 0),
        step(StepKind::Load, 0, 8192, 0, -22),
        step(StepKind::Map, 2, 0, 8192, 0),
        step(StepKind::Store, 2, 0, 0, 0),
        Step { flags: RecordFlags::WAITED, ..step(StepKind::SyncMapping, 2, 0, 4096, 0) },
    ];
    place.thread(steps, Vec::new());
    same(&place.run());
    let first = |role, name| fs::read(place.root(role).join(name)).expect("a file")[0];
    assert_eq!(fs::read(place.root(FileRole::Original).join("f")).expect("a file"), vec![1; bytes]);
    assert_eq!(first(FileRole::Copy, "c"), 0x5a, "what is shared reaches its file");
}

#[test]
fn threads_wait_for_each_other() {
    let mut place = Place::new();
    let paths: Vec<u32> =
        (0..100).map(|at| place.path(&format!("{at}"), FileRole::Copy, None)).collect();
    // Each in turn makes the next directory, which the other has to find.
    for thread in 0..2_u32 {
        let (mut steps, mut waits) = (Vec::new(), Vec::new());
        for (at, path) in paths.iter().enumerate() {
            let is_own = at as u32 % 2 == thread;
            if !is_own {
                waits.push(Wait { before: at as u32, thread: 1 - thread, steps: at as u32 + 1 });
            }
            let kind = if is_own { StepKind::MakeDirectory } else { StepKind::Stat };
            steps.push(step(kind, *path, 0, 0, 0));
        }
        place.thread(steps, waits);
    }
    let run = place.run();
    same(&run);
    for thread in &run.threads {
        assert!(thread.busy_ns > 0 && thread.busy_ns + thread.waited_ns <= run.wall_ns);
    }
}

#[test]
fn what_must_be_there_before_and_is_not_is_a_difference() {
    let mut place = Place::new();
    let path = place.path("gone", FileRole::Original, None);
    let slot = place.slot(Some(path), false);
    let read = Step { bytes: 10, result: 10, ..Step::new(StepKind::ReadAt, slot, 3) };
    place.thread(vec![read], Vec::new());
    let run = place.run();
    let ebadf = -i64::from(libc::EBADF);
    let told = Difference { record: 3, step: StepKind::ReadAt, recorded: 10, found: ebadf };
    assert_eq!(run.threads[0].told, [told]);
}

/// Descriptors of this process.
fn open_here() -> usize {
    fs::read_dir("/proc/self/fd").expect("list").count()
}

#[test]
fn threads_that_share_no_description_leave_none_open() {
    let mut place = Place::new();
    let path = place.path("f", FileRole::Original, Some(&[1; 5000]));
    for _ in 0..3 {
        let before = place.slot(Some(path), false);
        let opened = place.slot(None, false);
        let read = |slot| Step { bytes: 10, result: 10, ..Step::new(StepKind::Read, slot, 0) };
        let open = Step { offset: path.into(), ..Step::new(StepKind::Open, opened, 0) };
        let close = Step::new(StepKind::Close, before, 0);
        // One is closed by its thread, and one by the end of it.
        place.thread(vec![read(before), open, read(opened), close], Vec::new());
    }
    // Others open and close files beside this test, but not as many.
    let fewest = |place: &Place| {
        (0..5)
            .map(|_| {
                let run = place.run();
                assert!(run.threads.iter().all(|thread| thread.differences == 0), "{run:?}");
                open_here()
            })
            .min()
    };
    let before = fewest(&place).expect("a number");
    for _ in 0..40 {
        place.run();
    }
    let after = fewest(&place).expect("a number");
    assert!(after < before + 40, "{before} and then {after}");
}

#[test]
fn a_description_that_two_threads_use_is_of_one_table() {
    let mut place = Place::new();
    let path = place.path("f", FileRole::Original, Some(&[1; 5000]));
    let slot = place.slot(None, false);
    let own = place.slot(None, false);
    let open = |slot| Step { offset: path.into(), ..Step::new(StepKind::Open, slot, 0) };
    let read = |slot| Step { bytes: 10, result: 10, ..Step::new(StepKind::ReadAt, slot, 0) };
    place.thread(vec![open(slot)], Vec::new());
    place.thread(vec![read(slot)], vec![Wait { before: 0, thread: 0, steps: 1 }]);
    place.thread(vec![open(own), read(own)], Vec::new());
    assert_eq!(super::tables::alone(&place.plan), [false, false, true]);
    assert!(place.run().threads.iter().all(|thread| thread.differences == 0));
}

#[test]
fn times_of_access_of_ones_own_files_stay_without_the_rights_of_root() {
    let mut place = Place::new();
    let path = place.path("f", FileRole::Original, Some(&[1; 5000]));
    let file = place.root(FileRole::Original).join("f");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(1 << 20);
    let times = fs::FileTimes::new().set_accessed(old);
    fs::File::options().write(true).open(&file).and_then(|f| f.set_times(times)).expect("times");
    let slot = place.slot(None, false);
    let open = Step { offset: path.into(), ..Step::new(StepKind::Open, slot, 0) };
    let read = Step { bytes: 10, result: 10, ..Step::new(StepKind::Read, slot, 1) };
    place.thread(vec![open, read], Vec::new());
    let originals = fs::File::open(place.root(FileRole::Original)).expect("a directory");
    let copies = fs::File::open(place.root(FileRole::Copy)).expect("a directory");
    let roots =
        Roots { originals: Some(originals.as_fd()), copies: copies.as_fd(), no_atime: false };
    let run = Replay::new(&place.plan, roots).and_then(Replay::run).expect("run");
    assert_eq!(run.threads[0].differences, 0, "{run:?}");
    assert_eq!(fs::metadata(&file).and_then(|stat| stat.accessed()).expect("a time"), old);
}
