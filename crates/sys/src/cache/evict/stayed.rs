//! Why pages of one file stayed.

use hotset_facts::{Observed, Stayed, Unevictable};

use crate::cache::raw::CacheStat;

/// The pages of `left` that stayed, by reason; those for which the kernel gives no reason come last.
pub(super) fn by_reason(
    left: CacheStat,
    cached_after: Observed<u64>,
    in_memory: impl FnOnce() -> bool,
) -> Vec<Stayed> {
    // A page can be dirty and under writeback, and both were asked for after what stayed was counted.
    let most = cached_after.value().unwrap_or(u64::MAX);
    let dirty = left.dirty.min(most);
    let writeback = left.writeback.min(most - dirty);
    let rest = cached_after.value().unwrap_or(0).saturating_sub(dirty + writeback);
    let unexplained = match rest {
        0 => Unevictable::Unknown,
        _ if in_memory() => Unevictable::MemoryOnly,
        _ => Unevictable::Unknown,
    };
    [(Unevictable::Dirty, dirty), (Unevictable::Writeback, writeback), (unexplained, rest)]
        .into_iter()
        .filter(|(_, pages)| *pages > 0)
        .map(|(reason, pages)| Stayed { reason, pages: Some(pages), holder: None })
        .collect()
}

#[cfg(test)]
mod tests {
    use hotset_facts::Reason;

    use super::*;

    const HIDDEN: Observed<u64> = Observed::Missing(Reason::unsupported("hidden"));

    fn reasons(
        cached_after: Observed<u64>,
        dirty: u64,
        writeback: u64,
        in_memory: bool,
    ) -> Vec<(Unevictable, u64)> {
        let left = CacheStat { dirty, writeback, ..CacheStat::default() };
        let stayed = by_reason(left, cached_after, || in_memory);
        stayed.iter().map(|stayed| (stayed.reason, stayed.pages.expect("known"))).collect()
    }

    #[test]
    fn the_reasons_add_up_to_what_stayed() {
        use Unevictable::{Dirty, MemoryOnly, Unknown, Writeback};
        let after = Observed::Value(10);
        assert_eq!(reasons(after, 2, 3, false), [(Dirty, 2), (Writeback, 3), (Unknown, 5)]);
        // Counted a moment later, there can be more of them than stayed; and a page can be both.
        assert_eq!(reasons(after, 40, 3, false), [(Dirty, 10)]);
        assert_eq!(reasons(after, 8, 8, false), [(Dirty, 8), (Writeback, 2)]);
        assert_eq!(reasons(after, 0, 0, true), [(MemoryOnly, 10)]);
        assert_eq!(reasons(Observed::Value(7), 0, 0, false), [(Unknown, 7)]);
        assert_eq!(reasons(Observed::Value(0), 5, 5, false), []);
        assert_eq!(reasons(HIDDEN, 0, 0, false), []);
        assert_eq!(reasons(HIDDEN, 3, 4, false), [(Dirty, 3), (Writeback, 4)]);
    }
}
