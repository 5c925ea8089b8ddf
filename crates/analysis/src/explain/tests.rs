use hotset_facts::trace::{Operation, PathIndex, TraceBatch, TraceHead, TraceLists, TraceSource};
use proptest::prelude::*;

use super::testing::{Script, US};
use super::*;
use crate::trace::testing::{batches, head, imported, imported_head};
use crate::trace::tests::any_record;
use crate::{Outcome, Severity};

fn explain(head: &TraceHead, batches: &[TraceBatch]) -> Explanation {
    let mut lists = TraceLists::default();
    batches.iter().for_each(|batch| lists.append(batch.added.clone()));
    let mut explainer = Explainer::new(head, &lists, None);
    batches.iter().for_each(|batch| explainer.add(batch));
    explainer.finish()
}

#[test]
fn ids_are_unique() {
    let mut ids: Vec<_> = EXPLAIN_RULES.iter().map(|rule| rule.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), EXPLAIN_RULES.len());
}

#[test]
fn nothing_is_clear_to_every_rule() {
    let nothing = explain(&head(), &[]);
    assert!(nothing.findings.is_empty());
    assert_eq!(nothing.verdicts.len(), EXPLAIN_RULES.len());
    assert!(nothing.verdicts.iter().all(|verdict| verdict.outcome == Outcome::Clear));
}

#[test]
fn every_rule_answers_once_and_findings_come_by_what_they_save() {
    let all = explain(&head(), &batches(60_000));
    assert_eq!(all.findings.len() + all.verdicts.len(), EXPLAIN_RULES.len());
    assert_eq!(all.wall_ns, 12_000_000_000, "as its head says");
    let order: Vec<_> = all
        .findings
        .iter()
        .map(|finding| (finding.severity > Severity::Info, finding.saving.high_ns))
        .collect();
    assert!(order.is_sorted_by(|a, b| a >= b), "{order:?}");
    for finding in &all.findings {
        assert!(finding.files.len() <= 3 && finding.sites.len() <= 3);
        assert_eq!(finding.changes.is_empty(), finding.unproved.is_some(), "{}", finding.rule);
        assert!(
            finding.saving.low_ns <= finding.saving.high_ns
                && finding.saving.high_ns <= all.wall_ns
        );
        assert!(!finding.title.ends_with('.') && finding.advice.ends_with('.'));
    }
    let sync = all.findings.iter().find(|finding| finding.rule == "fsync-per-write");
    assert!(sync.is_some_and(|finding| !finding.sites.is_empty()));
}

#[test]
fn batches_of_any_size_tell_the_same() {
    let whole = batches(6_000);
    let mut single = Vec::new();
    for batch in &whole {
        for (at, record) in batch.records.iter().enumerate() {
            let added = if at == 0 { batch.added.clone() } else { TraceLists::default() };
            let path = record.path.and_then(|path| batch.path(path)).map(<[u8]>::to_vec);
            let mut record = *record;
            record.path = path.as_ref().map(|_| PathIndex(0));
            let paths = path.into_iter().collect();
            single.push(TraceBatch { records: vec![record], paths, added });
        }
    }
    assert_eq!(explain(&head(), &whole), explain(&head(), &single));
}

#[test]
fn an_import_says_what_it_does_not_tell() {
    let all = explain(&imported_head(), &imported(6_000));
    let untold = |rule: &str| {
        let said = all.verdicts.iter().find(|verdict| verdict.rule == rule);
        said.is_some_and(|said| matches!(said.outcome, Outcome::NotEnoughData(_)))
    };
    for rule in ["serial-reads", "cold-start", "strided-scan", "scan-evicts", "readahead-wasted"] {
        assert!(untold(rule), "{rule}");
    }
    assert!(!untold("fsync-per-write") && !untold("failed-lookups"));
}

/// A saving that nobody would notice is no finding, however many calls there are.
#[test]
fn the_gate_is_about_time() {
    let mut script = Script::new();
    (0..2_000).for_each(|at| {
        script.read(3, at * 16, 16, 400);
        script.own(100 * US);
    });
    script.clear("small-reads");
}

/// No time is no saving, and not something to inform about.
#[test]
fn what_takes_no_time_is_no_finding() {
    let mut script = Script::new();
    for at in 0..5_000 {
        script.read(3, at * 16, 16, 0);
        script.write(4, 0, 16, 0);
        script.call(Operation::Fsync, 4, 0);
        for directory in ["a", "b"] {
            script.path(Operation::Openat, &format!("/{directory}/{}", at % 50), -2, 0);
        }
    }
    script.own(US);
    script.read(5, 0, 1, 1);
    assert_eq!(script.explain().findings, []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn no_record_is_too_strange(records in prop::collection::vec(any_record(), 0..40)) {
        let batch = TraceBatch { records, ..TraceBatch::default() };
        let strange = TraceHead { source: TraceSource::Csv, command: None, ..head() };
        let all = explain(&strange, &[batch]);
        prop_assert_eq!(all.findings.len() + all.verdicts.len(), EXPLAIN_RULES.len());
    }
}
