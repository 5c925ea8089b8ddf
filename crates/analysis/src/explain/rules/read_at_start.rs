//! Files that are read at the start and never again.
//!
//! What it does: sums the bytes of files that are read in the first five seconds only, in a run ten times as long.
//! Why: their pages stay cached, and in a control group they count against its limit.
//! Advice: release them after the start.
//! False positives: other programs use the same files.

use std::collections::HashMap;

use hotset_facts::trace::{FileIndex, OperationClass};
use hotset_facts::{Reason, units};

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// What counts as the start, as for `cold-start`.
const START_NS: u64 = 5_000_000_000;
/// The run is as many times longer at least; else what is never read again may only not have been read yet.
const MIN_TIMES: u64 = 10;
/// Share of memory that their pages take, at least (R33: 25 %).
const MIN_SHARE: f64 = 0.25;
/// Files that are told apart.
const MOST_FILES: usize = 1 << 16;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "read-at-start",
    classes: &[OperationClass::Read, OperationClass::Fault, OperationClass::Write],
    watch: || Box::new(ReadAtStart::default()),
};

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    bytes: u64,
    is_used_later: bool,
}

#[derive(Default)]
struct ReadAtStart {
    files: HashMap<u32, Row>,
    blame: Blame,
}

impl Watch for ReadAtStart {
    fn see(&mut self, seen: &Seen<'_>) {
        let Some(FileIndex(file)) = seen.record.file else { return };
        let is_start = seen.record.start_ns < START_NS;
        if !is_start {
            if let Some(row) = self.files.get_mut(&file) {
                row.is_used_later = true;
            }
            return;
        }
        if seen.record.class != OperationClass::Read
            || seen.is_direct()
            || self.files.len() >= MOST_FILES
        {
            return;
        }
        let row = self.files.entry(file).or_default();
        row.bytes = row.bytes.saturating_add(seen.bytes.saturating_sub(seen.again.any_bytes));
        self.blame.count(seen.record, seen.bytes);
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        let unused = || self.files.values().filter(|row| !row.is_used_later && row.bytes > 0);
        let bytes = unused().map(|row| row.bytes).fold(0, u64::saturating_add);
        let memory = end.memory_bytes();
        if memory == u64::MAX {
            return Err(Reason::not_measured(
                "the recording does not tell how much memory there is",
            ));
        }
        if end.wall_ns < MIN_TIMES * START_NS || (bytes as f64) < MIN_SHARE * memory as f64 {
            return Ok(None);
        }
        let files = unused().count() as u64;
        end.start()?;
        end.all_records()?;
        let evidence = vec![
            Evidence::count("files", files),
            Evidence::count("read_at_start_bytes", bytes),
            Evidence::count("memory_bytes", memory),
        ];
        Ok(Some(Draft {
            title: format!(
                "{} of {} read at the start and never again",
                units::bytes(bytes),
                units::plural(files, "file")
            ),
            low_ns: 0,
            high_ns: 0,
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::NoTime("it frees memory, and saves no time by itself"),
            way: Way::DontNeed,
            advice: "Release the pages after the start: posix_fadvise(POSIX_FADV_DONTNEED) on each file.".into(),
            risks: Some("The next start reads them from the device."),
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::Severity;
    use crate::explain::testing::{MS, SECOND, Script, US};
    use hotset_facts::trace::Gap;

    fn start(parts: u64) -> Script {
        let mut script = Script::new();
        (0..parts).for_each(|at| {
            script.read(3, at << 20, 1 << 20, US);
        });
        script.own(60 * SECOND);
        script.read(1, 0, 1, US);
        script
    }

    #[test]
    fn much_that_is_read_at_the_start_alone_is_told() {
        let finding = start(4 << 10).finding("read-at-start");
        assert_eq!(finding.title, "4.00 GiB of 1 file read at the start and never again");
        assert_eq!((finding.severity, finding.saving.high_ns), (Severity::Info, 0));
    }

    #[test]
    fn with_records_lost_nobody_knows_what_was_not_read_again() {
        let mut script = start(4 << 10);
        script.lists.gaps.push(Gap { tid: None, from_ns: 1, to_ns: 2, records: 1 });
        script.untold("read-at-start");
    }

    #[test]
    fn little_or_what_is_read_later_or_a_short_run_is_not() {
        start(1 << 10).clear("read-at-start");
        let mut later = start(4 << 10);
        later.read(3, 0, 1, US);
        later.clear("read-at-start");
        let mut short = start(4 << 10);
        short.records().pop();
        short.read(1, 0, 1, MS);
        short.records().last_mut().unwrap().start_ns = SECOND;
        short.clear("read-at-start");
    }
}
