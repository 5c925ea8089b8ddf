//! Calls of another ABI are not taken for the 64-bit calls of the same number, and named.

use hotset_tests::{Cache, MIB, Scratch, number, observe};

#[test]
fn calls_by_int_0x80_are_named_and_not_counted() {
    let scratch = Scratch::new("int80");
    let file = scratch.file("f", MIB);
    let run = observe(&scratch, &file, Cache::AsItIs, &["int80", "--count", "25"]);
    assert_eq!(run.truth("/requests"), 25, "this kernel serves x32 too: {}", run.truth);
    run.assert_counts(&[
        ("/read/calls", 0),
        ("/write/calls", 0),
        ("/readahead/pages", 0),
        ("/sync/calls", 0),
    ]);
    let gaps = run.profile["sensor"]["not_measured"].as_array().expect("gaps").clone();
    let named = gaps.iter().find(|gap| gap["what"] == "32-bit system calls").expect("named");
    // The reads, and nothing for getpid or for what the kernel refused.
    assert_eq!(named["reason"], "25 calls of the i386 and x32 ABIs were not decoded");
    // What follows in the same program is counted again.
    assert!(number(&run.profile, "/totals/write/calls") > 0, "the truth was written");
}
