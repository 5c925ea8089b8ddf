//! Operations that are left out, each with its reason. The list is to become empty.

use std::collections::BTreeSet;

use hotset_tests::filesystems::Kind;

/// What is not counted as the program counts it, on which kinds of file system, and why.
const UNFIT: &[(&str, &[Kind], &str)] = &[
    ("copy-file-range-within", &Kind::ALL, "both sides of a copy within a file are one target"),
    ("read-into-a-mapping", &Kind::ALL, "faults that direct I/O makes have no event"),
    ("write-from-a-mapping", &Kind::ALL, "faults that direct I/O makes have no event"),
    ("map-populate", &Kind::ALL, "faults of MADV_POPULATE_READ have no event"),
    (
        "copy-file-range",
        &[Kind::Xfs, Kind::Btrfs],
        "blocks may be shared instead of copied, which is said and not counted",
    ),
    ("o-direct", &[Kind::Btrfs], "wasted pages of direct I/O by the cache differ in their sums"),
];

/// Where the bytes that a process read from the device are not compared with what /proc/PID/io says of it: a ring's direct
/// read of a hole counts as read from the device; metadata and compressed files are read by others.
pub(crate) const DEVICE_BYTES: &[Kind] = &[Kind::Ext4, Kind::Xfs, Kind::Btrfs, Kind::Overlay];

/// What is left out on a kind of file system.
pub(crate) fn on(kind: Kind) -> BTreeSet<&'static str> {
    let here = |(_, kinds, _): &&(&str, &[Kind], &str)| kinds.contains(&kind);
    UNFIT.iter().filter(here).map(|(name, _, _)| *name).collect()
}
