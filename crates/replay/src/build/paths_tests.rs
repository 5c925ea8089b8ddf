use std::path::PathBuf;

use hotset_facts::replay::{FileRole, LeftOut, NameKind, ReplayPlan, StepKind};
use hotset_facts::trace::{Operation, ProcessIndex, RecordFlags};

use super::testing::Trace;

/// Makes a symbolic link.
fn link(trace: &mut Trace, one: (ProcessIndex, u32), words: &str, path: &str) {
    let path = trace.path(path);
    trace.on_path(Operation::Symlink, one, words, 0).new_path = Some(path);
}

fn rename(trace: &mut Trace, one: (ProcessIndex, u32), old: &str, new: &str) {
    let new = trace.path(new);
    trace.on_path(Operation::Rename, one, old, 0).new_path = Some(new);
}

/// What each step is about that names one path.
fn named(plan: &ReplayPlan) -> Vec<String> {
    let steps = plan.threads[0].steps.iter();
    let path = |step: &hotset_facts::replay::Step| {
        let place = match step.kind {
            StepKind::Open | StepKind::Symlink => step.offset as usize,
            _ => step.target as usize,
        };
        format!("{} {}", step.kind.as_str(), String::from_utf8_lossy(&plan.paths[place].bytes))
    };
    steps.map(path).collect()
}

fn there(plan: &ReplayPlan) -> Vec<(String, NameKind)> {
    let path = |place: u32| String::from_utf8_lossy(&plan.paths[place as usize].bytes).into_owned();
    plan.there.iter().map(|name| (path(name.path), name.kind)).collect()
}

#[test]
fn a_step_is_about_what_a_made_link_leads_to() {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    let file = trace.file("/d/a", 100);
    link(&mut trace, one, "a", "/d/l");
    link(&mut trace, one, "../d", "/e/dir");
    trace.on_file(Operation::Openat, one, ("/e/dir/l", file, 1), (0, 0));
    trace.on_path(Operation::Lstat, one, "/e/dir/l", 0);
    trace.on_path(Operation::Newfstatat, one, "/d/l", 0).flags = RecordFlags::NOFOLLOW;
    trace.on_path(Operation::Newfstatat, one, "/d/l/.", 0);
    trace.on_path(Operation::Readlink, one, "/d/l", 1);
    trace.on_path(Operation::Mkdir, one, "/e/dir/new/", 0);
    trace.on_path(Operation::Unlink, one, "/e/dir", 0);
    trace.on_path(Operation::Stat, one, "/e/dir/l", -2);
    let plan = trace.plan();
    let wanted = [
        "symlink /d/l",
        "symlink /e/dir",
        "open /d/a",
        "lstat /d/l",
        "lstat /d/l",
        "stat /d/a",
        "readlink /d/l",
        "mkdir /d/new",
        "unlink /e/dir",
        "stat /e/dir/l",
    ];
    assert_eq!(named(&plan), wanted);
    assert_eq!(plan.files[0].role, FileRole::Original, "it is only read");
    assert_eq!(there(&plan), []);
}

#[test]
fn what_is_written_through_a_link_is_a_copy() {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    let (old, new) = (trace.file("/d/a", 100), trace.file("/d/nowhere", 0));
    link(&mut trace, one, "/d/a", "/l");
    link(&mut trace, one, "d/nowhere", "/dangling");
    trace.on_path(Operation::Truncate, one, "/l", 0).offset = Some(5);
    trace.on_file(Operation::Openat, one, ("/l", old, 1), (0, 0));
    let made = trace.on_file(Operation::Openat, one, ("/dangling", new, 2), (0, 0));
    made.flags = RecordFlags::CREATE;
    let plan = trace.plan();
    let steps = named(&plan);
    assert_eq!(steps[2..], ["truncate /d/a", "open /d/a", "open /d/nowhere"]);
    assert!(plan.files.iter().all(|file| file.role == FileRole::Copy));
    assert_eq!(there(&plan), [("/d/a".to_owned(), NameKind::File)]);
}

