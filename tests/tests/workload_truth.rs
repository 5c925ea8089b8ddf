//! Is the truth true? The workload's own counts against each other and against the kernel's, without hotset.

use std::path::Path;
use std::process::Command;

use hotset_tests::flushes::Flushes;
use hotset_tests::metadata::MetadataReads;
use hotset_tests::scratch::text;
use hotset_tests::state::clean;
use hotset_tests::{
    Evictions, Mounted, Scratch, bytes_of, evict_verified, measure, number, prepare, until,
    warm_verified, workload,
};
use serde_json::Value;

const MIB: u64 = 1 << 20;
const PAGE: u64 = 4096;

/// Runs a case on a cold file, again where something else read it in between, or evicted anything meanwhile.
fn cold(scratch: &Scratch, file: &Path, words: &[&str]) -> Value {
    undisturbed(scratch, &[file], words, evict_verified, |truth| {
        number(truth, "/pages_cached_before") == 0
    })
}

/// Runs a case on a file that is wholly cached, and stays so.
fn warm(scratch: &Scratch, file: &Path, words: &[&str]) -> Value {
    undisturbed(scratch, &[file], words, warm_verified, |truth| {
        let pages = number(truth, "/file/size_bytes").div_ceil(PAGE);
        number(truth, "/pages_cached_before") == pages
    })
}

/// Runs a case on the first of these files again where it did not begin in the state that was made, or where others evicted
/// pages of the files or wrote some back: what turned dirty is what is dirty in the end only without the latter. Nor where
/// metadata had to be read, which is no page of the files.
fn undisturbed(
    scratch: &Scratch,
    files: &[&Path],
    words: &[&str],
    make: fn(&Path),
    is_made: impl Fn(&Value) -> bool,
) -> Value {
    until("the run began in its state, and nobody evicted pages or wrote them back", || {
        // An attempt before may have left half of them dirty, where somebody wrote the other half back.
        files.iter().for_each(|file| clean(file));
        make(files[0]);
        let (evictions, flushes) = (Evictions::of(files), Flushes::of(files));
        let metadata = MetadataReads::beside(files);
        let truth = on(scratch, files[0], words);
        let counts = is_made(&truth)
            && evictions.none()
            && metadata.none()
            && (truth["dirtied_pages"].is_null() || flushes.none());
        counts.then_some(truth)
    })
}

fn on(scratch: &Scratch, file: &Path, words: &[&str]) -> Value {
    let mut all = vec![words[0], "--file", text(file)];
    all.extend(&words[1..]);
    measure(scratch, &all)
}

/// Every page was asked for once, and all of them came from the device.
fn assert_read_whole_from_device(truth: &Value, size: u64) {
    assert_eq!(number(truth, "/bytes"), size, "{truth}");
    assert_eq!(number(truth, "/distinct_pages"), size.div_ceil(PAGE), "{truth}");
    assert_eq!(number(truth, "/pages_cached_after"), size.div_ceil(PAGE), "{truth}");
    assert_eq!(number(truth, "/block_read_bytes"), size.next_multiple_of(PAGE), "{truth}");
}

#[test]
fn a_cold_sequential_read_comes_from_the_device_though_read_ahead_leaves_few_misses() {
    let scratch = Scratch::new("seq");
    // Not a multiple of a page: the last one counts whole.
    let size = 16 * MIB + 123;
    let file = scratch.file("f", size);
    for block in [4096, 65536, 1 << 20, 1000] {
        let truth = cold(&scratch, &file, &["seq", "--block", &block.to_string()]);
        assert_read_whole_from_device(&truth, size);
        let requests = size.div_ceil(block);
        assert_eq!(number(&truth, "/requests"), requests);
        assert_eq!(number(&truth, "/eof_calls"), 1);
        let missing = number(&truth, "/pages_missing_before");
        assert!(missing >= 1 && missing < size / PAGE, "{truth}");
        assert_eq!((number(&truth, "/majflt"), number(&truth, "/opens")), (0, 1));
    }
}

