//! What a recording says of memory that is no file cache.

use hotset_tests::traced::record;
use hotset_tests::{MIB, Scratch};

/// Holds so many MiB, and has children that only look at what it left them; each adds a little.
const FORKS: &str = "
import os, time
held = bytearray(150 << 20)
children = []
for number in range(4):
    if not (child := os.fork()):
        own = bytearray(10 << 20)
        time.sleep(2)
        os._exit(0)
    children.append(child)
for child in children: os.waitpid(child, 0)
";

#[test]
fn what_a_fork_left_to_several_counts_once() {
    let scratch = Scratch::new("record-memory");
    let trace = record(&scratch, &[], &["/usr/bin/python3", "-S", "-c", FORKS]).trace;
    let memory = trace.head.memory.expect("it was looked at");
    // The interpreter itself has some, in each process.
    let anon = memory.anon_peak_bytes / MIB;
    assert!((190..260).contains(&anon), "{anon} MiB: {memory:?}");
    assert!(memory.looks > 1 && memory.anon_peak_at_ns > 0, "{memory:?}");
    assert!(memory.page_tables_peak_bytes > 150 * MIB / 512, "{memory:?}");
}
