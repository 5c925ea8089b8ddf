//! Operations that are left out, each with its reason. The list is to become empty.

use std::collections::BTreeSet;

use hotset_tests::filesystems::Kind;

/// What is not counted as the program counts it, on which kinds of file system, and why.
const UNFIT: &[(&str, &[Kind], &str)] = &[
    (
        "copy-file-range-within",
        &[Kind::Xfs, Kind::Btrfs, Kind::Compressed],
        "blocks may be shared instead of copied, which is said and not counted",
    ),
    (
        "copy-file-range",
        &[Kind::Xfs, Kind::Btrfs, Kind::Compressed],
        "blocks may be shared instead of copied, which is said and not counted",
    ),
];

/// What is left out on a kind of file system.
pub(crate) fn on(kind: Kind) -> BTreeSet<&'static str> {
    let here = |(_, kinds, _): &&(&str, &[Kind], &str)| kinds.contains(&kind);
    UNFIT.iter().filter(here).map(|(name, _, _)| *name).collect()
}
