//! Reads: what hotset says of a file against what the workload and the kernel say of it.

use hotset_tests::scratch::text;
use hotset_tests::{
    Cache, Evictions, MIB, Observed, PAGE, Scratch, number, observe, prepare, run_hotset,
    undisturbed, until,
};

/// Requests, pages and residency, which hold for every buffered reader.
fn assert_requests(run: &Observed) {
    let calls = run.truth("/requests") + run.truth("/eof_calls");
    run.assert_counts(&[("/read/calls", calls), ("/write/calls", 0), ("/direct/read_calls", 0)]);
    run.assert_same(&[
        ("/read/bytes", "/bytes"),
        ("/read/pages", "/pages"),
        ("/opens", "/opens"),
        ("/size_bytes", "/file/size_bytes"),
        ("/cached_before", "/pages_cached_before"),
        ("/cached_after", "/pages_cached_after"),
        ("/device/read_bytes", "/block_read_bytes"),
    ]);
    let at_once = ["threads", "children"].contains(&run.truth["case"].as_str().expect("a case"));
    run.assert_misses(!at_once);
}

/// Every page that the device gave was asked for, at once or later.
fn assert_all_from_device(run: &Observed) {
    assert_requests(run);
    let read = run.truth("/block_read_bytes") / PAGE;
    assert_eq!(read, run.truth("/distinct_pages"), "{}", run.truth);
    let misses = run.seen("/read/misses");
    run.assert_counts(&[
        ("/read/from_device", read),
        ("/readahead/pages", read - misses),
        ("/readahead/wasted_pages", 0),
        ("/evicted_pages", 0),
    ]);
}

fn assert_all_from_cache(run: &Observed) {
    assert_requests(run);
    run.assert_counts(&[
        ("/read/misses", 0),
        ("/read/readahead_hits", 0),
        ("/read/from_cache", run.truth("/pages")),
        ("/readahead/pages", 0),
        ("/device/read_bytes", 0),
    ]);
}

/// Each way of reading a whole file.
const WAYS: [&[&str]; 11] = [
    &["seq", "--block", "4096"],
    &["seq", "--block", "1048576"],
    &["seq", "--block", "1000"],
    &["odd", "--block", "1000"],
    &["vectored"],
    &["vectored", "--iovecs", "3", "--block", "1500"],
    &["vectored", "--iovecs", "200"],
    &["preadv2"],
    &["preadv2", "--at-position"],
    &["splice"],
    &["reread", "--passes", "2"],
];

#[test]
fn every_way_of_reading_a_cold_file() {
    let scratch = Scratch::new("ways-cold");
    // Whole blocks of 1000 bytes, so that `odd` reads the last page too; and no whole pages.
    let file = scratch.file("f", 4_000_000);
    for words in WAYS {
        assert_all_from_device(&observe(&scratch, &file, Cache::Cold, words));
    }
}

#[test]
fn every_way_of_reading_a_warm_file() {
    let scratch = Scratch::new("ways-warm");
    let file = scratch.file("f", 4_000_000);
    for words in WAYS {
        assert_all_from_cache(&observe(&scratch, &file, Cache::Warm, words));
    }
}

#[test]
fn of_a_half_cached_file_the_other_half_comes_from_the_device() {
    let scratch = Scratch::new("half");
    let file = scratch.file("f", 16 * MIB);
    for block in ["4096", "1048576"] {
        let run = until("the file was half cached when the run began", || {
            prepare(&["half", "--file", text(&file)]);
            let run = observe(&scratch, &file, Cache::AsItIs, &["seq", "--block", block]);
            (run.truth("/pages_cached_before") == 8 * MIB / PAGE).then_some(run)
        });
        assert_requests(&run);
        run.assert_counts(&[
            ("/read/from_cache", 8 * MIB / PAGE),
            ("/read/from_device", 8 * MIB / PAGE),
        ]);
    }
}

#[test]
fn random_reads_without_read_ahead_miss_every_time() {
    let scratch = Scratch::new("random");
    let file = scratch.file("f", 8 * MIB);
    let words = ["random", "--count", "700", "--advise-random"];
    let run = observe(&scratch, &file, Cache::Cold, &words);
    assert_all_from_device(&run);
    run.assert_counts(&[("/read/misses", 700), ("/readahead/pages", 0)]);
}

#[test]
fn random_reads_with_read_ahead_explain_every_page_that_came() {
    let scratch = Scratch::new("random-ahead");
    let file = scratch.file("f", 16 * MIB);
    let run = observe(&scratch, &file, Cache::Cold, &["random", "--count", "1500"]);
    assert_requests(&run);
    let (misses, ahead) = (run.seen("/read/misses"), run.seen("/readahead/pages"));
    assert_eq!(misses + ahead, run.truth("/pages_cached_after"), "{}", run.both());
    let used = run.seen("/read/readahead_hits");
    assert_eq!(run.seen("/readahead/wasted_pages"), ahead - used, "{}", run.both());
}

#[test]
fn threads_share_the_misses_and_their_sums_are_exact() {
    let scratch = Scratch::new("threads");
    let file = scratch.file("f", 16 * MIB);
    for words in [&["threads"][..], &["threads", "--count", "16", "--block", "4096"]] {
        assert_all_from_device(&observe(&scratch, &file, Cache::Cold, words));
        assert_all_from_cache(&observe(&scratch, &file, Cache::Warm, words));
    }
}