#[test]
fn links_that_end_nowhere_are_asked_for_by_nobody() {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    link(&mut trace, one, "loop", "/loop");
    trace.on_path(Operation::Stat, one, "/loop", -40);
    link(&mut trace, one, "/proc/self/maps", "/maps");
    trace.on_path(Operation::Openat, one, "/maps", 3);
    trace.on_path(Operation::Openat, one, "/maps", -40).flags = RecordFlags::NOFOLLOW;
    trace.on_path(Operation::Openat, one, "/maps", 3).flags = RecordFlags::NOFOLLOW;
    let plan = trace.plan();
    let wanted = ["symlink /loop", "symlink /maps", "open /maps", "lstat /maps"];
    assert_eq!(named(&plan), wanted, "the last with O_PATH");
    let left: Vec<(LeftOut, u64)> = plan.left_out.into_iter().collect();
    assert_eq!(left, [(LeftOut::SpecialFile, 1), (LeftOut::OtherError, 1)]);
}

#[test]
fn what_is_below_a_renamed_directory_is_there_by_its_old_name() {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    let [x, new, linked] = ["/e/x", "/e/new", "/f"].map(|path| trace.file(path, 100));
    rename(&mut trace, one, "/d", "/e");
    trace.on_file(Operation::Openat, one, ("/e/x", x, 1), (0, 0));
    trace.on_path(Operation::Readlink, one, "/e/l", 7);
    let made = trace.on_file(Operation::Openat, one, ("/e/new", new, 2), (0, 0));
    made.flags = RecordFlags::CREATE;
    trace.on_file(Operation::Pwrite, one, ("/e/new", new, 2), (0, 10)).pages =
        Some(hotset_facts::trace::RecordPages::default());
    trace.on_path(Operation::Mkdir, one, "/e/made", 0);
    trace.on_path(Operation::Stat, one, "/e/made/x", -2);
    let other = trace.path("/g");
    trace.on_path(Operation::Link, one, "/f", 0).new_path = Some(other);
    trace.on_file(Operation::Openat, one, ("/g", linked, 3), (0, 0));
    let plan = trace.plan();
    let mut there = there(&plan);
    there.sort_by(|one, other| one.0.cmp(&other.0));
    let wanted = [
        ("/d", NameKind::Directory),
        ("/d/l", NameKind::Link),
        ("/d/x", NameKind::File),
        ("/f", NameKind::File),
    ];
    assert_eq!(there, wanted.map(|(path, kind)| (path.to_owned(), kind)));
    let link = plan.there.iter().find(|name| name.kind == NameKind::Link).expect("a link");
    assert_eq!(link.link_bytes, 7);
    let first =
        |file: usize| plan.paths[plan.files[file].path.expect("a path") as usize].bytes.clone();
    assert_eq!((first(0), first(2)), (b"/d/x".to_vec(), b"/f".to_vec()));
}

#[test]
fn a_file_without_a_name_is_made_by_its_directory() {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    let file = trace.file("/d/#77", 0);
    trace.lists.files[0].path = Some(PathBuf::from("/d/#77"));
    let open = trace.on_file(Operation::Openat, one, ("/d/.", file, 1), (0, 0));
    open.flags = RecordFlags::TMPFILE;
    trace.on_file(Operation::Pwrite, one, ("/d/#77", file, 1), (0, 10));
    let plan = trace.plan();
    assert_eq!(named(&plan)[0], "open /d");
    assert_eq!(there(&plan), [("/d".to_owned(), NameKind::Directory)]);
    assert!(plan.slots[0].writes && !plan.files[0].is_there);
}

#[test]
fn a_directory_that_is_synced_is_the_one_that_was_opened() {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    let directory = trace.file("/d/new", 4096);
    trace.lists.files[0].kind = hotset_facts::FileKind::Directory;
    trace.on_path(Operation::Mkdir, one, "/d/new", 0);
    trace.on_path(Operation::Openat, one, "/d/new", 3).file = Some(directory);
    trace.on_file(Operation::Fsync, one, ("/d/new", directory, 1), (0, 0));
    let plan = trace.plan();
    let [_, open, sync] = plan.threads[0].steps[..] else { panic!("{:?}", plan.threads[0]) };
    assert_eq!(
        (open.kind, sync.kind, open.target, sync.target),
        (StepKind::Open, StepKind::Sync, 0, 0)
    );
    assert_eq!(plan.slots[0].opened_before, None);
}
