//! What a recording lost, where hotset can't take what the sensor tells: it is all accounted for.

use std::path::Path;

use hotset_facts::trace::{Gap, OperationClass};
use hotset_tests::scratch::text;
use hotset_tests::traced::{Trace, record};
use hotset_tests::{MIB, Scratch};

const READS: u64 = 40_000;
const BLOCK: u64 = 16;

/// Reads in order, and stops hotset, which is its parent, for the second quarter of it.
const PROGRAM: &str = "import os, signal, sys, time\n\
     file, hotset = os.open(sys.argv[1], os.O_RDONLY), os.getppid()\n\
     time.sleep(0.3)\n\
     for i in range(40000):\n\
     \x20if i % 1000 == 0 and not 10000 < i < 30000: time.sleep(0.02)\n\
     \x20if i == 10000: os.kill(hotset, signal.SIGSTOP)\n\
     \x20if i == 30000: os.kill(hotset, signal.SIGCONT); time.sleep(0.5)\n\
     \x20os.pread(file, 16, i * 16)\n\
     time.sleep(0.3)\n";

/// Offsets and times of the reads that have a record, by offset.
fn reads(trace: &Trace, file: &Path) -> Vec<(u64, u64)> {
    let reads = trace.of(file).filter(|one| one.is_done(OperationClass::Read));
    let mut reads: Vec<_> =
        reads.map(|one| (one.record.offset.expect("an offset"), one.record.start_ns)).collect();
    reads.sort_unstable();
    reads
}

/// Reads that are missing between two that have a record, and between which times that was.
fn holes(reads: &[(u64, u64)]) -> Vec<(u64, u64, u64)> {
    let pairs = reads.windows(2).filter(|pair| pair[1].0 > pair[0].0 + BLOCK);
    pairs.map(|pair| ((pair[1].0 - pair[0].0) / BLOCK - 1, pair[0].1, pair[1].1)).collect()
}

#[test]
fn what_a_stopped_hotset_lost_is_in_a_gap_of_its_thread_and_time() {
    let scratch = Scratch::new("record-stopped");
    let file = scratch.file("f", MIB);
    let words = ["/usr/bin/python3", "-S", "-c", PROGRAM, text(&file)];
    let recorded = record(&scratch, &["--buffer", "1M"], &words);
    let trace = &recorded.trace;
    let reads = reads(trace, &file);
    let lost = trace.totals.lost;
    assert!(lost > 1000, "{lost}");
    assert_eq!(reads.len() as u64 + lost, READS, "records and lost");
    assert_eq!((reads[0].0, reads[reads.len() - 1].0), (0, (READS - 1) * BLOCK));
    let tid = trace.of(&file).find_map(|one| one.record.tid);
    let holes = holes(&reads);
    let gaps: &[Gap] = &trace.lists.gaps;
    assert_eq!(gaps.len(), holes.len(), "{gaps:?} {holes:?}");
    for (gap, (missing, before_ns, after_ns)) in gaps.iter().zip(holes) {
        assert_eq!((gap.tid, gap.records), (tid, missing));
        assert!(before_ns < gap.from_ns && gap.from_ns < gap.to_ns, "{gap:?} {before_ns}");
        assert!(gap.to_ns < after_ns, "{gap:?} {after_ns}");
    }
}