#[test]
fn a_copy_reads_one_file_and_makes_the_other() {
    let scratch = Scratch::new("copies");
    let (file, copy) = (scratch.file("f", 4 * MIB + 123), scratch.path("copy"));
    for case in ["sendfile", "copy-file-range"] {
        // A new inode each time: what the last one left is not the target's.
        let _ = std::fs::remove_file(&copy);
        let run = observe(&scratch, &file, Cache::Cold, &[case, "--file2", text(&copy)]);
        assert_all_from_device(&run);
        let target = run.row2();
        assert_eq!(number(target, "/write/new_pages"), run.truth("/new_pages"), "{target}");
        assert_eq!(number(target, "/write/dirtied_pages"), run.truth("/dirtied_pages"), "{target}");
        assert_eq!(number(target, "/write/bytes"), run.truth("/bytes"), "{target}");
        assert_eq!(number(target, "/write/pages"), run.truth("/pages"), "{target}");
        assert_eq!(number(target, "/write/misses"), 0, "{target}");
        assert_eq!(
            number(target, "/cached_after"),
            run.truth("/file2/pages_cached_after"),
            "{target}"
        );
    }
}

#[test]
fn a_file_without_a_name_is_still_counted() {
    let scratch = Scratch::new("deleted");
    let file = scratch.path("f");
    let run = until("the file was cold", || {
        scratch.file("f", 4 * MIB);
        hotset_tests::evict_verified(&file);
        let evictions = Evictions::of(&[&file]);
        let run = observe(&scratch, &file, Cache::Once, &["deleted"]);
        (run.truth("/pages_cached_before") == 0 && evictions.none()).then_some(run)
    });
    run.assert_same(&[
        ("/read/bytes", "/bytes"),
        ("/read/pages", "/pages"),
        ("/read/misses", "/pages_missing_before"),
        ("/device/read_bytes", "/block_read_bytes"),
    ]);
    let row = run.row();
    assert!(row["path"] == text(&file) || row["deleted"] == true, "{row}");
    // Nobody can ask any more; that is no zero.
    assert!(row["cached_after"].is_null(), "{row}");
}

#[test]
fn children_read_files_of_their_own() {
    let scratch = Scratch::new("children-own");
    let base = scratch.path("f");
    let files: Vec<_> = (0..3).map(|i| scratch.file(&format!("f.{i}"), 4 * MIB)).collect();
    let paths: Vec<_> = files.iter().map(|file| file.as_path()).collect();
    let words = ["children", "--count", "3", "--own-files"];
    let run = hotset_tests::observe_files(&scratch, &base, &paths, Cache::Cold, &words);
    for child in run.truth["child_truths"].as_array().expect("children") {
        let row = run.row_of(&child["file"]);
        for (seen, truth) in [
            ("/read/bytes", "/bytes"),
            ("/read/pages", "/pages"),
            ("/read/misses", "/pages_missing_before"),
            ("/device/read_bytes", "/block_read_bytes"),
        ] {
            assert_eq!(number(row, seen), number(child, truth), "{seen}: {row}\n{child}");
        }
        assert_process_did(&run, child);
    }
}

#[test]
fn children_of_one_file_add_up() {
    let scratch = Scratch::new("children-same");
    let file = scratch.file("f", 16 * MIB);
    let run = observe(&scratch, &file, Cache::Cold, &["children", "--count", "3"]);
    assert_all_from_device(&run);
    // The parent opens the file too.
    run.assert_counts(&[("/processes", 4)]);
    for child in run.truth["child_truths"].as_array().expect("children") {
        assert_process_did(&run, child);
    }
}

/// A process does what its truth says, and little beyond it to get started.
fn assert_process_did(run: &Observed, child: &serde_json::Value) {
    let row = hotset_tests::process_row(&run.profile, number(child, "/pid")).expect("a row");
    assert_eq!(number(row, "/ppid"), run.truth("/pid"), "{row}");
    assert_eq!(row["comm"], "workload", "{row}");
    assert_eq!(row["argv"][1], "seq", "{row}");
    assert_eq!(row["exit_code"], 0, "{row}");
    let started = number(row, "/read/bytes") - number(child, "/bytes");
    assert!(started < 64 << 10, "{started} bytes beyond {child}");
    let calls = number(child, "/requests") + number(child, "/eof_calls");
    assert!((calls..calls + 50).contains(&number(row, "/read/calls")), "{row}");
}

#[test]
fn small_files_have_a_row_each() {
    let scratch = Scratch::new("many");
    let dir = scratch.path("many");
    let count = 150_u64;
    let words = ["--count", &count.to_string()];
    prepare(&["make-files", "--file", text(&dir), words[0], words[1], "--block", "6000"]);
    let paths: Vec<_> = (0..count).map(|i| dir.join(format!("small-{i:06}"))).collect();
    undisturbed(&paths, || {
        let run = until("all of them were cold", || {
            paths.iter().for_each(|path| hotset_tests::evict_verified(path));
            let words = ["many-files", "--file", text(&dir), words[0], words[1]];
            let run = run_hotset(&scratch, &["-q"], &words);
            hotset_tests::assert_invariants(&run.profile);
            (number(&run.truth, "/pages_cached_before") == 0).then_some(run)
        });
        let mut misses = 0;
        for (index, path) in paths.iter().enumerate() {
            let row = hotset_tests::row_at(&run.profile, path);
            assert_eq!(row["path"], text(path));
            let n = |pointer| number(row, pointer);
            // Once to read it, and once more to ask what is cached; the first one is asked before, too.
            assert_eq!(n("/opens"), if index == 0 { 3 } else { 2 }, "{row}");
            assert_eq!((n("/read/calls"), n("/read/bytes")), (2, 6000), "{row}");
            assert_eq!((n("/read/pages"), n("/read/from_device")), (2, 2), "{row}");
            assert_eq!((n("/device/read_bytes"), n("/cached_after")), (2 * PAGE, 2), "{row}");
            misses += n("/read/misses");
        }
        assert_eq!(misses, number(&run.truth, "/pages_missing_before"));
    });
}
