//! A path that is looked up right before it is opened.
//!
//! What it does: counts opens whose thread looked the same path up in its request before.
//! Why: open looks the path up again; the first time is wasted, and the file may be gone in between.
//! Advice: open first, and ask the descriptor (fstat).
//! False positives: programs that must not open what is not a regular file, such as a FIFO.

use hotset_facts::trace::OperationClass;
use hotset_facts::units;

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// Times from which on it is a habit (R09: 100).
const MIN_CALLS: u64 = 100;
/// Own time between the two that is taken for their work.
const MAX_OWN_NS: u64 = 20_000;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "stat-before-open",
    classes: &[OperationClass::Open],
    watch: || Box::new(StatBeforeOpen::default()),
};

#[derive(Default)]
struct StatBeforeOpen {
    blame: Blame,
    own_ns: u64,
}

impl Watch for StatBeforeOpen {
    fn see(&mut self, seen: &Seen<'_>) {
        let Some(before) = seen.before else { return };
        let same = before.path.is_some() && before.path == seen.path;
        let opened = seen.record.result.is_some_and(|result| result >= 0);
        if before.class == OperationClass::Lookup && before.succeeded && same && opened {
            self.blame.count(seen.record, before.ns);
            if seen.own_ns <= MAX_OWN_NS {
                self.own_ns = self.own_ns.saturating_add(seen.own_ns);
            }
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.times()?;
        let Blame { records, time_ns, .. } = self.blame;
        if records < MIN_CALLS {
            return Ok(None);
        }
        Ok(Some(Draft {
            title: format!("{} paths looked up right before they are opened", units::count(records)),
            low_ns: time_ns,
            high_ns: time_ns.saturating_add(self.own_ns),
            evidence: vec![
                Evidence::count("lookups_before_open_calls", records),
                Evidence::count("lookups_before_open_ns", time_ns),
            ],
            blame: &self.blame,
            files: None,
            proof: Proof::None("no change of a replay leaves out a lookup that succeeds"),
            way: Way::OpenFirst,
            advice: "Open first and handle the error; ask the open descriptor (fstat) for size and kind.".into(),
            risks: None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::testing::{Script, US};
    use hotset_facts::trace::Operation;

    fn opens(looked_up: impl Fn(u32) -> String, found: i64) -> Script {
        let mut script = Script::new();
        for file in 0..500 {
            script.path(Operation::Newfstatat, &looked_up(file), found, 4 * US);
            script.own(US);
            script.path(Operation::Openat, &format!("/a/{file}"), 3, 5 * US);
            script.own(10 * US);
        }
        script
    }

    #[test]
    fn a_stat_before_each_open_is_found_and_not_proved() {
        let finding = opens(|file| format!("/a/{file}"), 0).finding("stat-before-open");
        assert_eq!(finding.title, "500 paths looked up right before they are opened");
        assert_eq!((finding.saving.low_ns, finding.saving.high_ns), (2_000_000, 2_500_000));
        assert!(finding.changes.is_empty() && finding.unproved.is_some());
        assert!(finding.how[0].1.contains("FileNotFoundError"));
    }

    #[test]
    fn another_path_or_one_that_was_not_there_is_no_repetition() {
        opens(|file| format!("/b/{file}"), 0).clear("stat-before-open");
        opens(|file| format!("/a/{file}"), -2).clear("stat-before-open");
    }
}
