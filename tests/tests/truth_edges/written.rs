//! Writes that make the kernel do more, or something else, than their arguments say.

use std::fs::File;
use std::io::Write;

use hotset_tests::scratch::text;
use hotset_tests::{PAGE, Scratch, number, profile_of, row_at};

/// The kernel brings the page of the old end in to fill its rest with zeros: the write did not ask for it.
#[test]
fn the_page_of_the_old_end_is_no_new_page_of_a_write_beyond_it() {
    let scratch = Scratch::new("beyond");
    let path = scratch.path("f");
    let mut file = File::create(&path).expect("create");
    file.write_all(&[7; PAGE as usize + 100]).expect("write");
    file.sync_all().expect("fsync");
    hotset_tests::evict_verified(&path);
    let to = format!("of={}", text(&path));
    let words = ["dd", "if=/dev/zero", &to, "bs=8192", "seek=5", "count=1", "conv=notrunc"];
    let profile = profile_of(&scratch, &words);
    let row = row_at(&profile, &path);
    let n = |pointer| number(row, pointer);
    assert_eq!((n("/write/calls"), n("/write/pages"), n("/write/new_pages")), (1, 2, 2), "{row}");
    // It was read, for a part of it is written.
    assert_eq!((n("/device/read_bytes"), n("/write/misses")), (PAGE, 1), "{row}");
}

#[test]
fn what_is_sent_into_a_file_past_the_cache_is_a_direct_write() {
    let scratch = Scratch::new("sent-direct");
    let (from, to) = (scratch.file("from", 4 * PAGE), scratch.path("to"));
    let script = "import os, sys\n\
        source = os.open(sys.argv[1], os.O_RDONLY)\n\
        target = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_DIRECT)\n\
        assert os.sendfile(target, source, 0, 16384) == 16384\n";
    let profile = profile_of(&scratch, &["python3", "-c", script, text(&from), text(&to)]);
    let row = row_at(&profile, &to);
    let n = |pointer| number(row, pointer);
    assert_eq!((n("/direct/write_calls"), n("/direct/write_bytes")), (1, 4 * PAGE), "{row}");
    assert_eq!((n("/write/calls"), n("/write/new_pages")), (0, 0), "{row}");
    assert_eq!(number(row_at(&profile, &from), "/read/bytes"), 4 * PAGE);
}
