//! Which requests begin where the one before ended.

use serde::Serialize;

use hotset_facts::trace::TraceRecord;

use super::open_files::{OpenFileKey, OpenFiles};

/// Requests that followed another of the same thread through the same open file, and those that began where that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sequence {
    /// Requests of which it is known where the one before ended.
    pub followed: u64,
    /// Of these, requests that began there.
    pub sequential: u64,
}

impl Sequence {
    /// Sequential requests by all that are known, from 0 to 1; `None` where none is.
    pub fn share(&self) -> Option<f64> {
        (self.followed > 0).then(|| self.sequential as f64 / self.followed as f64)
    }

    /// Counts a request that did, or did not, begin where another ended.
    pub(super) fn count(&mut self, sequential: bool) {
        self.followed += 1;
        self.sequential += u64::from(sequential);
    }
}

/// Where the last requests ended, of 65,536 threads and open files; what is crowded out is not known any more.
#[derive(Debug)]
pub(super) struct Positions(OpenFiles<u64>);

impl Positions {
    pub(super) fn new() -> Self {
        Self(OpenFiles::new())
    }

    /// Whether a read or write began where the one before it ended; `None` where that is not known. Requests that
    /// transferred nothing are passed over.
    pub(super) fn follow(&mut self, record: &TraceRecord, writes: bool) -> Option<bool> {
        let bytes = u64::try_from(record.result?).ok().filter(|&bytes| bytes > 0)?;
        let offset = record.offset?;
        let end = offset.saturating_add(bytes);
        let (before, is_known) = self.0.row(OpenFileKey::of(record, u8::from(writes))?)?;
        let before = std::mem::replace(before, end);
        is_known.then_some(before == offset)
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::{FileIndex, Operation};

    use super::*;

    fn read(description: u64, tid: u32, offset: u64, result: i64) -> TraceRecord {
        TraceRecord {
            description: Some(description),
            tid: Some(tid),
            offset: Some(offset),
            result: Some(result),
            file: Some(FileIndex(0)),
            ..TraceRecord::new(0, Operation::Read)
        }
    }

    #[test]
    fn each_thread_and_open_file_has_a_position_of_its_own() {
        let mut positions = Positions::new();
        let mut follow = |record: TraceRecord| positions.follow(&record, false);
        assert_eq!(follow(read(1, 1, 0, 100)), None);
        assert_eq!(follow(read(1, 1, 100, 100)), Some(true));
        assert_eq!(follow(read(1, 2, 200, 100)), None);
        assert_eq!(follow(read(2, 1, 200, 100)), None);
        assert_eq!(follow(read(1, 1, 100, 100)), Some(false));
        // The end of the file and an error move nothing.
        assert_eq!((follow(read(1, 1, 200, 0)), follow(read(1, 1, 200, -5))), (None, None));
        assert_eq!(follow(read(1, 1, 200, 100)), Some(true));
    }

    #[test]
    fn a_thousand_open_files_are_followed() {
        let mut positions = Positions::new();
        for round in 0..3 {
            let followed = (0..1000).filter(|&file| {
                positions.follow(&read(file, 7, round * 10, 10), false) == Some(true)
            });
            assert_eq!(followed.count(), if round == 0 { 0 } else { 1000 });
        }
    }
}
