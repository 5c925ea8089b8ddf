//! A start that waits for the device: what is read then could have been fetched before it is needed.
//!
//! What it does: sums the waits for the device of the first five seconds, for bytes that nobody had read before.
//! Why: a start touches its files in an order that read-ahead cannot guess, and waits for one page after another.
//! Advice: fetch them in the order of the device before or while the program starts.
//! False positives: a first start after boot that hardly ever happens; a program that goes on waiting (most waits come later).

use hotset_facts::trace::OperationClass;
use hotset_facts::units;

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::{PAGE, Seen};

/// What counts as the start: five seconds. Programs of R29 (interpreters, application servers) start in 1 to 10 s.
const START_NS: u64 = 5_000_000_000;
/// Share of all waits that the start has, at least. Else it is not the start that is slow.
const MIN_SHARE: f64 = 0.5;
/// Requests that wait, at least: fewer are no list that is worth keeping.
const MIN_WAITS: u64 = 10;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "cold-start",
    classes: &[OperationClass::Read, OperationClass::Fault],
    watch: || Box::new(ColdStart::default()),
};

#[derive(Default)]
struct ColdStart {
    blame: Blame,
    bytes: u64,
    all_ns: u64,
}

impl Watch for ColdStart {
    fn see(&mut self, seen: &Seen<'_>) {
        if !seen.waits_to_read() || seen.is_direct() {
            return;
        }
        self.all_ns = self.all_ns.saturating_add(seen.ns);
        if seen.record.start_ns < START_NS && seen.again.any_bytes == 0 {
            self.blame.count(seen.record, seen.ns);
            let of_fault = seen.record.pages.map_or(1, |pages| u64::from(pages.pages)) * PAGE;
            let is_fault = seen.record.class == OperationClass::Fault;
            let bytes = if is_fault { of_fault } else { seen.bytes };
            self.bytes = self.bytes.saturating_add(bytes);
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.pages()?;
        end.start()?;
        let Blame { records, time_ns: ns, .. } = self.blame;
        if records < MIN_WAITS || (ns as f64) < MIN_SHARE * self.all_ns as f64 {
            return Ok(None);
        }
        let files = units::plural(self.blame.file_count(), "file");
        let title = format!("Cold start: {} of waiting for pages of {files}", units::duration(ns));
        let evidence = vec![
            Evidence::count("waiting_calls", records),
            Evidence::count("waited_ns", ns),
            Evidence::count("waited_for_bytes", self.bytes),
            Evidence::count("files", self.blame.file_count()),
        ];
        Ok(Some(Draft {
            title,
            low_ns: 0,
            high_ns: ns.saturating_sub(end.cached_read_ns(self.bytes)),
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::Replay(&["prefetch"]),
            way: Way::WillNeed,
            advice: "Run `hotset warm` or `hotset restore` on these files before the start, or have the program ask for them \
                     at its beginning (posix_fadvise POSIX_FADV_WILLNEED) and do other work meanwhile.".into(),
            risks: Some("What a start does not use after all is read in vain."),
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::testing::{MS, SECOND, Script, US};
    use hotset_facts::trace::{Operation, RecordPages};

    fn start() -> Script {
        let mut script = Script::new();
        for at in 0..100 {
            script.miss(at as u32 % 8, at * 8192, 4096, 200 * US);
            let fault = script.call(Operation::MajorFault, 7, 200 * US);
            fault.pages = Some(RecordPages { pages: 1, ..RecordPages::default() });
            script.own(100 * US);
        }
        script
    }

    #[test]
    fn waits_of_the_start_are_found_with_their_files() {
        let finding = start().finding("cold-start");
        assert_eq!(finding.title, "Cold start: 40.0 ms of waiting for pages of 8 files");
        assert_eq!(finding.changes, ["prefetch"]);
        assert_eq!((finding.files.len(), finding.more_files), (3, 5));
        // Less 800 KiB from the cache, in 13 calls.
        assert_eq!((finding.saving.low_ns, finding.saving.high_ns), (0, 40 * MS - 13 * 1_600));
    }

    #[test]
    fn a_program_that_always_waits_does_not_start_slowly() {
        let mut script = start();
        script.own(6 * SECOND);
        (0..500).for_each(|at| {
            script.miss(2, 4096 * (1000 + at * 3), 4096, 200 * US);
        });
        script.clear("cold-start");
    }

    #[test]
    fn a_program_that_was_running_already_has_no_start_here() {
        let mut script = start();
        script.is_attached = true;
        assert!(script.untold("cold-start").detail.contains("running"));
    }

    #[test]
    fn a_warm_start_waits_for_nothing() {
        let mut script = Script::new();
        (0..100).for_each(|at| {
            script.read(1, at * 8192, 4096, 200 * US);
        });
        script.clear("cold-start");
    }
}
