//! Runs of real kernels beside predictions of them.

use hotset_sizing::evidence::{self, KernelVersion};
use hotset_sizing::{
    Bytes, Costs, LimitOutcome, PAGE_BYTES, PolicyKind, References, ReferencesBuilder, TooMany,
    capacity, simulate,
};

use crate::runs::{Access, Run};
use crate::sequences::Sequence;

/// What a hit takes where a run does not say, in nanoseconds, as measured on such hosts: of a read call, and of a load.
const HIT_NS: u64 = 700;
const LOAD_NS: u64 = 50;
/// What a miss takes at least, in nanoseconds, whatever is left of a run's time.
const LEAST_MISS_NS: u64 = 2000;

/// The references of a sequence, made as the program made its requests. `counts_random` where the kernel counts uses of mappings with
/// `MADV_RANDOM` as any other.
///
/// # Errors
/// There are more pages than can be numbered.
pub fn references(
    access: Access,
    sequence: &[u32],
    counts_random: bool,
) -> Result<References, TooMany> {
    let mut builder = ReferencesBuilder::new();
    let len = access.pages() * PAGE_BYTES;
    for &at in sequence {
        let at = u64::from(at);
        match access {
            Access::Read | Access::ReadChunk => {
                builder.read(&Bytes { file: 0, offset: at * len, len }, 0)
            }
            Access::Mapped => builder.fault(0, at, false),
            Access::MappedRandom => builder.fault(0, at, !counts_random),
        }?;
    }
    Ok(builder.finish())
}

/// Costs with which a run takes the time that it took: of a hit as measured, of a miss the rest.
fn costs(run: &Run, references: u64) -> Costs {
    let access = run.case.access;
    let hit_ns = match (access, run.hit_ns) {
        (Access::Mapped | Access::MappedRandom, _) => LOAD_NS,
        (_, Some(hit_ns)) => hit_ns / access.pages(),
        _ => HIT_NS,
    };
    let hits_ns = references.saturating_sub(run.misses) * hit_ns;
    let left_ns = (run.milliseconds * 1_000_000).saturating_sub(hits_ns);
    let miss_ns = (left_ns / run.misses.max(1)).max(LEAST_MISS_NS);
    let narrow = |ns: u64| u32::try_from(ns).unwrap_or(u32::MAX);
    Costs { hit_ns: narrow(hit_ns), miss_ns: narrow(miss_ns) }
}

/// A run, and what was predicted of it.
#[derive(Debug, Clone, Copy)]
pub struct Compared {
    /// The run.
    pub run: Run,
    /// What was predicted.
    pub predicted: LimitOutcome,
    /// Predicted less real hit ratio, in percentage points; pages that were read ahead in vain count as misses in both.
    pub points: f64,
}

/// Predicts runs of a kernel, each by its policy or all by another.
///
/// # Errors
/// There are more pages than can be numbered, or a sequence is none of those given.
pub fn compare(
    sequences: &[Sequence],
    kernel: KernelVersion,
    runs: &[Run],
    policy: Option<PolicyKind>,
) -> Result<Vec<Compared>, String> {
    let mut last: Option<((Access, &str, u64), References)> = None;
    let mut compared = Vec::new();
    for &run in runs {
        let key = (run.case.access, run.case.sequence, run.requests);
        if last.as_ref().is_none_or(|(of, _)| *of != key) {
            let known = sequences.iter().find(|(name, _)| *name == key.1);
            let (_, sequence) = known.ok_or_else(|| format!("no sequence {}", key.1))?;
            let asked = sequence.get(..key.2 as usize);
            let asked = asked.ok_or_else(|| format!("{run}: the sequence is shorter"))?;
            let made = references(key.0, asked, evidence::counts_random_faults(kernel));
            last = Some((key, made.map_err(|error| error.to_string())?));
        }
        if let Some((_, references)) = &last {
            compared.push(predict(references, kernel, run, policy));
        }
    }
    Ok(compared)
}

fn predict(
    references: &References,
    kernel: KernelVersion,
    run: Run,
    policy: Option<PolicyKind>,
) -> Compared {
    let access = run.case.access.of_evidence();
    let of_kernel = || evidence::predictor(kernel, run.is_mglru, &[access]).policy;
    let total = references.pages().len() as u64;
    let index = references.index_pages();
    let pages = capacity::cache_pages(run.case.limit_pages * PAGE_BYTES, 0, index);
    let costs = costs(&run, total);
    let policy = policy.unwrap_or_else(of_kernel);
    let predicted = simulate(references, policy, &[pages], &costs, 1)[0];
    let read = predicted.misses + predicted.ahead;
    let points = (run.misses as f64 - read as f64) / total as f64 * 100.0;
    Compared { run, predicted, points }
}

/// How far off predictions are, in percentage points of the hit ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// How many there are.
    pub runs: usize,
    /// The mean of their amounts.
    pub mean: f64,
    /// The largest amount.
    pub worst: f64,
}

impl Errors {
    /// Of these differences; of none, all is 0.
    pub fn of(points: impl IntoIterator<Item = f64>) -> Self {
        let amounts: Vec<f64> = points.into_iter().map(f64::abs).collect();
        let mean = amounts.iter().sum::<f64>() / amounts.len().max(1) as f64;
        Self { runs: amounts.len(), mean, worst: amounts.iter().copied().fold(0.0, f64::max) }
    }

    /// What is larger than it may be, in words.
    pub fn beyond(&self, mean: f64, worst: f64) -> Option<String> {
        (self.mean > mean || self.worst > worst).then(|| {
            format!(
                "the mean error of {} runs is {:.2} points, the worst {:.2}; at most {mean:.2} and {worst:.2} were expected",
                self.runs, self.mean, self.worst
            )
        })
    }
}
