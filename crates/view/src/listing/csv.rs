//! CSV as RFC 4180 has it, with pcstat's columns first and by its names. Lines end with a line feed.

use hotset_facts::Observed;

use super::ListRow;
use crate::csv::push_line;
use crate::escape::escape_bytes;

/// The line of titles.
pub fn csv_head() -> &'static str {
    "Name,Size,Pages,Cached,Percent,Dirty,Writeback,Evicted,RecentlyEvicted,Source,Reason\n"
}

/// The line of a file: size in bytes, the rest in pages; what isn't known is empty. Names are bytes as they are, except on
/// a terminal, where they are escaped.
pub fn csv_row(row: &ListRow<'_>, terminal: bool, out: &mut Vec<u8>) {
    let bytes = row.path.as_os_str().as_encoded_bytes();
    let name = if terminal { escape_bytes(bytes).into_bytes() } else { bytes.to_vec() };
    let numbers = row.numbers;
    let field = |value: Observed<u64>| value.value().map_or_else(String::new, |v| v.to_string());
    let fields = [
        numbers.size_bytes.to_string(),
        numbers.pages.to_string(),
        field(numbers.cached_pages),
        numbers.share.map_or_else(String::new, |share| format!("{:.3}", 100.0 * share)),
        field(numbers.dirty_pages),
        field(numbers.writeback_pages),
        field(numbers.evicted_pages),
        field(numbers.recently_evicted_pages),
        numbers.source.map_or("", |source| source.as_str()).to_owned(),
        numbers.cached_pages.reason().map_or_else(String::new, |reason| reason.to_string()),
    ];
    let fields = fields.map(String::into_bytes);
    push_line(out, &[&[name], &fields[..]].concat());
}
