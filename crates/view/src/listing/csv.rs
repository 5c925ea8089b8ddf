//! CSV as RFC 4180 has it, with pcstat's columns first and by its names. Lines end with a line feed.

use std::os::unix::ffi::OsStrExt as _;

use hotset_facts::{Observed, ResidencySource};

use super::ListRow;
use crate::csv::push_field;
use crate::escape::escape_bytes;

/// The line of titles.
pub fn csv_head() -> &'static str {
    "Name,Size,Pages,Cached,Percent,Dirty,Writeback,Evicted,RecentlyEvicted,Source,Reason\n"
}

/// The line of a file: size in bytes, the rest in pages; what isn't known is empty. Names are bytes as they are, except on
/// a terminal, where they are escaped.
pub fn csv_row(row: &ListRow<'_>, terminal: bool, out: &mut Vec<u8>) {
    let bytes = row.path.as_os_str().as_bytes();
    match terminal {
        true => push_field(out, escape_bytes(bytes).as_bytes()),
        false => push_field(out, bytes),
    }
    let numbers = row.numbers;
    let field = |value: Observed<u64>| value.value().map_or_else(String::new, |v| v.to_string());
    let percent = numbers.share.map_or_else(String::new, |share| format!("{:.3}", 100.0 * share));
    let fields = [
        numbers.size_bytes.to_string(),
        numbers.pages.to_string(),
        field(numbers.cached_pages),
        percent,
        field(numbers.dirty_pages),
        field(numbers.writeback_pages),
        field(numbers.evicted_pages),
        field(numbers.recently_evicted_pages),
        numbers.source.map_or("", source_word).to_owned(),
        numbers.cached_pages.reason().map_or_else(String::new, |reason| reason.to_string()),
    ];
    for field in fields {
        out.push(b',');
        push_field(out, field.as_bytes());
    }
    out.push(b'\n');
}

/// The word for who answered, in CSV and in JSON.
pub(super) fn source_word(source: ResidencySource) -> &'static str {
    match source {
        ResidencySource::Cachestat => "cachestat",
        ResidencySource::Mincore => "mincore",
    }
}
