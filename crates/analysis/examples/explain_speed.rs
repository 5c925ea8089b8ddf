//! How long explaining a trace takes: `cargo run --release -p hotset-analysis --features testing --example explain_speed`.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement"
)]

use std::time::Instant;

use hotset_analysis::explain::Explainer;
use hotset_analysis::trace::testing::{batches, head};
use hotset_facts::trace::TraceLists;

/// Records that are explained.
const RECORDS: usize = 1_000_000;

fn main() {
    let batches = batches(RECORDS);
    let mut lists = TraceLists::default();
    for batch in &batches {
        lists.append(batch.added.clone());
    }
    let head = head();
    for _ in 0..3 {
        let began = Instant::now();
        let mut explainer = Explainer::new(&head, &lists, None);
        batches.iter().for_each(|batch| explainer.add(batch));
        let found = explainer.finish();
        let records: usize = batches.iter().map(|batch| batch.records.len()).sum();
        let took = began.elapsed();
        let findings = found.findings.len();
        println!(
            "{records} records: {took:?}, {} ns each, {findings} findings",
            took.as_nanos() as usize / records
        );
        for finding in found.findings {
            println!(
                "  {} {}: {} to {} ns, {:?}",
                finding.severity.as_str(),
                finding.title,
                finding.saving.low_ns,
                finding.saving.high_ns,
                finding.changes
            );
        }
    }
}
