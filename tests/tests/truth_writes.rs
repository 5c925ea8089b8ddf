//! Writes: what hotset says of a file against what the workload and the kernel say of it.

use hotset_tests::scratch::text;
use hotset_tests::{Cache, MIB, Observed, PAGE, Scratch, observe};

fn assert_requests(run: &Observed) {
    run.assert_same(&[
        ("/write/calls", "/requests"),
        ("/write/bytes", "/bytes"),
        ("/write/pages", "/pages"),
        ("/write/new_pages", "/new_pages"),
        ("/write/dirtied_pages", "/dirtied_pages"),
        ("/sync/calls", "/sync_calls"),
        ("/device/read_bytes", "/block_read_bytes"),
        ("/cached_before", "/pages_cached_before"),
        ("/cached_after", "/pages_cached_after"),
        ("/size_bytes", "/file/size_bytes"),
    ]);
    // Whatever came from the device came to be modified.
    run.assert_counts(&[
        ("/write/misses", run.truth("/block_read_bytes") / PAGE),
        ("/read/calls", 0),
        ("/read/misses", 0),
        ("/readahead/pages", 0),
        ("/direct/write_calls", 0),
    ]);
}

#[test]
fn a_new_file_is_made_of_new_pages() {
    let scratch = Scratch::new("new");
    for block in ["4096", "65536", "1000000"] {
        let file = scratch.empty(block);
        let words = ["write-new", "--size-mib", "4", "--block", block];
        assert_requests(&observe(&scratch, &file, Cache::AsItIs, &words));
    }
}

#[test]
fn what_is_synced_reaches_the_device() {
    let scratch = Scratch::new("synced");
    let file = scratch.empty("f");
    let words = ["write-new", "--size-mib", "4", "--fsync"];
    let run = observe(&scratch, &file, Cache::AsItIs, &words);
    assert_requests(&run);
    run.assert_counts(&[("/sync/calls", 1), ("/device/write_bytes", 4 * MIB)]);
}

#[test]
fn what_is_cached_is_overwritten_in_place() {
    let scratch = Scratch::new("overwrite");
    let file = scratch.file("f", 4 * MIB);
    for block in ["4096", "65536"] {
        let words = ["overwrite", "--block", block, "--fsync"];
        let run = observe(&scratch, &file, Cache::Warm, &words);
        assert_requests(&run);
        run.assert_counts(&[("/write/new_pages", 0), ("/write/dirtied_pages", 4 * MIB / PAGE)]);
    }
}

#[test]
fn whole_pages_are_overwritten_without_reading_them() {
    let scratch = Scratch::new("uncached");
    let file = scratch.file("f", 4 * MIB);
    for block in ["4096", "65536"] {
        let words = ["overwrite-uncached", "--block", block, "--fsync"];
        let run = observe(&scratch, &file, Cache::Cold, &words);
        assert_requests(&run);
        run.assert_counts(&[("/write/new_pages", 4 * MIB / PAGE), ("/write/misses", 0)]);
    }
}

#[test]
fn a_part_of_a_page_has_to_be_read_first() {
    let scratch = Scratch::new("partial");
    let file = scratch.file("f", 4 * MIB);
    let words = ["write-partial", "--count", "500"];
    let cold = observe(&scratch, &file, Cache::Cold, &words);
    assert_requests(&cold);
    cold.assert_counts(&[("/write/new_pages", 500), ("/write/misses", 500)]);
    hotset_tests::evict_verified(&file);
    let warm = observe(&scratch, &file, Cache::Warm, &words);
    assert_requests(&warm);
    warm.assert_counts(&[("/write/new_pages", 0), ("/write/misses", 0)]);
}

#[test]
fn small_writes_count_each_call() {
    let scratch = Scratch::new("small");
    let file = scratch.empty("f");
    let words = ["write-small", "--count", "5000"];
    let run = observe(&scratch, &file, Cache::AsItIs, &words);
    assert_requests(&run);
    run.assert_counts(&[("/write/calls", 5000), ("/write/new_pages", 5)]);
}

#[test]
fn each_sync_is_counted_and_each_write_dirties_again() {
    let scratch = Scratch::new("fsync");
    let file = scratch.empty("f");
    let run = observe(&scratch, &file, Cache::AsItIs, &["fsync-each", "--count", "7"]);
    assert_requests(&run);
    run.assert_counts(&[
        ("/sync/calls", 7),
        ("/write/dirtied_pages", 7),
        ("/device/write_bytes", 7 * PAGE),
    ]);
}

#[test]
fn appending_writes_at_the_end() {
    let scratch = Scratch::new("append");
    let file = scratch.file("f", 10_000);
    let words = ["append", "--count", "300", "--block", "100"];
    let run = observe(&scratch, &file, Cache::AsItIs, &words);
    assert_requests(&run);
    run.assert_counts(&[("/write/sequential_calls", 299)]);
}

#[test]
fn stores_to_a_mapping_dirty_its_pages() {
    let scratch = Scratch::new("mmap-write");
    let file = scratch.file("f", 4 * MIB);
    for cache in [Cache::Warm, Cache::Cold] {
        hotset_tests::evict_verified(&file);
        let run = observe(&scratch, &file, cache, &["mmap-write"]);
        run.assert_same(&[
            ("/write/dirtied_pages", "/dirtied_pages"),
            ("/mmap/major_faults", "/majflt"),
            ("/device/read_bytes", "/block_read_bytes"),
            ("/cached_after", "/pages_cached_after"),
        ]);
        let read = run.truth("/block_read_bytes") / PAGE;
        run.assert_counts(&[
            ("/mmap/pages_read", read),
            ("/mmap/faults", run.truth("/minflt") + run.truth("/majflt")),
            ("/write/calls", 0),
        ]);
    }
}

#[test]
fn msync_is_counted_and_its_bytes_are_the_files() {
    let scratch = Scratch::new("msync");
    let file = scratch.file("f", MIB);
    let run = observe(&scratch, &file, Cache::Warm, &["mmap-write", "--fsync"]);
    run.assert_counts(&[("/device/write_bytes", MIB)]);
    // The call names memory and no file.
    assert_eq!(hotset_tests::number(&run.profile, "/totals/sync/calls"), 1);
}

/// Its pages are its only copy, and enter the cache by another way than those of other file systems.
#[test]
fn a_file_in_memory_is_made_of_new_pages_too() {
    let scratch = Scratch::new("tmpfs");
    let dir = scratch.path("memory");
    std::fs::create_dir(&dir).expect("mkdir");
    let _mounted = hotset_tests::Mounted::new(&["-t", "tmpfs", "none", text(&dir)]);
    let file = dir.join("f");
    let words = ["write-new", "--size-mib", "4"];
    let run = observe(&scratch, &file, Cache::AsItIs, &words);
    run.assert_same(&[
        ("/write/calls", "/requests"),
        ("/write/bytes", "/bytes"),
        ("/write/pages", "/pages"),
        ("/cached_after", "/pages_cached_after"),
    ]);
    let new = &run.row()["write"]["new_pages"];
    assert!(new.is_null() || *new == 4 * MIB / PAGE, "{}", run.row());
}
