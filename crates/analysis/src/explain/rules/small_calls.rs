//! Many small reads or writes in a row: a buffer is missing.
//!
//! What it does: counts calls of less than 4 KiB that begin where the thread's call before on the open file ended.
//! Why: a call of 4 bytes costs as much as one of 4 KiB.
//! Advice: a buffer of 64 KiB in the program.
//! False positives: records that must be durable one by one (a sync ends the row, and O_SYNC and direct I/O are left out), lines
//! that others must see at once.

use hotset_facts::trace::{OperationClass, RecordFlags};
use hotset_facts::{CostTable, units};

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// Calls from which on a missing buffer is likely (R01 and R02: "1000 writes, mean < 4 KiB").
const MIN_CALLS: u64 = 1000;
/// A call below a page is small (R01, R02).
const SMALL_BYTES: u64 = 4096;
/// The buffer of the advice: above 64 KiB nothing is gained (24 ps a byte at 64 KiB, 26 at 1 MiB).
const BUFFER_BYTES: f64 = 65536.0;

/// Reads of few bytes.
pub(super) const READS: ExplainRule = ExplainRule {
    id: "small-reads",
    classes: &[OperationClass::Read],
    watch: || Box::new(SmallCalls::of(&READ)),
};

/// Writes of few bytes.
pub(super) const WRITES: ExplainRule = ExplainRule {
    id: "small-writes",
    classes: &[OperationClass::Write],
    watch: || Box::new(SmallCalls::of(&WRITE)),
};

/// What differs between the two.
struct Direction {
    title: &'static str,
    mean: &'static str,
    cost: fn(&CostTable, f64) -> f64,
    advice: &'static str,
    risks: Option<&'static str>,
}

const READ: Direction = Direction {
    title: "sequential reads",
    mean: "mean_read_bytes",
    cost: CostTable::read_ns,
    advice: "Read through a buffer of 64 KiB, or map the file. A 4-byte call costs as much as a 4 KiB call.",
    risks: None,
};

const WRITE: Direction = Direction {
    title: "sequential writes",
    mean: "mean_write_bytes",
    cost: CostTable::write_ns,
    advice: "Write through a buffer of 64 KiB; flush where others must see the data. Ignore for logs whose lines must \
             survive a crash.",
    risks: Some("A crash of the program loses what is in the buffer."),
};

struct SmallCalls {
    direction: &'static Direction,
    blame: Blame,
    bytes: u64,
}

impl SmallCalls {
    fn of(direction: &'static Direction) -> Self {
        Self { direction, blame: Blame::default(), bytes: 0 }
    }
}

impl Watch for SmallCalls {
    fn see(&mut self, seen: &Seen<'_>) {
        let follows = seen.run.is_some_and(|run| run.follows());
        let is_durable = seen.record.flags.has(RecordFlags::SYNC);
        if follows && seen.bytes < SMALL_BYTES && !is_durable && !seen.is_direct() && !seen.waits {
            self.blame.count(seen.record, seen.ns);
            self.bytes = self.bytes.saturating_add(seen.bytes);
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.times()?;
        let calls = self.blame.records;
        if calls < MIN_CALLS {
            return Ok(None);
        }
        let mean = self.bytes as f64 / calls as f64;
        let cost = |bytes: f64| (self.direction.cost)(end.costs(), bytes);
        let buffered = (self.bytes as f64 / BUFFER_BYTES).ceil() * cost(BUFFER_BYTES);
        let spared = |ns: f64| (ns - buffered).max(0.0) as u64;
        let measured = spared(self.blame.time_ns as f64);
        // What recording adds to each call is not saved: calls cost what they cost on a quiet host, at least.
        let low_ns = spared(calls as f64 * cost(mean)).min(measured);
        let title = format!(
            "{} {} of {} on average",
            units::count(calls),
            self.direction.title,
            units::bytes(mean.round() as u64)
        );
        let evidence = vec![
            Evidence::count("small_calls", calls),
            Evidence::real(self.direction.mean, mean),
            Evidence::count("small_calls_ns", self.blame.time_ns),
        ];
        Ok(Some(Draft {
            title,
            low_ns,
            high_ns: measured,
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::Replay(&["buffer=64K"]),
            way: Way::Buffer,
            advice: self.direction.advice.into(),
            risks: self.direction.risks,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::Language;
    use crate::explain::testing::{Script, US};
    use hotset_facts::trace::Operation;

    #[test]
    fn small_reads_in_a_row_are_found_with_their_file_and_way() {
        let mut script = Script::new();
        (0..50_000).for_each(|at| {
            script.read(3, at * 16, 16, 400);
        });
        let finding = script.finding("small-reads");
        assert_eq!(finding.title, "49,999 sequential reads of 16 B on average");
        assert_eq!(finding.changes, ["buffer=64K"]);
        // 49,999 calls of 286 ns at least and 400 ns at most, less 13 calls of 1.6 µs.
        assert!((14_200_000..14_300_000).contains(&finding.saving.low_ns), "{finding:?}");
        assert!((19_900_000..20_000_000).contains(&finding.saving.high_ns), "{finding:?}");
        assert_eq!(finding.files[0].path, Some("/data/3".into()));
        assert_eq!((finding.files[0].records, finding.more_files), (49_999, 0));
        assert!(
            matches!(finding.how[..], [(Language::Python, ref how)] if how.contains("buffering"))
        );
        script.clear("small-writes");
    }

    #[test]
    fn a_log_that_is_synced_after_each_line_lacks_no_buffer() {
        let mut script = Script::new();
        for at in 0..5_000 {
            script.write(3, at * 100, 100, US);
            script.call(Operation::Fdatasync, 3, 20 * US);
        }
        script.clear("small-writes");
        let mut script = Script::new();
        (0..50_000).for_each(|at| {
            script.write(3, at * 100, 100, US);
        });
        assert_eq!(script.finding("small-writes").changes, ["buffer=64K"]);
        script.records().iter_mut().for_each(|record| record.flags = RecordFlags::SYNC);
        script.clear("small-writes");
    }

    #[test]
    fn small_reads_at_random_are_no_row() {
        let mut script = Script::new();
        (0..50_000).for_each(|at| {
            script.read(3, at * 7919 % 60_000, 16, 400);
        });
        script.clear("small-reads");
    }

    #[test]
    fn without_times_the_recording_does_not_tell() {
        let mut script = Script::new();
        script.read(3, 0, 16, 400);
        script.records().iter_mut().for_each(|record| record.duration_ns = None);
        assert!(script.untold("small-reads").detail.contains("how long"));
    }
}
