//! Pages that were read ahead and that nobody asked for.
//!
//! What it does: compares the pages that were read ahead of reads of a file with the hits on them later.
//! Why: at random places, read-ahead reads 128 KiB for 4 KiB, and takes the device and memory from others.
//! Advice: POSIX_FADV_RANDOM, or reads in the order of offsets.
//! False positives: a later phase that uses these pages (it counts, if it was recorded); files that are mapped too, which are left
//! out because a mapping's touches are not seen.

use std::collections::HashMap;

use hotset_facts::trace::{FileIndex, OperationClass};
use hotset_facts::units;

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::{PAGE, Seen};

/// Share of the pages read for a file that nobody asked for, at least (R13: 30 %).
const MIN_WASTE: f64 = 0.30;
/// Share of calls that do not follow the one before, at least: the same as the rule of `run`.
const MIN_RANDOM: f64 = 0.50;
/// Files that are told apart.
const MOST_FILES: usize = 1 << 14;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "readahead-wasted",
    classes: &[OperationClass::Read, OperationClass::Fault],
    watch: || Box::new(ReadaheadWasted::default()),
};

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    calls: u64,
    random: u64,
    misses: u64,
    read_ahead: u64,
    used: u64,
    waited_ns: u64,
    is_mapped: bool,
}

impl Row {
    fn unused(&self) -> u64 {
        self.read_ahead.saturating_sub(self.used)
    }

    fn read(&self) -> u64 {
        self.misses + self.read_ahead
    }

    fn wastes(&self) -> bool {
        !self.is_mapped
            && self.unused() > 0
            && self.unused() as f64 >= MIN_WASTE * self.read() as f64
            && self.random as f64 >= MIN_RANDOM * self.calls as f64
    }
}

#[derive(Default)]
struct ReadaheadWasted {
    files: HashMap<u32, Row>,
    blame: Blame,
}

impl Watch for ReadaheadWasted {
    fn see(&mut self, seen: &Seen<'_>) {
        let Some(FileIndex(file)) = seen.record.file else { return };
        if self.files.len() >= MOST_FILES && !self.files.contains_key(&file) {
            return;
        }
        let row = self.files.entry(file).or_default();
        if seen.record.class == OperationClass::Fault {
            row.is_mapped = true;
            return;
        }
        let (Some(pages), Some(run)) = (seen.record.pages, seen.run) else { return };
        row.calls += 1;
        row.random += u64::from(!run.follows());
        row.misses += u64::from(pages.misses);
        row.read_ahead += u64::from(pages.read_ahead);
        row.used += u64::from(pages.ahead_hits);
        if seen.waits_to_read() {
            row.waited_ns = row.waited_ns.saturating_add(seen.ns);
        }
        if pages.read_ahead > 0 && !run.follows() {
            self.blame.count(seen.record, seen.ns);
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.pages()?;
        let (mut sum, mut high_ns) = (Row::default(), 0.0);
        for row in self.files.values().filter(|row| row.wastes()) {
            sum.read_ahead += row.read_ahead;
            sum.used += row.used.min(row.read_ahead);
            sum.waited_ns = sum.waited_ns.saturating_add(row.waited_ns);
            high_ns += row.waited_ns as f64 * row.unused() as f64 / row.read() as f64;
        }
        if sum.read_ahead == 0 {
            return Ok(None);
        }
        let share = sum.unused() as f64 / sum.read_ahead as f64;
        let evidence = vec![
            Evidence::count("read_ahead_pages", sum.read_ahead),
            Evidence::count("unused_pages", sum.unused()),
            Evidence::real("unused_percent", 100.0 * share),
            Evidence::count("waited_ns", sum.waited_ns),
        ];
        Ok(Some(Draft {
            title: format!(
                "Random reads: {} of read-ahead never used, {}",
                units::bytes(sum.unused().saturating_mul(PAGE)),
                units::percent(share)
            ),
            low_ns: 0,
            high_ns: high_ns as u64,
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::Replay(&["random"]),
            way: Way::Random,
            advice: "Call posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) after open, or sort reads by offset.".into(),
            risks: Some("What is read in order through that open file then waits at each call."),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::testing::{MS, Script, US};
    use hotset_facts::trace::Operation;

    fn reads(place: impl Fn(u64) -> u64, read_ahead: u32, used: u32) -> Script {
        let mut script = Script::new();
        for at in 0..400 {
            let record = script.miss(1, place(at) * PAGE, PAGE, 200 * US);
            if let Some(pages) = &mut record.pages {
                (pages.read_ahead, pages.ahead_hits) = (read_ahead, used);
            }
        }
        script
    }

    fn random(at: u64) -> u64 {
        at * 7919 % 5003
    }

    #[test]
    fn read_ahead_at_random_places_is_wasted() {
        let finding = reads(random, 31, 0).finding("readahead-wasted");
        assert_eq!(finding.title, "Random reads: 48.4 MiB of read-ahead never used, 100 %");
        assert_eq!(finding.changes, ["random"]);
        // 80 ms, of which 31 pages of 32 were for nobody.
        assert_eq!((finding.saving.low_ns, finding.saving.high_ns), (0, 77_500_000));
        assert!(finding.saving.high_ns > 77 * MS);
    }

    #[test]
    fn what_is_used_later_or_read_in_order_or_mapped_is_not() {
        reads(random, 31, 31).clear("readahead-wasted");
        reads(|at| at, 31, 0).clear("readahead-wasted");
        let mut mapped = reads(random, 31, 0);
        mapped.call(Operation::MinorFault, 1, 0);
        mapped.clear("readahead-wasted");
    }
}
