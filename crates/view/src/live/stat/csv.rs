//! `hotset stat --csv`: exact numbers, the same names as in JSON.

use hotset_facts::Observed;

use super::Row;
use hotset_facts::format::rfc3339;

/// The names of the columns, with a line end. New ones come after the last.
pub const CSV_HEADER: &str = "time,seconds,total,misses,hits,dirties,buffers_bytes,cached_bytes,\
                              readahead_pages,device_share,direct_bytes,faults,evicted_pages,writeback_bytes,at_least\n";

/// One line, with a line end. What is not known is empty.
pub fn csv_line(row: &Row<'_>) -> String {
    let line = row.line;
    let known = |value: Observed<u64>| value.value().map_or(String::new(), |v| v.to_string());
    let fields = [
        rfc3339(row.at),
        line.numbers.seconds.to_string(),
        line.total.to_string(),
        line.misses.to_string(),
        line.hits.to_string(),
        known(line.dirties),
        known(line.buffers_bytes),
        known(line.cached_bytes),
        line.readahead_pages.to_string(),
        line.device_share.map_or(String::new(), |share| share.to_string()),
        line.direct_bytes.to_string(),
        known(line.faults),
        known(line.evicted_pages),
        known(line.writeback_bytes),
        row.at_least().to_string(),
    ];
    let mut out = fields.join(",");
    out.push('\n');
    out
}
