//! Copies of small plans.

use std::fs::File;
use std::os::unix::fs::MetadataExt;

use hotset_facts::replay::{FilePart, PlanFile, PlanName, PlanPath};

use super::*;
use crate::test_support::Scratch;

struct Planned {
    plan: ReplayPlan,
    scratch: Scratch,
}

impl Planned {
    fn new() -> Self {
        Self { plan: ReplayPlan::default(), scratch: Scratch::new() }
    }

    fn path(&mut self, name: &str) -> u32 {
        let bytes = self.scratch.path(name).into_os_string().into_vec();
        self.plan.paths.push(PlanPath { bytes, role: FileRole::Copy });
        self.plan.paths.len() as u32 - 1
    }

    fn there(&mut self, name: &str, kind: NameKind, file: Option<u32>) -> u32 {
        let path = self.path(name);
        self.plan.there.push(PlanName { path, kind, file, link_bytes: 0 });
        path
    }

    fn file(&mut self, size_bytes: u64, touched: Vec<(u64, u64)>) -> u32 {
        self.plan.files.push(PlanFile {
            index: 0,
            path: None,
            role: FileRole::Copy,
            is_changed: true,
            is_there: true,
            size_bytes,
            cached: Vec::new(),
            touched,
            parts: Vec::new(),
        });
        self.plan.files.len() as u32 - 1
    }

    fn make(&self) -> (Made, PathBuf) {
        let directory = self.scratch.path("copies");
        fs::create_dir(&directory).expect("a directory");
        let kept = self.scratch.path("kept");
        fs::create_dir(&kept).expect("a directory");
        let root = File::open("/").expect("the root");
        let copies = Copies::of(&self.plan);
        let made = copies.make(&directory, &kept, &Origin::Below(root.into()));
        let made = made.expect("made");
        (made, directory.join(inside(&self.scratch.path(""))))
    }
}

#[test]
fn what_is_touched_is_copied_and_the_rest_is_a_hole() {
    let mut planned = Planned::new();
    let bytes: Vec<u8> = (0..1_000_000_u32).map(|at| (at / 4096) as u8 + 1).collect();
    let path = planned.scratch.file("data", &bytes);
    let file = planned.file(1_000_000, vec![(5_000, 5_001), (900_000, 2_000_000)]);
    planned.there("data", NameKind::File, Some(file));
    planned.there("other/name", NameKind::File, Some(file));
    planned.there("looked-up", NameKind::File, None);
    let (made, below) = planned.make();
    let copy = fs::read(below.join("data")).expect("read");
    let wanted = |at: usize| match at {
        4_096..8_192 | 897_024.. => bytes[at],
        _ => 0,
    };
    assert_eq!(copy.len(), 1_000_000);
    assert!(copy.iter().enumerate().all(|(at, byte)| *byte == wanted(at)));
    assert_eq!(made, Made { bytes: 4_096 + (1_003_520 - 897_024), made_up: 0 });
    let (one, two) = (fs::metadata(below.join("data")), fs::metadata(below.join("other/name")));
    let (one, two) = (one.expect("stat"), two.expect("stat"));
    assert_eq!((one.ino(), one.nlink()), (two.ino(), 2));
    assert!(one.blocks() * 512 < 200_000, "holes take no room: {}", one.blocks());
    assert_eq!(fs::read(path).expect("read"), bytes);
    assert_eq!(fs::metadata(below.join("looked-up")).expect("stat").len(), 0);
}

#[test]
fn what_is_gone_is_made_up() {
    let mut planned = Planned::new();
    planned.scratch.file("short", &[7; 100]);
    let short = planned.file(300, vec![(0, 300)]);
    let gone = planned.file(300, vec![(0, 300)]);
    planned.there("short", NameKind::File, Some(short));
    planned.there("gone", NameKind::File, Some(gone));
    let (made, below) = planned.make();
    assert_eq!(made.made_up, 2);
    let copy = fs::read(below.join("short")).expect("read");
    assert_eq!((&copy[..100], copy.len()), (&[7; 100][..], 300));
    let copy = fs::read(below.join("gone")).expect("read");
    assert!(copy.len() == 300 && copy.iter().any(|byte| *byte != copy[0]));
}

