//! What is summed up for a file, a process, an operation or a call site.

use serde::{Serialize, Serializer};

use hotset_facts::trace::{OperationClass, TraceRecord};

use super::kind::{KINDS, RequestKind};

/// Where pages were. Base pages, whatever the folio size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracePages {
    /// Requests of which it is known where their pages were: all else is of these.
    pub requests: u64,
    /// Pages that they asked for.
    pub pages: u64,
    /// Of these, pages that were cached before; of writes, pages that the write did not create.
    pub hits: u64,
    /// Of the hits, pages that were cached only because the kernel had read ahead during the recording.
    pub ahead_hits: u64,
    /// Pages that were read on demand; of writes, pages that were read because only a part of them was written.
    pub misses: u64,
    /// Of misses and read-ahead hits, holes of the file; null where no request tells it.
    pub zeros: Option<u64>,
    /// Pages that were read ahead beside.
    pub read_ahead: u64,
}

impl TracePages {
    /// Pages that came from the device: misses and read-ahead hits, without holes.
    pub fn from_device(&self) -> u64 {
        let read = self.misses.saturating_add(self.ahead_hits);
        read.saturating_sub(self.zeros.unwrap_or(0))
    }

    /// The share of the pages that came from the device, from 0 to 1; `None` without pages.
    pub fn device_share(&self) -> Option<f64> {
        (self.pages > 0).then(|| (self.from_device() as f64 / self.pages as f64).min(1.0))
    }

    fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.requests, other.requests),
            (&mut self.pages, other.pages),
            (&mut self.hits, other.hits),
            (&mut self.ahead_hits, other.ahead_hits),
            (&mut self.misses, other.misses),
            (&mut self.read_ahead, other.read_ahead),
        ] {
            *sum = sum.saturating_add(more);
        }
        add(&mut self.zeros, other.zeros);
    }
}

/// Requests of a kind, and how long they took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindCounts {
    /// The kind.
    pub kind: RequestKind,
    /// How many.
    pub requests: u64,
    /// How long they took together, in nanoseconds. 0 where none of them was timed.
    pub time_ns: u64,
}

/// Sums of records. Null is what no record tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceCounts {
    /// How many there are: requests, and all else that a record stands for.
    pub records: u64,
    /// Records by kind, without kinds that there are none of.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<KindCounts>"))]
    pub(super) by_kind: ByKind,
    /// Bytes that reads returned, those of direct I/O included.
    pub read_bytes: Option<u64>,
    /// Bytes that were written, those of direct I/O included.
    pub written_bytes: Option<u64>,
    /// Of both, bytes of direct I/O.
    pub direct_bytes: Option<u64>,
    /// Where the pages of reads were.
    pub read_pages: Option<TracePages>,
    /// Where the pages of writes were.
    pub written_pages: Option<TracePages>,
    /// Pages that faults brought into the page cache.
    pub fault_pages: Option<u64>,
    /// Bytes that the block layer was asked to read.
    pub device_read_bytes: Option<u64>,
    /// Bytes that the block layer was asked to write.
    pub device_write_bytes: Option<u64>,
    /// How long the requests took, in nanoseconds. Requests of several threads add up.
    pub time_ns: Option<u64>,
    /// Of that, requests whose thread slept, or whose kind waits for the device: reads that missed, direct I/O, syncs and major
    /// faults. Null for sources that don't tell it.
    pub waited_ns: Option<u64>,
}

/// Requests and nanoseconds, by the place of their kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ByKind([(u64, u64); KINDS]);

impl Serialize for ByKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

impl ByKind {
    fn rows(&self) -> impl Iterator<Item = KindCounts> + '_ {
        let all = RequestKind::ALL.iter().zip(&self.0);
        all.filter(|(_, (requests, _))| *requests > 0)
            .map(|(&kind, &(requests, time_ns))| KindCounts { kind, requests, time_ns })
    }
}

/// A sum that is known as soon as one part is.
pub(super) fn add(sum: &mut Option<u64>, part: Option<u64>) {
    if let Some(part) = part {
        *sum = Some(sum.unwrap_or(0).saturating_add(part));
    }
}

