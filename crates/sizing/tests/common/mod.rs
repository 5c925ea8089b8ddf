//! Runs of real kernels, and predictions of them.

#![allow(
    dead_code,
    clippy::expect_used,
    reason = "helpers of several tests, each of which uses some"
)]

pub(crate) mod numpy;
pub(crate) mod sequences;

use hotset_sizing::{
    Bytes, Costs, LimitOutcome, PAGE_BYTES, PolicyKind, References, ReferencesBuilder, capacity,
    simulate,
};
use sequences::{CHUNK, Sequence};

/// A run of a real kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) policy: &'static str,
    pub(crate) access: &'static str,
    pub(crate) sequence: &'static str,
    pub(crate) limit_pages: u64,
    pub(crate) misses: u64,
    pub(crate) refaults: u64,
    pub(crate) milliseconds: u64,
}

/// All runs of a policy with this kind of access.
pub(crate) fn runs(policy: &str, access: &str) -> Vec<Run> {
    let rows = include_str!("../data/linux-6.12.csv").lines().filter(|line| !line.starts_with('#'));
    let of = |line: &'static str| {
        let mut cells = line.split(',');
        let mut next = || cells.next().expect("eight cells");
        let (policy, access, sequence) = (next(), next(), next());
        let mut number = || next().parse().expect("a number");
        let limit_pages = number();
        number();
        let (misses, refaults, milliseconds) = (number(), number(), number());
        Run { policy, access, sequence, limit_pages, misses, refaults, milliseconds }
    };
    rows.skip(1).map(of).filter(|run| run.policy == policy && run.access == access).collect()
}

/// The references of a sequence, made as the program made its requests.
pub(crate) fn references(access: &str, sequence: &[u32]) -> References {
    let mut builder = ReferencesBuilder::new();
    for &at in sequence {
        let at = u64::from(at);
        let pages = if access == "read-128k" { u64::from(CHUNK) } else { 1 };
        let bytes = Bytes { file: 0, offset: at * pages * PAGE_BYTES, len: pages * PAGE_BYTES };
        let added = match access {
            "mapped" => builder.fault(0, at, false),
            "mapped-random" => builder.fault(0, at, true),
            _ => builder.read(&bytes, 0),
        };
        added.expect("there are few pages");
    }
    builder.finish()
}

/// Costs with which a run takes the time that it took: of a hit as measured on such hosts, of a miss the rest.
fn costs(run: &Run, references: u64) -> Costs {
    let hit_ns = if run.access.starts_with("mapped") { 50 } else { 700 };
    let hits_ns = (references - run.misses.min(references)) * hit_ns;
    let left_ns = (run.milliseconds * 1_000_000).saturating_sub(hits_ns);
    let miss_ns = (left_ns / run.misses.max(1)).max(2000);
    Costs { hit_ns: hit_ns as u32, miss_ns: miss_ns as u32 }
}

/// A run, and what was predicted of it.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) run: Run,
    pub(crate) predicted: LimitOutcome,
    /// How far off the hit ratio is, in percentage points.
    pub(crate) error: f64,
}

/// Predicts all runs of a policy with this kind of access.
pub(crate) fn compare(
    sequences: &[Sequence],
    policy: &str,
    access: &str,
    predictor: PolicyKind,
) -> Vec<Compared> {
    let mut compared = Vec::new();
    let mut last: Option<(&str, References)> = None;
    for run in runs(policy, access) {
        if last.as_ref().is_none_or(|(name, _)| *name != run.sequence) {
            let known = sequences.iter().find(|(name, _)| *name == run.sequence);
            let (name, sequence) = known.expect("a sequence that is made");
            last = Some((name, references(access, sequence)));
        }
        let Some((_, references)) = &last else { continue };
        let total = references.pages().len() as u64;
        let distinct = u64::from(references.distinct());
        let pages = capacity::cache_pages(run.limit_pages * PAGE_BYTES, 0, distinct);
        let costs = costs(&run, total);
        let predicted = simulate(references, predictor, &[pages], &costs, 1)[0];
        let error = (predicted.misses as f64 - run.misses as f64) / total as f64 * 100.0;
        compared.push(Compared { run, predicted, error: error.abs() });
    }
    compared
}

/// Prints the mean and the worst error with its run: shown with `--nocapture`, and where a test fails.
#[expect(clippy::print_stdout, reason = "tests print what they measured")]
pub(crate) fn show(name: &str, compared: &[Compared]) {
    let mean = compared.iter().map(|one| one.error).sum::<f64>() / compared.len() as f64;
    let worst = compared.iter().max_by(|a, b| a.error.total_cmp(&b.error)).expect("runs");
    let Run { sequence, limit_pages, .. } = worst.run;
    println!(
        "{name}: {} runs, mean {mean:.3}, worst {:.2} ({sequence}, {limit_pages} pages)",
        compared.len(),
        worst.error
    );
}
