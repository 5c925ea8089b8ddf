//! Sets of bytes of a file.

/// Ranges in order that don't touch each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Ranges {
    all: Vec<(u64, u64)>,
}

impl Ranges {
    /// Adds the bytes from `begin` to the one before `end`.
    pub(crate) fn add(&mut self, begin: u64, end: u64) {
        if begin >= end {
            return;
        }
        // Most files are read in order.
        if let Some(last) = self.all.last_mut()
            && last.0 <= begin
        {
            if begin <= last.1 {
                last.1 = last.1.max(end);
            } else {
                self.all.push((begin, end));
            }
            return;
        }
        let first = self.all.partition_point(|range| range.1 < begin);
        let behind = self.all.partition_point(|range| range.0 <= end);
        let joined = match self.all.get(first..behind) {
            Some([one]) => (begin.min(one.0), end.max(one.1)),
            Some([low, .., high]) => (begin.min(low.0), end.max(high.1)),
            _ => (begin, end),
        };
        self.all.splice(first..behind, [joined]);
    }

    /// The parts of these bytes that are not in it.
    pub(crate) fn missing(&self, begin: u64, end: u64) -> Vec<(u64, u64)> {
        let mut missing = Vec::new();
        let mut at = begin;
        let first = self.all.partition_point(|range| range.1 <= begin);
        for range in self.all.iter().skip(first).take_while(|range| range.0 < end) {
            if at < range.0 {
                missing.push((at, range.0));
            }
            at = at.max(range.1);
        }
        if at < end {
            missing.push((at, end));
        }
        missing
    }

    /// The byte behind the last; 0 where there is none.
    pub(crate) fn end(&self) -> u64 {
        self.all.last().map_or(0, |last| last.1)
    }

    /// All of them, in order.
    pub(crate) fn into_vec(self) -> Vec<(u64, u64)> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_touches_becomes_one() {
        let mut ranges = Ranges::default();
        for (begin, end) in [(10, 20), (30, 40), (20, 25), (5, 5), (0, 3), (24, 30)] {
            ranges.add(begin, end);
        }
        assert_eq!(ranges.clone().into_vec(), [(0, 3), (10, 40)]);
        assert_eq!(ranges.missing(1, 45), [(3, 10), (40, 45)]);
        assert_eq!(ranges.missing(15, 20), []);
    }

    proptest! {
        #[test]
        fn it_is_the_set_of_what_was_added(added in proptest::collection::vec((0_u64..60, 0_u64..12), 0..20), asked in (0_u64..70, 0_u64..30)) {
            let (mut ranges, mut bytes) = (Ranges::default(), [false; 128]);
            for (begin, len) in added {
                ranges.add(begin, begin + len);
                bytes[begin as usize..(begin + len) as usize].fill(true);
            }
            let (begin, end) = (asked.0, asked.0 + asked.1);
            let mut missing = [false; 128];
            for (from, to) in ranges.missing(begin, end) {
                prop_assert!(from < to);
                missing[from as usize..to as usize].fill(true);
            }
            for at in begin..end {
                prop_assert_eq!(missing[at as usize], !bytes[at as usize]);
            }
            let all = ranges.into_vec();
            prop_assert!(all.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", all);
        }
    }
}
