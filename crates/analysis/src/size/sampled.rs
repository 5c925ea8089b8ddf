//! The need of a program that runs, by a sample of its pages: least recently used is all that a sample can tell, because a smaller cache
//! of the kernel's policies does not behave like a large one.

use hotset_facts::trace::TraceHead;
use hotset_facts::{CurveCounts, SampledNeed};
use hotset_sizing::evidence::of_lru;
use hotset_sizing::sample::Curve;
use hotset_sizing::{PAGE_BYTES, PolicyKind, capacity};
use serde::{Deserialize, Serialize};

use super::asked::SizeAsked;
use super::collect::Seen;
use super::limits::{SizeLimit, ratio};
use super::need::Must;
use super::search::grid;
use super::summary::{SizeSummary, TooLittle, is_one_pass};

/// Sampled pages that a limit has to hold for the sample to tell it from others.
const LEAST_SAMPLED_PAGES: u64 = 16;

/// What was sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sampled {
    /// One in so many pages is in the sample.
    pub one_in: u64,
    /// Pages in the sample.
    pub pages: u64,
    /// Requests for them that were lost.
    pub lost: u64,
    /// Bytes below which it tells nothing of a cache.
    pub least_cache_bytes: u64,
    /// Pages that were requested, in the sample or not: exact.
    pub requested_pages: u64,
    /// Bytes that went past the cache.
    pub direct_bytes: u64,
    /// Nanoseconds that it was watched.
    pub span_ns: u64,
}

impl Sampled {
    /// Bytes of cache with room for all pages that were requested, with three standard deviations of their estimated number: it evicts none
    /// of them, whatever the kernel's policy.
    pub fn most_bytes(&self) -> u64 {
        let pages = self.pages as f64;
        let most = (pages + 3.0 * pages.sqrt()).ceil() as u64;
        most.saturating_mul(self.one_in).saturating_mul(PAGE_BYTES)
    }

    /// The same as what was seen; the rest of that is not known.
    pub fn seen(&self) -> Seen {
        Seen {
            read_pages: self.requested_pages,
            direct_bytes: self.direct_bytes,
            lost: self.lost,
            span_ns: self.span_ns,
            ..Seen::default()
        }
    }
}

/// What hits a cache of so many pages.
struct Hits {
    limits: Vec<u64>,
    hits: Vec<u64>,
    references: u64,
    first: u64,
}

impl Hits {
    fn of(counts: CurveCounts) -> Self {
        let curve = Curve::from(counts);
        Self {
            hits: curve.hits(),
            limits: curve.limits().to_vec(),
            references: curve.references(),
            first: curve.first_references(),
        }
    }

    /// The smallest limit of the curve with as many hits as any: room for all pages, as far as the sample tells how many there are.
    fn most_pages(&self) -> u64 {
        let most = self.hits.last().copied().unwrap_or(0);
        let all = self.hits.partition_point(|&hits| hits < most);
        self.limits.get(all).copied().unwrap_or(0).max(self.first)
    }

    /// At the largest limit of the curve that is not above so many pages.
    fn at(&self, pages: u64) -> u64 {
        let below = self.limits.partition_point(|&limit| limit <= pages);
        let hits = below.checked_sub(1).and_then(|at| self.hits.get(at)).copied().unwrap_or(0);
        hits.min(self.references - self.first)
    }
}