#[test]
fn a_warm_read_misses_nothing() {
    let scratch = Scratch::new("warm");
    let file = scratch.file("f", 8 * MIB);
    for words in [&["seq"][..], &["random"], &["odd"], &["reread"], &["vectored"], &["splice"]] {
        let truth = warm(&scratch, &file, words);
        assert_eq!(number(&truth, "/pages_missing_before"), 0, "{truth}");
        assert_eq!(number(&truth, "/block_read_bytes"), 0, "{truth}");
    }
}

#[test]
fn of_a_half_cached_file_the_other_half_is_read() {
    let scratch = Scratch::new("half");
    let file = scratch.file("f", 16 * MIB);
    let truth = until("the file was half cached when the run began", || {
        prepare(&["half", "--file", text(&file)]);
        let (evictions, metadata) = (Evictions::of(&[&file]), MetadataReads::beside(&[&file]));
        let truth = on(&scratch, &file, &["seq", "--block", "1048576"]);
        let half = number(&truth, "/pages_cached_before") == 8 * MIB / PAGE;
        (half && evictions.none() && metadata.none()).then_some(truth)
    });
    assert_eq!(number(&truth, "/block_read_bytes"), 8 * MIB);
    assert!(number(&truth, "/pages_missing_before") <= 8 * MIB / PAGE);
}

#[test]
fn random_pages_without_read_ahead_are_all_missing() {
    let scratch = Scratch::new("random");
    let file = scratch.file("f", 16 * MIB);
    let truth = cold(&scratch, &file, &["random", "--count", "1500", "--advise-random"]);
    assert_eq!(number(&truth, "/pages"), 1500);
    assert_eq!(number(&truth, "/distinct_pages"), 1500);
    assert_eq!(number(&truth, "/pages_missing_before"), 1500);
    assert_eq!(number(&truth, "/pages_cached_after"), 1500);
    assert_eq!(number(&truth, "/block_read_bytes"), 1500 * PAGE);
}

#[test]
fn requests_that_straddle_pages_count_both() {
    let scratch = Scratch::new("odd");
    let file = scratch.file("f", 4 * MIB);
    let truth = cold(&scratch, &file, &["odd", "--block", "1000", "--count", "2000"]);
    let pages: u64 = (0..2000).map(|i| (1000 * i + 999) / PAGE - 1000 * i / PAGE + 1).sum();
    assert_eq!(number(&truth, "/pages"), pages);
    assert_eq!(number(&truth, "/distinct_pages"), 2_000_000_u64.div_ceil(PAGE));
    assert_eq!(number(&truth, "/block_read_bytes") / PAGE, number(&truth, "/pages_cached_after"));
}

#[test]
fn every_way_of_reading_reads_the_whole_file_from_the_device() {
    let scratch = Scratch::new("ways");
    let size = 8 * MIB;
    let file = scratch.file("f", size);
    for words in [
        &["vectored"][..],
        &["vectored", "--iovecs", "3", "--block", "1500"],
        &["preadv2"],
        &["preadv2", "--at-position"],
        &["splice"],
        &["threads"],
        &["uring"],
        &["uring", "--fixed"],
        &["uring", "--random"],
        &["uring", "--async"],
        &["uring", "--sqpoll"],
        &["uring", "--sqpoll", "--fixed", "--random"],
    ] {
        assert_read_whole_from_device(&cold(&scratch, &file, words), size);
    }
}

#[test]
fn a_ring_with_one_request_in_flight_knows_what_was_missing() {
    let scratch = Scratch::new("uring");
    let file = scratch.file("f", 4 * MIB);
    let truth = cold(&scratch, &file, &["uring", "--depth", "1"]);
    let missing = number(&truth, "/pages_missing_before");
    assert!((1..4 * MIB / PAGE).contains(&missing), "{truth}");
    let many = cold(&scratch, &file, &["uring", "--depth", "8"]);
    assert!(many["pages_missing_before"].is_null());
    let written = cold(&scratch, &file, &["uring", "--write"]);
    assert_eq!(number(&written, "/new_pages"), 4 * MIB / PAGE);
}

