//! What io_uring does beside plain reads and writes, and appends by a flag of the request.

use hotset_tests::{Cache, MIB, Observed, PAGE, Scratch, number, observe};

fn not_measured(run: &Observed) -> String {
    run.profile["sensor"]["not_measured"].to_string()
}

#[test]
fn appends_are_where_the_file_ends() {
    let scratch = Scratch::new("appends");
    for words in [
        &["append", "--by-flag", "--block", "1000"][..],
        &["uring-append", "--depth", "1"],
        &["uring-append", "--depth", "1", "--by-flag", "--block", "5000", "--count", "50"],
        &["uring-append", "--depth", "16"],
        &["uring-append", "--depth", "16", "--by-flag", "--async", "--block", "3000"],
    ] {
        let file = scratch.file("f", 10 * PAGE);
        let run = observe(&scratch, &file, Cache::AsItIs, words);
        run.assert_same(&[
            ("/write/calls", "/requests"),
            ("/write/bytes", "/bytes"),
            ("/write/pages", "/pages"),
            ("/write/new_pages", "/new_pages"),
        ]);
        // The first of all may be counted where the last run's left off, and no other.
        let sequential = run.seen("/write/sequential_calls");
        assert!(sequential + 1 >= run.truth("/requests"), "{}", run.both());
        run.assert_counts(&[("/readahead/pages", 0), ("/read/calls", 0)]);
        assert_eq!(not_measured(&run), "[]");
    }
}

fn assert_reads(run: &Observed) {
    run.assert_same(&[
        ("/read/calls", "/requests"),
        ("/read/bytes", "/bytes"),
        ("/read/pages", "/pages"),
        ("/device/read_bytes", "/block_read_bytes"),
        ("/sync/calls", "/sync_calls"),
    ]);
    run.assert_counts(&[("/read/from_device", run.truth("/block_read_bytes") / PAGE)]);
    assert_eq!(not_measured(run), "[]");
}

#[test]
fn splices() {
    let scratch = Scratch::new("uring-splice");
    let file = scratch.file("f", MIB);
    let run = observe(&scratch, &file, Cache::Cold, &["uring-splice"]);
    assert_reads(&run);
    run.assert_misses(true);
}

#[test]
fn registered_vectors_chains_syncs_and_what_is_refused() {
    let scratch = Scratch::new("uring-mixed");
    // Three requests of two pages a round.
    let file = scratch.file("f", 40 * 6 * PAGE);
    assert_reads(&observe(&scratch, &file, Cache::Cold, &["uring-mixed"]));
    let warm = observe(&scratch, &file, Cache::Warm, &["uring-mixed"]);
    assert_reads(&warm);
    warm.assert_counts(&[("/read/hits", warm.truth("/pages"))]);
}

#[test]
fn lookups_count_and_only_their_paths_are_unknown() {
    let scratch = Scratch::new("uring-lookups");
    let file = scratch.file("f", PAGE);
    let few = observe(&scratch, &file, Cache::AsItIs, &["uring-lookups", "--count", "10"]);
    let many = observe(&scratch, &file, Cache::AsItIs, &["uring-lookups", "--count", "35"]);
    // Starting the program makes others, the same each time.
    let more = |pointer| number(&many.profile, pointer) - number(&few.profile, pointer);
    assert_eq!((more("/lookups/calls"), more("/lookups/failed")), (100, 50));
    let opens = |run: &Observed| number(run.row(), "/opens");
    assert_eq!(opens(&many), many.truth("/opens"), "{}", many.both());
    assert_eq!(opens(&few), few.truth("/opens"), "{}", few.both());
    assert!(not_measured(&many).contains("70 lookups failed whose path is not known"));
}

#[test]
fn what_leaves_no_completion_is_named() {
    let scratch = Scratch::new("uring-silent");
    let file = scratch.file("f", PAGE);
    let run = observe(&scratch, &file, Cache::Warm, &["uring-silent", "--count", "12"]);
    run.assert_counts(&[("/read/calls", 0)]);
    assert!(not_measured(&run).contains("12 requests leave no completion"), "{}", run.profile);
}
