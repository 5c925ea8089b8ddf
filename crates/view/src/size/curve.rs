//! What a limit is worth, as a curve: the same for every picture of it.

use hotset_analysis::size::{SizeLimit, SizeSummary};

/// A range of limits whose ends differ by more is drawn with equal ratios side by side.
const LOG_FROM: f64 = 12.0;

/// Limits that were simulated, along an axis.
pub(super) struct Curve {
    /// In ascending order, each once.
    pub(super) limits: Vec<SizeLimit>,
    /// The ends of the axis in bytes: from the first limit to the last, or to the recommended one where that is larger.
    pub(super) ends: (f64, f64),
    /// The axis has equal ratios side by side.
    pub(super) log: bool,
}

impl Curve {
    /// Of a need; nothing where fewer than two limits were simulated.
    pub(super) fn of(summary: &SizeSummary) -> Option<Self> {
        let mut limits = summary.limits.clone();
        limits.extend(summary.enough);
        limits.extend(summary.thrash);
        limits.sort_by_key(place);
        limits.dedup_by_key(|limit| place(limit));
        let (first, last) = (limits.first().map(place)?, limits.last().map(place)?);
        let last = last.max(recommended(summary).unwrap_or(0));
        let (from, to) = (first as f64, last as f64);
        let log = from > 0.0 && to / from > LOG_FROM;
        (first < last).then_some(Self { limits, ends: (from, to), log })
    }

    /// What its axis measures.
    pub(super) fn title(&self) -> &'static str {
        match self.limits.iter().all(|limit| limit.limit_bytes.is_some()) {
            true => "memory limit",
            false => "size of the cache",
        }
    }

    /// The limit at a part of the axis, from 0 to 1.
    pub(super) fn limit_at(&self, part: f64) -> f64 {
        let (from, to) = self.ends;
        match self.log {
            true => from * (to / from).powf(part),
            false => from + (to - from) * part,
        }
    }

    /// The part of the axis where a limit is, from 0 to 1.
    pub(super) fn part_of(&self, limit: f64) -> f64 {
        let (from, to) = self.ends;
        let part = match self.log {
            true => (limit / from).ln() / (to / from).ln(),
            false => (limit - from) / (to - from),
        };
        part.clamp(0.0, 1.0)
    }

    /// What `of` says of a limit, on straight lines between those that were simulated. Beyond the last, all pages have room.
    pub(super) fn value_at(&self, limit: f64, of: impl Fn(&SizeLimit) -> f64) -> f64 {
        let next = self.limits.partition_point(|one| (place(one) as f64) < limit);
        let known = |at: usize| self.limits.get(at).map(|one| (place(one) as f64, of(one)));
        match (next.checked_sub(1).and_then(known), known(next)) {
            (Some((from, low)), Some((to, high))) => {
                let (from, to) = (self.part_of(from), self.part_of(to));
                low + (high - low) * (self.part_of(limit) - from) / (to - from)
            }
            (Some((_, value)), None) | (None, Some((_, value))) => value,
            (None, None) => 0.0,
        }
    }
}

/// Where a limit stands: by its bytes, or by those of the cache where the rest is not known.
pub(super) fn place(limit: &SizeLimit) -> u64 {
    limit.limit_bytes.unwrap_or(limit.cache_bytes)
}

/// The limit that is recommended; where the rest is not known, the cache that is enough.
pub(super) fn recommended(summary: &SizeSummary) -> Option<u64> {
    summary.limit.map(|limit| limit.bytes).or(summary.enough.as_ref().map(place))
}