#[test]
fn copies_read_one_file_and_make_the_other() {
    let scratch = Scratch::new("copies");
    let size = 8 * MIB;
    let (file, copy) = (scratch.file("f", size), scratch.path("copy"));
    // Its number is the same each time.
    std::fs::write(&copy, []).expect("create");
    for case in ["sendfile", "copy-file-range"] {
        let words = [case, "--file2", text(&copy)];
        let truth = undisturbed(&scratch, &[&file, &copy], &words, evict_verified, |truth| {
            number(truth, "/pages_cached_before") == 0
        });
        assert_read_whole_from_device(&truth, size);
        assert_eq!(number(&truth, "/new_pages"), size / PAGE);
        assert_eq!(number(&truth, "/dirtied_pages"), size / PAGE);
        assert_eq!(number(&truth, "/file2/size_bytes"), size);
        assert!(std::fs::read(&file).expect("file") == std::fs::read(&copy).expect("copy"));
    }
}

#[test]
fn a_copy_within_a_file_moves_seven_pages_to_the_tenth() {
    let scratch = Scratch::new("copy-within");
    let file = scratch.file("f", 4 * MIB);
    let mut wanted = std::fs::read(&file).expect("file");
    let truth = cold(&scratch, &file, &["copy-within"]);
    let (from, to) = (0..7 * PAGE as usize, 10 * PAGE as usize);
    wanted.copy_within(from, to);
    assert!(std::fs::read(&file).expect("file") == wanted);
    assert_eq!((number(&truth, "/pages"), number(&truth, "/pages_missing_before")), (7, 7));
    assert!(number(&truth, "/pages_cached_after") >= 14, "{truth}");
}

#[test]
fn direct_io_moves_bytes_and_caches_nothing() {
    let scratch = Scratch::new("direct");
    let size = 8 * MIB;
    let file = scratch.file("f", size);
    let read = cold(&scratch, &file, &["direct-read"]);
    assert_eq!(number(&read, "/direct/read_bytes"), size);
    assert_eq!(number(&read, "/block_read_bytes"), size);
    assert_eq!(number(&read, "/pages_cached_after"), 0);
    let again = cold(&scratch, &file, &["direct-reread", "--passes", "3"]);
    assert_eq!(number(&again, "/direct/reread_bytes"), 2 * size);
    assert_eq!(number(&again, "/block_read_bytes"), 3 * size);
    let write = cold(&scratch, &file, &["direct-write"]);
    assert_eq!(number(&write, "/direct/write_bytes"), size);
    // The kernel counts what is dirtied in the cache too: the block of the inode, whose times change, where it was clean. A
    // sync(2) of anybody cleans it, at most between each two requests.
    let inode_blocks = number(&write, "/block_write_bytes") - size;
    assert_eq!(inode_blocks % PAGE, 0, "{write}");
    assert!(inode_blocks / PAGE <= number(&write, "/requests"), "{write}");
    let ring = cold(&scratch, &file, &["uring", "--direct", "--block", "65536"]);
    assert_eq!(number(&ring, "/direct/read_calls"), size / 65536);
    assert_eq!(number(&ring, "/pages_cached_after"), 0);
}

#[test]
fn mappings_fault() {
    let scratch = Scratch::new("mmap");
    let size = 8 * MIB;
    let file = scratch.file("f", size);
    let pages = size / PAGE;
    let random = cold(&scratch, &file, &["mmap-random", "--count", "700", "--advise-random"]);
    assert_eq!(number(&random, "/majflt"), 700);
    assert_eq!(number(&random, "/block_read_bytes"), 700 * PAGE);
    let cold_seq = cold(&scratch, &file, &["mmap-seq"]);
    assert_eq!(number(&cold_seq, "/block_read_bytes"), size);
    let majors = number(&cold_seq, "/majflt");
    assert!(majors >= 1 && majors < pages, "{cold_seq}");
    let warm_seq = warm(&scratch, &file, &["mmap-seq"]);
    assert_eq!((number(&warm_seq, "/majflt"), number(&warm_seq, "/block_read_bytes")), (0, 0));
    assert!(number(&warm_seq, "/minflt") >= 1);
    evict_verified(&file);
    let write = warm(&scratch, &file, &["mmap-write", "--fsync"]);
    assert_eq!(number(&write, "/dirtied_pages"), pages);
    assert_eq!(number(&write, "/sync_calls"), 1);
    assert!(write["new_pages"].is_null());
}

