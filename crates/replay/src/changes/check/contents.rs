//! The bytes of a file, by who wrote them.

/// Who wrote bytes that were there before the first step.
pub(super) const NOBODY: u32 = u32::MAX;
/// Who wrote bytes that are there because the file became longer.
const HOLE: u32 = u32::MAX - 1;

/// Bytes of one writer: from the first to behind the last.
pub(super) type Written = (u64, u64, u32);

/// Ranges in order, without gaps, that end where the file does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Contents {
    pieces: Vec<Written>,
}

impl Contents {
    pub(super) fn new(bytes: u64) -> Self {
        let mut contents = Self::default();
        contents.put(0, bytes, NOBODY);
        contents
    }

    pub(super) fn bytes(&self) -> u64 {
        self.pieces.last().map_or(0, |last| last.1)
    }

    /// The pieces between two bytes, as far as the file goes.
    pub(super) fn read(&self, begin: u64, end: u64) -> Vec<Written> {
        let within = |piece: &Written| (piece.0.max(begin), piece.1.min(end), piece.2);
        self.pieces.iter().map(within).filter(|piece| piece.0 < piece.1).collect()
    }

    pub(super) fn write(&mut self, begin: u64, end: u64, by: u32) {
        if begin < end {
            self.put(self.bytes(), begin, HOLE);
            self.put(begin, end, by);
        }
    }

    pub(super) fn set_bytes(&mut self, bytes: u64) {
        self.put(self.bytes(), bytes, HOLE);
        self.pieces = self.read(0, bytes);
    }

    fn put(&mut self, begin: u64, end: u64, by: u32) {
        if begin >= end {
            return;
        }
        let mut pieces = self.read(0, begin);
        pieces.push((begin, end, by));
        pieces.extend(self.read(end, u64::MAX));
        // Two writes of one record side by side are as one.
        pieces.dedup_by(|next, last| {
            let joins = (last.1, last.2) == (next.0, next.2);
            last.1 = if joins { next.1 } else { last.1 };
            joins
        });
        self.pieces = pieces;
    }
}

#[test]
fn bytes_are_of_who_wrote_them_last() {
    let mut contents = Contents::new(10);
    contents.write(4, 6, 1);
    contents.write(5, 8, 2);
    assert_eq!(contents.read(3, 9), [(3, 4, NOBODY), (4, 5, 1), (5, 8, 2), (8, 9, NOBODY)]);
    contents.write(12, 13, 3);
    assert_eq!(contents.read(9, 99), [(9, 10, NOBODY), (10, 12, HOLE), (12, 13, 3)]);
    contents.set_bytes(5);
    assert_eq!((contents.bytes(), contents.read(0, 99).len()), (5, 2));
    contents.set_bytes(7);
    assert_eq!(contents.read(4, 9), [(4, 5, 1), (5, 7, HOLE)]);
}
