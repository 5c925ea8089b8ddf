//! What a difference would cost, so that rows have an order.

use super::difference::CounterChange;
use crate::explain::USUAL_COSTS as COSTS;

/// A page that a request waits for: a random read of a common NVMe or cloud disk takes about this long.
const MISS_NS: f64 = 100_000.0;
/// A byte of the device in large requests: 500 MB/s, as a SATA SSD or a cloud disk has.
const DEVICE_BYTE_NS: f64 = 2.0;
/// A call that waits until data is on the device: consumer SSDs take 0.5 to 5 ms.
const SYNC_NS: f64 = 1_000_000.0;
/// A fault on a page that is cached.
const MINOR_FAULT_NS: f64 = 500.0;
/// A page copied to or from a program: (64 KiB − 4 KiB) / 15 pages of the usual costs of a read.
const PAGE_NS: f64 = 84.0;

/// Nanoseconds for one of what a counter counts, at the costs of a usual host; 0 of what is a part of another, or costs nothing.
fn price_ns(name: &str) -> f64 {
    match name {
        "read.calls" => COSTS.read_4b_ns,
        "write.calls" => COSTS.write_4b_ns,
        "read.pages" | "write.pages" => PAGE_NS,
        "read.misses" | "write.misses" | "mmap.major_faults" => MISS_NS,
        "readahead.pages" | "mmap.pages_read" => 4096.0 * DEVICE_BYTE_NS,
        "mmap.faults" => MINOR_FAULT_NS,
        "direct.read_calls" | "direct.write_calls" => MISS_NS,
        "direct.read_bytes" | "direct.write_bytes" => DEVICE_BYTE_NS,
        "device.read_bytes" | "device.write_bytes" => DEVICE_BYTE_NS,
        "sync.calls" => SYNC_NS,
        "opens" | "files.opens" => COSTS.open_close_ns,
        "lookups.calls" | "calls" => COSTS.stat_ns,
        _ => 0.0,
    }
}

/// What a change of a counter would cost, in nanoseconds. Of what varies, nothing.
pub(super) fn effect_ns(change: &CounterChange) -> u64 {
    if change.varies {
        return 0;
    }
    let by = change.by().unwrap_or(0).unsigned_abs() as f64;
    // Saturates: counters can have any value.
    (by * price_ns(&change.name)) as u64
}

#[cfg(test)]
mod tests {
    use hotset_facts::{Observed, Unit};

    use super::*;

    #[test]
    fn a_sync_weighs_more_than_a_page_and_a_page_more_than_a_call() {
        let of = |name: &'static str, after: u64| {
            effect_ns(&CounterChange {
                name: name.into(),
                unit: Unit::Count,
                before: Observed::Value(0),
                after: Observed::Value(after),
                varies: false,
            })
        };
        assert!(of("sync.calls", 1) > of("read.misses", 1));
        assert!(of("read.misses", 1) > of("read.calls", 1));
        assert_eq!(of("read.hits", 1_000), 0);
        assert_eq!(of("sync.calls", u64::MAX), u64::MAX);
    }
}
