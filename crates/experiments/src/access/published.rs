//! What the article measured that compared fread, read and mmap.

use hotset_analysis::lab::{ConstLevel, PublishedFigure};

const SOURCE: &str =
    "an article that compares fread, read and mmap, 1000 bytes at a time over 1 GB";
const MACHINE: &str = "a server of 2007; its memory, disk and file system are not named";

type Here = [(&'static str, ConstLevel); 4];

const fn here(method: &'static str, order: &'static str, state: &'static str) -> Here {
    [
        ("method", ConstLevel::Name(method)),
        ("order", ConstLevel::Name(order)),
        ("block_bytes", ConstLevel::Number(1000)),
        ("state", ConstLevel::Name(state)),
    ]
}

/// Each order from a cold cache.
const COLD: [Here; 9] = all("cold");
/// As the article ran its tests, where that was measured instead.
const CHAIN: [Here; 9] = all("chain");

const fn all(state: &'static str) -> [Here; 9] {
    [
        here("fread", "sequential", state),
        here("fread", "reverse", state),
        here("fread", "random", state),
        here("read", "sequential", state),
        here("read", "reverse", state),
        here("read", "random", state),
        here("mmap", "sequential", state),
        here("mmap", "reverse", state),
        here("mmap", "random", state),
    ]
}

/// The time of a read, from the seconds of a million.
const fn million(
    seconds: f64,
    what: &'static str,
    here: &'static Here,
    or_here: &'static Here,
) -> PublishedFigure {
    PublishedFigure {
        source: SOURCE,
        machine: MACHINE,
        what,
        value: seconds * 1e3,
        unit: "ns",
        here,
        or_here,
    }
}

/// Seconds for the whole file of 1 GB, a million reads of 1000 bytes, each measured once. Not said: what was cached before each run,
/// whether 1 GB is 10^9 or 2^30 bytes, and whether the random run reads each block once. The sequential figures are 430 to 790 MB
/// a second, more than a disk of 2007 is likely to have read, so that they may be of a cached file.
pub(super) const FIGURES: &[PublishedFigure] = &[
    million(
        1.65,
        "fread forwards, 1.65 s per million; perhaps from the cache, because a disk of 2007 was probably slower",
        &COLD[0],
        &CHAIN[0],
    ),
    million(922.6, "fread backwards, 922.6 s per million", &COLD[1], &CHAIN[1]),
    million(4025.7, "fread at random, 4025.7 s per million", &COLD[2], &CHAIN[2]),
    million(2.33, "read forwards, 2.33 s per million; as above", &COLD[3], &CHAIN[3]),
    million(507.3, "read backwards, 507.3 s per million", &COLD[4], &CHAIN[4]),
    million(4133.2, "read at random, 4133.2 s per million", &COLD[5], &CHAIN[5]),
    million(1.26, "mmap forwards, 1.26 s per million; as above", &COLD[6], &CHAIN[6]),
    million(
        184.1,
        "mmap backwards, 184.1 s per million; the author suspects that the previous run filled the cache",
        &COLD[7],
        &CHAIN[7],
    ),
    million(7101.3, "mmap at random, 7101.3 s per million", &COLD[8], &CHAIN[8]),
];
