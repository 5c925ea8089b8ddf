//! The order of rows.

use std::cmp::Ordering;
use std::path::Path;

use hotset_facts::{ListedFile, Observed, Residency};

use super::numbers::{RowNumbers, share};

/// What rows are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortKey {
    /// Memory in the cache, most first.
    Cached,
    /// Size, biggest first.
    Size,
    /// Path, in the order of its bytes.
    Name,
    /// Share in the cache, highest first.
    Percent,
    /// Dirty pages, most first.
    Dirty,
    /// Pages evicted lately, then pages evicted at all, most first.
    Evicted,
}

/// Which end comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// As the key says.
    #[default]
    Usual,
    /// The other way round.
    Reversed,
}

/// A whole order: rows that the key can't tell apart stand by path, and those it knows nothing about stand last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The key.
    pub key: SortKey,
    /// Which end comes first.
    pub direction: Direction,
}

/// A row's rank: unknown ones have none. Higher ranks come first.
pub(super) type Rank = Option<u64>;

impl Order {
    /// What comes first of two files.
    pub fn compare(self, a: &ListedFile, b: &ListedFile) -> Ordering {
        let by_rank =
            self.by_rank(self.rank(a.size_bytes, &a.state), self.rank(b.size_bytes, &b.state));
        by_rank.then_with(|| self.by_path(&a.path, &b.path))
    }

    /// What comes first of two directories or other sums.
    pub fn compare_rows(self, a: (&Path, &RowNumbers), b: (&Path, &RowNumbers)) -> Ordering {
        let by_rank = self.by_rank(self.rank_of_row(a.1), self.rank_of_row(b.1));
        by_rank.then_with(|| self.by_path(a.0, b.0))
    }

    pub(super) fn rank(self, size_bytes: u64, state: &Observed<Residency>) -> Rank {
        let state = state.as_value();
        match self.key {
            SortKey::Name => Some(0),
            SortKey::Size => Some(size_bytes),
            SortKey::Cached => state.map(|state| state.cached_pages),
            SortKey::Percent => state.map(|state| rank_of_share(share(state))),
            SortKey::Dirty => state.and_then(|state| state.dirty_pages.value()),
            SortKey::Evicted => state.and_then(|state| {
                let lately = state.recently_evicted_pages.value()?;
                Some(pair(lately, state.evicted_pages.value().unwrap_or(0)))
            }),
        }
    }

    fn rank_of_row(self, row: &RowNumbers) -> Rank {
        match self.key {
            SortKey::Name => Some(0),
            SortKey::Size => Some(row.size_bytes),
            SortKey::Cached => row.cached_pages.value(),
            SortKey::Percent => row.cached_pages.value().map(|_| rank_of_share(row.share)),
            SortKey::Dirty => row.dirty_pages.value(),
            SortKey::Evicted => row.recently_evicted_pages.value(),
        }
    }

    pub(super) fn by_rank(self, a: Rank, b: Rank) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) if self.direction == Direction::Reversed => a.cmp(&b),
            // The higher one first, and none after any.
            (a, b) => b.cmp(&a),
        }
    }

    fn by_path(self, a: &Path, b: &Path) -> Ordering {
        let (a, b) = (a.as_os_str().as_encoded_bytes(), b.as_os_str().as_encoded_bytes());
        self.by_joined_path((b"", a), (b"", b))
    }

    /// The order of paths that come as a directory, with its slash, and a name.
    pub(super) fn by_joined_path(self, a: (&[u8], &[u8]), b: (&[u8], &[u8])) -> Ordering {
        let usual = if a.0 == b.0 {
            a.1.cmp(b.1)
        } else {
            a.0.iter().chain(a.1).cmp(b.0.iter().chain(b.1))
        };
        // Where the path is the key it turns round; where it only breaks ties it doesn't.
        match (self.key, self.direction) {
            (SortKey::Name, Direction::Reversed) => usual.reverse(),
            _ => usual,
        }
    }
}

/// Shares as whole numbers in the same order; an empty file, which has none, goes with those that have nothing.
fn rank_of_share(share: Option<f64>) -> u64 {
    // Bits of floats that are not negative are in the order of the floats.
    share.unwrap_or(0.0).to_bits()
}

/// Two counts as one that orders by the first, then the second; both stay far below 2^32 pages in practice.
fn pair(first: u64, second: u64) -> u64 {
    first.min(u64::from(u32::MAX)) << 32 | second.min(u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{file, unknown, with};
    use super::*;

    fn names(key: SortKey, direction: Direction, mut files: Vec<ListedFile>) -> String {
        let order = Order { key, direction };
        files.sort_by(|a, b| order.compare(a, b));
        files.iter().map(|file| file.path.display().to_string()).collect::<Vec<_>>().join(" ")
    }

    fn files() -> Vec<ListedFile> {
        vec![
            unknown("u", 100_000),
            with(file("b", 40_960, 4), |state| state.dirty_pages = Observed::Value(1)),
            file("a", 40_960, 4),
            with(file("c", 8192, 2), |state| state.recently_evicted_pages = Observed::Value(3)),
            file("empty", 0, 0),
        ]
    }

    #[test]
    fn the_most_comes_first_ties_go_by_path_and_the_unknown_last() {
        let usual = |key| names(key, Direction::Usual, files());
        assert_eq!(usual(SortKey::Cached), "a b c empty u");
        assert_eq!(usual(SortKey::Size), "u a b c empty");
        assert_eq!(usual(SortKey::Name), "a b c empty u");
        assert_eq!(usual(SortKey::Percent), "c a b empty u");
        assert_eq!(usual(SortKey::Dirty), "b a c empty u");
        assert_eq!(usual(SortKey::Evicted), "c a b empty u");
    }

    #[test]
    fn reversed_keeps_the_unknown_last() {
        let reversed = |key| names(key, Direction::Reversed, files());
        assert_eq!(reversed(SortKey::Cached), "empty c a b u");
        assert_eq!(reversed(SortKey::Name), "u empty c b a");
        assert_eq!(reversed(SortKey::Size), "empty c a b u");
    }
}
