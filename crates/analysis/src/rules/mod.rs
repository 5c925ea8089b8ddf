//! The rules: each one file, one question, three answers.
//!
//! Thresholds are named constants with their source. Every rule that claims a saving is gated on the time that its fix
//! would save, estimated from times measured in the run or from this host's [`hotset_facts::CostTable`].

mod cache_thrash;
mod cold_start;
mod cpu_bound;
mod culprits;
mod direct_reread;
mod dropped_pages;
mod failed_lookups;
mod fsync_per_write;
mod idle_eviction;
mod input;
mod many_small_files;
mod mapped_random_access;
mod misaligned_buffer;
mod readahead_wasted;
mod refaults;
mod reread_file;
mod small_calls;

use std::cmp::Reverse;

use hotset_facts::Reason;

use crate::{Finding, Severity};

pub use input::RuleInput;

/// What a rule answers: a finding that is worth acting on, nothing, or why the run does not tell. A rule's `?` says the last.
pub type Answer = Result<Option<Finding>, Reason>;

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its stable id.
    pub id: &'static str,
    /// The question.
    pub check: fn(&RuleInput<'_>) -> Answer,
}

/// All rules.
pub const RULES: &[Rule] = &[
    Rule { id: direct_reread::ID, check: direct_reread::check },
    Rule { id: small_calls::READS_ID, check: small_calls::check_reads },
    Rule { id: small_calls::WRITES_ID, check: small_calls::check_writes },
    Rule { id: reread_file::ID, check: reread_file::check },
    Rule { id: failed_lookups::ID, check: failed_lookups::check },
    Rule { id: cold_start::ID, check: cold_start::check },
    Rule { id: cache_thrash::ID, check: cache_thrash::check },
    Rule { id: dropped_pages::ID, check: dropped_pages::check },
    Rule { id: readahead_wasted::ID, check: readahead_wasted::check },
    Rule { id: mapped_random_access::ID, check: mapped_random_access::check },
    Rule { id: fsync_per_write::ID, check: fsync_per_write::check },
    Rule { id: misaligned_buffer::ID, check: misaligned_buffer::check },
    Rule { id: many_small_files::ID, check: many_small_files::check },
    Rule { id: cpu_bound::ID, check: cpu_bound::check },
    Rule { id: idle_eviction::ID, check: idle_eviction::check },
];

/// What a rule without a finding said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing worth changing.
    Clear,
    /// The run does not tell, for this reason.
    NotEnoughData(Reason),
}

/// A rule that found nothing, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleVerdict {
    /// The rule's id.
    pub rule: &'static str,
    /// What it said.
    pub outcome: Outcome,
}

/// Asks all rules. Findings come with the largest saving first and information last.
pub(crate) fn check_all(input: &RuleInput<'_>) -> (Vec<Finding>, Vec<RuleVerdict>) {
    let mut findings = Vec::new();
    let mut verdicts = Vec::new();
    for rule in RULES {
        let outcome = match (rule.check)(input) {
            Ok(Some(finding)) => {
                findings.push(finding);
                continue;
            }
            Ok(None) => Outcome::Clear,
            Err(reason) => Outcome::NotEnoughData(reason),
        };
        verdicts.push(RuleVerdict { rule: rule.id, outcome });
    }
    // Where something is worth changing, nobody is told to look elsewhere.
    if findings.iter().any(|finding| finding.severity > Severity::Info) {
        let before = findings.len();
        findings.retain(|finding| finding.rule != cpu_bound::ID);
        if findings.len() < before {
            verdicts.push(RuleVerdict { rule: cpu_bound::ID, outcome: Outcome::Clear });
        }
    }
    findings.sort_by_key(|finding| {
        let informs = finding.severity == Severity::Info;
        (informs, Reverse(finding.saving.high_ns))
    });
    (findings, verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, profile};
    use hotset_facts::{Io, Observed};

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<_> = RULES.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), RULES.len());
    }

    #[test]
    fn every_rule_answers_a_run_without_data() {
        let reason = Reason::denied("needs root");
        let mut profile = profile();
        profile.totals = Io::missing(reason);
        profile.lookups = Observed::Missing(reason);
        let run = Run::new(profile);
        for rule in RULES {
            let answer = run.ask(rule.check);
            assert_eq!(answer, Err(reason), "{}", rule.id);
        }
    }

    #[test]
    fn every_rule_is_clear_about_a_run_that_did_nothing() {
        let run = Run::new(profile());
        for rule in RULES.iter().filter(|rule| rule.id != cpu_bound::ID) {
            assert_eq!(run.ask(rule.check), Ok(None), "{}", rule.id);
        }
    }

    #[test]
    fn absurd_counters_do_not_panic() {
        let profile = crate::testing::absurd();
        let summary = crate::summarise(
            profile,
            Observed::Value(crate::testing::costs()),
            crate::Gate::default(),
        );
        assert_eq!(summary.findings.len() + summary.verdicts.len(), RULES.len());
        assert!(!summary.losses.is_none());
    }
}
