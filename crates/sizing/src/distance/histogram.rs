//! What comes of stack distances: how many references hit at any limit.

/// References by their stack distance: the number of other pages that were used since the page was used last, or rather the
/// largest limit at which the reference is a miss with least recently used replacement. At every larger one it is a hit.
#[derive(Debug, Clone, Default)]
pub struct Distances {
    /// By distance. Four bytes, because they are counted at random places, and more of them fit into the CPU's cache.
    counts: Vec<u32>,
    /// The distances whose count went through 2^32, once for each time.
    wrapped: Vec<u32>,
    first: u64,
}

impl PartialEq for Distances {
    fn eq(&self, other: &Self) -> bool {
        self.first == other.first && self.counts() == other.counts()
    }
}

impl Eq for Distances {}

impl Distances {
    /// For distances below this one; it grows where they are longer.
    pub(super) fn below(distance: usize) -> Self {
        Self { counts: vec![0; distance], ..Self::default() }
    }

    #[inline]
    pub(super) fn count(&mut self, distance: Option<u32>) {
        let Some(distance) = distance else {
            self.first += 1;
            return;
        };
        match self.counts.get_mut(distance as usize) {
            Some(count) if *count < u32::MAX => *count += 1,
            _ => self.count_slowly(distance),
        }
    }

    #[cold]
    fn count_slowly(&mut self, distance: u32) {
        let at = distance as usize;
        if self.counts.len() <= at {
            self.counts.resize(at + at / 2 + 64, 0);
        }
        self.counts[at] = self.counts[at].wrapping_add(1);
        if self.counts[at] == 0 {
            self.wrapped.push(distance);
        }
    }

    /// References to pages that were not used before, or were removed since: misses at any limit.
    pub fn first_references(&self) -> u64 {
        self.first
    }

    /// All references.
    pub fn references(&self) -> u64 {
        self.first + self.hits(u64::MAX)
    }

    /// References with each distance, from 0 to the longest.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts: Vec<u64> = self.counts.iter().map(|&count| u64::from(count)).collect();
        self.wrapped.iter().for_each(|&distance| counts[distance as usize] += 1 << 32);
        let longest = counts.iter().rposition(|&count| count > 0);
        counts.truncate(longest.map_or(0, |longest| longest + 1));
        counts
    }

    /// References that hit at a limit in pages.
    pub fn hits(&self, limit_pages: u64) -> u64 {
        self.between(0, limit_pages)
    }

    /// The same at several limits, in one pass where they ascend.
    pub fn hits_at(&self, limits_pages: &[u64]) -> Vec<u64> {
        let (mut before, mut hits) = (0, 0);
        let at = |&limit: &u64| {
            if limit < before {
                return self.hits(limit);
            }
            hits += self.between(before, limit);
            before = limit;
            hits
        };
        limits_pages.iter().map(at).collect()
    }

    /// References with a distance from `from` to before `to`.
    fn between(&self, from: u64, to: u64) -> u64 {
        let at = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX).min(self.counts.len());
        let counts = self.counts[at(from)..at(to)].iter().map(|&count| u64::from(count));
        let is_between = |distance: &&u32| (from..to).contains(&u64::from(**distance));
        counts.sum::<u64>() + ((self.wrapped.iter().filter(is_between).count() as u64) << 32)
    }

    /// The smallest limit in pages at which so many references hit, if there is one.
    pub fn limit_for(&self, hits: u64) -> Option<u64> {
        if hits == 0 {
            return Some(0);
        }
        let mut sum = 0;
        let reaches = |count: u64| {
            sum += count;
            sum >= hits
        };
        self.counts().into_iter().position(reaches).map(|distance| distance as u64 + 1)
    }

    /// Adds the counts of other references, of a cache of their own.
    pub fn add(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (distance, (count, more)) in (0..).zip(self.counts.iter_mut().zip(&other.counts)) {
            let (sum, is_wrapped) = count.overflowing_add(*more);
            *count = sum;
            self.wrapped.extend(is_wrapped.then_some(distance));
        }
        self.wrapped.extend(&other.wrapped);
        self.first += other.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_what_has_a_shorter_distance() {
        let mut distances = Distances::default();
        for distance in [None, Some(0), Some(2), Some(2), None, Some(1000)] {
            distances.count(distance);
        }
        assert_eq!((distances.first_references(), distances.references()), (2, 6));
        assert_eq!(
            distances.hits_at(&[0, 1, 2, 3, 1000, 1001, u64::MAX, 1]),
            [0, 1, 1, 3, 3, 4, 4, 1]
        );
        let limits = [0, 1, 2, 3, 4, 5].map(|hits| distances.limit_for(hits));
        assert_eq!(limits, [Some(0), Some(1), Some(3), Some(3), Some(1001), None]);
        assert_eq!(distances.counts().len(), 1001);
        let mut both = Distances::default();
        both.add(&distances);
        both.add(&distances);
        assert_eq!((both.hits(3), both.first_references()), (6, 4));
    }

    #[test]
    fn counts_may_be_large() {
        let mut distances = Distances::below(8);
        distances.counts[5] = u32::MAX - 1;
        (0..3).for_each(|_| distances.count(Some(5)));
        distances.count(Some(7));
        assert_eq!(distances.counts(), [0, 0, 0, 0, 0, (1 << 32) + 1, 0, 1]);
        let mut sum = Distances::default();
        (0..5).for_each(|_| sum.add(&distances));
        assert_eq!(sum.hits_at(&[5, 6, 9]), [0, 5 * ((1 << 32) + 1), 5 * ((1 << 32) + 2)]);
        assert_eq!((sum.limit_for(1 << 33), sum.references()), (Some(6), 5 * ((1 << 32) + 2)));
    }
}
