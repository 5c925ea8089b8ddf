//! What the meter of timed parts counts. The kernel counts by process, and other tests of the crate read in threads of
//! theirs: so this one has a process of its own.

use std::os::unix::fs::FileExt;

use hotset_sys::rawio::timed;

#[test]
fn reads_are_counted_as_the_kernel_counts_them() {
    let path = std::env::current_exe().expect("path of the test").with_extension("read");
    std::fs::write(&path, [7; 4096]).expect("a file");
    let file = std::fs::File::open(&path).expect("a file");
    // Open, it needs no name; and a test that fails leaves none behind.
    std::fs::remove_file(&path).expect("remove");
    let mut buffer = [0; 16];
    let (read, repetition) = timed(|| -> std::io::Result<usize> {
        (0..100).map(|at| file.read_at(&mut buffer, at)).sum()
    })
    .expect("read");
    assert_eq!(read, 1600);
    assert_eq!((repetition.read_calls, repetition.write_calls), (Some(100), Some(0)));
    assert!(repetition.wall_ns > 0);
}
