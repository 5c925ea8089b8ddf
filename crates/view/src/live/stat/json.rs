//! `hotset.stat/1`: one JSON object a line. The schema is `schema/stat-1.schema.json`.

use serde::Serialize;

use super::{Row, gaps};
use crate::json::{rfc3339, to_line};

#[derive(Serialize)]
struct StatV1 {
    schema: &'static str,
    time: String,
    seconds: f64,
    late_intervals: u64,
    page_size_bytes: u64,
    total: u64,
    misses: u64,
    hits: u64,
    dirties: Option<u64>,
    buffers_bytes: Option<u64>,
    cached_bytes: Option<u64>,
    readahead_pages: u64,
    device_pages: u64,
    device_share: Option<f64>,
    direct_bytes: u64,
    direct_read_bytes: u64,
    direct_write_bytes: u64,
    faults: Option<u64>,
    major_faults: Option<u64>,
    evicted_pages: Option<u64>,
    writeback_bytes: Option<u64>,
    at_least: bool,
    lost: Vec<LostV1>,
    not_measured: Vec<GapV1>,
}

#[derive(Serialize)]
struct LostV1 {
    count: u64,
    what: &'static str,
    damage: &'static str,
}

#[derive(Serialize)]
struct GapV1 {
    column: &'static str,
    reason: String,
}

/// One line, with a line end. What is not known is `null`, with its reason in `not_measured`; no key is ever left out.
pub fn json_line(row: &Row<'_>) -> Vec<u8> {
    let line = row.line;
    to_line(&StatV1 {
        schema: "hotset.stat/1",
        time: rfc3339(row.at),
        seconds: line.numbers.seconds,
        late_intervals: row.late,
        page_size_bytes: line.page_size,
        total: line.total,
        misses: line.misses,
        hits: line.hits,
        dirties: line.dirties.value(),
        buffers_bytes: line.buffers_bytes.value(),
        cached_bytes: line.cached_bytes.value(),
        readahead_pages: line.readahead_pages,
        device_pages: line.device_pages,
        device_share: line.device_share,
        direct_bytes: line.direct_bytes,
        direct_read_bytes: line.numbers.io.direct_read_bytes,
        direct_write_bytes: line.numbers.io.direct_write_bytes,
        faults: line.faults.value(),
        major_faults: line.major_faults.value(),
        evicted_pages: line.evicted_pages.value(),
        writeback_bytes: line.writeback_bytes.value(),
        at_least: row.at_least(),
        lost: row
            .lost
            .iter()
            .map(|loss| LostV1 { count: loss.more, what: loss.what, damage: loss.damage })
            .collect(),
        not_measured: gaps(line)
            .map(|(column, reason)| GapV1 { column, reason: reason.to_string() })
            .collect(),
    })
}
