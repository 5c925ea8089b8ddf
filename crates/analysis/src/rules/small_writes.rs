//! Many small writes in a row: a buffer is missing.

use super::culprits::{bounds, culprits, files, total, worst};
use super::input::{BUFFER_BYTES, ratio};
use super::{Answer, RuleInput, Verdict};
use crate::{Evidence, Finding};
use hotset_facts::{CostTable, Io, WriteIo};

pub(super) const ID: &str = "small-writes";

/// Calls over all files from which on a missing buffer is likely (rule R01 of the catalogue: "1000 writes, mean < 4 KiB").
const MIN_CALLS: u64 = 1000;
/// Calls on one file: fewer are a small file that is written whole.
const MIN_CALLS_PER_FILE: u64 = 100;
/// A mean below a page is small (R01).
const SMALL_MEAN_BYTES: f64 = 4096.0;
/// "Mostly in order", as for reads.
const MIN_SEQUENTIAL_SHARE: f64 = 0.75;

pub(super) fn check(input: &RuleInput<'_>) -> Verdict {
    examine(input).into()
}

fn examine(input: &RuleInput<'_>) -> Answer {
    if input.write()?.calls < MIN_CALLS {
        return Ok(None);
    }
    let costs = input.costs()?;
    let found = culprits(input.profile, |_, io| {
        let write = unbuffered(io)?;
        let saved = saved_ns(&write, &costs);
        Some((write, saved, saved))
    });
    let calls = total(&found, |write| write.calls);
    let bytes = total(&found, |write| write.bytes);
    let (low_ns, high_ns) = bounds(&found);
    let saving = input.saving(low_ns, high_ns);
    if calls < MIN_CALLS || !input.worth(&saving) {
        return Ok(None);
    }
    let title = format!("Small writes in a row to {}, without a buffer", files(found.len()));
    let advice = "Write through a buffer of 64 KiB (C setvbuf, Python buffering=65536, Go bufio.NewWriterSize, Java \
                  BufferedOutputStream) and flush it where others must see the data. Not for a log whose every line \
                  must survive a crash of the program.";
    let evidence = vec![
        Evidence::count("write_calls", calls),
        Evidence::real("mean_write_bytes", ratio(bytes as f64, calls as f64)),
        Evidence::real("calls_per_kib", ratio(calls as f64, bytes as f64 / 1024.0)),
        Evidence::count("write_ns", total(&found, |write| write.time_ns)),
        Evidence::count("buffer_bytes", BUFFER_BYTES as u64),
    ];
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst(&found))))
}

/// What these calls cost by the table, less what the same bytes cost in 64 KiB calls; not more than was spent.
fn saved_ns(write: &WriteIo, costs: &CostTable) -> f64 {
    let (calls, bytes) = (write.calls as f64, write.bytes as f64);
    let buffered = (bytes / BUFFER_BYTES).ceil() * costs.write_ns(bytes.min(BUFFER_BYTES));
    (calls * costs.write_ns(ratio(bytes, calls)) - buffered).min(write.time_ns as f64)
}

fn unbuffered(io: &Io) -> Option<WriteIo> {
    let write = io.write.value()?;
    let calls = write.calls as f64;
    let small = ratio(write.bytes as f64, calls) < SMALL_MEAN_BYTES;
    let in_order = ratio(write.sequential_calls as f64, calls) >= MIN_SEQUENTIAL_SHARE;
    (write.calls >= MIN_CALLS_PER_FILE && write.bytes > 0 && small && in_order).then_some(write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Number;
    use crate::testing::{Run, run_of, second, written_file};
    use hotset_facts::{Observed, Reason};

    fn writes(calls: u64, bytes: u64, sequential_calls: u64) -> Run {
        let write =
            WriteIo { calls, bytes, sequential_calls, time_ns: second(1), ..WriteIo::default() };
        Run::new(run_of(vec![written_file("/var/log/x", write)]))
    }

    #[test]
    fn hit_half_a_million_writes_of_16_bytes() {
        let finding = writes(500_000, 8_000_000, 500_000).finding(check);
        assert!((225_000_000..235_000_000).contains(&finding.saving.low_ns), "{finding:?}");
        let per_kib = finding.evidence.iter().find(|evidence| evidence.name == "calls_per_kib");
        assert_eq!(per_kib.map(|evidence| evidence.value), Some(Number::Real(64.0)));
    }

    #[test]
    fn near_misses() {
        assert_eq!(writes(999, 999, 999).ask(check), Verdict::Clear, "few calls");
        assert_eq!(writes(500_000, 4 << 30, 500_000).ask(check), Verdict::Clear, "8 KiB each");
        assert_eq!(writes(500_000, 8_000_000, 9).ask(check), Verdict::Clear, "random");
        assert_eq!(writes(2_000, 32_000, 2_000).ask(check), Verdict::Clear, "saves 1 ms");
    }

    #[test]
    fn no_data() {
        let mut run = Run::without_costs(writes(500_000, 8_000_000, 500_000).profile);
        assert!(matches!(run.ask(check), Verdict::NotEnoughData(_)));
        run.profile.totals.write = Observed::Missing(Reason::denied("needs root"));
        assert!(matches!(run.ask(check), Verdict::NotEnoughData(_)));
    }
}
