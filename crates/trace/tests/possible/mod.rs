//! What a record can hold.

use hotset_facts::trace::{RecordPages, TraceRecord};
use hotset_trace::{PageNumbers, page_numbers, takes_time};

/// Only what a record can have: a fault has no hits, and lasts no time if nothing was read.
pub(crate) fn possible(mut record: TraceRecord) -> TraceRecord {
    let numbers = page_numbers(record.class);
    let or_0 = |number, value| if numbers.has(number) { value } else { 0 };
    record.pages = record.pages.filter(|_| numbers != PageNumbers::NONE).map(|known| RecordPages {
        pages: known.pages,
        hits: or_0(PageNumbers::HITS, known.hits),
        ahead_hits: or_0(PageNumbers::AHEAD_HITS, known.ahead_hits),
        misses: or_0(PageNumbers::MISSES, known.misses),
        zeros: known.zeros.filter(|_| numbers.has(PageNumbers::ZEROS)),
        read_ahead: or_0(PageNumbers::READ_AHEAD, known.read_ahead),
    });
    record.duration_ns = record.duration_ns.filter(|_| takes_time(record.operation));
    record
}
