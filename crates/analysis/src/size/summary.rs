//! All that is said about how much memory a program needs.

use hotset_facts::trace::TraceHead;
use hotset_sizing::evidence::{Access, Prediction, predictor};
use hotset_sizing::{Costs, LimitOutcome, PAGE_BYTES, PolicyKind, References, capacity, simulate};

use super::asked::{SizeAsked, SizeHost};
use super::collect::{Collected, Seen};
use super::limits::{SizeLimit, ratio};
use super::need::{Must, Recommended};
use super::sampled::Sampled;
use super::search::{grid, smallest};
use super::verified::VerifiedLimit;

/// Pages that the device reads again at the smallest limit, by those that it reads at any, below which no limit matters.
const MIN_AGAIN: f64 = 0.01;
/// Pages below which a limit can't be told: each CPU keeps some that are charged and not used (MEMCG_CHARGE_BATCH: 64).
const FEW: u32 = 256;
/// A policy that nobody named and no host tells.
const UNKNOWN: PolicyKind = PolicyKind::Lru;

hotset_facts::words! {
    /// Why no limits are told.
    pub enum TooLittle {
        /// So many records are missing that a prediction would be of another program.
        Gaps = "too many records are missing",
        /// No request has a place in a file.
        NoReferences = "no request has a known place in a file",
        /// Hardly a page is asked for again after many others: whatever the limit is, the device reads the same.
        OnePass = "the device reads the same at any limit",
        /// So few pages are asked for that any limit has room for them.
        FewPages = "the pages have room at any limit",
        /// A sample has so few of its pages that limits can't be told apart.
        FewSampled = "too few pages were sampled to tell limits apart",
    }
}

/// How much memory a program needs.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeSummary {
    /// What was seen.
    pub seen: Seen,
    /// Distinct pages that were asked for.
    pub distinct_pages: u64,
    /// The host whose policy it is; none where another was asked for, or no host is known.
    pub host: Option<SizeHost>,
    /// How its cache is predicted, and how well; none as of the host.
    pub prediction: Option<Prediction>,
    /// The policy that was simulated.
    pub policy: PolicyKind,
    /// Nanoseconds that a page from the device takes; none where nothing tells.
    pub miss_ns: Option<f64>,
    /// What the program must have; none where nobody looked.
    pub must: Option<Must>,
    /// Bytes below which a limit has the program killed: what no reclaim frees. Code and kernel memory for files are not in it. None where that
    /// is not known, or not of use any more, as of what was read from JSON.
    pub killed_below_bytes: Option<u64>,
    /// What was sampled, where it was not recorded.
    pub sampled: Option<Sampled>,
    /// Why no limits are told.
    pub too_little: Option<TooLittle>,
    /// Limits in ascending order; the last has room for all pages.
    pub limits: Vec<SizeLimit>,
    /// Bytes of cache at those of them that were asked for.
    pub asked_cache_bytes: Vec<u64>,
    /// The smallest limit that reaches the target.
    pub enough: Option<SizeLimit>,
    /// The largest limit at which it thrashes; none where it does at none.
    pub thrash: Option<SizeLimit>,
    /// What to reserve: what it must have.
    pub request: Option<Recommended>,
    /// What to limit it to: that, and the cache that reaches the target.
    pub limit: Option<Recommended>,
    /// Runs under limits, beside what was predicted for them.
    pub verified: Vec<VerifiedLimit>,
}

/// What simulates, for a number of pages of files.
struct Simulator<'a> {
    references: &'a References,
    policy: PolicyKind,
    costs: Costs,
    is_timed: bool,
    other_bytes: Option<u64>,
    seen: &'a Seen,
    threads: usize,
}

impl Simulator<'_> {
    fn at(&self, pages: &[u64]) -> Vec<SizeLimit> {
        let outcomes = simulate(self.references, self.policy, pages, &self.costs, self.threads);
        outcomes.iter().map(|outcome| self.limit(outcome)).collect()
    }

    fn limit(&self, outcome: &LimitOutcome) -> SizeLimit {
        let index = self.references.index_pages();
        let limit = |other| capacity::limit_bytes(outcome.limit_pages, other, index);
        SizeLimit::of(outcome, self.other_bytes.map(limit), self.seen, self.is_timed)
    }
}

/// Whose policy is simulated, and how well that is known to predict.
struct Chosen {
    host: Option<SizeHost>,
    prediction: Option<Prediction>,
    policy: PolicyKind,
}

