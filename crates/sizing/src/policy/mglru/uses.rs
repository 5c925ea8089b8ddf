//! How often a page was accessed through file descriptors.

/// Where [`Uses`] stands among a page's flags: three bits.
pub(super) const MASK: u8 = 0b11_1000;
const SHIFT: u32 = 3;

/// The flags `PG_referenced`, `PG_workingset` and two counting bits, of which only seven combinations come up. In this order:
/// none; referenced; these and workingset, with a count of 0 to 3; workingset and a count of 3, not referenced, which is how a
/// page comes back that was in the highest tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Uses(u8);

impl Uses {
    pub(super) const NONE: Self = Self(0);
    pub(super) const RESTORED: Self = Self(6);
    /// Referenced, workingset, and a count of 3.
    const MOST: Self = Self(5);

    pub(super) fn of(flags: u8) -> Self {
        Self((flags & MASK) >> SHIFT)
    }

    pub(super) fn flags(self) -> u8 {
        self.0 << SHIFT
    }

    /// After another access (`folio_inc_refs()`, mm/swap.c).
    pub(super) fn next(self) -> Self {
        if self.0 < Self::MOST.0 { Self(self.0 + 1) } else { Self::MOST }
    }

    /// Accesses beyond the first, at most 4 (`folio_lru_refs()`, include/linux/mm_inline.h).
    pub(super) fn refs(self) -> u8 {
        self.0.saturating_sub(1).min(4)
    }

    /// What counts of them when the page is isolated: without `PG_referenced`, nothing (`isolate_folio()`, mm/vmscan.c).
    pub(super) fn isolated_refs(self) -> u8 {
        if self == Self::RESTORED { 0 } else { self.refs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_counted_up_to_five() {
        let mut uses = Uses::NONE;
        let mut refs = Vec::new();
        for _ in 0..7 {
            refs.push(uses.refs());
            assert_eq!(uses.refs(), uses.isolated_refs());
            assert_eq!(Uses::of(uses.flags() | 0b1100_0111), uses);
            uses = uses.next();
        }
        assert_eq!(refs, [0, 0, 1, 2, 3, 4, 4]);
        assert_eq!((Uses::RESTORED.refs(), Uses::RESTORED.isolated_refs()), (4, 0));
        assert_eq!(Uses::RESTORED.next(), Uses::MOST);
    }
}