/// Predicts what a program that was watched would do at other limits.
pub fn size_sampled(head: &TraceHead, need: SampledNeed, asked: &SizeAsked) -> SizeSummary {
    let least_pages = LEAST_SAMPLED_PAGES << need.exponent;
    let hits = Hits::of(need.counts);
    let mglru = head.reclaim.is_some_and(|reclaim| reclaim.multi_gen_lru);
    let index_bytes = capacity::limit_bytes(0, 0, hits.first);
    let must = head.memory.as_ref().map(|memory| Must::of(memory, 0, index_bytes));
    let other_bytes = asked.other_bytes.or(must.map(|must| must.other_bytes()));
    let sampled = Sampled {
        one_in: 1 << need.exponent,
        pages: need.sampled_pages,
        lost: need.lost,
        least_cache_bytes: least_pages * PAGE_BYTES,
        requested_pages: hits.references,
        direct_bytes: need.direct_bytes,
        span_ns: need.span_ns,
    };
    let mut summary = SizeSummary {
        distinct_pages: hits.first,
        prediction: Some(of_lru(mglru)),
        miss_ns: asked.miss_ns(),
        must,
        killed_below_bytes: other_bytes,
        sampled: Some(sampled),
        ..SizeSummary::without_limits(sampled.seen(), PolicyKind::Lru)
    };
    match () {
        () if hits.references == 0 => summary.too_little = Some(TooLittle::NoReferences),
        () if hits.first < least_pages => summary.too_little = Some(TooLittle::FewSampled),
        () => summary.take_limits(&hits, least_pages, other_bytes, asked),
    }
    summary.recommend(other_bytes.map(|other| other.saturating_add(index_bytes)));
    summary
}

impl SizeSummary {
    fn take_limits(
        &mut self,
        hits: &Hits,
        least_pages: u64,
        other_bytes: Option<u64>,
        asked: &SizeAsked,
    ) {
        let (distinct, span_ns) = (self.distinct_pages, self.seen.span_ns);
        let at = |pages: u64| {
            let limit_bytes =
                other_bytes.map(|other| capacity::limit_bytes(pages, other, distinct));
            limit(hits, pages, limit_bytes, span_ns, asked)
        };
        let named: Vec<u64> = asked
            .limits_bytes
            .iter()
            .map(|&bytes| capacity::cache_pages(bytes, other_bytes.unwrap_or(0), distinct))
            .filter(|&pages| pages >= least_pages)
            .collect();
        let most_pages = hits.most_pages();
        let mut pages: Vec<u64> =
            grid(most_pages, least_pages).into_iter().chain(named.iter().copied()).collect();
        pages.sort_unstable();
        pages.dedup();
        self.limits = pages.into_iter().map(at).collect();
        if is_one_pass(&self.limits) {
            self.limits.clear();
            self.too_little = Some(TooLittle::OnePass);
            return;
        }
        let known =
            || hits.limits.iter().filter(|&&pages| (least_pages..=most_pages).contains(&pages));
        let most = self.limits.last().map_or(0.0, |limit| limit.hit_ratio);
        let steps = known().copied().chain([most_pages]);
        self.enough = steps.map(at).find(|limit| limit.hit_ratio >= most * asked.target);
        self.thrash = known().copied().map(at).rev().find(SizeLimit::thrashes);
        self.asked_cache_bytes =
            named.into_iter().map(|pages| pages.saturating_mul(PAGE_BYTES)).collect();
    }
}

