//! Direct I/O whose memory is another file's: mapped and shared, or shared memory. It is not that file's I/O.

use std::path::Path;

use hotset_tests::filesystems::{FileSystem, Kind};
use hotset_tests::scratch::text;
use hotset_tests::{
    HotsetRun, MIB, Scratch, assert_invariants, number, row_at, run_hotset, undisturbed,
    warm_verified,
};

/// Moves 4 MiB past the cache, four times as much as the memory that a file lends for it.
fn assert_not_the_lenders(scratch: &Scratch, file: &Path, lent: &Path, compat: bool) {
    let options = if compat { &["-q", "--compat-sensor"][..] } else { &["-q"] };
    for (case, kind) in [("direct-read", "read"), ("direct-write", "write")] {
        undisturbed(&[lent], || {
            if !hotset_tests::scratch::is_in_memory(lent) {
                warm_verified(lent);
            }
            let words = [case, "--file", text(file), "--file2", text(lent)];
            let HotsetRun { profile, .. } = run_hotset(scratch, options, &words);
            assert_invariants(&profile);
            let (row, lender) = (row_at(&profile, file), row_at(&profile, lent));
            assert_eq!(number(row, &format!("/direct/{kind}_bytes")), 4 * MIB, "{case}: {row}");
            assert_eq!(number(row, &format!("/device/{kind}_bytes")), 4 * MIB, "{case}: {row}");
            assert_eq!(number(lender, &format!("/device/{kind}_bytes")), 0, "{case}: {lender}");
            assert_eq!(number(lender, "/direct/read_calls"), 0, "{lender}");
        });
    }
}

#[test]
fn direct_io_into_a_mapped_file_is_not_that_files() {
    let scratch = Scratch::new("lent");
    let (file, lent) = (scratch.file("f", 4 * MIB), scratch.file("memory", MIB));
    for compat in [false, true] {
        assert_not_the_lenders(&scratch, &file, &lent, compat);
    }
}

#[test]
fn direct_io_into_shared_memory_is_the_files() {
    let (scratch, shared) = (Scratch::new("lent-shm"), FileSystem::new(Kind::Tmpfs));
    let (file, lent) = (scratch.file("f", 4 * MIB), shared.path("memory"));
    std::fs::write(&lent, vec![7; MIB as usize]).expect("write");
    for compat in [false, true] {
        assert_not_the_lenders(&scratch, &file, &lent, compat);
    }
}
