//! Which of several tracks a slice fits on.
//!
//! Perfetto shows the slices of a track nested, by their begins and ends alone: those of a thread
//! nest, since it does one thing at a time, but for faults inside of calls. Requests of io_uring
//! run side by side and need tracks of their own, and so does what a late record would tear. A lane
//! remembers its last slices, which bounds it; what began before those it forgot goes to another
//! lane.

/// Slices of a lane that are remembered.
const REMEMBERED: usize = 64;

/// Lanes beyond which slices are left out: devices rarely have more requests of one thread under
/// way.
pub(super) const LANES: usize = 256;

/// Begin and end.
type Slice = (u64, u64);

#[derive(Debug, Default, Clone)]
struct Lane {
    last: std::collections::VecDeque<Slice>,
    /// The latest end of those that were forgotten.
    forgotten: u64,
}

impl Lane {
    /// Whether a slice that is written after the remembered ones nests with each of them. Where
    /// times are equal, the order in which events were written decides.
    fn takes(&self, (start, end): Slice) -> bool {
        let nests = |(from, to): &Slice| {
            let is_after = start >= *to;
            let is_inside = start >= *from && end <= *to;
            let is_before = end < *from;
            let is_around = start < *from && end >= *to;
            is_after || is_inside || is_before || is_around
        };
        start >= self.forgotten && self.last.iter().all(nests)
    }

    fn put(&mut self, slice: Slice) {
        if self.last.len() >= REMEMBERED
            && let Some((_, end)) = self.last.pop_front()
        {
            self.forgotten = self.forgotten.max(end);
        }
        self.last.push_back(slice);
    }
}

/// The lanes of one thread, or of its asynchronous requests.
#[derive(Debug, Default, Clone)]
pub(super) struct Lanes(Vec<Lane>);

impl Lanes {
    /// The number of the lane that a slice goes to, and whether it is new; none beyond the bound.
    pub(super) fn place(&mut self, start: u64, end: u64) -> Option<(usize, bool)> {
        let slice = (start, end);
        let found = self.0.iter().position(|lane| lane.takes(slice));
        if found.is_none() && self.0.len() >= LANES {
            return None;
        }
        let number = found.unwrap_or(self.0.len());
        if found.is_none() {
            self.0.push(Lane::default());
        }
        self.0.get_mut(number)?.put(slice);
        Some((number, found.is_none()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Replays begins and ends in the order of time, and of writing where times are equal, as a
    /// viewer does: each end closes the slice that was opened last. True if that gives every slice
    /// its own end.
    fn is_shown_as_it_was(slices: &[Slice]) -> bool {
        let begins = slices.iter().enumerate().flat_map(|(slice, (start, end))| {
            [(*start, 2 * slice, Some(slice)), (*end, 2 * slice + 1, None)]
        });
        let mut events: Vec<_> = begins.collect();
        events.sort_by_key(|(time, order, _)| (*time, *order));
        let mut open: Vec<usize> = Vec::new();
        events.into_iter().all(|(time, _, begun)| match begun {
            Some(slice) => {
                open.push(slice);
                true
            }
            None => open.pop().is_some_and(|slice| slices[slice].1 == time),
        })
    }

    proptest! {
        #[test]
        fn slices_of_a_lane_keep_their_ends(
            slices in prop::collection::vec((0_u64..60, 0_u64..20), 0..200)
        ) {
            let mut lanes = Lanes::default();
            let mut placed: Vec<Vec<Slice>> = Vec::new();
            for (start, length) in slices {
                let slice = (start, start + length);
                if let Some((lane, is_new)) = lanes.place(slice.0, slice.1) {
                    prop_assert_eq!(is_new, lane == placed.len());
                    placed.resize(placed.len().max(lane + 1), Vec::new());
                    placed[lane].push(slice);
                }
            }
            for lane in placed {
                prop_assert!(is_shown_as_it_was(&lane), "{lane:?}");
            }
        }
    }

    #[test]
    fn calls_in_a_row_and_a_fault_inside_share_a_lane() {
        let mut lanes = Lanes::default();
        for slice in [(0, 10), (10, 20), (12, 15), (20, 20), (20, 30)] {
            assert_eq!(lanes.place(slice.0, slice.1).map(|(lane, _)| lane), Some(0), "{slice:?}");
        }
        assert_eq!(lanes.place(25, 35), Some((1, true)));
        assert_eq!(lanes.place(26, 40).map(|(lane, _)| lane), Some(2));
    }
}
