//! What is found, by the shape of the tree and the words of the selection.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::slice::from_ref;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use super::super::PathFilter;
use super::*;

#[test]
fn a_flat_directory_is_found_whole_and_shared_by_threads() {
    let scratch = Scratch::new();
    let expected: Vec<PathBuf> = (0..5000).map(|i| scratch.0.join(format!("{i:05}"))).collect();
    expected.iter().for_each(|path| std::fs::write(path, b"").expect("write"));
    assert_eq!(look(&scratch.selection(), 1).files, expected);
    // A thread can come too late for its share, but not every time.
    let shared = (0..200).any(|_| {
        let outcome = look(&scratch.selection(), 3);
        assert_eq!(outcome.files, expected);
        outcome.busy_threads > 1
    });
    assert!(shared, "one thread did all the work in each of 200 walks");
}

#[test]
fn a_hundred_thousand_files_are_each_found_once() {
    let scratch = Scratch::new();
    for dir in 0..41 {
        let path = scratch.0.join(format!("d{dir}"));
        std::fs::create_dir(&path).expect("mkdir");
        let files = if dir == 0 { 60_000 } else { 1000 };
        (0..files).for_each(|i| std::fs::write(path.join(i.to_string()), b"").expect("write"));
    }
    let find = Command::new("find").arg(&scratch.0).args(["-type", "f"]).output().expect("find");
    let mut expected: Vec<PathBuf> = find
        .stdout
        .split(|&byte| byte == b'\n')
        .map(|path| OsStr::from_bytes(path).into())
        .collect();
    expected.retain(|path| !path.as_os_str().is_empty());
    expected.sort();
    assert_eq!(expected.len(), 100_000);
    for threads in [1, 2, 5] {
        let outcome = look(&scratch.selection(), threads);
        assert!(outcome.files == expected, "{} files", outcome.files.len());
        assert_eq!(outcome.skipped, Skipped::default());
    }
}

/// A chain of directories below `top`, with a file and a directory with a file beside each.
fn nest(top: &Path, levels: usize) {
    let mut dir =
        rustix::fs::open(top, OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty()).expect("open");
    let mode = Mode::from_raw_mode(0o755);
    for _ in 0..levels {
        for name in ["a level of the chain", "beside"] {
            rustix::fs::mkdirat(&dir, name, mode).expect("mkdir");
        }
        for name in ["1", "beside/2"] {
            let flags = OFlags::CREATE | OFlags::WRONLY;
            rustix::fs::openat(&dir, name, flags, mode).expect("create");
        }
        let next = "a level of the chain";
        dir = rustix::fs::openat(&dir, next, OFlags::DIRECTORY, Mode::empty()).expect("open");
    }
}

#[test]
fn trees_deeper_than_any_path_and_any_number_of_descriptors() {
    let scratch = Scratch::new();
    // 14,000 bytes of path.
    nest(&scratch.0, 700);
    for threads in [1, 3] {
        let outcome = look(&scratch.selection(), threads);
        assert_eq!(outcome.unreadable, []);
        assert_eq!(outcome.files.len(), 1400);
        assert!(not_once(&outcome.files).is_empty(), "{:?}", not_once(&outcome.files));
    }
    let outcome = look(&Selection { max_depth: Some(9), ..scratch.selection() }, 1);
    // Ten levels have a file; nine of them have a directory beside that is no deeper.
    assert_eq!(outcome.files.len(), 10 + 9);
}

#[test]
fn a_link_into_a_deep_tree_leads_back_to_where_it_was_found() {
    let scratch = Scratch::new();
    let deep = scratch.0.join("deep");
    std::fs::create_dir(&deep).expect("mkdir");
    nest(&deep, 400);
    let top = scratch.0.join("top");
    for i in 0..20 {
        scratch.file(format!("top/a/b/file{i}"));
    }
    symlink(&deep, top.join("a/b/link")).expect("symlink");
    let selection =
        Selection { roots: vec![top.clone()], follow_links: true, ..Selection::default() };
    let outcome = look(&selection, 1);
    assert_eq!(outcome.unreadable, []);
    assert_eq!(outcome.files.len(), 800 + 20);
    assert!(not_once(&outcome.files).is_empty());
}

#[test]
fn hard_links_are_one_file() {
    let scratch = Scratch::new();
    let first = scratch.file("a");
    std::fs::create_dir(scratch.0.join("d")).expect("mkdir");
    for name in ["b", "d/c"] {
        std::fs::hard_link(&first, scratch.0.join(name)).expect("link");
    }
    for threads in [1, 2] {
        let outcome = look(&scratch.selection(), threads);
        assert_eq!((outcome.files.len(), outcome.skipped.repeated_links), (1, 2));
    }
}

#[test]
fn links_are_followed_only_when_asked_and_circles_end() {
    let scratch = Scratch::new();
    let file = scratch.file("d/file");
    let outside = Scratch::new();
    outside.file("other");
    symlink(&scratch.0, scratch.0.join("d/up")).expect("symlink");
    symlink(&file, scratch.0.join("again")).expect("symlink");
    symlink("itself", scratch.0.join("itself")).expect("symlink");
    symlink(&outside.0, scratch.0.join("out")).expect("symlink");
    let outcome = look(&scratch.selection(), 1);
    assert_eq!((outcome.files, outcome.skipped.symlinks), (vec![file], 4));
    for threads in [1, 2] {
        let followed = Selection { follow_links: true, ..scratch.selection() };
        let outcome = look(&followed, threads);
        assert_eq!(outcome.files.len(), 2, "{:?}", outcome.files);
        assert_eq!((outcome.skipped.symlinks, outcome.skipped.repeated_links), (1, 2));
        assert_eq!(outcome.unreadable, []);
    }
}

