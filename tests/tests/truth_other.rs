//! Direct I/O, mappings, io_uring and lookups: what hotset says against what the workload and the kernel say.

use hotset_tests::scratch::text;
use hotset_tests::{Cache, MIB, Observed, PAGE, Scratch, number, observe};

fn assert_direct(run: &Observed) {
    run.assert_same(&[
        ("/direct/read_calls", "/direct/read_calls"),
        ("/direct/read_bytes", "/direct/read_bytes"),
        ("/direct/reread_bytes", "/direct/reread_bytes"),
        ("/direct/write_calls", "/direct/write_calls"),
        ("/direct/write_bytes", "/direct/write_bytes"),
        ("/device/read_bytes", "/block_read_bytes"),
        // What the kernel says of the process includes the inode's own page, for its times.
        ("/device/write_bytes", "/direct/write_bytes"),
        ("/cached_after", "/pages_cached_after"),
    ]);
    // Never as hits or misses.
    run.assert_counts(&[
        ("/read/calls", 0),
        ("/read/pages", 0),
        ("/write/calls", 0),
        ("/write/dirtied_pages", 0),
        ("/readahead/pages", 0),
    ]);
}

#[test]
fn direct_io_is_counted_apart() {
    let scratch = Scratch::new("direct");
    let file = scratch.file("f", 4 * MIB);
    for words in [
        &["direct-read"][..],
        &["direct-read", "--block", "4096"],
        &["direct-reread", "--passes", "3"],
        &["direct-write"],
        &["uring", "--direct", "--block", "65536"],
        &["uring", "--direct", "--fixed", "--sqpoll", "--block", "65536"],
        &["uring", "--direct", "--write", "--block", "65536"],
    ] {
        assert_direct(&observe(&scratch, &file, Cache::Cold, words));
    }
}

#[test]
fn a_direct_reader_of_a_cached_file_reads_the_device_all_the_same() {
    let scratch = Scratch::new("direct-warm");
    let file = scratch.file("f", 4 * MIB);
    let run = observe(&scratch, &file, Cache::Warm, &["direct-read"]);
    assert_direct(&run);
    run.assert_counts(&[("/device/read_bytes", 4 * MIB)]);
}

fn assert_mapped(run: &Observed) {
    run.assert_same(&[
        ("/mmap/major_faults", "/majflt"),
        ("/device/read_bytes", "/block_read_bytes"),
        ("/cached_before", "/pages_cached_before"),
        ("/cached_after", "/pages_cached_after"),
    ]);
    run.assert_counts(&[
        ("/mmap/pages_read", run.truth("/block_read_bytes") / PAGE),
        ("/read/calls", 0),
        ("/read/pages", 0),
    ]);
}

/// All faults of the loop are the mapping's.
fn assert_faults(run: &Observed) {
    run.assert_counts(&[
        ("/mmap/faults", run.truth("/minflt") + run.truth("/majflt")),
        ("/mmap/minor_faults", run.truth("/minflt")),
    ]);
}

#[test]
fn mappings_read_in_order() {
    let scratch = Scratch::new("mmap-seq");
    let file = scratch.file("f", 8 * MIB);
    for cache in [Cache::Cold, Cache::Warm] {
        let run = observe(&scratch, &file, cache, &["mmap-seq"]);
        assert_mapped(&run);
        assert_faults(&run);
    }
}

#[test]
fn mappings_read_at_random() {
    let scratch = Scratch::new("mmap-random");
    let file = scratch.file("f", 8 * MIB);
    let run = observe(&scratch, &file, Cache::Cold, &["mmap-random", "--count", "700"]);
    assert_mapped(&run);
    assert_faults(&run);
}

/// A fault that finds cached neighbours maps them first, and reads its own page then: still one fault.
#[test]
fn a_fault_that_maps_neighbours_before_it_reads_is_one_fault() {
    let scratch = Scratch::new("mmap-advised");
    let file = scratch.file("f", 8 * MIB);
    let words = ["mmap-random", "--count", "700", "--advise-random"];
    let run = observe(&scratch, &file, Cache::Cold, &words);
    assert_mapped(&run);
    run.assert_counts(&[("/mmap/major_faults", 700), ("/mmap/pages_read", 700)]);
    assert_faults(&run);
}

fn assert_ring(run: &Observed, one_in_flight: bool) {
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
    run.assert_misses(one_in_flight);
}

const RINGS: [&[&str]; 8] = [
    &["uring"],
    &["uring", "--async"],
    &["uring", "--sqpoll"],
    &["uring", "--random"],
    &["uring", "--fixed"],
    &["uring", "--fixed-file", "--async", "--random"],
    &["uring", "--fixed", "--sqpoll", "--random"],
    &["uring", "--block", "65536"],
];

