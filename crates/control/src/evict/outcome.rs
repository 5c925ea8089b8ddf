//! Why pages of one file stayed.

use hotset_facts::{ControlledFile, FileHolder, StayReason, Stayed};
use hotset_sys::cache::Evicted;

/// The pages that stayed, by reason; what the kernel gives no reason for comes last.
pub(super) fn stayed(evicted: &Evicted, in_memory: impl FnOnce() -> bool) -> Vec<Stayed> {
    let after = evicted.change.cached_after.value();
    // A page can be dirty and under writeback, and both were asked for after what stayed was counted.
    let most = after.unwrap_or(u64::MAX);
    let dirty = evicted.dirty_pages.value().map(|dirty| dirty.min(most));
    let writeback = evicted.writeback_pages.value();
    let writeback = writeback.map(|pages| pages.min(most - dirty.unwrap_or(0)));
    let mut stayed = Vec::new();
    for (reason, pages) in [(StayReason::Dirty, dirty), (StayReason::Writeback, writeback)] {
        if pages.is_some_and(|pages| pages > 0) {
            stayed.push(Stayed { reason, pages, holder: None });
        }
    }
    let named = dirty.unwrap_or(0) + writeback.unwrap_or(0);
    let rest = after.unwrap_or(0).saturating_sub(named);
    if rest > 0 {
        let reason = if in_memory() { StayReason::MemoryOnly } else { StayReason::Unknown };
        stayed.push(Stayed { reason, pages: Some(rest), holder: None });
    }
    stayed
}

/// True where pages stayed and the kernel doesn't say why.
pub(super) fn is_unexplained(file: &ControlledFile) -> bool {
    file.stayed.last().is_some_and(|last| last.reason == StayReason::Unknown)
}

/// Puts the processes that map the file in the place of "unknown". A mapped page keeps its whole folio, so that they
/// explain all the rest, even where their pages are fewer.
pub(super) fn name_holders(stayed: &mut Vec<Stayed>, holders: &[FileHolder]) {
    // Who maps it and has none of its pages is not what keeps them.
    let keeps = |holder: &&FileHolder| holder.locked || holder.pages.value() != Some(0);
    let keeping: Vec<&FileHolder> = holders.iter().filter(keeps).collect();
    if keeping.is_empty() {
        return;
    }
    stayed.pop();
    stayed.extend(keeping.iter().map(|holder| Stayed {
        reason: if holder.locked { StayReason::Locked } else { StayReason::Mapped },
        pages: holder.pages.value(),
        holder: Some((holder.pid, holder.comm.clone())),
    }));
}

#[cfg(test)]
mod tests {
    use hotset_facts::{Observed, Reason};
    use hotset_sys::cache::CacheChange;

    use super::*;

    const HIDDEN: Observed<u64> = Observed::Missing(Reason::unsupported("hidden"));

    fn evicted(after: Observed<u64>, dirty: u64, writeback: u64) -> Evicted {
        Evicted {
            change: CacheChange {
                pages: 100,
                cached_before: Observed::Value(100),
                cached_after: after,
            },
            size_bytes: 100 * 4096,
            dirty_pages: Observed::Value(dirty),
            writeback_pages: Observed::Value(writeback),
        }
    }

    fn reasons(evicted: &Evicted, in_memory: bool) -> Vec<(&'static str, u64)> {
        let stayed = stayed(evicted, || in_memory);
        stayed.iter().map(|stayed| (stayed.reason.as_str(), stayed.pages.expect("known"))).collect()
    }

    #[test]
    fn the_reasons_add_up_to_what_stayed() {
        let after = Observed::Value(10);
        assert_eq!(
            reasons(&evicted(after, 2, 3), false),
            [("dirty", 2), ("writeback", 3), ("unknown", 5)]
        );
        // Counted a moment later, there can be more of them than stayed; and a page can be both.
        assert_eq!(reasons(&evicted(after, 40, 3), false), [("dirty", 10)]);
        assert_eq!(reasons(&evicted(after, 8, 8), false), [("dirty", 8), ("writeback", 2)]);
        assert_eq!(reasons(&evicted(after, 0, 0), true), [("memory_only", 10)]);
        assert_eq!(reasons(&evicted(Observed::Value(0), 5, 5), false), []);
    }

    #[test]
    fn what_the_kernel_hides_is_not_counted_as_dirty() {
        let unknown = Evicted {
            dirty_pages: HIDDEN,
            writeback_pages: HIDDEN,
            ..evicted(Observed::Value(7), 0, 0)
        };
        assert_eq!(reasons(&unknown, false), [("unknown", 7)]);
        let nothing =
            Evicted { change: CacheChange { cached_after: HIDDEN, ..unknown.change }, ..unknown };
        assert_eq!(reasons(&nothing, false), []);
        assert_eq!(reasons(&evicted(HIDDEN, 3, 4), false), [("dirty", 3), ("writeback", 4)]);
    }

    fn holder(pid: u32, pages: Observed<u64>, locked: bool) -> FileHolder {
        FileHolder { pid, comm: format!("p{pid}"), pages, locked }
    }

    #[test]
    fn processes_take_the_place_of_what_is_unknown_only_if_they_hold_pages() {
        let before = stayed(&evicted(Observed::Value(10), 4, 0), || false);
        let mut held = before.clone();
        name_holders(&mut held, &[holder(1, Observed::Value(0), false)]);
        assert_eq!(held, before, "it maps the file and has no page of it");
        let holders = [
            holder(1, Observed::Value(0), false),
            holder(2, Observed::Value(3), false),
            holder(3, Observed::Value(0), true),
            holder(4, HIDDEN, false),
        ];
        name_holders(&mut held, &holders);
        let told: Vec<_> = held
            .iter()
            .map(|stayed| {
                (stayed.reason.as_str(), stayed.pages, stayed.holder.as_ref().map(|by| by.0))
            })
            .collect();
        let wanted = [
            ("dirty", Some(4), None),
            ("mapped", Some(3), Some(2)),
            ("locked", Some(0), Some(3)),
            ("mapped", None, Some(4)),
        ];
        assert_eq!(told, wanted);
    }
}