#[test]
fn whole_pages_are_written_without_reading_and_parts_are_not() {
    let scratch = Scratch::new("writes");
    let size = 4 * MIB;
    let pages = size / PAGE;
    let file = scratch.file("f", size);
    let whole = cold(&scratch, &file, &["overwrite-uncached", "--block", "65536", "--fsync"]);
    assert_eq!((number(&whole, "/dirtied_pages"), number(&whole, "/new_pages")), (pages, pages));
    assert_eq!((number(&whole, "/block_read_bytes"), number(&whole, "/sync_calls")), (0, 1));
    let parts = cold(&scratch, &file, &["write-partial", "--count", "500"]);
    assert_eq!((number(&parts, "/pages"), number(&parts, "/new_pages")), (500, 500));
    assert_eq!(number(&parts, "/dirtied_pages"), 500);
    assert_eq!(number(&parts, "/block_read_bytes"), bytes_of(&parts, 500));
    evict_verified(&file);
    let cached = warm(&scratch, &file, &["overwrite", "--block", "4096"]);
    assert_eq!((number(&cached, "/new_pages"), number(&cached, "/dirtied_pages")), (0, pages));
}

#[test]
fn new_files_and_small_writes() {
    let scratch = Scratch::new("new");
    let file = scratch.path("new");
    // Its number is the same each time.
    std::fs::write(&file, []).expect("create");
    let words = ["write-new", "--size-mib", "4", "--block", "65536"];
    let new = undisturbed(&scratch, &[&file], &words, |_| (), |_| true);
    assert_eq!(number(&new, "/requests"), 64);
    assert_eq!((number(&new, "/new_pages"), number(&new, "/dirtied_pages")), (1024, 1024));
    let small = on(&scratch, &file, &["write-small", "--count", "5000"]);
    assert_eq!((number(&small, "/requests"), number(&small, "/pages")), (5000, 5000));
    assert_eq!((number(&small, "/new_pages"), number(&small, "/file/size_bytes")), (5, 20_000));
    let synced = on(&scratch, &file, &["fsync-each", "--count", "7"]);
    assert_eq!((number(&synced, "/sync_calls"), number(&synced, "/dirtied_pages")), (7, 7));
    let append = on(&scratch, &file, &["append", "--count", "100", "--block", "100"]);
    assert_eq!(number(&append, "/file/size_bytes"), 700 + 100 * 100);
}

#[test]
fn children_add_up() {
    let scratch = Scratch::new("children");
    let size = 4 * MIB;
    let file = scratch.file("f", size);
    let own: Vec<_> = (0..3).map(|index| scratch.file(&format!("f.{index}"), size)).collect();
    let truth = until("the files were cold when the run began", || {
        let (evictions, metadata) = (Evictions::of(&own), MetadataReads::beside(&own));
        own.iter().for_each(|file| evict_verified(file));
        let truth = on(&scratch, &file, &["children", "--count", "3", "--own-files"]);
        let cold = number(&truth, "/pages_cached_before") == 0;
        (cold && evictions.none() && metadata.none()).then_some(truth)
    });
    assert_eq!(number(&truth, "/bytes"), 3 * size);
    assert_eq!(number(&truth, "/block_read_bytes"), 3 * size);
    assert_eq!(truth["children"].as_array().map(Vec::len), Some(3));
    let same = cold(&scratch, &file, &["children", "--count", "3"]);
    assert_eq!((number(&same, "/bytes"), number(&same, "/block_read_bytes")), (3 * size, size));
    assert!(same["pages_missing_before"].is_null());
}

