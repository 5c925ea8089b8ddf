//! The numbers around the recommended limit, for tools that take more than one.

use hotset_sizing::PAGE_BYTES;

use super::need::Recommended;
use super::summary::{SizeSummary, TooLittle};

impl SizeSummary {
    /// Bytes at which the kernel may begin to reclaim: the smallest limit that was found to reach the target, without a margin. None where
    /// no limit is recommended.
    pub fn reclaim_from_bytes(&self) -> Option<u64> {
        let limit = self.limit?;
        Some(self.enough?.limit_bytes?.min(limit.bytes))
    }

    /// The least that the program can do with: what it must have, and as much cache that it does not thrash; never more than the limit.
    /// None where what it must have is not known.
    pub fn least(&self) -> Option<Recommended> {
        let request = self.request?;
        let Some((limit, thrash)) = self.limit.zip(self.thrash) else { return Some(request) };
        let cache_bytes = self.beside_code(thrash.cache_bytes.saturating_add(PAGE_BYTES));
        let above = Recommended::of(request.must_bytes, cache_bytes);
        Some(if above.bytes < limit.bytes { above } else { limit })
    }

    /// The most that the program makes use of: what it must have, and room for all pages that it asks for, unless cache gains it nothing.
    /// None where what it must have is not known, or nothing of its files.
    pub fn most(&self) -> Option<Recommended> {
        let request = self.request?;
        match (self.limit, self.too_little) {
            (Some(limit), _) => {
                let all_bytes = self.beside_code(self.distinct_pages.saturating_mul(PAGE_BYTES));
                Some(Recommended::of(request.must_bytes, all_bytes.max(limit.cache_bytes)))
            }
            (None, Some(TooLittle::OnePass | TooLittle::FewPages)) => Some(request),
            _ => None,
        }
    }
}
