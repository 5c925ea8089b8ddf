//! `hotset.stat/1`: an object a line, an interval each.

use std::time::SystemTime;

use hotset_analysis::live::{GrownLoss, LiveNumbers, StatLine};
use hotset_facts::format::{Time, constant};
use hotset_facts::{LiveIo, Observed};
use serde::{Deserialize, Serialize};

use super::{Document, Envelope, ReadError};
use crate::live::stat::Row;

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.stat/1";

/// One line, with a line end.
pub fn json_line(row: &Row<'_>) -> Vec<u8> {
    Envelope::new(SCHEMA, LineKeys::from(row)).to_line()
}

/// One line as it was written. Of the counters behind it there are those that the line has.
#[derive(Debug, Clone, PartialEq)]
pub struct StatRecord {
    /// When the interval ended.
    pub at: SystemTime,
    /// Its numbers.
    pub line: StatLine,
    /// What got lost in it.
    pub lost: Vec<GrownLoss>,
    /// Lines that were due before this one and are part of it.
    pub late: u64,
}

/// What [`json_line`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_stat(document: &Document<'_>) -> Result<StatRecord, ReadError> {
    document.read::<LineKeys>(SCHEMA).map(StatRecord::from)
}

/// Counts are of the interval, not per second.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LineKeys {
    /// When the interval ended.
    #[serde(with = "Time")]
    time: SystemTime,
    /// How long it was.
    seconds: f64,
    /// Lines that were due before this one and are part of it.
    late_intervals: u64,
    /// Bytes of a base page.
    page_size_bytes: u64,
    /// Requested pages; always misses + hits.
    total: u64,
    /// Requested pages that were not cached.
    misses: u64,
    /// Requested pages that were.
    hits: u64,
    /// Pages that turned dirty.
    dirties: Observed<u64>,
    /// Cached pages of block devices at the end.
    buffers_bytes: Observed<u64>,
    /// Cached pages of files at the end.
    cached_bytes: Observed<u64>,
    /// Pages read ahead.
    readahead_pages: u64,
    /// Requested pages that came from the device.
    device_pages: u64,
    /// Those among the requested, 0 to 1; null without requests.
    #[serde(deserialize_with = "hotset_facts::format::required")]
    device_share: Option<f64>,
    /// Bytes of direct reads and writes.
    direct_bytes: u64,
    /// Bytes of direct reads.
    direct_read_bytes: u64,
    /// Bytes of direct writes.
    direct_write_bytes: u64,
    /// Faults on file mappings.
    faults: Observed<u64>,
    /// Those that had to read.
    major_faults: Observed<u64>,
    /// Pages that left the cache but for truncation and unlinking.
    evicted_pages: Observed<u64>,
    /// Bytes that were written back.
    writeback_bytes: Observed<u64>,
    /// The counts are only a lower bound: see `lost`.
    #[serde(skip_deserializing)]
    at_least: bool,
    /// What got lost in the interval.
    lost: Vec<LossKeys>,
}

/// A loss.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LossKeys {
    count: u64,
    /// What was lost.
    what: String,
    /// What that does to the numbers.
    damage: String,
    /// Counts are too low, and not only less well attributed.
    counts: bool,
}

impl From<&Row<'_>> for LineKeys {
    fn from(row: &Row<'_>) -> Self {
        let line = row.line;
        let loss = |loss: &GrownLoss| LossKeys {
            count: loss.more,
            what: loss.what.to_owned(),
            damage: loss.damage.to_owned(),
            counts: loss.counts,
        };
        Self {
            time: row.at,
            seconds: line.numbers.seconds,
            late_intervals: row.late,
            page_size_bytes: line.page_size,
            total: line.total,
            misses: line.misses,
            hits: line.hits,
            dirties: line.dirties,
            buffers_bytes: line.buffers_bytes,
            cached_bytes: line.cached_bytes,
            readahead_pages: line.readahead_pages,
            device_pages: line.device_pages,
            device_share: line.device_share,
            direct_bytes: line.direct_bytes,
            direct_read_bytes: line.numbers.io.direct_read_bytes,
            direct_write_bytes: line.numbers.io.direct_write_bytes,
            faults: line.faults,
            major_faults: line.major_faults,
            evicted_pages: line.evicted_pages,
            writeback_bytes: line.writeback_bytes,
            at_least: row.at_least(),
            lost: row.lost.iter().map(loss).collect(),
        }
    }
}

impl From<LineKeys> for StatRecord {
    fn from(keys: LineKeys) -> Self {
        let loss = |loss: LossKeys| GrownLoss {
            more: loss.count,
            what: constant(&loss.what),
            damage: constant(&loss.damage),
            counts: loss.counts,
        };
        let io = LiveIo {
            direct_read_bytes: keys.direct_read_bytes,
            direct_write_bytes: keys.direct_write_bytes,
            ..LiveIo::default()
        };
        let line = StatLine {
            numbers: LiveNumbers::new(io, keys.seconds),
            total: keys.total,
            misses: keys.misses,
            hits: keys.hits,
            dirties: keys.dirties,
            buffers_bytes: keys.buffers_bytes,
            cached_bytes: keys.cached_bytes,
            readahead_pages: keys.readahead_pages,
            device_pages: keys.device_pages,
            device_share: keys.device_share,
            direct_bytes: keys.direct_bytes,
            faults: keys.faults,
            major_faults: keys.major_faults,
            evicted_pages: keys.evicted_pages,
            writeback_bytes: keys.writeback_bytes,
            page_size: keys.page_size_bytes,
        };
        let lost = keys.lost.into_iter().map(loss).collect();
        Self { at: keys.time, line, lost, late: keys.late_intervals }
    }
}
