//! Files in memory: tmpfs adds pages without the tracepoint, so that writers at once are told apart by sums alone.

use std::path::PathBuf;

use hotset_tests::json::{number, row_at};
use hotset_tests::run::profile_of;
use hotset_tests::scratch::text;
use hotset_tests::{Cache, MIB, Mounted, PAGE, Scratch, observe};

fn memory(scratch: &Scratch) -> (PathBuf, Mounted) {
    let dir = scratch.path("memory");
    std::fs::create_dir(&dir).expect("mkdir");
    let mounted = Mounted::new(&["-t", "tmpfs", "none", text(&dir)]);
    (dir, mounted)
}

#[test]
fn threads_that_extend_one_file_make_each_page_once() {
    let scratch = Scratch::new("memory-threads");
    let (dir, _mounted) = memory(&scratch);
    for block in ["4096", "16384", "1048576"] {
        let file = dir.join(block);
        let words = ["write-threads", "--count", "4", "--size-mib", "50", "--block", block];
        let run = observe(&scratch, &file, Cache::AsItIs, &words);
        run.assert_same(&[
            ("/write/calls", "/requests"),
            ("/write/bytes", "/bytes"),
            ("/write/pages", "/pages"),
            ("/write/new_pages", "/distinct_pages"),
            ("/write/new_pages", "/new_pages"),
        ]);
    }
}

/// Whose the pages are is not known then; that no process made more than it wrote, and the sum, are.
#[test]
fn processes_that_write_one_file_make_each_page_once() {
    let scratch = Scratch::new("memory-processes");
    let (dir, _mounted) = memory(&scratch);
    let file = dir.join("f");
    // Two write the first half, two the second: half of what they write is there already.
    let script = "for part in 0 0 256 256; do \
         dd if=/dev/zero of=$0 bs=16384 count=256 seek=$part conv=notrunc status=none & done; wait";
    let profile = profile_of(&scratch, &["sh", "-c", script, text(&file)]);
    let row = row_at(&profile, &file);
    assert_eq!(number(row, "/write/pages"), 16 * MIB / PAGE, "{row}");
    assert_eq!(number(row, "/write/new_pages"), 8 * MIB / PAGE, "{row}");
}

#[test]
fn io_uring_makes_them_too() {
    let scratch = Scratch::new("memory-uring");
    let (dir, _mounted) = memory(&scratch);
    let file = dir.join("f");
    std::fs::File::create(&file).and_then(|file| file.set_len(MIB)).expect("a sparse file");
    let run = observe(&scratch, &file, Cache::AsItIs, &["uring", "--write", "--count", "256"]);
    run.assert_counts(&[("/write/pages", MIB / PAGE), ("/write/new_pages", MIB / PAGE)]);
}

/// A program that truncates the file and writes it again makes its pages again.
#[test]
fn pages_that_were_cut_off_are_new_again() {
    let scratch = Scratch::new("memory-again");
    let (dir, _mounted) = memory(&scratch);
    let file = dir.join("f");
    let script = "for turn in 1 2 3; do dd if=/dev/zero of=$0 bs=16384 count=64 status=none; done; \
         dd if=/dev/zero of=$0 bs=16384 count=64 conv=notrunc status=none";
    let profile = profile_of(&scratch, &["sh", "-c", script, text(&file)]);
    let row = row_at(&profile, &file);
    assert_eq!(number(row, "/write/pages"), 4 * MIB / PAGE, "{row}");
    assert_eq!(number(row, "/write/new_pages"), 3 * MIB / PAGE, "{row}");
}