impl Chosen {
    fn of(head: &TraceHead, references: &References, asked: &SizeAsked) -> Self {
        let host = asked.host.or_else(|| SizeHost::of(head)).filter(|_| asked.policy.is_none());
        let prediction =
            host.map(|host| predictor(host.kernel, host.multi_gen_lru, &Access::seen(references)));
        let of_host = prediction.as_ref().map(|prediction| prediction.policy);
        Self { host, prediction, policy: asked.policy.or(of_host).unwrap_or(UNKNOWN) }
    }
}

impl<'a> Simulator<'a> {
    fn new(
        head: &TraceHead,
        collected: &'a Collected,
        policy: PolicyKind,
        asked: &SizeAsked,
        bytes_per_file: u64,
    ) -> Self {
        let miss_ns = miss_ns(&collected.seen, asked);
        let seen = &collected.seen;
        let must = head.memory.as_ref().map(|memory| Must::of(memory, seen.code_bytes, 0));
        let other_bytes = must.map(|must| must.other_bytes());
        let other_bytes = asked.other_bytes.or(other_bytes);
        Self {
            references: &collected.references,
            policy,
            costs: Costs { hit_ns: 0, miss_ns: miss_ns.unwrap_or(0.0).round() as u32 },
            is_timed: miss_ns.is_some(),
            other_bytes: other_bytes
                .map(|other| other.saturating_add(seen.files.saturating_mul(bytes_per_file))),
            seen,
            threads: asked.threads,
        }
    }
}

/// Predicts what the recording with this head would do at just these limits, in their order, after a run that left the inodes of its files
/// to another control group.
pub fn size_at(
    head: &TraceHead,
    collected: &Collected,
    asked: &SizeAsked,
    limits_bytes: &[u64],
) -> Vec<SizeLimit> {
    let chosen = Chosen::of(head, &collected.references, asked);
    let per_file = capacity::INDEX_BYTES_PER_FILE;
    let simulator = Simulator::new(head, collected, chosen.policy, asked, per_file);
    let (other, index) = (simulator.other_bytes.unwrap_or(0), collected.references.index_pages());
    let pages: Vec<u64> =
        limits_bytes.iter().map(|&limit| capacity::cache_pages(limit, other, index)).collect();
    let held = collected.held_requests;
    simulator.at(&pages).into_iter().map(|limit| limit.with_hits(held)).collect()
}

/// Predicts what the recording with this head would do at other limits.
pub fn size(head: &TraceHead, collected: Collected, asked: &SizeAsked) -> SizeSummary {
    let Chosen { host, prediction, policy } = Chosen::of(head, &collected.references, asked);
    let distinct = u64::from(collected.references.distinct());
    let index_bytes = capacity::limit_bytes(0, 0, collected.references.index_pages());
    let per_file = capacity::KERNEL_BYTES_PER_FILE;
    let all_bytes = index_bytes.saturating_add(collected.seen.files.saturating_mul(per_file));
    let must =
        head.memory.as_ref().map(|memory| Must::of(memory, collected.seen.code_bytes, all_bytes));
    let simulator = Simulator::new(head, &collected, policy, asked, per_file);
    let (other_bytes, miss_ns) = (simulator.other_bytes, miss_ns(&collected.seen, asked));
    let mut summary = SizeSummary {
        distinct_pages: distinct,
        host,
        prediction,
        miss_ns,
        must,
        killed_below_bytes: asked.other_bytes.or(must.map(|must| must.other_bytes())),
        too_little: gaps(&collected.seen).or_else(|| too_little(&collected.references)),
        ..SizeSummary::without_limits(collected.seen.clone(), policy)
    };
    if summary.too_little.is_none() {
        summary.simulate(&simulator, asked);
    }
    summary.recommend(other_bytes.map(|other| other.saturating_add(index_bytes)));
    summary
}

impl SizeSummary {
    /// What was seen, before anything is said of limits.
    pub(super) fn without_limits(seen: Seen, policy: PolicyKind) -> Self {
        Self {
            seen,
            distinct_pages: 0,
            host: None,
            prediction: None,
            policy,
            miss_ns: None,
            must: None,
            killed_below_bytes: None,
            sampled: None,
            too_little: None,
            limits: Vec::new(),
            asked_cache_bytes: Vec::new(),
            enough: None,
            thrash: None,
            request: None,
            limit: None,
            verified: Vec::new(),
        }
    }

