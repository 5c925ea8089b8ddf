//! overlayfs has the traits of its layers: whether copies may share blocks, whether files are in memory.

use std::path::Path;

use hotset_tests::filesystems::{FileSystem, Kind, kinds};
use hotset_tests::scratch::text;
use hotset_tests::{Mounted, PAGE, Scratch, number, profile_of};
use serde_json::Value;

const PAGES: u64 = 64;

/// Reads a file past the cache, by pages.
fn direct_read(scratch: &Scratch, file: &Path) -> Value {
    let input = format!("if={}", text(file));
    profile_of(scratch, &["dd", &input, "of=/dev/null", "bs=4096", "iflag=direct", "status=none"])
}

fn row<'a>(profile: &'a Value, path: &Path) -> Option<&'a Value> {
    let files = profile["files"].as_array().expect("files");
    files.iter().find(|row| row["path"] == text(path))
}

#[test]
fn a_copy_in_an_overlay_on_xfs_may_share_blocks() {
    if !kinds().contains(&Kind::Xfs) {
        return;
    }
    let scratch = Scratch::new("overlay-xfs");
    let xfs = FileSystem::new(Kind::Xfs);
    let _overlay = Mounted::overlay(text(xfs.root()));
    let merged = xfs.path("merged");
    let (from, to) = (merged.join("from"), merged.join("to"));
    std::fs::write(&from, vec![7; (PAGES * PAGE) as usize]).expect("write");
    let copy = "import os, sys\nsource, copy = open(sys.argv[1], 'rb'), open(sys.argv[2], 'wb')\n\
        assert os.copy_file_range(source.fileno(), copy.fileno(), 1 << 18) == 1 << 18";
    let profile = profile_of(&scratch, &["python3", "-c", copy, text(&from), text(&to)]);
    let hits = row(&profile, &from).map_or(0, |row| number(row, "/read/hits"));
    assert_eq!(hits, 0, "blocks that were shared are no pages that were read");
    let missing = profile["sensor"]["not_measured"].as_array().expect("not_measured");
    assert!(missing.iter().any(|gap| gap["what"] == "copy_file_range"), "{missing:?}");
}

#[test]
fn a_file_in_an_overlay_on_tmpfs_is_in_memory() {
    let scratch = Scratch::new("overlay-tmpfs");
    let tmpfs = FileSystem::new(Kind::Tmpfs);
    let _overlay = Mounted::overlay(text(tmpfs.root()));
    let file = tmpfs.path("merged").join("f");
    let output = format!("of={}", text(&file));
    let words = ["dd", "if=/dev/zero", &output, "bs=4096", "count=64", "status=none"];
    let seen = profile_of(&scratch, &words);
    let written = row(&seen, &file).expect("the file");
    assert_eq!(number(written, "/write/pages"), PAGES, "{written}");
    assert_eq!(number(written, "/write/new_pages"), PAGES, "{written}");
    // O_DIRECT is taken and cached all the same.
    let seen = direct_read(&scratch, &file);
    let read = row(&seen, &file).expect("the file");
    assert_eq!(number(read, "/direct/read_calls"), 0, "{read}");
    assert_eq!(number(read, "/read/hits"), PAGES, "{read}");
}

#[test]
fn an_overlay_on_an_overlay_has_the_pages_of_the_lowest() {
    let scratch = Scratch::new("overlay-twice");
    let tmpfs = FileSystem::new(Kind::Tmpfs);
    let _lower = Mounted::overlay(text(tmpfs.root()));
    let file = tmpfs.path("merged").join("f");
    std::fs::write(&file, vec![7; (PAGES * PAGE) as usize]).expect("write");
    let (top, upper, work) = (tmpfs.path("top"), tmpfs.path("upper2"), tmpfs.path("work2"));
    for directory in [&top, &upper, &work] {
        std::fs::create_dir(directory).expect("mkdir");
    }
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        text(&tmpfs.path("merged")),
        text(&upper),
        text(&work)
    );
    let _upper = Mounted::new(&["-t", "overlay", "overlay", "-o", &options, text(&top)]);
    let seen = direct_read(&scratch, &top.join("f"));
    let read = row(&seen, &top.join("f")).expect("the file");
    assert_eq!(number(read, "/direct/read_calls"), 0, "{read}");
    assert_eq!(number(read, "/read/hits"), PAGES, "{read}");
    let real = rustix::fs::stat(tmpfs.path("upper").join("f")).expect("stat");
    assert_eq!(number(read, "/ino"), real.st_ino, "{read}");
}
