//! A mapping that is touched at random places: each fault reads pages around that nobody touches.
//!
//! What it does: compares the pages that major faults brought in with those that were touched at most.
//! Why: a fault reads up to the read-ahead window; 2,000 random touches read 176 MiB instead of 7.8 MiB in a measured case.
//! Advice: MADV_RANDOM, or pread after POSIX_FADV_RANDOM.
//! False positives: pages that are touched later: a fault maps up to 16 cached pages around it, and all of these count as touched.

use std::collections::HashMap;

use hotset_facts::trace::{FileIndex, Operation, OperationClass, RecordFlags};
use hotset_facts::{Reason, units};

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::{PAGE, Seen};

/// Pages that were brought in for one that was touched, at least (R11: 4).
const MIN_WASTE: f64 = 4.0;
/// Bytes that were brought in, at least (R11: 64 MiB).
const MIN_BYTES: u64 = 64 << 20;
/// Pages that a fault on a cached page maps at most (fault_around_bytes of Linux: 64 KiB).
const FAULT_AROUND: u64 = 16;
/// Files that are told apart.
const MOST_FILES: usize = 1 << 14;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "mapped-random-access",
    classes: &[OperationClass::Fault, OperationClass::Read],
    watch: || Box::new(MappedRandomAccess::default()),
};

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    major: u64,
    minor: u64,
    ns: u64,
    pages: u64,
    /// Pages that reads found because of these faults, perhaps.
    read_pages: u64,
}

impl Row {
    fn touched(&self) -> u64 {
        let mapped = self.minor.saturating_mul(FAULT_AROUND);
        self.major.saturating_add(mapped).saturating_add(self.read_pages)
    }

    fn wastes(&self) -> bool {
        self.pages.saturating_mul(PAGE) >= MIN_BYTES
            && self.pages as f64 >= MIN_WASTE * self.touched() as f64
    }
}

#[derive(Default)]
struct MappedRandomAccess {
    files: HashMap<u32, Row>,
    blame: Blame,
    without_pages: u64,
}

impl Watch for MappedRandomAccess {
    fn see(&mut self, seen: &Seen<'_>) {
        let Some(FileIndex(file)) = seen.record.file else { return };
        if seen.record.class == OperationClass::Read {
            if let Some(row) = self.files.get_mut(&file) {
                row.read_pages = row.read_pages.saturating_add(seen.bytes.div_ceil(PAGE));
            }
            return;
        }
        if self.files.len() >= MOST_FILES && !self.files.contains_key(&file) {
            return;
        }
        let row = self.files.entry(file).or_default();
        if seen.record.operation == Operation::MinorFault {
            row.minor += 1;
            return;
        }
        // Under MADV_RANDOM nothing is read around.
        if seen.record.flags.has(RecordFlags::RANDOM) {
            return;
        }
        let Some(pages) = seen.record.pages else {
            self.without_pages += 1;
            return;
        };
        row.major += 1;
        row.pages += u64::from(pages.pages);
        row.ns = row.ns.saturating_add(seen.ns);
        if pages.pages > 1 {
            self.blame.count(seen.record, seen.ns);
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.times()?;
        if self.without_pages > 0 && self.blame.records == 0 {
            return Err(Reason::not_measured("the recording does not tell what faults brought in"));
        }
        let (mut sum, mut touched, mut high_ns) = (Row::default(), 0_u64, 0.0);
        for row in self.files.values().filter(|row| row.wastes()) {
            sum.major += row.major;
            sum.pages += row.pages;
            touched = touched.saturating_add(row.touched());
            sum.ns = sum.ns.saturating_add(row.ns);
            high_ns += row.ns as f64 * (1.0 - row.touched() as f64 / row.pages as f64);
        }
        if sum.major == 0 {
            return Ok(None);
        }
        let pages = sum.pages;
        let title = format!(
            "Mapped files touched at random: {} read for at most {} that are used",
            units::bytes(pages.saturating_mul(PAGE)),
            units::bytes(touched.saturating_mul(PAGE))
        );
        let evidence = vec![
            Evidence::count("major_faults", sum.major),
            Evidence::count("brought_in_pages", pages),
            Evidence::count("touched_pages_at_most", touched),
            Evidence::count("major_fault_ns", sum.ns),
        ];
        Ok(Some(Draft {
            title,
            low_ns: 0,
            high_ns: high_ns as u64,
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::Replay(&["random"]),
            way: Way::MappedRandom,
            advice: "Call madvise(MADV_RANDOM) on the mapping; or read by pread after posix_fadvise(POSIX_FADV_RANDOM), which \
                     keeps hot pages better when memory is short.".into(),
            risks: Some(
                "Under memory pressure, pages of a mapping with MADV_RANDOM are evicted in the order in which they came.",
            ),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::testing::{Script, US};
    use hotset_facts::trace::RecordPages;

    fn touches(pages: u32, minor_each: u32) -> Script {
        let mut script = Script::new();
        for at in 0..2_000_u64 {
            let fault = script.call(Operation::MajorFault, 4, 150 * US);
            fault.offset = Some(at * 7919 % 5003 * PAGE);
            fault.pages = Some(RecordPages { pages, ..RecordPages::default() });
            for _ in 0..minor_each {
                script.call(Operation::MinorFault, 4, 0).duration_ns = None;
            }
        }
        script
    }

    #[test]
    fn what_faults_read_around_and_nobody_touches_is_waste() {
        let finding = touches(32, 0).finding("mapped-random-access");
        let title =
            "Mapped files touched at random: 250 MiB read for at most 7.81 MiB that are used";
        assert_eq!(
            (finding.title.as_str(), &finding.changes[..]),
            (title, &["random".to_owned()][..])
        );
        // 300 ms, of which 1 page of 32 was needed.
        assert_eq!((finding.saving.low_ns, finding.saving.high_ns), (0, 290_625_000));
        assert!(finding.risks.is_some());
    }

    #[test]
    fn a_mapping_that_is_used_afterwards_is_no_waste() {
        touches(32, 2).clear("mapped-random-access");
        touches(1, 0).clear("mapped-random-access");
    }

    #[test]
    fn without_pages_the_recording_does_not_tell() {
        let mut script = touches(32, 0);
        script.records().iter_mut().for_each(|record| record.pages = None);
        script.untold("mapped-random-access");
    }
}
