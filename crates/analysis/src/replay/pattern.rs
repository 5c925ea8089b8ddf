//! A picture of a change in numbers: how many requests of each kind are in it, without the change and with it.

use std::collections::BTreeMap;

use hotset_facts::replay::{PatternKind, PatternMark, PatternSide, ReplayPattern};

/// Requests of a kind, and what they moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PatternCount {
    /// How many there are.
    pub requests: u64,
    /// Bytes that they moved; of hints, bytes that they are about.
    pub bytes: u64,
}

/// Requests of a kind on both sides of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternRow {
    /// What they are.
    pub kind: PatternKind,
    /// They go past the page cache (O_DIRECT).
    pub direct: bool,
    /// As recorded.
    pub before: PatternCount,
    /// With the change.
    pub after: PatternCount,
}

/// Each kind that a picture has marks of.
pub fn pattern_rows(pattern: &ReplayPattern) -> Vec<PatternRow> {
    type Counts = BTreeMap<(PatternKind, bool), PatternCount>;
    let count = |side: &PatternSide| {
        let mut counts = Counts::new();
        for PatternMark { kind, direct, bytes, .. } in &side.marks {
            let count = counts.entry((*kind, *direct)).or_default();
            count.requests += 1;
            count.bytes = count.bytes.saturating_add(bytes.unwrap_or(0));
        }
        counts
    };
    let (before, after) = (count(&pattern.before), count(&pattern.after));
    let mut keys: Vec<&(PatternKind, bool)> = before.keys().chain(after.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let of =
        |counts: &Counts, key: &(PatternKind, bool)| counts.get(key).copied().unwrap_or_default();
    let row = |key: &(PatternKind, bool)| PatternRow {
        kind: key.0,
        direct: key.1,
        before: of(&before, key),
        after: of(&after, key),
    };
    keys.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_on_both_sides() {
        let rows = pattern_rows(&crate::replay::testing::pattern());
        let rows: Vec<_> = rows
            .iter()
            .map(|row| {
                let of = |count: PatternCount| (count.requests, count.bytes);
                (row.kind, row.direct, of(row.before), of(row.after))
            })
            .collect();
        assert_eq!(
            rows,
            [
                (PatternKind::Read, false, (20, 2_000), (1, 2_000)),
                (PatternKind::Open, false, (1, 0), (1, 0)),
                (PatternKind::FailedLookup, false, (1, 0), (0, 0)),
            ]
        );
    }
}
