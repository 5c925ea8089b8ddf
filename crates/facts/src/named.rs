//! Every counter of a run by the name that it has in JSON.

use crate::{Io, Observed, ReadIo, SizeHistogram, Unit};

/// A counter by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedCounter {
    /// Its name in JSON, with its group: `read.calls`.
    pub name: &'static str,
    /// In what it counts.
    pub unit: Unit,
    /// Its value.
    pub value: Observed<u64>,
}

impl NamedCounter {
    /// A counter with a name.
    pub fn new(name: &'static str, unit: Unit, value: impl Into<Observed<u64>>) -> Self {
        Self { name, unit, value: value.into() }
    }
}

/// A counter of a group: those of a whole group are known or missing together.
macro_rules! value {
    (whole $group:expr, $field:ident) => {
        match &$group {
            Observed::Value(group) => Observed::<u64>::from(group.$field),
            Observed::Missing(reason) => Observed::Missing(*reason),
        }
    };
    (each $group:expr, $field:ident) => {
        Observed::<u64>::from($group.$field)
    };
}

macro_rules! named {
    ($(
        $(#[$group_doc:meta])*
        $group:ident: $kind:ident $Name:ident $(($($histogram:tt)+))? {
            $($(#[$doc:meta])* $field:ident: $unit:ident $rows:tt $needs:ident $(live $live:tt)?;)*
        }
    )*) => {
        /// The counters of the table, in its order.
        fn counted(io: &Io) -> Vec<NamedCounter> {
            vec![$($(NamedCounter::new(
                concat!(stringify!($group), ".", stringify!($field)),
                Unit::$unit,
                value!($kind io.$group, $field),
            ),)*)*]
        }
    };
}

crate::counters!(named);

/// The buckets of a histogram of sizes, by their upper bounds in bytes: those of [`crate::HISTOGRAM_BOUNDS`], and the open one.
macro_rules! buckets {
    ($group:literal) => {
        [
            concat!($group, ".size_histogram.le_16"),
            concat!($group, ".size_histogram.le_64"),
            concat!($group, ".size_histogram.le_256"),
            concat!($group, ".size_histogram.le_1024"),
            concat!($group, ".size_histogram.le_4096"),
            concat!($group, ".size_histogram.le_16384"),
            concat!($group, ".size_histogram.le_65536"),
            concat!($group, ".size_histogram.le_262144"),
            concat!($group, ".size_histogram.le_1048576"),
            concat!($group, ".size_histogram.le_4194304"),
            concat!($group, ".size_histogram.le_16777216"),
            concat!($group, ".size_histogram.larger"),
        ]
    };
}

const READ_BUCKETS: [&str; 12] = buckets!("read");
const WRITE_BUCKETS: [&str; 12] = buckets!("write");

impl Io {
    /// Every counter by the name that it has in JSON, what follows from reads included. A bucket of a histogram has its upper bound
    /// in its name: `read.size_histogram.le_4096`.
    pub fn named(&self) -> Vec<NamedCounter> {
        let mut all = counted(self);
        let follows = |name, unit, of: fn(&ReadIo) -> Observed<u64>| {
            let value = match &self.read {
                Observed::Value(read) => of(read),
                Observed::Missing(reason) => Observed::Missing(*reason),
            };
            NamedCounter { name, unit, value }
        };
        all.extend([
            follows("read.hits", Unit::Pages, |read| read.split().hits.into()),
            follows("read.from_cache", Unit::Pages, |read| read.split().from_cache.into()),
            follows("read.from_device", Unit::Pages, |read| read.split().from_device.into()),
            follows("read.random_calls", Unit::Count, ReadIo::random_calls),
        ]);
        let reads = self.read.map(|read| read.size_histogram);
        let writes = self.write.map(|write| write.size_histogram);
        all.extend(buckets(&READ_BUCKETS, reads));
        all.extend(buckets(&WRITE_BUCKETS, writes));
        all
    }
}

fn buckets<'a>(
    names: &'a [&'static str; 12],
    histogram: Observed<SizeHistogram>,
) -> impl Iterator<Item = NamedCounter> + 'a {
    names.iter().enumerate().map(move |(at, name)| {
        let calls = histogram.map(|SizeHistogram(calls)| calls[at]);
        NamedCounter::new(name, Unit::Count, calls)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HISTOGRAM_BOUNDS, Reason};

    #[test]
    fn counters_have_the_names_of_json_and_each_one() {
        let mut read = ReadIo { calls: 3, pages: 9, misses: 4, ..ReadIo::default() };
        read.size_histogram.0[4] = 3;
        let mut io = Io { read: Observed::Value(read), ..Io::zero() };
        let lost = Reason::lost("the ring was full");
        io.write = Observed::Missing(lost);
        let all = io.named();
        let of = |name: &str| all.iter().find(|one| one.name == name).map(|one| one.value);
        assert_eq!(of("read.calls"), Some(Observed::Value(3)));
        assert_eq!(of("read.from_device"), Some(Observed::Value(4)));
        assert_eq!(of("read.size_histogram.le_4096"), Some(Observed::Value(3)));
        assert_eq!(of("write.calls"), Some(Observed::Missing(lost)));
        assert_eq!(of("write.size_histogram.larger"), Some(Observed::Missing(lost)));
        assert_eq!(of("mmap.zeros"), Some(Observed::Value(0)));
        let mut names: Vec<&str> = all.iter().map(|one| one.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn buckets_are_named_by_their_bounds() {
        for (bound, name) in HISTOGRAM_BOUNDS.iter().zip(READ_BUCKETS) {
            assert_eq!(name, format!("read.size_histogram.le_{bound}"));
        }
    }
}
