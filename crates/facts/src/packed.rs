//! The counters of a row in a fraction of their room.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::io::{Counters, Walker};
use crate::{Io, Observed, Reason};

/// An [`Io`] that keeps only the counters that are not zero, and the reasons of those that are missing.
///
/// A run touches tens of thousands of files, and most of them are opened, read once and closed: a dozen counters of 64.
/// Nothing is lost or rounded: an [`Io`] made of it is what was packed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Io", into = "Io")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackedIo {
    /// Which counters are kept, by their place in the order of [`Io::walk`].
    nonzero: u128,
    kept: Box<[u64]>,
    gaps: Box<[Gap]>,
}

/// Fields that are missing for one reason, by their place in the order of [`Io::walk`].
#[derive(Clone, Copy, PartialEq, Eq)]
struct Gap {
    fields: u32,
    reason: Reason,
}

impl PackedIo {
    pub(crate) fn unpack(&self) -> Io {
        let mut io = Io::zero();
        io.walk(&mut Unpacker { packed: self, place: 0, kept: self.kept.iter(), field: 0 });
        io
    }

    /// Changes the counters in place.
    pub fn edit(&mut self, edit: impl FnOnce(&mut Io)) {
        let mut io = self.unpack();
        edit(&mut io);
        *self = Self::from(io);
    }
}

impl From<Io> for PackedIo {
    fn from(mut io: Io) -> Self {
        let mut packer = Packer::default();
        io.walk(&mut packer);
        Self { nonzero: packer.nonzero, kept: packer.kept.into(), gaps: packer.gaps.into() }
    }
}

impl From<PackedIo> for Io {
    fn from(packed: PackedIo) -> Self {
        packed.unpack()
    }
}

impl fmt::Debug for PackedIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.unpack().fmt(f)
    }
}

#[derive(Default)]
struct Packer {
    nonzero: u128,
    kept: Vec<u64>,
    gaps: Vec<Gap>,
    place: u32,
    field: u32,
}

impl Walker for Packer {
    fn field<T: Counters>(&mut self, field: &mut Observed<T>) {
        match field {
            Observed::Value(counters) => counters.each(&mut |counter| {
                if *counter != 0 {
                    self.nonzero |= 1 << self.place;
                    self.kept.push(*counter);
                }
                self.place += 1;
            }),
            Observed::Missing(reason) => {
                match self.gaps.iter_mut().find(|gap| gap.reason == *reason) {
                    Some(gap) => gap.fields |= 1 << self.field,
                    None => self.gaps.push(Gap { fields: 1 << self.field, reason: *reason }),
                }
            }
        }
        self.field += 1;
    }
}

struct Unpacker<'a> {
    packed: &'a PackedIo,
    place: u32,
    kept: std::slice::Iter<'a, u64>,
    field: u32,
}

impl Walker for Unpacker<'_> {
    fn field<T: Counters>(&mut self, field: &mut Observed<T>) {
        let gap = self.packed.gaps.iter().find(|gap| gap.fields & (1 << self.field) != 0);
        match (gap, &mut *field) {
            (Some(gap), _) => *field = Observed::Missing(gap.reason),
            (None, Observed::Value(counters)) => counters.each(&mut |counter| {
                if self.packed.nonzero & (1 << self.place) != 0 {
                    *counter = self.kept.next().copied().unwrap_or(0);
                }
                self.place += 1;
            }),
            // Unpacking starts from zeros, where nothing is missing.
            (None, Observed::Missing(_)) => {}
        }
        self.field += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileId, FileRow};

    /// A different number in every counter.
    fn all_different() -> Io {
        struct Count(u64);
        impl Walker for Count {
            fn field<T: Counters>(&mut self, field: &mut Observed<T>) {
                if let Observed::Value(counters) = field {
                    counters.each(&mut |counter| {
                        self.0 += 1;
                        *counter = u64::MAX - self.0;
                    });
                }
            }
        }
        let mut io = Io::zero();
        let mut count = Count(0);
        io.walk(&mut count);
        assert!(count.0 <= u64::from(u128::BITS), "{} counters have no place", count.0);
        io
    }

    #[test]
    fn nothing_is_lost() {
        let unsupported = Reason::unsupported("no fault tracepoint");
        let mut sparse = Io::zero();
        if let Observed::Value(read) = &mut sparse.read {
            read.calls = 3;
            read.size_histogram.0[11] = 7;
        }
        let mut with_gaps = all_different();
        with_gaps.mmap.faults = Observed::Missing(unsupported);
        with_gaps.device.write_bytes = Observed::Missing(Reason::denied("needs root"));
        if let Observed::Value(time) = &mut with_gaps.time {
            time.fault_ns = Observed::Missing(unsupported);
        }
        let timeless = Io { time: Observed::Missing(unsupported), ..all_different() };
        let missing = Io::missing(Reason::lost("ring full"));
        for io in [Io::zero(), all_different(), sparse, with_gaps, timeless, missing] {
            assert_eq!(PackedIo::from(io).unpack(), io);
        }
    }

    #[test]
    fn editing_keeps_the_rest() {
        let mut packed = PackedIo::from(all_different());
        packed.edit(|io| io.device.read_bytes = Observed::Value(0));
        let mut expected = all_different();
        expected.device.read_bytes = Observed::Value(0);
        assert_eq!(packed.unpack(), expected);
    }

    #[test]
    fn a_row_is_small() {
        // A report tells 30,000 files apart: 8.6 MB.
        assert!(size_of::<FileRow>() <= 288, "{} bytes", size_of::<FileRow>());
        let row = FileRow::new(FileId::default(), Reason::lost("ring full"));
        assert_eq!(row.io.gaps.len(), 1, "one reason is kept once");
    }
}
