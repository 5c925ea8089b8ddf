//! What the host itself says: the cache, write-back, reclaim and pressure.

use hotset_analysis::live::Counted;
use hotset_facts::{MemInfo, Observed};

use super::{Family, Kind, Labels, Measured, Unit, Value};

/// Gauges from /proc/meminfo.
type Gauge = (&'static str, &'static str, fn(&MemInfo) -> u64);

const MEMORY: [Gauge; 7] = [
    ("hotset_memory_bytes", "Memory that the kernel manages", |memory| memory.total_bytes),
    (
        "hotset_memory_cached_bytes",
        "Memory that holds pages of files, shared memory included (Cached)",
        |memory| memory.cached_bytes,
    ),
    (
        "hotset_memory_buffers_bytes",
        "Memory that holds pages of block devices (Buffers)",
        |memory| memory.buffers_bytes,
    ),
    (
        "hotset_memory_shared_bytes",
        "Shared memory and tmpfs, which can't be dropped (Shmem)",
        |memory| memory.shmem_bytes,
    ),
    ("hotset_memory_mapped_bytes", "Memory that is mapped from files (Mapped)", |memory| {
        memory.mapped_bytes
    }),
    ("hotset_memory_dirty_bytes", "Memory that waits to be written back (Dirty)", |memory| {
        memory.dirty_bytes
    }),
    ("hotset_memory_writeback_bytes", "Memory that is being written back (Writeback)", |memory| {
        memory.writeback_bytes
    }),
];

pub(super) fn push(measured: &Measured<'_>, families: &mut Vec<Family>) {
    let page = Value::Whole(measured.page_bytes);
    let help = "Bytes of a page, the unit of all counters of pages";
    families.push(gauge("hotset_page_size_bytes", Unit::Bytes, help).single(page));
    if let Observed::Value(memory) = measured.memory {
        for (name, help, of) in MEMORY {
            families.push(gauge(name, Unit::Bytes, help).single(Value::Whole(of(memory))));
        }
    }
    pages(measured, families);
    pressure(measured, families);
}

fn gauge(name: &str, unit: Unit, help: &str) -> Family {
    Family::new(name, Kind::Gauge, unit, help)
}

fn pages(measured: &Measured<'_>, families: &mut Vec<Family>) {
    let counted = measured.counted;
    let all: [(&str, &str, &Counted); 4] = [
        (
            "hotset_evicted_pages",
            "Pages that left the page cache, but for truncation and unlinking",
            &counted.evicted_pages,
        ),
        (
            "hotset_refaulted_pages",
            "Pages of files that were read back after they had been evicted (workingset_refault_file)",
            &counted.refaulted_pages,
        ),
        (
            "hotset_reclaimed_pages",
            "Pages of files that reclaim took (pgsteal_file, which lacks what DAMON pages out)",
            &counted.reclaimed_pages,
        ),
        (
            "hotset_written_back_pages",
            "Pages that were written back (nr_written)",
            &counted.written_back_pages,
        ),
    ];
    for (name, help, counted) in all {
        if let Observed::Value(sum) = counted.sum {
            let family = Family::new(name, Kind::Counter, Unit::Pages, help);
            families.push(family.single(Value::Whole(sum)));
        }
    }
}

/// Named as the node exporter names them: waiting is PSI's "some", stalled is "full".
fn pressure(measured: &Measured<'_>, families: &mut Vec<Family>) {
    const KINDS: [(&str, &str); 5] = [
        ("memory_waiting", "Time in which some task waited for memory"),
        ("memory_stalled", "Time in which every task that could have run waited for memory"),
        ("io_waiting", "Time in which some task waited for I/O"),
        ("io_stalled", "Time in which every task that could have run waited for I/O"),
        ("cpu_waiting", "Time in which some task waited for a CPU"),
    ];
    for ((name, help), counted) in KINDS.into_iter().zip(&measured.counted.pressure_ns) {
        if let Observed::Value(ns) = counted.sum {
            let name = format!("hotset_pressure_{name}_seconds");
            let family = Family::new(name, Kind::Counter, Unit::Seconds, help);
            families.push(family.single(Value::Nanos(ns)));
        }
    }
}

/// What of the host is missing, with the reason: for `hotset_not_measured`.
pub(super) fn missing(measured: &Measured<'_>) -> Vec<Labels> {
    let counted = measured.counted;
    let mut missing = Vec::new();
    let mut note = |what: &str, reason: Option<hotset_facts::Reason>| {
        if let Some(reason) = reason {
            let labels = [("what", what.to_owned()), ("reason", reason.to_string())];
            missing.push(Labels::from(labels));
        }
    };
    note("memory", measured.memory.reason());
    note("evicted_pages", counted.evicted_pages.sum.reason());
    note("refaulted_pages", counted.refaulted_pages.sum.reason());
    note("reclaimed_pages", counted.reclaimed_pages.sum.reason());
    note("written_back_pages", counted.written_back_pages.sum.reason());
    let names = ["memory_waiting", "memory_stalled", "io_waiting", "io_stalled", "cpu_waiting"];
    for (name, counted) in names.into_iter().zip(&counted.pressure_ns) {
        note(&format!("pressure_{name}"), counted.sum.reason());
    }
    missing
}