#[test]
fn what_a_change_made_is_a_copy_of_nothing() {
    let mut planned = Planned::new();
    // Whatever has this name on the host is another file.
    planned.scratch.file("pack", &[7; 6_000]);
    let file = planned.file(6_000, vec![(0, 6_000)]);
    planned.plan.files[0].is_changed = false;
    planned.plan.files[0].parts = vec![FilePart { file: 0, offset: 0 }];
    planned.there("pack", NameKind::File, Some(file));
    let (made, below) = planned.make();
    assert_eq!(made.made_up, 0);
    let bytes = fs::read(below.join("pack")).expect("read");
    assert!(bytes.len() == 6_000 && bytes.iter().filter(|byte| **byte == 7).count() < 100);
    // Of another size, it is another file.
    planned.plan.files[0].size_bytes = 5_000;
    let copies = Copies::of(&planned.plan);
    let (directory, kept) = (planned.scratch.path("second"), planned.scratch.path("kept"));
    fs::create_dir(&directory).expect("a directory");
    copies.make(&directory, &kept, &Origin::Nowhere).expect("made");
    let again = directory.join(inside(&planned.scratch.path("pack")));
    assert_eq!(fs::metadata(again).expect("stat").len(), 5_000);
}

#[test]
fn what_no_step_changes_is_made_once() {
    let mut planned = Planned::new();
    let file = planned.file(9_000, vec![(0, 9_000)]);
    planned.plan.files[0].is_changed = false;
    planned.there("read", NameKind::File, Some(file));
    planned.there("read-too", NameKind::File, Some(file));
    let kept = planned.scratch.path("kept");
    fs::create_dir(&kept).expect("a directory");
    let copies = Copies::of(&planned.plan);
    let below = inside(&planned.scratch.path("read"));
    let mut inodes = Vec::new();
    for (round, made_up) in [("one", 1), ("two", 0)] {
        let directory = planned.scratch.path(round);
        fs::create_dir(&directory).expect("a directory");
        let made = copies.make(&directory, &kept, &Origin::Nowhere).expect("made");
        assert_eq!(made.made_up, made_up);
        let there = fs::metadata(directory.join(&below)).expect("stat");
        assert_eq!(there.len(), 9_000);
        inodes.push(there.ino());
    }
    assert_eq!(inodes[0], inodes[1]);
}

#[test]
fn no_link_leads_out_of_the_root_that_copies_come_from() {
    let scratch = Scratch::new();
    let secret = scratch.file("secret", &[7; 100]);
    let root = scratch.path("root");
    fs::create_dir(&root).expect("a directory");
    std::os::unix::fs::symlink(&secret, root.join("absolute")).expect("a link");
    std::os::unix::fs::symlink("../secret", root.join("relative")).expect("a link");
    fs::write(root.join("file"), [1; 100]).expect("a file");
    std::os::unix::fs::symlink("/file", root.join("inside")).expect("a link");
    let origin = Origin::Below(File::open(&root).expect("open").into());
    let found = ["/absolute", "/relative", "/../secret", "/file", "/inside"];
    let found = found.map(|path| origin.open(Path::new(path)).is_some());
    assert_eq!(found, [false, false, false, true, true]);
}

#[test]
fn directories_are_made_but_for_those_that_were_not_there() {
    let mut planned = Planned::new();
    planned.path("new");
    planned.path("new/below");
    planned.path("old/below");
    planned.there("empty", NameKind::Directory, None);
    planned.there("link", NameKind::Link, None);
    planned.plan.there.last_mut().expect("the link").link_bytes = 5;
    let (_, below) = planned.make();
    assert!(below.join("old").is_dir() && below.join("empty").is_dir());
    assert!(!below.join("new").exists() && !below.join("old/below").exists());
    let words = fs::read_link(below.join("link")).expect("a link");
    assert_eq!(words, Path::new("xxxxx"), "as long, and leads nowhere");
}

#[test]
fn no_path_leads_out_of_the_copies() {
    assert_eq!(inside(Path::new("/a/../../b/./c")), Path::new("b/c"));
    assert_eq!(inside(Path::new("/..")), Path::new(""));
}
