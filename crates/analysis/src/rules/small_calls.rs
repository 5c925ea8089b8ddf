//! Many small reads or writes in a row: a buffer is missing.

use super::culprits::{bounds, culprits, files, total, worst};
use super::input::{BUFFER_BYTES, cached_read_ns, ratio};
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};
use hotset_facts::{CostTable, Io, ReadIo, WriteIo};

/// Calls over all files from which on a missing buffer is likely (rules R01 and R02 of the catalogue: "1000 writes, mean
/// < 4 KiB", "1000 reads < 4 KiB").
const MIN_CALLS: u64 = 1000;
/// Calls on one file: fewer are a file that is read once through or a small one that is written whole, which no buffer
/// makes cheaper.
const MIN_CALLS_PER_FILE: u64 = 100;
/// A mean below a page is small (R01, R02).
const SMALL_MEAN_BYTES: f64 = 4096.0;
/// From this mean on, the program has a buffer: few ask for as much at a time, and 4096 bytes are what C libraries take by
/// themselves.
const BUFFERED_BYTES: f64 = 2048.0;
/// "Mostly in order". Half would already hold for files that are read by one call and one more that finds the end.
const MIN_SEQUENTIAL_SHARE: f64 = 0.75;

/// Calls of one direction.
struct Calls {
    calls: u64,
    bytes: u64,
    sequential: u64,
    time_ns: u64,
    /// Syncs of the file: before each, a buffer has to be written.
    syncs: u64,
}

