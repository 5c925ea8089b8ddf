//! The counters of a run or of an interval in a fraction of their room.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::io::{Counters, Walker};
use crate::{Io, LiveIo, Observed, Reason, varint};

/// An [`Io`] that keeps only the counters that are not zero, and the reasons of those that are missing.
///
/// A run touches tens of thousands of files, and most of them are opened, read once and closed: a dozen counters of 64.
/// Nothing is lost or rounded: an [`Io`] made of it is what was packed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Io", into = "Io")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackedIo {
    /// The counters, in the order of [`Io::walk`].
    counters: Box<[u8]>,
    /// Where all is known, as nearly always, this takes a pointer.
    gaps: Option<Box<Gaps>>,
}

#[derive(Clone, PartialEq, Eq)]
struct Gaps(Box<[Gap]>);

/// Fields that are missing for one reason, by their place in the order of [`Io::walk`].
#[derive(Clone, Copy, PartialEq, Eq)]
struct Gap {
    fields: u32,
    reason: Reason,
}

impl PackedIo {
    pub(crate) fn unpack(&self) -> Io {
        let mut io = Io::zero();
        let counters = varint::Unpacker::new(&self.counters);
        io.walk(&mut Unpacker { counters, gaps: self.gaps(), field: 0 });
        io
    }

    fn gaps(&self) -> &[Gap] {
        self.gaps.as_deref().map_or(&[], |gaps| &gaps.0)
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
        let mut packer = Packer { counters: varint::Packer::new(), gaps: Vec::new(), field: 0 };
        io.walk(&mut packer);
        let gaps = (!packer.gaps.is_empty()).then(|| Box::new(Gaps(packer.gaps.into())));
        Self { counters: packer.counters.finish(), gaps }
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

/// A [`LiveIo`] that takes 16 bytes, and on the heap what its counters need that are not zero. A host has 100,000 rows,
/// lines and files, each kept for the interval that is shown and to take the next difference.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "LiveIo", into = "LiveIo")]
pub struct PackedLiveIo(Box<[u8]>);

#[cfg(feature = "schema")]
impl schemars::JsonSchema for PackedLiveIo {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        LiveIo::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        LiveIo::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        LiveIo::json_schema(generator)
    }
}

impl PackedLiveIo {
    /// The counters.
    pub fn unpack(&self) -> LiveIo {
        let (mut io, mut counters) = (LiveIo::ZERO, varint::Unpacker::new(&self.0));
        if !self.is_idle() {
            io.each(|counter| *counter = counters.take());
        }
        io
    }

    /// Whether nothing was counted.
    pub fn is_idle(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds `other` to these counters.
    pub fn add(&mut self, other: &Self) {
        if self.is_idle() {
            *self = other.clone();
        } else if !other.is_idle() {
            let mut sum = self.unpack();
            sum.add(&other.unpack());
            *self = sum.into();
        }
    }
}

impl From<LiveIo> for PackedLiveIo {
    fn from(mut io: LiveIo) -> Self {
        let mut counters = varint::Packer::new();
        io.each(|counter| counters.put(*counter));
        Self(counters.finish())
    }
}

impl From<PackedLiveIo> for LiveIo {
    fn from(packed: PackedLiveIo) -> Self {
        packed.unpack()
    }
}

impl fmt::Debug for PackedLiveIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.unpack().fmt(f)
    }
}

struct Packer {
    counters: varint::Packer,
    gaps: Vec<Gap>,
    field: u32,
}

impl Walker for Packer {
    fn field<T: Counters>(&mut self, field: &mut Observed<T>) {
        match field {
            Observed::Value(counters) => counters.each(&mut |counter| self.counters.put(*counter)),
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
    counters: varint::Unpacker<'a>,
    gaps: &'a [Gap],
    field: u32,
}

impl Walker for Unpacker<'_> {
    fn field<T: Counters>(&mut self, field: &mut Observed<T>) {
        let gap = self.gaps.iter().find(|gap| gap.fields & (1 << self.field) != 0);
        match (gap, &mut *field) {
            (Some(gap), _) => *field = Observed::Missing(gap.reason),
            (None, Observed::Value(counters)) => {
                counters.each(&mut |counter| *counter = self.counters.take());
            }
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
        assert!(count.0 <= varint::MAX_COUNTERS as u64, "{} counters have no place", count.0);
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
    fn the_counters_of_an_interval_come_back() {
        let mut all = LiveIo::ZERO;
        let mut next = u64::MAX;
        all.each(|counter| {
            *counter = next;
            next = next / 2 + 1;
        });
        let few = LiveIo { read_calls: 2, read_hit_ns: 90_000, ..LiveIo::ZERO };
        for io in [LiveIo::ZERO, all, few] {
            let packed = PackedLiveIo::from(io);
            assert_eq!((packed.unpack(), packed.is_idle()), (io, io.is_idle()));
            let mut sum = packed.clone();
            sum.add(&PackedLiveIo::default());
            assert_eq!(sum, packed);
            sum.add(&few.into());
            let mut expected = io;
            expected.add(&few);
            assert_eq!(sum.unpack(), expected);
        }
    }

    #[test]
    fn a_row_is_small() {
        // A report tells 30,000 files apart: 7.7 MB, and about 100 bytes each of path and counters.
        assert!(size_of::<FileRow>() <= 256, "{} bytes", size_of::<FileRow>());
        let row = FileRow::new(FileId::default(), Reason::lost("ring full"));
        assert_eq!(row.io.gaps().len(), 1, "one reason is kept once");
        let mut read = Io::zero();
        read.read = Observed::Value(crate::ReadIo {
            calls: 2,
            bytes: 3000,
            pages: 1,
            ..crate::ReadIo::default()
        });
        let packed = PackedIo::from(read);
        assert!(packed.counters.len() < 20, "{} bytes", packed.counters.len());
    }
}