/// What the program would do at a limit, if it requested as much in the time.
fn limit(
    hits: &Hits,
    pages: u64,
    limit_bytes: Option<u64>,
    span_ns: u64,
    asked: &SizeAsked,
) -> SizeLimit {
    let found = hits.at(pages);
    let misses = hits.references - found;
    let hit_ratio = ratio(found, hits.references);
    let read_bytes = misses.saturating_mul(PAGE_BYTES) as f64;
    let per_s = (span_ns > 0).then(|| read_bytes / (span_ns as f64 / 1e9));
    SizeLimit {
        limit_bytes,
        cache_bytes: pages.saturating_mul(PAGE_BYTES),
        hits: found,
        misses,
        filled: 0,
        beside_pages: 0,
        refaults: misses.saturating_sub(hits.first),
        written_pages: 0,
        hit_ratio,
        hit_ratio_range: (hit_ratio, hit_ratio),
        lacks_code: false,
        run_ns: asked.miss_ns().map(|_| span_ns),
        waited_ns: asked.miss_ns().map(|miss_ns| (misses as f64 * miss_ns) as u64),
        device_read_bytes_per_s: per_s,
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::{Reclaim, TraceMemory};

    use super::*;
    use crate::trace::testing::head;

    const MIB: u64 = 1 << 20;

    /// A loop over 1,000 pages a hundred times, one in eight of them sampled, for ten seconds.
    fn need() -> SampledNeed {
        let counts = CurveCounts {
            limits: [100, 500, 1_000, 2_000].into(),
            weights: vec![0, 0, 99_000, 0],
            weighted: 100_000,
            weighted_first: 1_000,
            references: 100_000,
        };
        SampledNeed {
            counts,
            exponent: 3,
            sampled_pages: 125,
            lost: 0,
            span_ns: 10_000_000_000,
            direct_bytes: 5,
        }
    }

    fn asked() -> SizeAsked {
        SizeAsked {
            target: 0.99,
            limits_bytes: Vec::new(),
            policy: None,
            host: None,
            device_bytes_per_s: None,
            other_bytes: None,
            threads: 1,
        }
    }

    #[test]
    fn a_loop_needs_all_of_it_and_thrashes_below() {
        let memory = TraceMemory { anon_peak_bytes: 100 * MIB, looks: 3, ..TraceMemory::default() };
        let head = TraceHead { memory: Some(memory), ..head() };
        let summary = size_sampled(&head, need(), &asked());
        let enough = summary.enough.expect("a limit");
        assert_eq!((enough.cache_bytes, enough.hits), (1_000 * PAGE_BYTES, 99_000));
        let thrash = summary.thrash.expect("a limit");
        assert_eq!((thrash.cache_bytes, thrash.refaults), (500 * PAGE_BYTES, 99_000));
        assert_eq!(thrash.device_read_bytes_per_s, Some(10_000.0 * PAGE_BYTES as f64));
        assert_eq!(
            summary.limit.expect("a limit").must_bytes,
            100 * MIB + capacity::limit_bytes(0, 0, 1_000)
        );
        assert_eq!((summary.policy, summary.seen.direct_bytes), (PolicyKind::Lru, 5));
    }

    #[test]
    fn what_a_sample_does_not_tell_is_not_told() {
        let few = SampledNeed {
            counts: CurveCounts { weighted_first: 100, references: 200, ..need().counts },
            ..need()
        };
        let of = |need| size_sampled(&head(), need, &asked()).too_little;
        assert_eq!(of(few), Some(TooLittle::FewSampled));
        let none = SampledNeed {
            counts: CurveCounts { references: 0, weighted_first: 0, ..need().counts },
            ..need()
        };
        assert_eq!(of(none), Some(TooLittle::NoReferences));
        let once = CurveCounts {
            weights: vec![0; 4],
            weighted: 100_000,
            weighted_first: 100_000,
            ..need().counts
        };
        assert_eq!(of(SampledNeed { counts: once, ..need() }), Some(TooLittle::OnePass));
    }

    #[test]
    fn a_sample_that_takes_the_loop_for_larger_than_it_is_tells_its_need() {
        let counts = CurveCounts { weights: vec![0, 0, 0, 99_000], ..need().counts };
        let summary = size_sampled(&head(), SampledNeed { counts, ..need() }, &asked());
        let enough = summary.enough.expect("a limit");
        assert_eq!((enough.cache_bytes, enough.hits), (2_000 * PAGE_BYTES, 99_000));
    }

    #[test]
    fn room_for_all_is_more_than_what_was_sampled_stands_for() {
        let summary = size_sampled(&head(), need(), &asked());
        let most = summary.sampled.expect("a sample").most_bytes();
        assert_eq!(most, (125 + 34) * 8 * PAGE_BYTES);
    }

    #[test]
    fn errors_are_those_of_the_hosts_policy() {
        let reclaim = Some(Reclaim { multi_gen_lru: true, swap_bytes: 0 });
        let by_mglru = size_sampled(&TraceHead { reclaim, ..head() }, need(), &asked()).prediction;
        assert_ne!(by_mglru, size_sampled(&head(), need(), &asked()).prediction);
    }
}
