//! Pages of the oldest generation by how often they were read, and up to which of them may be evicted.
//!
//! A page in tier N was accessed more than 2^(N-1) times beyond the first through file descriptors. A tier is protected where
//! its pages came back more often, by those evicted or protected, than twice as often as those of tier 0: a proportional
//! controller (`get_tier_idx()`, `read_ctrl_pos()`, `reset_ctrl_pos()` and `positive_ctrl_err()`, mm/vmscan.c).

/// `MAX_NR_TIERS`.
const TIERS: usize = 4;
/// `MIN_LRU_BATCH`: so few refaults protect no tier.
const FEW: u64 = 64;

/// What became of pages of the oldest generation, by tier.
#[derive(Debug, Clone, Default)]
pub(super) struct Tiers {
    refaulted: [u64; TIERS],
    /// Evicted or, above tier 0, protected.
    total: [u64; TIERS],
    /// Averages of the generations before, of which each counts half of the one behind it.
    refaulted_before: [u64; TIERS],
    total_before: [u64; TIERS],
}

impl Tiers {
    /// The tier of a page by its accesses beyond the first (`lru_tier_from_refs()`: the logarithm, rounded up).
    pub(super) fn of(refs: u8) -> usize {
        match refs {
            0 => 0,
            1 => 1,
            2..=3 => 2,
            _ => 3,
        }
    }

    pub(super) fn evicted(&mut self, refs: u8) {
        self.total[Self::of(refs)] += 1;
    }

    pub(super) fn protected(&mut self, refs: u8) {
        self.total[Self::of(refs)] += 1;
    }

    pub(super) fn refaulted(&mut self, refs: u8) {
        self.refaulted[Self::of(refs)] += 1;
    }

    /// The highest tier that may be evicted.
    pub(super) fn last_evicted(&self) -> usize {
        let sum = |tier: usize| {
            let refaulted = self.refaulted_before[tier] + self.refaulted[tier];
            (refaulted, self.total_before[tier] + self.total[tier])
        };
        let (refaulted_0, total_0) = sum(0);
        let may_go = |tier: &usize| {
            let (refaulted, total) = sum(*tier);
            refaulted < FEW || refaulted * (total_0 + FEW) <= (refaulted_0 + 1) * total * 2
        };
        (1..TIERS).take_while(may_go).count()
    }

    /// The next generation is the oldest.
    pub(super) fn next_generation(&mut self) {
        for tier in 0..TIERS {
            self.refaulted_before[tier] = (self.refaulted_before[tier] + self.refaulted[tier]) / 2;
            self.total_before[tier] = (self.total_before[tier] + self.total[tier]) / 2;
        }
        self.refaulted = [0; TIERS];
        self.total = [0; TIERS];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_that_comes_back_often_is_protected() {
        let mut tiers = Tiers::default();
        for _ in 0..1000 {
            tiers.evicted(0);
            tiers.evicted(1);
            tiers.protected(4);
        }
        assert_eq!(tiers.last_evicted(), 3);
        // Of tier 0 a tenth comes back. 20 refaults of tier 2 are few; 300 are more than twice a tenth.
        (0..100).for_each(|_| tiers.refaulted(0));
        (0..20).for_each(|_| tiers.refaulted(3));
        assert_eq!(tiers.last_evicted(), 3);
        (0..300).for_each(|_| tiers.refaulted(1));
        assert_eq!(tiers.last_evicted(), 0);
        // The average forgets half of it with each generation: 150, 75, and 37, which are few.
        for last in [0, 0, 3] {
            tiers.next_generation();
            assert_eq!(tiers.last_evicted(), last);
        }
    }
}
