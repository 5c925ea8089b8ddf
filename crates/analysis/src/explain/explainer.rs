//! One pass over a recording, for all rules.

use std::cmp::Reverse;

use hotset_facts::CostTable;
use hotset_facts::trace::{OperationClass, TraceBatch, TraceHead, TraceLists};

use super::Explanation;
use super::end::{End, Origin, Tells};
use super::rules::{EXPLAIN_RULES, Watch};
use super::seen::Past;
use crate::{Outcome, RuleVerdict, Severity};

/// How many classes of operations there are.
const CLASSES: usize = OperationClass::Cache as usize + 1;

/// What recording adds to a request at least, in nanoseconds, where the recording does not tell (docs/performance.md: 0.4 µs for a run,
/// 0.1 µs more to record it). The run was so much shorter without, and what is worth changing is a part of that.
const RECORDING_NS: u64 = 500;

/// Finds what a recording alone tells, batch by batch.
pub struct Explainer<'a> {
    lists: &'a TraceLists,
    costs: Option<&'a CostTable>,
    wall_ns: Option<u64>,
    added_ns: u64,
    origin: Origin,
    past: Past<'a>,
    rules: Vec<Box<dyn Watch>>,
    /// The rules that a record of a class is handed to.
    by_class: [Vec<usize>; CLASSES],
    tells: Tells,
    records: u64,
}

impl std::fmt::Debug for Explainer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explainer").field("tells", &self.tells).finish_non_exhaustive()
    }
}

impl<'a> Explainer<'a> {
    /// Of a recording with this head and these lists, all of them; with what operations cost on its host, else the costs of a
    /// usual one.
    pub fn new(head: &TraceHead, lists: &'a TraceLists, costs: Option<&'a CostTable>) -> Self {
        let wall_ns = head.command.as_ref().map(|command| command.wall_ns).filter(|&ns| ns > 0);
        let mut by_class: [Vec<usize>; CLASSES] = Default::default();
        for (at, rule) in EXPLAIN_RULES.iter().enumerate() {
            for &class in rule.classes {
                if let Some(places) = by_class.get_mut(class as usize) {
                    places.push(at);
                }
            }
        }
        Self {
            lists,
            costs,
            wall_ns,
            added_ns: head.cost.map_or(RECORDING_NS, |cost| cost.added_ns),
            origin: Origin::of(head, lists),
            past: Past::new(lists),
            rules: EXPLAIN_RULES.iter().map(|rule| (rule.watch)()).collect(),
            by_class,
            tells: Tells::default(),
            records: 0,
        }
    }

    /// Has all rules look at the records of a batch.
    pub fn add(&mut self, batch: &TraceBatch) {
        self.records += batch.records.len() as u64;
        for record in &batch.records {
            let seen = self.past.see(record, batch);
            self.tells.count(&seen);
            for &at in self.by_class.get(record.class as usize).into_iter().flatten() {
                if let Some(rule) = self.rules.get_mut(at) {
                    rule.see(&seen);
                }
            }
        }
    }

    /// What came of it.
    pub fn finish(self) -> Explanation {
        let span_ns = self.tells.from_ns.map_or(0, |from| self.tells.to_ns.saturating_sub(from));
        let wall_ns = self.wall_ns.unwrap_or(span_ns);
        let unrecorded_ns = wall_ns
            .saturating_sub(self.records.saturating_mul(self.added_ns))
            .max(self.tells.io_ns.min(wall_ns));
        let end = End::new(self.lists, self.costs, unrecorded_ns, &self.origin, &self.tells);
        let (mut findings, mut verdicts) = (Vec::new(), Vec::new());
        for (rule, watch) in EXPLAIN_RULES.iter().zip(&self.rules) {
            let outcome = match watch.finish(&end) {
                Ok(draft) => match draft.and_then(|draft| end.finding(rule.id, draft)) {
                    Some(finding) => {
                        findings.push(finding);
                        continue;
                    }
                    None => Outcome::Clear,
                },
                Err(reason) => Outcome::NotEnoughData(reason),
            };
            verdicts.push(RuleVerdict { rule: rule.id, outcome });
        }
        findings.sort_by_key(|finding| {
            (finding.severity == Severity::Info, Reverse(finding.saving.high_ns))
        });
        Explanation { wall_ns, io_ns: self.tells.io_ns, findings, verdicts }
    }
}
