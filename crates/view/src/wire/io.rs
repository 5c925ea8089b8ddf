//! The counters of a run, a file or a process.

use hotset_facts::{
    DeviceIo, DirectIo, Io, MmapIo, Observed, PackedIo, PageSplit, ReadIo, ReadaheadIo,
    SizeHistogram, SyncIo, TimeIo, WriteIo,
};
use serde::{Deserialize, Serialize};

use super::adapt::{Wire as _, converted, remote};
use super::observed::Null;

/// The type of a counter on the wire.
macro_rules! wire {
    (whole always) => {
        u64
    };
    ($kind:ident $needs:ident) => {
        Nullable
    };
}

/// The groups of the table: each counter under its own name.
macro_rules! groups {
    ($(
        $(#[$group_doc:meta])*
        $group:ident: $kind:ident $Name:ident $((histogram $histogram:ident $counts:ident))? {
            $($(#[$doc:meta])* $field:ident: $unit:ident $rows:tt $needs:ident $(live $live:tt)?;)*
        }
    )*) => {
        mod keys {
            use super::{Deserialize, Histogram, Nullable, Serialize, SizeHistogram};

            $(
                $(#[$group_doc])*
                #[derive(Serialize, Deserialize)]
                #[cfg_attr(test, derive(schemars::JsonSchema))]
                pub(crate) struct $Name {
                    $($(#[$doc])* $field: wire!($kind $needs),)*
                    $(/// Calls by the bytes that each one moved.
                    #[serde(with = "Histogram")] $histogram: SizeHistogram,)?
                }

                impl From<super::$Name> for $Name {
                    fn from(counted: super::$Name) -> Self {
                        Self {
                            $($field: counted.$field.into(),)*
                            $($histogram: counted.$histogram,)?
                        }
                    }
                }

                impl From<$Name> for super::$Name {
                    fn from(read: $Name) -> Self {
                        Self { $($field: read.$field.into(),)* $($histogram: read.$histogram,)? }
                    }
                }

                super::converted!($Name => super::$Name);
            )*
        }
    };
}

hotset_facts::counters!(groups);

/// A number, or null.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Nullable(#[serde(with = "Null::<u64>")] Observed<u64>);

impl From<Observed<u64>> for Nullable {
    fn from(observed: Observed<u64>) -> Self {
        Self(observed)
    }
}

impl From<Nullable> for Observed<u64> {
    fn from(read: Nullable) -> Self {
        read.0
    }
}

/// Buffered reads, and what follows from them.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Read {
    #[serde(flatten)]
    counted: keys::ReadIo,
    /// Requested pages that were in the cache when asked for: pages - misses.
    #[serde(skip_deserializing)]
    hits: u64,
    /// Hits but for those that read-ahead of this run brought in: hits - readahead_hits.
    #[serde(skip_deserializing)]
    from_cache: u64,
    /// Requested pages that were read from the device in this run: misses + readahead_hits.
    #[serde(skip_deserializing)]
    from_device: u64,
    /// Calls that did not continue the previous one.
    #[serde(skip_deserializing)]
    random_calls: u64,
}

impl From<ReadIo> for Read {
    fn from(read: ReadIo) -> Self {
        let PageSplit { hits, from_cache, from_device, .. } = read.split();
        let random_calls = read.random_calls();
        Self { counted: read.into(), hits, from_cache, from_device, random_calls }
    }
}

impl From<Read> for ReadIo {
    fn from(read: Read) -> Self {
        read.counted.into()
    }
}

converted!(Read => ReadIo);

/// The keys that totals, files and processes share. A group is null where nothing of it was measured.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Io")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct IoDef {
    #[serde(with = "Null::<Read>")]
    read: Observed<ReadIo>,
    #[serde(with = "Null::<keys::WriteIo>")]
    write: Observed<WriteIo>,
    #[serde(with = "keys::MmapIo")]
    mmap: MmapIo,
    #[serde(with = "Null::<keys::DirectIo>")]
    direct: Observed<DirectIo>,
    #[serde(with = "Null::<keys::ReadaheadIo>")]
    readahead: Observed<ReadaheadIo>,
    #[serde(with = "Null::<keys::SyncIo>")]
    sync: Observed<SyncIo>,
    #[serde(with = "keys::DeviceIo")]
    device: DeviceIo,
    #[serde(with = "Null::<keys::TimeIo>")]
    time: Observed<TimeIo>,
}

remote!(IoDef => Io);

/// The same, of a row that holds them packed.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PackedIoDef {
    #[serde(flatten, with = "IoDef")]
    io: Io,
}

impl From<PackedIo> for PackedIoDef {
    fn from(packed: PackedIo) -> Self {
        Self { io: packed.into() }
    }
}

impl From<PackedIoDef> for PackedIo {
    fn from(read: PackedIoDef) -> Self {
        read.io.into()
    }
}

converted!(PackedIoDef => PackedIo);

/// Calls of a size.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Bucket {
    /// The largest size in it; null for the last bucket, which is open.
    le_bytes: Option<u64>,
    /// Calls of at most this size and above the bucket before.
    calls: u64,
}

/// Twelve buckets, by size.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Histogram(#[cfg_attr(test, schemars(length(equal = 12)))] Vec<Bucket>);

impl From<SizeHistogram> for Histogram {
    fn from(histogram: SizeHistogram) -> Self {
        let bucket = |(le_bytes, calls)| Bucket { le_bytes, calls };
        Self(histogram.buckets().map(bucket).collect())
    }
}

impl TryFrom<Histogram> for SizeHistogram {
    type Error = &'static str;

    fn try_from(Histogram(read): Histogram) -> Result<Self, Self::Error> {
        let mut histogram = Self::default();
        let bounds = Self::default();
        let same = bounds.buckets().map(|(bound, _)| bound).eq(read.iter().map(|one| one.le_bytes));
        if !same {
            return Err("expected the twelve buckets of a histogram of sizes, in their order");
        }
        for (calls, bucket) in histogram.0.iter_mut().zip(read) {
            *calls = bucket.calls;
        }
        Ok(histogram)
    }
}

converted!(Histogram => SizeHistogram);
