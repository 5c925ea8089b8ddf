//! Records that were read from the rings, until all that ended before them are there too.

use super::raw::{Raw, decode};

/// Records whose memory is kept for the next ones: what the rings of some CPUs hold. More of them are rare, and let go of.
const KEPT_RECORDS: usize = 1 << 17;

/// What waits. Its memory is used again and again: at a million records a second, new pages would cost more than the records.
#[derive(Default)]
pub(super) struct Incoming {
    raw: Vec<Raw>,
    later: Vec<Raw>,
    /// When each of `raw` ended, and its place.
    order: Vec<(u64, u32)>,
    /// Records that could not be decoded.
    pub(super) malformed: u64,
}

impl Incoming {
    /// Takes what a ring holds.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        match decode(bytes) {
            Some(raw) => self.raw.push(raw),
            None => self.malformed += 1,
        }
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.raw.len()
    }

    /// Hands over what ended until then, in the order of the ends. What ended at once comes in the order in which it came.
    pub(super) fn take_until(&mut self, until_ns: u64, mut each: impl FnMut(&mut Raw)) {
        self.order.clear();
        self.order.extend(self.raw.iter().zip(0..).map(|(raw, place)| (raw.end_ns(), place)));
        // Each CPU's are in order: this merges them.
        self.order.sort();
        let ready = self.order.partition_point(|(end_ns, _)| *end_ns <= until_ns);
        for (at, (_, place)) in self.order.iter().enumerate() {
            let Some(raw) = self.raw.get_mut(*place as usize) else { continue };
            if at < ready {
                each(raw);
            } else {
                self.later.push(raw.take());
            }
        }
        self.raw.clear();
        std::mem::swap(&mut self.raw, &mut self.later);
        self.raw.shrink_to(KEPT_RECORDS);
        self.later.shrink_to(KEPT_RECORDS);
        self.order.shrink_to(KEPT_RECORDS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{bytes_of, zeroed};
    use crate::recording::raw::{EVENT_LOST, Lost};

    fn add(incoming: &mut Incoming, to_ns: u64, records: u64) {
        incoming.add(bytes_of(&Lost { r#type: EVENT_LOST, to_ns, records, ..zeroed() }));
    }

    fn taken(incoming: &mut Incoming, until_ns: u64) -> Vec<(u64, u64)> {
        let mut taken = Vec::new();
        incoming.take_until(until_ns, |raw| match raw {
            Raw::Lost(lost) => taken.push((lost.to_ns, lost.records)),
            other => panic!("{other:?}"),
        });
        taken
    }

    #[test]
    fn what_ended_first_comes_first_and_the_rest_waits() {
        let mut incoming = Incoming::default();
        // Two CPUs, and two that ended at once.
        for (to_ns, records) in [(10, 1), (30, 2), (50, 3), (20, 4), (30, 5), (60, 6)] {
            add(&mut incoming, to_ns, records);
        }
        assert_eq!(taken(&mut incoming, 30), [(10, 1), (20, 4), (30, 2), (30, 5)]);
        assert_eq!(incoming.len(), 2);
        add(&mut incoming, 40, 7);
        add(&mut incoming, 60, 8);
        assert_eq!(taken(&mut incoming, u64::MAX), [(40, 7), (50, 3), (60, 6), (60, 8)]);
        assert_eq!(taken(&mut incoming, u64::MAX), []);
    }

    #[test]
    fn what_is_none_is_counted() {
        let mut incoming = Incoming::default();
        incoming.add(&[]);
        incoming.add(&[0xff; 8]);
        assert_eq!((incoming.malformed, incoming.len()), (2, 0));
    }
}