#[test]
fn names_of_any_bytes() {
    let scratch = Scratch::new();
    for name in [&b"a\nb"[..], b"\xff\xfe", b" ", b"-x", b"\\012", b"\x1b[31m"] {
        scratch.file(OsStr::from_bytes(name));
    }
    let files = look(&scratch.selection(), 1).files;
    assert_eq!(files.len(), 6);
    assert!(files.contains(&scratch.0.join(OsStr::from_bytes(b"\xff\xfe"))));
}

struct Rust;

impl PathFilter for Rust {
    fn enters(&self, dir: &Path) -> bool {
        !dir.ends_with("target")
    }

    fn takes(&self, file: &Path) -> bool {
        file.extension() == Some(OsStr::new("rs"))
    }
}

#[test]
fn filters_sizes_and_depths_choose() {
    let scratch = Scratch::new();
    let large = scratch.file("a/large.rs");
    std::fs::write(&large, b"1234").expect("write");
    let small = scratch.file("small.rs");
    let deep = scratch.file("a/b/deep.rs");
    scratch.file("target/c.rs");
    scratch.file("a/readme");
    let files = |selection: Selection| look(&selection, 2).files;
    let all = || Selection { filter: Some(Arc::new(Rust)), ..scratch.selection() };
    assert_eq!(files(all()), [deep, large.clone(), small.clone()]);
    assert_eq!(files(Selection { max_depth: Some(0), ..all() }), from_ref(&small));
    assert_eq!(files(Selection { max_depth: Some(1), ..all() }), [large.clone(), small.clone()]);
    assert_eq!(files(Selection { min_size_bytes: 4, ..all() }), from_ref(&large));
    // The filter speaks about named files too, but not about named directories.
    let roots = vec![scratch.0.join("a/readme"), small.clone(), scratch.0.join("target")];
    assert_eq!(files(Selection { roots, ..all() }), [small, scratch.0.join("target/c.rs")]);
}

#[test]
fn roots_of_every_kind() {
    let scratch = Scratch::new();
    let (file, in_dir) = (scratch.file("file"), scratch.file("dir/x"));
    let (link, to_dir) = (scratch.0.join("link"), scratch.0.join("to dir"));
    symlink(&file, &link).expect("symlink");
    symlink(scratch.0.join("dir"), &to_dir).expect("symlink");
    let missing = scratch.0.join("missing");
    let named = |roots: &[&Path]| {
        let roots = roots.iter().map(|&root| root.to_owned()).collect();
        look(&Selection { roots, ..Selection::default() }, 2)
    };
    assert_eq!(named(&[&file]).files, from_ref(&file));
    assert_eq!(named(&[&link, &to_dir]).files, [link.clone(), to_dir.join("x")]);
    let outcome = named(&[&missing, &file]);
    assert_eq!(outcome.files, from_ref(&file));
    assert_eq!(outcome.unreadable.len(), 1);
    assert_eq!(outcome.unreadable[0].0, missing);
    assert!(outcome.unreadable[0].1.contains("No such file"), "{:?}", outcome.unreadable);
    let outcome = named(&["/dev/null".as_ref(), "/proc/self".as_ref(), "/proc/meminfo".as_ref()]);
    assert_eq!((outcome.files.len(), outcome.skipped.not_cacheable), (0, 3));
    // Twice the same, one below the other, and a file of a directory that is named as well.
    for roots in [
        [scratch.0.as_path(), &in_dir, &scratch.0],
        [&in_dir, scratch.0.as_path(), &in_dir],
        [scratch.0.as_path(), &scratch.0.join("dir"), &file],
    ] {
        assert_eq!(named(&roots).files, [in_dir.clone(), file.clone()], "{roots:?}");
    }
}

#[test]
fn a_block_device_is_taken_with_its_capacity() {
    struct Size(u64);
    impl Visitor for Size {
        fn file(&mut self, file: &Found<'_>) {
            self.0 += file.size_bytes;
        }
        fn unreadable(&mut self, path: &Path, error: &dyn fmt::Display) {
            panic!("{}: {error}", path.display());
        }
    }
    let scratch = Scratch::new();
    let image = scratch.file("image");
    std::fs::OpenOptions::new()
        .write(true)
        .open(&image)
        .and_then(|file| file.set_len(3 << 20))
        .expect("set_len");
    let device = Command::new("losetup").args(["-f", "--show"]).arg(&image).output();
    let device = String::from_utf8(device.expect("losetup").stdout).expect("a path");
    let device = device.trim();
    let roots = vec![device.into()];
    let selection = Selection { roots, ..Selection::default() };
    let walked = walk(&selection, &AtomicBool::new(false), vec![Size(0)]);
    run("losetup", &["-d".as_ref(), device.as_ref()]);
    assert_eq!(walked.visitors[0].0, 3 << 20);
}
