//! What the sensor's tables take of the kernel's memory, where a limit counts it.

use std::os::fd::{AsFd, AsRawFd};

use hotset_facts::units::{bytes as in_units, exact_bytes};
use hotset_facts::{Feature, NotMeasured};
use hotset_sys::cgroup::Limited;
use libbpf_rs::Object;

/// What a limit that counts the tables of `object` keeps from being measured: which evictions are the command's own.
pub(crate) fn not_measured(object: &Object, limited: &Limited) -> NotMeasured {
    let tables = match bytes(object) {
        0 => String::new(),
        bytes => format!(" {} of", in_units(bytes)),
    };
    let reason = format!(
        "hotset's own tables take{tables} the memory limit of {}, because {}; raise the limit by as much, or start hotset \
         outside of it",
        exact_bytes(limited.limit_bytes),
        limited.why
    );
    NotMeasured { feature: Feature::FreeTables, reason }
}

/// The memory of all tables, as the kernel tells it; 0 where it does not.
fn bytes(object: &Object) -> u64 {
    object.maps().map(|map| charged(map.as_fd().as_raw_fd())).sum()
}

fn charged(fd: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap_or_default();
    let bytes = text.lines().find_map(|line| line.strip_prefix("memlock:"));
    bytes.and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0)
}
