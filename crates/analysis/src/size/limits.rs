//! What happens at a limit.

use hotset_facts::format::required;
use hotset_sizing::{LimitOutcome, PAGE_BYTES};
use serde::{Deserialize, Serialize};

use super::collect::Seen;

/// A limit, and what the program would do at it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeLimit {
    /// The limit in bytes of the whole program; null where what it holds beside its cache is not known.
    #[serde(deserialize_with = "required")]
    pub limit_bytes: Option<u64>,
    /// Bytes of it that files have.
    pub cache_bytes: u64,
    /// Pages that were asked for and cached.
    pub hits: u64,
    /// Pages that were asked for and read from the device.
    pub misses: u64,
    /// Pages that were neither, because all of them were written.
    pub filled: u64,
    /// Pages that the device reads beside: around mapped pages, ahead in vain, and while no request is under way.
    pub beside_pages: u64,
    /// Of the misses, pages that had been cached before and were evicted.
    pub refaults: u64,
    /// Pages that were written to the device because they were evicted or synced.
    pub written_pages: u64,
    /// Hits by hits and misses.
    pub hit_ratio: f64,
    /// The same at the worst and at the best moment at which the kernel can bring its statistics up to date.
    pub hit_ratio_range: (f64, f64),
    /// Whether the code that the program uses has no room in the cache: it would wait for its own code again and again.
    pub lacks_code: bool,
    /// Nanoseconds that the run takes; null where nothing tells how long a miss takes.
    #[serde(deserialize_with = "required")]
    pub run_ns: Option<u64>,
    /// Nanoseconds of it that it waits for pages; null where nothing tells how long a miss takes.
    #[serde(deserialize_with = "required")]
    pub waited_ns: Option<u64>,
    /// Bytes that the device reads in a second of the run; null where its length is not known.
    #[serde(deserialize_with = "required")]
    pub device_read_bytes_per_s: Option<f64>,
}

impl SizeLimit {
    /// Of a simulation whose times count if `is_timed`.
    pub(super) fn of(
        outcome: &LimitOutcome,
        limit_bytes: Option<u64>,
        seen: &Seen,
        is_timed: bool,
    ) -> Self {
        let beside_pages = seen.beside_pages + outcome.ahead;
        let cache_bytes = outcome.limit_pages.saturating_mul(PAGE_BYTES);
        let LimitOutcome { hits, misses, .. } = *outcome;
        let (most, fewest) = {
            let (one, other) = outcome.misses_by_phase;
            (one.max(other), one.min(other))
        };
        let asked = hits + misses;
        let run_ns = is_timed.then_some(outcome.clock_ns);
        let read_bytes = (misses + beside_pages).saturating_mul(PAGE_BYTES) as f64;
        Self {
            limit_bytes,
            cache_bytes,
            hits,
            misses,
            filled: outcome.filled,
            beside_pages,
            refaults: outcome.refaults,
            written_pages: outcome.written_pages,
            hit_ratio: ratio(asked.saturating_sub(misses), asked),
            hit_ratio_range: (
                ratio(asked.saturating_sub(most), asked),
                ratio(asked.saturating_sub(fewest), asked),
            ),
            lacks_code: cache_bytes < seen.code_bytes,
            run_ns,
            waited_ns: is_timed.then_some(outcome.waited_ns),
            device_read_bytes_per_s: run_ns
                .filter(|&ns| ns > 0)
                .map(|ns| read_bytes / (ns as f64 / 1e9)),
        }
    }

    /// With so many requests more that are hits at any limit.
    pub(super) fn with_hits(mut self, more: u64) -> Self {
        let asked = self.hits.saturating_add(self.misses);
        let all = asked.saturating_add(more);
        let with_more = |hit_ratio: f64| match all {
            0 => 0.0,
            all => (hit_ratio * asked as f64 + more as f64) / all as f64,
        };
        self.hits = self.hits.saturating_add(more);
        self.hit_ratio = with_more(self.hit_ratio);
        let (worst, best) = self.hit_ratio_range;
        self.hit_ratio_range = (with_more(worst), with_more(best));
        self
    }

    /// Bytes that the device reads.
    pub fn read_bytes(&self) -> u64 {
        self.misses.saturating_add(self.beside_pages).saturating_mul(PAGE_BYTES)
    }

    /// Seconds of an hour that it waits for pages.
    pub fn waited_s_per_hour(&self) -> Option<f64> {
        let run_ns = self.run_ns.filter(|&ns| ns > 0)?;
        Some(self.waited_ns? as f64 / run_ns as f64 * 3600.0)
    }

    /// Whether it mostly waits for pages that it had already: what it waits for them is more than all the rest of the run; where no times
    /// are known, whether it reads more than half of all pages again. So does every program whose code has no room.
    pub fn thrashes(&self) -> bool {
        if self.lacks_code {
            return true;
        }
        let again = ratio(self.refaults, self.misses);
        match (self.run_ns, self.waited_ns) {
            (Some(run_ns), Some(waited_ns)) => waited_ns as f64 * again > run_ns as f64 / 2.0,
            _ => ratio(self.refaults, self.hits + self.misses) > 0.5,
        }
    }
}

/// One number by another; 0 where that is none.
pub(super) fn ratio(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}
