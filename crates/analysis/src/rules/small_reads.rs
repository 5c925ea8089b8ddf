//! Many small reads in a row: a buffer is missing.

use super::culprits::{bounds, culprits, files, total, worst};
use super::input::{BUFFER_BYTES, cached_read_ns, ratio};
use super::{Answer, RuleInput, Verdict};
use crate::{Evidence, Finding};
use hotset_facts::{Io, ReadIo};

pub(super) const ID: &str = "small-reads";

/// Calls over all files from which on a missing buffer is likely (rule R02 of the catalogue: "1000 reads < 4 KiB").
const MIN_CALLS: u64 = 1000;
/// Calls on one file: fewer are a file that is read once through, which no buffer makes cheaper.
const MIN_CALLS_PER_FILE: u64 = 100;
/// A mean below a page is small (R02).
const SMALL_MEAN_BYTES: f64 = 4096.0;
/// "Mostly in order". Half would already hold for files that are read by one call and one more that finds the end.
const MIN_SEQUENTIAL_SHARE: f64 = 0.75;

pub(super) fn check(input: &RuleInput<'_>) -> Verdict {
    examine(input).into()
}

fn examine(input: &RuleInput<'_>) -> Answer {
    if input.read()?.calls < MIN_CALLS {
        return Ok(None);
    }
    let costs = input.costs()?;
    let found = culprits(input.profile, |_, io| {
        let read = unbuffered(io)?;
        let (calls, bytes) = (read.calls as f64, read.bytes as f64);
        let saved = calls * costs.read_ns(ratio(bytes, calls)) - cached_read_ns(&costs, bytes);
        // Not more than was spent: the prices come from another moment.
        let saved = saved.min(read.time_ns as f64);
        Some((read, saved, saved))
    });
    let calls = total(&found, |read| read.calls);
    let bytes = total(&found, |read| read.bytes);
    let (low_ns, high_ns) = bounds(&found);
    let saving = input.saving(low_ns, high_ns);
    if calls < MIN_CALLS || !input.worth(&saving) {
        return Ok(None);
    }
    let title = format!("Small reads in a row from {}, without a buffer", files(found.len()));
    let advice = "Read through a buffer of 64 KiB or more (C setvbuf, Python buffering=65536, Go bufio.NewReaderSize, \
                  Java BufferedInputStream), or map the file: a call costs the same for 4 bytes as for 4 KiB.";
    let evidence = vec![
        Evidence::count("read_calls", calls),
        Evidence::real("mean_read_bytes", ratio(bytes as f64, calls as f64)),
        Evidence::real("calls_per_kib", ratio(calls as f64, bytes as f64 / 1024.0)),
        Evidence::count("read_ns", total(&found, |read| read.time_ns)),
        Evidence::count("buffer_bytes", BUFFER_BYTES as u64),
    ];
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst(&found))))
}

fn unbuffered(io: &Io) -> Option<ReadIo> {
    let read = io.read.value()?;
    let calls = read.calls as f64;
    let small = ratio(read.bytes as f64, calls) < SMALL_MEAN_BYTES;
    let in_order = ratio(read.sequential_calls as f64, calls) >= MIN_SEQUENTIAL_SHARE;
    (read.calls >= MIN_CALLS_PER_FILE && read.bytes > 0 && small && in_order).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, read_file, run_of, second};
    use hotset_facts::Observed;

    fn reads(calls: u64, bytes: u64, sequential_calls: u64) -> Run {
        let read =
            ReadIo { calls, bytes, sequential_calls, time_ns: second(1), ..ReadIo::default() };
        Run::new(run_of(vec![read_file("/data/log", bytes, read)]))
    }

    #[test]
    fn hit_a_million_reads_of_26_bytes() {
        let finding = reads(1_000_000, 26_000_000, 999_999).finding(check);
        // 1 000 000 × 286 ns − 397 × 1600 ns ≈ 0.286 s of one second.
        assert!((280_000_000..290_000_000).contains(&finding.saving.low_ns), "{finding:?}");
        assert_eq!(finding.files, [std::path::PathBuf::from("/data/log")]);
    }

    #[test]
    fn near_misses() {
        assert_eq!(reads(999, 26_000, 999).ask(check), Verdict::Clear, "few calls");
        assert_eq!(reads(1_000_000, 8 << 30, 999_999).ask(check), Verdict::Clear, "8 KiB each");
        assert_eq!(reads(1_000_000, 26_000_000, 500_000).ask(check), Verdict::Clear, "random");
        assert_eq!(reads(10_000, 260_000, 9_999).ask(check), Verdict::Clear, "saves 3 ms");
    }

    #[test]
    fn no_data() {
        let mut run = reads(1_000_000, 26_000_000, 999_999);
        run = Run::without_costs(run.profile);
        assert!(matches!(run.ask(check), Verdict::NotEnoughData(_)));
        run.profile.totals.read = Observed::Missing(hotset_facts::Reason::denied("needs root"));
        assert!(matches!(run.ask(check), Verdict::NotEnoughData(_)));
    }
}