#[test]
fn a_reread_file_is_opened_each_time_and_a_deleted_one_is_still_read() {
    let scratch = Scratch::new("reread");
    let size = 4 * MIB;
    let file = scratch.file("f", size);
    let truth = cold(&scratch, &file, &["reread", "--passes", "4"]);
    assert_eq!((number(&truth, "/opens"), number(&truth, "/eof_calls")), (4, 4));
    assert_eq!((number(&truth, "/bytes"), number(&truth, "/block_read_bytes")), (4 * size, size));
    evict_verified(&file);
    let deleted = on(&scratch, &file, &["deleted"]);
    assert_eq!(number(&deleted, "/bytes"), size);
    assert!(!file.exists());
}

#[test]
fn small_files_and_names_that_do_not_exist() {
    let scratch = Scratch::new("names");
    let many = scratch.path("many");
    let count = ["--count", "200"];
    prepare(&["make-files", "--file", text(&many), count[0], count[1], "--block", "6000"]);
    let truth = on(&scratch, &many, &["many-files", count[0], count[1]]);
    assert_eq!((number(&truth, "/opens"), number(&truth, "/pages")), (200, 400));
    assert_eq!(number(&truth, "/bytes"), 200 * 6000);
    let before = number(&truth, "/pages_cached_before");
    assert_eq!(number(&truth, "/pages_missing_before"), 400 - before);
    let file = scratch.file("f", PAGE);
    let dirs = format!("{},{}", text(scratch.dir()), text(&many));
    let asked = on(&scratch, &file, &["lookups", "--dirs", &dirs, "--count", "20"]);
    assert_eq!(number(&asked, "/lookups/failed"), 2 * 20 * 3 + 1);
    assert_eq!(number(&asked, "/lookups/calls"), 2 * (20 * 3 + 1) + 1);
    assert_eq!(asked["lookups"]["failed_paths"].as_array().map(Vec::len), Some(21));
}

/// Mounting needs root; where it is refused, the test says so and fails, for what it guards is a wrong zero.
#[test]
fn on_overlayfs_the_layer_knows_and_the_residency_is_right() {
    let scratch = Scratch::new("overlay");
    let _mounted = Mounted::overlay(text(scratch.dir()));
    let size = 4 * MIB;
    let layer = scratch.file("lower/f", size);
    let file = scratch.path("merged/f");
    let refused = Command::new(workload()).args(["seq", "--file", text(&file)]).output();
    assert!(!refused.expect("workload").status.success());
    let (truth, seen) = until("nothing is evicted before the last look", || {
        let evictions = Evictions::of(&[&layer]);
        let truth = cold(&scratch, &file, &["seq", "--probe", text(&layer)]);
        let seen = hotset_sys::cache::residency_at(&file).expect("residency");
        Some((truth, seen)).filter(|_| evictions.none())
    });
    assert_read_whole_from_device(&truth, size);
    assert_ne!(truth["file"]["dev"], truth["backing"]["dev"]);
    assert_eq!((seen.pages, seen.cached_pages), (size / PAGE, size / PAGE));
    assert_eq!(seen.source, hotset_facts::ResidencySource::Mincore);
}

#[test]
fn mistakes_fail_with_a_message() {
    for (words, message) in [
        (&["bogus"][..], "no case \"bogus\""),
        (&[][..], "usage"),
        (&["seq"][..], "needs --file"),
        (&["seq", "--file", "/nonexistent/f"][..], "/nonexistent/f"),
        (&["seq", "--wrong"][..], "unknown option --wrong"),
        (&["seq", "--file", "/dev/null", "--block", "x"][..], "--block needs a number"),
    ] {
        let output = Command::new(workload()).args(words).output().expect("workload");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(message), "{words:?}: {said}");
    }
}