    fn simulate(&mut self, simulator: &Simulator<'_>, asked: &SizeAsked) {
        let (distinct, index) = (self.distinct_pages, simulator.references.index_pages());
        let other = simulator.other_bytes.unwrap_or(0);
        let named = asked.limits_bytes.iter();
        let named: Vec<u64> =
            named.map(|&limit| capacity::cache_pages(limit, other, index)).collect();
        let code_pages = self.seen.code_bytes.div_ceil(PAGE_BYTES);
        let grid = grid(distinct, code_pages).into_iter();
        let mut pages: Vec<u64> = grid.chain(named.iter().copied()).collect();
        pages.sort_unstable();
        pages.dedup();
        let limits = simulator.at(&pages);
        if is_one_pass(&limits) {
            self.too_little = Some(TooLittle::OnePass);
            return;
        }
        let most = limits.last().map_or(0.0, |limit| limit.hit_ratio);
        let known: Vec<(u64, SizeLimit)> = pages.into_iter().zip(limits.iter().copied()).collect();
        let suffices = |limit: &SizeLimit| limit.hit_ratio >= most * asked.target;
        let edge = smallest(&known, suffices, |pages| simulator.at(pages));
        self.enough = edge.map(|edge| edge.from.1);
        let is_calm = |limit: &SizeLimit| !limit.thrashes();
        let edge = smallest(&known, is_calm, |pages| simulator.at(pages));
        self.thrash = edge.and_then(|edge| edge.below).map(|(_, limit)| limit);
        self.limits = limits;
        self.asked_cache_bytes =
            named.into_iter().map(|pages| pages.saturating_mul(PAGE_BYTES)).collect();
    }

    /// Recommends both for what it holds beside its files' pages.
    pub(super) fn recommend(&mut self, held_bytes: Option<u64>) {
        let Some(held_bytes) = held_bytes else { return };
        let code_bytes = self.seen.code_bytes;
        let must_bytes = held_bytes.saturating_add(code_bytes);
        let few_bytes = match self.too_little {
            Some(TooLittle::FewPages) => self.distinct_pages.saturating_mul(PAGE_BYTES),
            _ => 0,
        };
        self.request = Some(Recommended::of(must_bytes, self.beside_code(few_bytes)));
        let limit =
            |enough: SizeLimit| Recommended::of(must_bytes, self.beside_code(enough.cache_bytes));
        self.limit = self.enough.map(limit);
    }

    /// Cache for all but code, which is among what the program must have.
    pub(super) fn beside_code(&self, cache_bytes: u64) -> u64 {
        cache_bytes.saturating_sub(self.seen.code_bytes)
    }
}

/// With more records missing than this, hit ratios can be further off than by any policy that is not the kernel's: exact LRU was off by
/// 4.7 points at the most for programs of several processes (docs/sizing.md).
const MOST_LOST: f64 = 0.05;

fn gaps(seen: &Seen) -> Option<TooLittle> {
    let lost = ratio(seen.lost, seen.records.saturating_add(seen.lost));
    (lost > MOST_LOST).then_some(TooLittle::Gaps)
}

fn too_little(references: &References) -> Option<TooLittle> {
    match (references.pages().is_empty(), references.distinct()) {
        (true, _) => Some(TooLittle::NoReferences),
        (_, ..FEW) => Some(TooLittle::FewPages),
        _ => None,
    }
}

/// Whether the device reads the same at all of these limits.
pub(super) fn is_one_pass(limits: &[SizeLimit]) -> bool {
    let misses = |limit: Option<&SizeLimit>| limit.map_or(0, |limit| limit.misses);
    let least = misses(limits.last());
    ratio(misses(limits.first()).saturating_sub(least), least) < MIN_AGAIN
}

/// Nanoseconds that a page from the device takes: by what was asked, else by the waits that were seen.
fn miss_ns(seen: &Seen, asked: &SizeAsked) -> Option<f64> {
    let seen_ns = || seen.waited_ns as f64 / seen.device_pages as f64;
    asked.miss_ns().or_else(|| (seen.device_pages > 0 && seen.waited_ns > 0).then(seen_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_may_lack_some_records_but_not_many() {
        let seen = |records, lost| Seen { records, lost, ..Seen::default() };
        assert_eq!(gaps(&seen(0, 0)), None);
        assert_eq!(gaps(&seen(95, 5)), None);
        assert_eq!(gaps(&seen(94, 6)), Some(TooLittle::Gaps));
        assert_eq!(gaps(&seen(0, 1)), Some(TooLittle::Gaps));
    }
}