impl TraceCounts {
    /// Requests of each kind that there are any of.
    pub fn by_kind(&self) -> impl Iterator<Item = KindCounts> + '_ {
        self.by_kind.rows()
    }

    /// Requests of a kind.
    pub fn requests(&self, kind: RequestKind) -> u64 {
        self.by_kind.0[kind.at()].0
    }

    /// The kind of request that most of the time went to; `None` without any time.
    pub fn costliest_kind(&self) -> Option<KindCounts> {
        let all = self.by_kind().filter(|one| one.time_ns > 0);
        all.max_by_key(|one| one.time_ns)
    }

    /// The share of the time that requests of a kind took, from 0 to 1; `None` without any time.
    pub fn time_share(&self, kind: &KindCounts) -> Option<f64> {
        let all = self.time_ns.filter(|&ns| ns > 0)?;
        Some(kind.time_ns as f64 / all as f64)
    }

    /// The share of the time in which threads waited, from 0 to 1; `None` where that is not told.
    pub fn waited_share(&self) -> Option<f64> {
        let all = self.time_ns.filter(|&ns| ns > 0)?;
        Some(self.waited_ns? as f64 / all as f64)
    }

    /// Pages that came from the device for reads and faults: `None` where no record tells it.
    pub fn from_device_pages(&self) -> Option<u64> {
        let mut pages = self.read_pages.as_ref().map(TracePages::from_device);
        add(&mut pages, self.fault_pages);
        pages
    }

    /// What puts one row before another: time, then bytes of the device, then bytes.
    pub(super) fn cost(&self) -> (u64, u64, u64) {
        let known = |value: Option<u64>| value.unwrap_or(0);
        let device = known(self.device_read_bytes).saturating_add(known(self.device_write_bytes));
        let bytes = known(self.read_bytes).saturating_add(known(self.written_bytes));
        (known(self.time_ns), device, bytes)
    }

    /// Counts a record of `kind`; `waited` is whether its thread waited, where its source tells that.
    pub(super) fn count(&mut self, record: &TraceRecord, kind: RequestKind, waited: Option<bool>) {
        self.records += 1;
        let (requests, time) = &mut self.by_kind.0[kind.at()];
        *requests += 1;
        if let Some(ns) = record.duration_ns {
            *time = time.saturating_add(ns);
            add(&mut self.time_ns, Some(ns));
            add(&mut self.waited_ns, waited.map(|waited| if waited { ns } else { 0 }));
        }
        add(&mut self.device_read_bytes, record.device_read_bytes);
        add(&mut self.device_write_bytes, record.device_write_bytes);
        let bytes = record.result.and_then(|result| u64::try_from(result).ok());
        match record.class {
            OperationClass::Read => {
                add(&mut self.read_bytes, bytes);
                count_pages(&mut self.read_pages, record);
            }
            OperationClass::Write => {
                add(&mut self.written_bytes, bytes);
                count_pages(&mut self.written_pages, record);
            }
            OperationClass::Fault => {
                add(&mut self.fault_pages, record.pages.map(|pages| u64::from(pages.pages)));
            }
            _ => {}
        }
        if kind == RequestKind::Direct {
            add(&mut self.direct_bytes, bytes);
        }
    }

    /// Adds what another counted.
    pub(super) fn add(&mut self, other: &Self) {
        self.records = self.records.saturating_add(other.records);
        for (sum, more) in self.by_kind.0.iter_mut().zip(&other.by_kind.0) {
            *sum = (sum.0.saturating_add(more.0), sum.1.saturating_add(more.1));
        }
        for (sum, more) in [
            (&mut self.read_bytes, other.read_bytes),
            (&mut self.written_bytes, other.written_bytes),
            (&mut self.direct_bytes, other.direct_bytes),
            (&mut self.fault_pages, other.fault_pages),
            (&mut self.device_read_bytes, other.device_read_bytes),
            (&mut self.device_write_bytes, other.device_write_bytes),
            (&mut self.time_ns, other.time_ns),
            (&mut self.waited_ns, other.waited_ns),
        ] {
            add(sum, more);
        }
        for (sum, more) in [
            (&mut self.read_pages, &other.read_pages),
            (&mut self.written_pages, &other.written_pages),
        ] {
            if let Some(more) = more {
                sum.get_or_insert_default().add(more);
            }
        }
    }
}

fn count_pages(sum: &mut Option<TracePages>, record: &TraceRecord) {
    let Some(pages) = record.pages else { return };
    let sum = sum.get_or_insert_default();
    // A u64 holds the sums of 2^32 records of 2^32 pages each.
    sum.requests += 1;
    sum.pages += u64::from(pages.pages);
    sum.hits += u64::from(pages.hits);
    sum.ahead_hits += u64::from(pages.ahead_hits);
    sum.misses += u64::from(pages.misses);
    sum.read_ahead += u64::from(pages.read_ahead);
    add(&mut sum.zeros, pages.zeros.map(u64::from));
}
