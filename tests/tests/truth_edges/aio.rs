//! Linux AIO against what the workload asked for, what was returned to it, cachestat(2), and the kernel's counters.

use std::path::Path;

use hotset_tests::{Cache, MIB, Observed, PAGE, Scratch, lost_counts, observe, until};

fn assert_reads(run: &Observed, one_at_a_time: bool) {
    run.assert_same(&[
        ("/read/calls", "/requests"),
        ("/read/bytes", "/bytes"),
        ("/read/pages", "/pages"),
        ("/device/read_bytes", "/block_read_bytes"),
        ("/cached_before", "/pages_cached_before"),
        ("/cached_after", "/pages_cached_after"),
    ]);
    let read = run.truth("/block_read_bytes") / PAGE;
    let misses = run.seen("/read/misses");
    run.assert_counts(&[("/read/from_device", read), ("/readahead/pages", read - misses)]);
    run.assert_misses(one_at_a_time);
    assert_all_seen(run);
}

fn assert_all_seen(run: &Observed) {
    let gaps = &run.profile["sensor"]["not_measured"];
    assert_eq!(gaps.as_array().map(Vec::len), Some(0), "{gaps}");
    assert_eq!(lost_counts(&run.profile), 0);
}

/// Reads of all of a cold file, none of which was evicted before its turn came: by the block layer, nothing was read twice.
fn observe_cold(scratch: &Scratch, file: &Path, words: &[&str]) -> Observed {
    let pages = std::fs::metadata(file).expect("stat").len() / PAGE;
    until("nothing that was read ahead is evicted", || {
        let run = observe(scratch, file, Cache::Cold, words);
        (run.truth("/block_read_bytes") <= pages * PAGE).then_some(run)
    })
}

#[test]
fn buffered_reads() {
    let scratch = Scratch::new("aio-reads");
    let file = scratch.file("f", 4 * MIB);
    for words in [
        &["aio"][..],
        &["aio", "--depth", "1"],
        &["aio", "--random"],
        &["aio", "--block", "65536", "--depth", "7", "--iovecs", "5"],
        &["aio", "--own-ring"],
        &["aio", "--own-ring", "--depth", "1", "--random"],
        &["aio", "--refused", "--depth", "6"],
    ] {
        let one = words.windows(2).any(|pair| pair == ["--depth", "1"]);
        assert_reads(&observe_cold(&scratch, &file, words), one);
        let warm = observe(&scratch, &file, Cache::Warm, words);
        assert_reads(&warm, one);
        warm.assert_counts(&[("/read/hits", warm.truth("/pages")), ("/time/miss_ns", 0)]);
    }
}

#[test]
fn direct_reads_and_writes() {
    let scratch = Scratch::new("aio-direct");
    let file = scratch.file("f", 4 * MIB);
    for words in [
        &["aio", "--direct", "--block", "65536"][..],
        &["aio", "--direct", "--random", "--own-ring"],
        &["aio", "--direct", "--write", "--iovecs", "4", "--block", "16384"],
        &["aio", "--direct", "--write", "--refused"],
        &["aio", "--direct", "--depth", "300", "--count", "1000"],
        &["aio", "--direct", "--depth", "300", "--count", "1000", "--unmapped"],
        &["aio", "--direct", "--depth", "300", "--count", "1000", "--own-ring", "--unmapped"],
    ] {
        let run = observe(&scratch, &file, Cache::Cold, words);
        run.assert_same(&[
            ("/direct/read_calls", "/direct/read_calls"),
            ("/direct/read_bytes", "/direct/read_bytes"),
            ("/direct/write_calls", "/direct/write_calls"),
            ("/direct/write_bytes", "/direct/write_bytes"),
            ("/device/read_bytes", "/direct/read_bytes"),
            ("/device/write_bytes", "/direct/write_bytes"),
        ]);
        run.assert_counts(&[("/read/calls", 0), ("/write/calls", 0), ("/readahead/pages", 0)]);
        assert!(run.seen("/direct/time_ns") > 0, "{}", run.both());
        assert_all_seen(&run);
    }
}

#[test]
fn a_direct_read_of_a_hole_asks_no_device() {
    let scratch = Scratch::new("aio-hole");
    let file = scratch.path("f");
    std::fs::File::create(&file).and_then(|file| file.set_len(MIB)).expect("a sparse file");
    let run = observe(&scratch, &file, Cache::AsItIs, &["aio", "--direct", "--block", "65536"]);
    run.assert_counts(&[
        ("/direct/read_calls", MIB / 65536),
        ("/direct/read_bytes", MIB),
        ("/device/read_bytes", 0),
    ]);
}

#[test]
fn buffered_writes_and_syncs() {
    let scratch = Scratch::new("aio-writes");
    for words in [
        &["aio", "--write"][..],
        &["aio", "--write", "--own-ring", "--fsync", "--depth", "128"],
        // Results that the sensor can't read before the program has touched them.
        &["aio", "--write", "--own-ring", "--fsync", "--depth", "128", "--unmapped"],
        &["aio", "--write", "--own-ring", "--depth", "256", "--unmapped"],
        &["aio", "--write", "--depth", "100", "--unmapped"],
        &["aio", "--append", "--count", "700", "--block", "1000"],
        &["aio", "--append", "--block", "3000", "--depth", "1", "--count", "50"],
    ] {
        let file = scratch.file("f", MIB);
        let run = observe(&scratch, &file, Cache::Cold, words);
        run.assert_writes();
        run.assert_same(&[("/sync/calls", "/sync_calls")]);
        run.assert_counts(&[("/read/calls", 0), ("/readahead/pages", 0)]);
        assert_eq!(run.seen("/sync/time_ns") > 0, run.truth("/sync_calls") > 0, "{}", run.both());
        assert_all_seen(&run);
    }
}

#[test]
fn parts_of_pages_have_to_be_read_first() {
    let scratch = Scratch::new("aio-parts");
    let file = scratch.file("f", MIB);
    let words = ["aio", "--write", "--block", "1000", "--depth", "1"];
    let run = observe(&scratch, &file, Cache::Cold, &words);
    run.assert_writes_in_parts();
}

/// What is over by the end of the program is in the ring; what was under way then is named.
#[test]
fn results_that_nobody_takes_are_counted_or_named() {
    let scratch = Scratch::new("aio-abandon");
    let file = scratch.file("f", 4 * MIB);
    let words = ["aio", "--direct", "--abandon", "--depth", "200", "--count", "600"];
    let run = observe(&scratch, &file, Cache::Cold, &words);
    let gaps = run.profile["sensor"]["not_measured"].as_array().expect("gaps");
    let named = gaps.iter().find(|gap| gap["what"] == "Linux AIO").map_or(0, |gap| {
        let reason = gap["reason"].as_str().expect("a reason");
        reason.split_once(' ').expect("a count").0.parse().expect("a number")
    });
    assert!(named <= 200, "{gaps:?}");
    assert_eq!(run.seen("/direct/read_calls") + named, 600, "{}", run.both());
}
