//! The counters of one file, one process or a whole run. Every count of pages is in base pages, whatever the folio size.

use serde::{Deserialize, Serialize, Serializer};

use crate::{Feature, Observed, PageSplit, Reason};

/// Upper bounds (inclusive, bytes) of the size histogram's buckets; one more bucket follows for anything larger.
pub const HISTOGRAM_BOUNDS: [u64; 11] =
    [16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20];

/// Calls by the bytes that each one moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Buckets", into = "Buckets")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeHistogram(pub [u64; HISTOGRAM_BOUNDS.len() + 1]);

impl SizeHistogram {
    /// Buckets with their inclusive upper bound in bytes (`None` for the last, open one) and their calls.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<u64>, u64)> + '_ {
        self.0.iter().enumerate().map(|(i, &calls)| (HISTOGRAM_BOUNDS.get(i).copied(), calls))
    }

    /// Calls that moved at most `bytes`, which should be one of [`HISTOGRAM_BOUNDS`].
    pub fn calls_up_to(&self, bytes: u64) -> u64 {
        self.buckets()
            .filter(|(le, _)| le.is_some_and(|le| le <= bytes))
            .map(|(_, calls)| calls)
            .sum()
    }
}

/// Calls of a size.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Bucket {
    /// The largest size in it; null for the last bucket, which is open.
    #[serde(deserialize_with = "crate::format::required")]
    le_bytes: Option<u64>,
    /// Calls of at most this size and above the bucket before.
    calls: u64,
}

/// The buckets that have calls, by size: of twelve at most.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Buckets(#[cfg_attr(feature = "schema", schemars(length(max = 12)))] Vec<Bucket>);

impl From<SizeHistogram> for Buckets {
    fn from(histogram: SizeHistogram) -> Self {
        let bucket = |(le_bytes, calls)| Bucket { le_bytes, calls };
        Self(histogram.buckets().filter(|(_, calls)| *calls > 0).map(bucket).collect())
    }
}

impl TryFrom<Buckets> for SizeHistogram {
    type Error = &'static str;

    fn try_from(Buckets(read): Buckets) -> Result<Self, Self::Error> {
        const WRONG: &str =
            "expected buckets of a histogram of sizes, each once and in their order";
        let mut histogram = Self::default();
        let mut from = 0;
        for bucket in read {
            let is_its = |(bound, _): (Option<u64>, u64)| bound == bucket.le_bytes;
            let ahead = histogram.buckets().skip(from).position(is_its).ok_or(WRONG)?;
            histogram.0[from + ahead] = bucket.calls;
            from += ahead + 1;
        }
        Ok(histogram)
    }
}

/// What can be added up, and taken apart into numbers and gaps: a number, one that can be missing, or a group of these.
pub(crate) trait Counters: Copy {
    fn zero() -> Self;
    fn add(&mut self, other: &Self);
    /// Shows every number that can't be missing by itself, in a fixed order.
    fn each(&mut self, visit: &mut impl FnMut(&mut u64));
    /// Shows everything that can be missing by itself, in a fixed order; what is inside of it only where it is known.
    fn walk(&mut self, walker: &mut impl Walker);
    /// Makes missing what needs `feature`.
    fn lose(&mut self, feature: Feature);
}

/// Something that looks at every part of an [`Io`] that can be missing by itself.
pub(crate) trait Walker {
    fn field<T: Counters>(&mut self, field: &mut Observed<T>);
}

impl Counters for u64 {
    fn zero() -> Self {
        0
    }
    fn add(&mut self, other: &Self) {
        *self += other;
    }
    fn each(&mut self, visit: &mut impl FnMut(&mut u64)) {
        visit(self);
    }
    fn walk(&mut self, _: &mut impl Walker) {}
    fn lose(&mut self, _: Feature) {}
}

impl Counters for SizeHistogram {
    fn zero() -> Self {
        Self::default()
    }
    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
    }
    fn each(&mut self, visit: &mut impl FnMut(&mut u64)) {
        self.0.iter_mut().for_each(visit);
    }
    fn walk(&mut self, _: &mut impl Walker) {}
    fn lose(&mut self, _: Feature) {}
}

impl<T: Counters> Counters for Observed<T> {
    fn zero() -> Self {
        Self::Value(T::zero())
    }
    /// What is missing on either side becomes missing, so a sum never hides a gap.
    fn add(&mut self, other: &Self) {
        *self = self.zip_with(*other, |mut a, b| {
            a.add(&b);
            a
        });
    }
    fn each(&mut self, _: &mut impl FnMut(&mut u64)) {}
    fn walk(&mut self, walker: &mut impl Walker) {
        walker.field(self);
        if let Self::Value(value) = self {
            value.walk(walker);
        }
    }
    fn lose(&mut self, feature: Feature) {
        if let Self::Value(value) = self {
            value.lose(feature);
        }
    }
}

