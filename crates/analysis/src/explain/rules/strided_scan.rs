//! A scan backwards or in strides, which read-ahead does not follow.
//!
//! What it does: counts reads that wait for the device although they keep the same distance from the one before: backwards, or
//! forwards with holes.
//! Why: read-ahead follows forward reads without holes; here each read waits on its own.
//! Advice: ask for the range ahead, or read larger parts and use them in memory.
//! False positives: a device that is busy with others; strides so wide that most of what is asked for ahead is not used.

use hotset_facts::trace::OperationClass;
use hotset_facts::units;

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// Steps of the same width in a row from which on they are a pattern, of which `serial-reads` then does not tell.
pub(super) const MIN_STEPS: u64 = 8;
/// Reads from which on it is worth a look (R14 has none; R09's habit).
const MIN_READS: u64 = 100;
/// A stride that uses less of what lies between needs its reads in flight, and not all that lies between.
const MIN_USED: f64 = 0.25;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "strided-scan",
    classes: &[OperationClass::Read],
    watch: || Box::new(StridedScan::default()),
};

#[derive(Default)]
struct StridedScan {
    blame: Blame,
    backwards: u64,
    bytes: u64,
    passed_bytes: u64,
}

impl Watch for StridedScan {
    fn see(&mut self, seen: &Seen<'_>) {
        let Some(run) = seen.run.filter(|_| seen.waits_to_read()) else { return };
        let width = run.step.unsigned_abs();
        if run.steps < MIN_STEPS || width == 0 || run.follows() {
            return;
        }
        self.blame.count(seen.record, seen.ns);
        self.backwards += u64::from(run.step < 0);
        self.bytes = self.bytes.saturating_add(seen.bytes);
        self.passed_bytes = self.passed_bytes.saturating_add(width.max(seen.bytes));
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.pages()?;
        let Blame { records: reads, time_ns: ns, .. } = self.blame;
        if reads < MIN_READS {
            return Ok(None);
        }
        let used = self.bytes as f64 / self.passed_bytes.max(1) as f64;
        let kind = if self.backwards > reads / 2 { "backwards" } else { "in strides" };
        let evidence = vec![
            Evidence::count("waiting_reads", reads),
            Evidence::count("backward_reads", self.backwards),
            Evidence::real("used_percent", 100.0 * used),
            Evidence::count("waiting_ns", ns),
        ];
        let is_dense = used >= MIN_USED;
        Ok(Some(Draft {
            title: format!("{} reads {kind} wait for the device one by one", units::count(reads)),
            low_ns: 0,
            high_ns: ns.saturating_sub(end.cached_read_ns(self.bytes)),
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::Replay(if is_dense { &["willneed"] } else { &["io_uring=32"] }),
            way: if is_dense { Way::WillNeed } else { Way::InFlight },
            advice: "Call posix_fadvise(POSIX_FADV_WILLNEED) for the range before the scan, or read it in large parts and go \
                     through these in memory; store data in the order in which it is read.".into(),
            risks: Some("Of a large file, more may be read than is used, and other pages may be evicted for it."),
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::testing::{Script, US};
    use hotset_facts::random::Random;

    fn scan(place: impl Fn(u64) -> u64) -> Script {
        let mut script = Script::new();
        (0..500).for_each(|at| {
            script.miss(1, place(at), 4096, 100 * US);
        });
        script
    }

    #[test]
    fn a_scan_backwards_asks_for_its_range_and_a_wide_stride_does_not() {
        let finding = scan(|at| (1_000 - at) * 4096).finding("strided-scan");
        assert_eq!(finding.title, "492 reads backwards wait for the device one by one");
        assert_eq!(finding.changes, ["willneed"]);
        // 49.2 ms less 31 calls from the cache.
        assert_eq!((finding.saving.low_ns, finding.saving.high_ns), (0, 49_200_000 - 31 * 1_600));
        let finding = scan(|at| at * (1 << 20)).finding("strided-scan");
        assert!(finding.title.contains("in strides"));
        assert_eq!(finding.changes, ["io_uring=32"]);
        scan(|at| at * (1 << 20)).clear("serial-reads");
    }

    #[test]
    fn forward_and_random_reads_and_one_page_again_are_no_strides() {
        scan(|at| at * 4096).clear("strided-scan");
        scan(|at| Random::at(at) % 5_000 * 4096).clear("strided-scan");
        scan(|_| 4096).clear("strided-scan");
        let mut cached = Script::new();
        (0..500).for_each(|at| {
            cached.read(1, (1_000 - at) * 4096, 4096, 100 * US);
        });
        cached.clear("strided-scan");
    }
}