#[test]
fn rings_with_many_requests_in_flight() {
    let scratch = Scratch::new("rings");
    let file = scratch.file("f", 4 * MIB);
    for words in RINGS {
        assert_ring(&observe(&scratch, &file, Cache::Cold, words), false);
    }
}

#[test]
fn rings_with_one_request_in_flight() {
    let scratch = Scratch::new("ring");
    let file = scratch.file("f", 4 * MIB);
    for words in RINGS {
        let words = [words, &["--depth", "1"]].concat();
        assert_ring(&observe(&scratch, &file, Cache::Cold, &words), true);
    }
}

#[test]
fn rings_on_a_cached_file() {
    let scratch = Scratch::new("rings-warm");
    let file = scratch.file("f", 4 * MIB);
    for words in RINGS {
        let run = observe(&scratch, &file, Cache::Warm, words);
        assert_ring(&run, false);
        run.assert_counts(&[("/read/misses", 0), ("/read/readahead_hits", 0)]);
    }
}

#[test]
fn rings_that_write() {
    let scratch = Scratch::new("rings-write");
    let file = scratch.file("f", 4 * MIB);
    for words in [&["uring", "--write"][..], &["uring", "--write", "--fixed", "--sqpoll"]] {
        let run = observe(&scratch, &file, Cache::Cold, words);
        run.assert_writes();
        run.assert_counts(&[("/write/misses", 0), ("/read/calls", 0), ("/readahead/pages", 0)]);
    }
}

#[test]
fn a_ring_that_writes_parts_of_pages_has_to_read_them() {
    let scratch = Scratch::new("ring-parts");
    let file = scratch.file("f", MIB);
    let words = ["uring", "--write", "--block", "1000", "--depth", "1"];
    let run = observe(&scratch, &file, Cache::Cold, &words);
    run.assert_writes_in_parts();
}

#[test]
fn names_that_do_not_exist() {
    let scratch = Scratch::new("lookups");
    let file = scratch.file("f", PAGE);
    let dirs = ["a", "b"].map(|name| scratch.path(name));
    dirs.iter().for_each(|dir| std::fs::create_dir(dir).expect("mkdir"));
    let list = format!("{},{}", text(&dirs[0]), text(&dirs[1]));
    let words = ["lookups", "--dirs", &list, "--count", "20"];
    let run = observe(&scratch, &file, Cache::AsItIs, &words);
    let lookups = &run.profile["lookups"];
    assert!(number(lookups, "/calls") >= run.truth("/lookups/calls"), "{lookups}");
    let seen = lookups["failed_paths"].as_array().expect("failed paths");
    // Starting the program asks for other names that don't exist, elsewhere.
    let here = |value: &&serde_json::Value| {
        value["path"].as_str().is_some_and(|path| path.starts_with(text(scratch.dir())))
    };
    let ours: u64 = seen.iter().filter(here).map(|path| number(path, "/calls")).sum();
    assert_eq!(ours, run.truth("/lookups/failed"), "{lookups}");
    for wanted in run.truth["lookups"]["failed_paths"].as_array().expect("paths") {
        let found = seen.iter().find(|path| path["path"] == wanted["path"]);
        let found = found.unwrap_or_else(|| panic!("{wanted} is not in {lookups}"));
        assert_eq!(number(found, "/calls"), number(wanted, "/calls"), "{found}");
    }
    assert_eq!(number(lookups, "/failed_unnamed"), 0, "{lookups}");
    for wanted in run.truth["lookups"]["by_directory"].as_array().expect("directories") {
        let failed = number(wanted, "/failed");
        let rows = run.profile["lookups_by_directory"].as_array().expect("directories");
        let row = rows.iter().find(|row| row["directory"] == wanted["directory"]);
        let seen = row.map_or(0, |row| number(row, "/failed"));
        assert_eq!(seen, failed, "{wanted} in {lookups}");
    }
}

/// Files of /proc have no pages: a read of them is neither a hit nor a miss.
#[test]
fn what_the_kernel_makes_up_is_not_in_the_page_cache() {
    let scratch = Scratch::new("proc");
    let profile = hotset_tests::profile_of(
        &scratch,
        &["cat", "/proc/stat", "/sys/kernel/mm/transparent_hugepage/enabled"],
    );
    for row in profile["files"].as_array().expect("files") {
        let made_up = row["path"]
            .as_str()
            .is_some_and(|path| path.starts_with("/proc/") || path.starts_with("/sys/"));
        assert!(!made_up || number(row, "/read/pages") == 0, "{row}");
    }
}