/// The type of a counter, and of a group in [`Io`].
macro_rules! kind {
    (whole always) => { u64 };
    ($kind:ident $needs:ident) => { Observed<u64> };
    (group whole $Name:ident) => { Observed<$Name> };
    (group each $Name:ident) => { $Name };
}

/// Makes a counter missing if it needs a feature.
macro_rules! lose {
    (always $counter:expr, $feature:ident) => {};
    ($needs:ident $counter:expr, $feature:ident) => {
        if $feature == Feature::$needs {
            $counter = Observed::Missing($feature.reason());
        }
    };
}

/// Implements [`Counters`] for a structure of them, and what is public of it.
macro_rules! counters_of {
    ($Name:ident { $($field:ident $needs:ident,)* }) => {
        impl Counters for $Name {
            fn zero() -> Self {
                Self { $($field: Counters::zero(),)* }
            }
            fn add(&mut self, other: &Self) {
                $(Counters::add(&mut self.$field, &other.$field);)*
            }
            fn each(&mut self, visit: &mut impl FnMut(&mut u64)) {
                $(self.$field.each(visit);)*
            }
            fn walk(&mut self, walker: &mut impl Walker) {
                $(self.$field.walk(walker);)*
            }
            fn lose(&mut self, feature: Feature) {
                $(self.$field.lose(feature);)*
                $(lose!($needs self.$field, feature);)*
            }
        }

        impl $Name {
            /// Adds `other`; what is missing on either side becomes missing, so a sum never hides a gap.
            pub fn add(&mut self, other: &Self) {
                Counters::add(self, other);
            }
        }
    };
}

