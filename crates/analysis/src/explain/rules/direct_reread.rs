//! Direct reads of bytes that were read before: the page cache would have had them.
//!
//! What it does: counts bytes that O_DIRECT reads fetch although some process read them before and nobody wrote them since.
//! Why: the device takes 75 µs and more for 4 KiB, the page cache 0.3 µs.
//! Advice: open without O_DIRECT, or keep a cache in the program.
//! False positives: databases with a cache of their own, benchmarks of devices, data larger than memory.

use hotset_facts::trace::OperationClass;
use hotset_facts::units;

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// Share of the direct bytes that were read again, from which on a cache pays (R04: 20 %).
const MIN_SHARE: f64 = 0.20;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "direct-reread",
    classes: &[OperationClass::Read],
    watch: || Box::new(DirectReread::default()),
};

#[derive(Default)]
struct DirectReread {
    blame: Blame,
    bytes: u64,
    again_bytes: u64,
}

impl Watch for DirectReread {
    fn see(&mut self, seen: &Seen<'_>) {
        if !seen.is_direct() || seen.bytes == 0 || seen.again.is_lost {
            return;
        }
        self.bytes = self.bytes.saturating_add(seen.bytes);
        let again = seen.again.any_bytes.min(seen.bytes);
        if again > 0 {
            self.again_bytes = self.again_bytes.saturating_add(again);
            let share = again as f64 / seen.bytes as f64;
            self.blame.count(seen.record, (seen.ns as f64 * share) as u64);
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.history()?;
        let share = self.again_bytes as f64 / self.bytes.max(1) as f64;
        if self.blame.records == 0 || share < MIN_SHARE {
            return Ok(None);
        }
        let mean = self.again_bytes as f64 / self.blame.records as f64;
        let cached = self.blame.records as f64 * end.costs().read_ns(mean);
        let spared = (self.blame.time_ns as f64 - cached).max(0.0);
        let distinct = self.bytes.saturating_sub(self.again_bytes);
        let evidence = vec![
            Evidence::count("direct_read_bytes", self.bytes),
            Evidence::count("reread_bytes", self.again_bytes),
            Evidence::real("reread_percent", 100.0 * share),
            Evidence::count("reread_ns", self.blame.time_ns),
        ];
        Ok(Some(Draft {
            title: format!("{} of O_DIRECT bytes were read before", units::percent(share)),
            low_ns: (spared * end.fits(distinct)) as u64,
            high_ns: spared as u64,
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::Replay(&["cached"]),
            way: Way::Cached,
            advice: "Open without O_DIRECT, or cache data in the program. Ignore for databases with their own cache and \
                     device benchmarks.".into(),
            risks: Some("Data that is read once then evicts other pages from the page cache."),
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::testing::{Script, US};
    use hotset_facts::trace::{FileIndex, RecordFlags};

    fn direct(rounds: u64, write_between: bool) -> Script {
        let mut script = Script::new();
        for _ in 0..rounds {
            for page in 0..200 {
                script.read(5, page * 4096, 4096, 80 * US).flags = RecordFlags::DIRECT;
            }
            if write_between {
                script.write(5, 0, 200 * 4096, US);
            }
        }
        script
    }

    #[test]
    fn three_rounds_of_four_are_read_before() {
        let finding = direct(4, false).finding("direct-reread");
        assert_eq!(finding.title, "75.0 % of O_DIRECT bytes were read before");
        assert_eq!(finding.changes, ["cached"]);
        // 600 reads of 80 µs less 600 of 335 ns.
        assert_eq!(finding.saving.low_ns, 600 * (80 * US - 335));
        assert_eq!(finding.saving.low_ns, finding.saving.high_ns);
    }

    #[test]
    fn what_was_written_since_or_is_cached_already_is_not_read_before() {
        direct(4, true).clear("direct-reread");
        direct(1, false).clear("direct-reread");
        let mut cached = direct(4, false);
        cached.records().iter_mut().for_each(|record| record.flags = RecordFlags::NONE);
        cached.clear("direct-reread");
        let mut other = direct(4, false);
        for (at, record) in (0_u32..).zip(other.records()) {
            record.file = Some(FileIndex(at / 200));
        }
        other.clear("direct-reread");
    }

    #[test]
    fn of_more_than_memory_less_is_sure() {
        let mut script = Script::new();
        for _ in 0..2 {
            for part in 0..128 {
                script.read(5, part << 30, 1 << 30, 80_000 * US).flags = RecordFlags::DIRECT;
            }
        }
        let saving = script.finding("direct-reread").saving;
        assert!(saving.low_ns < saving.high_ns / 2 && saving.low_ns > 0, "{saving:?}");
    }
}