/// What differs between the two directions.
struct Direction {
    id: &'static str,
    calls: fn(&Io) -> Option<Calls>,
    /// What the calls cost, and what the same bytes cost through a buffer.
    costs: fn(&CostTable, &Calls) -> (f64, f64),
    title: &'static str,
    advice: &'static str,
    /// The names of the calls, their mean, and their time.
    evidence: [&'static str; 3],
}

pub(super) const READS_ID: &str = "small-reads";

const READS: Direction = Direction {
    id: READS_ID,
    calls: |io| {
        let ReadIo { calls, bytes, sequential_calls: sequential, time_ns, .. } = io.read.value()?;
        Some(Calls { calls, bytes, sequential: sequential.value()?, time_ns, syncs: 0 })
    },
    costs: |costs, seen| {
        let (calls, bytes) = (seen.calls as f64, seen.bytes as f64);
        (calls * costs.read_ns(ratio(bytes, calls)), cached_read_ns(costs, bytes))
    },
    title: "Small sequential reads from",
    advice: "Read through a buffer of at least 64 KiB (C setvbuf with your own memory, since glibc ignores the size if the \
             buffer is NULL; Python buffering=65536; Go bufio.NewReaderSize; Java BufferedInputStream), or mmap. A \
             4-byte call costs as much as a 4 KiB call.",
    evidence: ["read_calls", "mean_read_bytes", "read_ns"],
};

pub(super) const WRITES_ID: &str = "small-writes";

const WRITES: Direction = Direction {
    id: WRITES_ID,
    calls: |io| {
        let WriteIo { calls, bytes, sequential_calls: sequential, time_ns, .. } =
            io.write.value()?;
        let syncs = io.sync.value().map_or(0, |sync| sync.calls);
        Some(Calls { calls, bytes, sequential: sequential.value()?, time_ns, syncs })
    },
    costs: |costs, seen| {
        let (calls, bytes) = (seen.calls as f64, seen.bytes as f64);
        let left = (bytes / BUFFER_BYTES).ceil().max((seen.syncs as f64).min(calls));
        (calls * costs.write_ns(ratio(bytes, calls)), left * costs.write_ns(ratio(bytes, left)))
    },
    title: "Small sequential writes to",
    advice: "Write through a 64 KiB buffer (C setvbuf with your own memory, since glibc ignores the size if the buffer is \
             NULL; Python buffering=65536; Go bufio.NewWriterSize; Java BufferedOutputStream); flush where others must \
             see the data. Ignore for logs whose lines must survive a crash.",
    evidence: ["write_calls", "mean_write_bytes", "write_ns"],
};

pub(super) fn check_reads(input: &RuleInput<'_>) -> Answer {
    let calls = input.read()?.calls;
    check(&READS, calls, input)
}

pub(super) fn check_writes(input: &RuleInput<'_>) -> Answer {
    let calls = input.write()?.calls;
    check(&WRITES, calls, input)
}

fn check(direction: &Direction, all_calls: u64, input: &RuleInput<'_>) -> Answer {
    if all_calls < MIN_CALLS {
        return Ok(None);
    }
    let costs = input.costs()?;
    let found = culprits(input.profile, |_, io| {
        let seen = (direction.calls)(io).filter(is_unbuffered)?;
        let (now, buffered) = (direction.costs)(&costs, &seen);
        // Not more than was spent: the prices come from another moment.
        let saved = (now - buffered).min(seen.time_ns as f64);
        Some((seen, saved, saved))
    });
    let calls = total(&found, |seen| seen.calls);
    let bytes = total(&found, |seen| seen.bytes);
    let (low_ns, high_ns) = bounds(&found);
    let saving = input.saving(low_ns, high_ns);
    if calls < MIN_CALLS || !input.worth(&saving) {
        return Ok(None);
    }
    let mean_bytes = ratio(bytes as f64, calls as f64);
    let buffer = if mean_bytes < BUFFERED_BYTES { "no user-space buffer" } else { "small buffer" };
    let title = format!("{} {}, {buffer}", direction.title, files(found.len()));
    let [calls_name, mean_name, time_name] = direction.evidence;
    let evidence = vec![
        Evidence::count(calls_name, calls),
        Evidence::real(mean_name, mean_bytes),
        Evidence::real("calls_per_kib", ratio(calls as f64, bytes as f64 / 1024.0)),
        Evidence::count(time_name, total(&found, |seen| seen.time_ns)),
        Evidence::count("buffer_bytes", BUFFER_BYTES as u64),
    ];
    let finding = Finding::with_saving(direction.id, title, direction.advice, saving, evidence);
    Ok(Some(finding.about(worst(&found))))
}

fn is_unbuffered(seen: &Calls) -> bool {
    let calls = seen.calls as f64;
    let small = ratio(seen.bytes as f64, calls) < SMALL_MEAN_BYTES;
    let in_order = ratio(seen.sequential as f64, calls) >= MIN_SEQUENTIAL_SHARE;
    seen.calls >= MIN_CALLS_PER_FILE && seen.bytes > 0 && small && in_order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Number;
    use crate::testing::{Run, read_file, run_of, second, written_file};
    use hotset_facts::{Observed, Reason, SyncIo};

    fn reads(calls: u64, bytes: u64, sequential: u64) -> Run {
        let (sequential_calls, time_ns) = (Observed::Value(sequential), second(1));
        let read = ReadIo { calls, bytes, sequential_calls, time_ns, ..ReadIo::default() };
        Run::new(run_of(vec![read_file("/data/log", bytes, read)]))
    }

    fn writes(calls: u64, bytes: u64, sequential: u64) -> Run {
        let (sequential_calls, time_ns) = (Observed::Value(sequential), second(1));
        let write = WriteIo { calls, bytes, sequential_calls, time_ns, ..WriteIo::default() };
        Run::new(run_of(vec![written_file("/var/log/x", write)]))
    }

    #[test]
    fn hit_a_million_reads_of_26_bytes() {
        let finding = reads(1_000_000, 26_000_000, 999_999).finding(check_reads);
        // 1 000 000 × 286 ns − 397 × 1600 ns ≈ 0.286 s of one second.
        assert!((280_000_000..290_000_000).contains(&finding.saving.low_ns), "{finding:?}");
        assert_eq!(finding.files, [std::path::PathBuf::from("/data/log")]);
    }

    #[test]
    fn hit_half_a_million_writes_of_16_bytes() {
        let finding = writes(500_000, 8_000_000, 500_000).finding(check_writes);
        assert!((225_000_000..235_000_000).contains(&finding.saving.low_ns), "{finding:?}");
        let per_kib = finding.evidence.iter().find(|evidence| evidence.name == "calls_per_kib");
        assert_eq!(per_kib.map(|evidence| evidence.value), Some(Number::Real(64.0)));
    }

    #[test]
    fn a_log_that_is_synced_after_each_line_lacks_no_buffer() {
        let write = |sync: Observed<SyncIo>| {
            let (sequential_calls, time_ns) = (Observed::Value(499_999), second(1));
            let (calls, bytes) = (500_000, 8_000_000);
            let write = WriteIo { calls, bytes, sequential_calls, time_ns, ..WriteIo::default() };
            let mut row = written_file("/db/journal", write);
            row.io.edit(|io| io.sync = sync);
            Run::new(run_of(vec![row]))
        };
        let synced = |calls| write(Observed::Value(SyncIo { calls, time_ns: second(1) }));
        assert_eq!(synced(500_000).ask(check_writes), Ok(None));
        assert_eq!(synced(1_000_000).ask(check_writes), Ok(None), "as SQLite does");
        // Ten lines at a time are worth a buffer, and worth less than without syncs.
        let of_ten = synced(50_000).finding(check_writes).saving.low_ns;
        let of_all = synced(0).finding(check_writes).saving.low_ns;
        assert!((of_all - 30_000_000..of_all - 20_000_000).contains(&of_ten), "{of_ten} {of_all}");
        let unknown = write(Observed::Missing(Reason::denied("needs root")));
        assert_eq!(unknown.finding(check_writes).saving.low_ns, of_all);
    }

    #[test]
    fn a_buffer_that_is_there_is_not_denied() {
        // sort(1) writes its temporary files by 4096 bytes, but for the end of each.
        let sorted = writes(1_000_000, 4_088_000_000, 999_999).finding(check_writes);
        assert!(sorted.title.ends_with("one file, small buffer"), "{}", sorted.title);
        let bare = writes(500_000, 8_000_000, 500_000).finding(check_writes);
        assert!(bare.title.ends_with("one file, no user-space buffer"), "{}", bare.title);
    }

    #[test]
    fn advice_for_c_is_what_glibc_does() {
        let read = reads(1_000_000, 26_000_000, 999_999).finding(check_reads);
        let written = writes(500_000, 8_000_000, 500_000).finding(check_writes);
        for advice in [read.advice, written.advice] {
            assert!(advice.contains("setvbuf with your own memory"), "{advice}");
        }
    }

    #[test]
    fn near_misses() {
        for (calls, bytes, sequential, why) in [
            (999, 26_000, 999, "few calls"),
            (1_000_000, 8 << 30, 999_999, "8 KiB each"),
            (1_000_000, 26_000_000, 500_000, "random"),
            (2_000, 32_000, 1_999, "saves 1 ms"),
        ] {
            assert_eq!(reads(calls, bytes, sequential).ask(check_reads), Ok(None), "{why}");
            assert_eq!(writes(calls, bytes, sequential).ask(check_writes), Ok(None), "{why}");
        }
    }

    #[test]
    fn no_data() {
        let mut read = Run::without_costs(reads(1_000_000, 26_000_000, 999_999).profile);
        let mut written = Run::without_costs(writes(500_000, 8_000_000, 500_000).profile);
        assert!(read.ask(check_reads).is_err() && written.ask(check_writes).is_err());
        read.profile.totals.read = Observed::Missing(Reason::denied("needs root"));
        written.profile.totals.write = Observed::Missing(Reason::denied("needs root"));
        assert!(read.ask(check_reads).is_err() && written.ask(check_writes).is_err());
    }
}