macro_rules! groups {
    ($(
        $(#[$group_doc:meta])*
        $group:ident: $kind:ident $Name:ident $((histogram $histogram:ident $row:ident $($written:literal)?))? {
            $($(#[$doc:meta])* $field:ident: $unit:ident $rows:tt $needs:ident $(live $live:tt)?;)*
        }
    )*) => {
        $(
            $(#[$group_doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            pub struct $Name {
                $($(#[$doc])* pub $field: kind!($kind $needs),)*
                $(/// Calls by the bytes that each one moved.
                pub $histogram: SizeHistogram,)?
            }

            counters_of!($Name { $($field $needs,)* $($histogram always,)? });

            impl Default for $Name {
                /// All zero: nothing happened, and all of it was measured.
                fn default() -> Self {
                    Counters::zero()
                }
            }
        )*

        /// Everything counted for one file, one process, or a run.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct Io {
            $(
                $(#[$group_doc])*
                $($(
                    #[serde(serialize_with = $written)]
                    #[cfg_attr(feature = "schema", schemars(with = "Observed<ReadKeys>"))]
                )?)?
                pub $group: kind!(group $kind $Name),
            )*
        }

        counters_of!(Io { $($group always,)* });
    };
}

crate::counters!(groups);

impl Io {
    /// All counters at zero, for a sensor that measures everything.
    pub fn zero() -> Self {
        Counters::zero()
    }

    /// Nothing measured, for one reason.
    pub fn missing(reason: Reason) -> Self {
        struct Erase(Reason);
        impl Walker for Erase {
            fn field<T: Counters>(&mut self, field: &mut Observed<T>) {
                *field = Observed::Missing(self.0);
            }
        }
        let mut io = Self::zero();
        io.walk(&mut Erase(reason));
        io
    }

    /// Makes missing what can't be counted without these features.
    pub fn without(mut self, features: &[Feature]) -> Self {
        features.iter().for_each(|feature| self.lose(*feature));
        self
    }
}

impl ReadIo {
    /// The requested pages by where they were.
    pub fn split(&self) -> PageSplit {
        let zeros = self.zeros.value().unwrap_or(0);
        PageSplit::of(self.pages, self.misses, self.readahead_hits, zeros)
    }

    /// Calls that did not continue the previous one.
    pub fn random_calls(&self) -> Observed<u64> {
        self.sequential_calls.map(|sequential| self.calls.saturating_sub(sequential))
    }
}

/// Buffered reads, and what follows from them.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ReadKeys {
    #[serde(flatten)]
    counted: ReadIo,
    /// Requested pages that were in the cache when asked for: pages - misses.
    hits: u64,
    /// Hits but for those that read-ahead of this run brought in: hits - readahead_hits.
    from_cache: u64,
    /// Requested pages that were read from the device in this run: misses + readahead_hits - zeros, where these are known.
    from_device: u64,
    /// Calls that did not continue the previous one.
    random_calls: Observed<u64>,
}

fn with_split<S: Serializer>(read: &Observed<ReadIo>, to: S) -> Result<S::Ok, S::Error> {
    let keys = |counted: ReadIo| {
        let PageSplit { hits, from_cache, from_device, .. } = counted.split();
        ReadKeys { counted, hits, from_cache, from_device, random_calls: counted.random_calls() }
    };
    read.map(keys).serialize(to)
}

impl TimeIo {
    /// Nanoseconds in all classes that were measured, saturating: without the faults where their time is missing.
    pub fn total_ns(&self) -> u64 {
        [self.direct_ns, self.write_ns, self.sync_ns, self.lookup_ns, self.hit_ns]
            .into_iter()
            .fold(self.device_read_ns(), u64::saturating_add)
    }

    /// Nanoseconds in which a task waited for the device to read, saturating: misses, waits and major faults, as far
    /// as these were measured.
    pub fn device_read_ns(&self) -> u64 {
        let fault_ns = self.fault_ns.value().unwrap_or(0);
        self.wait_ns.saturating_add(self.miss_ns).saturating_add(fault_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_split_two_ways() {
        let read = ReadIo { pages: 100, misses: 10, readahead_hits: 30, ..ReadIo::default() };
        let split = read.split();
        assert_eq!((split.hits, split.misses), (90, 10));
        assert_eq!((split.from_cache, split.from_device, split.zeros), (60, 40, 0));
        let sparse = ReadIo { zeros: Observed::Value(35), ..read }.split();
        assert_eq!((sparse.from_cache, sparse.from_device, sparse.zeros), (60, 5, 35));
        let contradictory =
            ReadIo { pages: 3, misses: u64::MAX, readahead_hits: 9, ..read }.split();
        assert_eq!((contradictory.hits, contradictory.misses), (0, 3));
        assert_eq!((contradictory.from_cache, contradictory.from_device), (0, 3));
        let zeros = ReadIo { pages: 3, misses: 2, zeros: Observed::Value(9), ..read }.split();
        assert_eq!((zeros.from_cache, zeros.from_device, zeros.zeros), (0, 0, 3));
    }

    #[test]
    fn a_sum_never_hides_a_gap() {
        let mut sum = Io::zero();
        let mut part = Io::zero();
        part.mmap.faults = Observed::Missing(Reason::unsupported("no fault tracepoint"));
        part.device.read_bytes = Observed::Value(4096);
        sum.add(&part);
        assert_eq!(sum.mmap.faults.value(), None);
        assert_eq!(sum.device.read_bytes.value(), Some(4096));
    }

    #[test]
    fn without_a_feature_its_counters_are_missing_and_no_others() {
        let io = Io::zero().without(&[Feature::DirtyTracepoint, Feature::FileFaults]);
        let gone = Observed::Missing(Feature::DirtyTracepoint.reason());
        assert_eq!(io.write.value().map(|write| write.dirtied_pages), Some(gone));
        assert_eq!(io.write.value().map(|write| write.misses), Some(Observed::Value(0)));
        assert_eq!(io.mmap.faults.reason(), Some(Feature::FileFaults.reason()));
        assert_eq!(io.mmap.pages_read, Observed::Value(0));
        assert_eq!(io.time.value().and_then(|time| time.fault_ns.value()), None);
        assert_eq!(io.read, Observed::Value(ReadIo::default()));
    }

    #[test]
    fn unknown_fault_time_stays_unknown_in_a_sum() {
        let none = Observed::Missing(Reason::unsupported("no fault tracepoint"));
        let mut sum = TimeIo { miss_ns: 3, ..TimeIo::default() };
        sum.add(&TimeIo { hit_ns: 4, fault_ns: none, ..TimeIo::default() });
        assert_eq!(sum.fault_ns, none);
        assert_eq!((sum.total_ns(), sum.device_read_ns()), (7, 3));
    }

    #[test]
    fn histogram_counts_up_to_a_bound() {
        let mut histogram = SizeHistogram::default();
        histogram.0[0] = 3;
        histogram.0[4] = 5;
        histogram.0[11] = 7;
        assert_eq!(histogram.calls_up_to(4096), 8);
        assert_eq!(histogram.buckets().last(), Some((None, 7)));
    }
}
