//! What is known of a thread's use of an open file: bounded, whatever a trace holds.

use hotset_facts::random::Random;
use hotset_facts::trace::TraceRecord;

/// Sets of rows, as those of a CPU's cache: each key belongs to one set.
const SETS: usize = 1 << 14;
/// Rows of a set: where more are wanted, the one that was put there first is forgotten.
const WAYS: usize = 4;

/// An open file by its description, else the file; the thread; and what it does there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenFileKey(u64, Option<u32>, u8);

impl OpenFileKey {
    /// Of a record that does `what`, a number of the caller's; `None` where it has neither description nor file.
    pub(crate) fn of(record: &TraceRecord, what: u8) -> Option<Self> {
        // A description never has the highest bit where a file stands in for it.
        let file = || record.file.map(|file| u64::from(file.0) | 1 << 63);
        Some(Self(record.description.or_else(file)?, record.tid, what))
    }

    /// Which set it belongs to.
    fn set(self) -> usize {
        let Self(file, tid, what) = self;
        let thread = u64::from(tid.unwrap_or(u32::MAX)) << 2 | u64::from(what);
        (Random::at(file ^ thread.rotate_left(32)) % SETS as u64) as usize
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Set<T> {
    rows: [Option<(OpenFileKey, T)>; WAYS],
    oldest: u8,
}

/// A `T` for each of 65,536 threads and open files; what is crowded out is forgotten.
#[derive(Debug)]
pub(crate) struct OpenFiles<T>(Vec<Set<T>>);

impl<T: Copy + Default> OpenFiles<T> {
    pub(crate) fn new() -> Self {
        Self(vec![Set::default(); SETS])
    }

    /// The row of a key, and whether it was there before.
    pub(crate) fn row(&mut self, key: OpenFileKey) -> Option<(&mut T, bool)> {
        let set = self.0.get_mut(key.set())?;
        let place = set.rows.iter().position(|row| row.is_some_and(|(known, _)| known == key));
        let is_known = place.is_some();
        let place = place.unwrap_or_else(|| {
            let place = usize::from(set.oldest) % WAYS;
            set.oldest = set.oldest.wrapping_add(1);
            place
        });
        let row = set.rows.get_mut(place)?;
        if !is_known {
            *row = Some((key, T::default()));
        }
        row.as_mut().map(|(_, value)| (value, is_known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotset_facts::trace::Operation;

    fn key(description: u64, what: u8) -> OpenFileKey {
        let record = TraceRecord {
            description: Some(description),
            tid: Some(7),
            ..TraceRecord::new(0, Operation::Read)
        };
        OpenFileKey::of(&record, what).unwrap()
    }

    #[test]
    fn what_is_crowded_out_is_unknown() {
        let mut rows: OpenFiles<u64> = OpenFiles::new();
        for file in 0..4 * (SETS * WAYS) as u64 {
            *rows.row(key(file, 0)).unwrap().0 = 1;
        }
        assert_eq!(rows.row(key(0, 0)), Some((&mut 0, false)));
        assert_eq!(rows.row(key(0, 0)), Some((&mut 0, true)));
        assert_eq!(rows.row(key(0, 1)), Some((&mut 0, false)), "another use");
    }
}
