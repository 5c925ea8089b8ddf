//! What the article measured that compared fread, read and mmap.

use hotset_analysis::lab::{ConstLevel, PublishedFigure};

const SOURCE: &str =
    "an article that compares fread, read and mmap, 1000 bytes at a time over 1 GB";
const MACHINE: &str = "a server of 2007; its memory, disk and file system are not named";

type Here = [(&'static str, ConstLevel); 4];

const fn here(method: &'static str, order: &'static str) -> Here {
    [
        ("method", ConstLevel::Name(method)),
        ("order", ConstLevel::Name(order)),
        ("block_bytes", ConstLevel::Number(1000)),
        ("state", ConstLevel::Name("cold")),
    ]
}

const HERE: [Here; 9] = [
    here("fread", "sequential"),
    here("fread", "reverse"),
    here("fread", "random"),
    here("read", "sequential"),
    here("read", "reverse"),
    here("read", "random"),
    here("mmap", "sequential"),
    here("mmap", "reverse"),
    here("mmap", "random"),
];

const fn seconds(what: &'static str, value: f64, here: &'static Here) -> PublishedFigure {
    PublishedFigure { source: SOURCE, machine: MACHINE, what, value, unit: "s", here }
}

/// Seconds for the whole file, each measured once. Not said: what was cached before each run, whether 1 GB is 10^9 or 2^30
/// bytes, and whether the random run reads each block once. At 10^9 bytes, 1 s is 1 µs a read. The sequential figures
/// are 430 to 790 MB a second, more than a disk of 2007 is likely to have read, so that they may be of a cached file.
pub(super) const FIGURES: &[PublishedFigure] = &[
    seconds(
        "fread forwards; perhaps from the cache, because a disk of 2007 was probably slower",
        1.65,
        &HERE[0],
    ),
    seconds("fread backwards", 922.6, &HERE[1]),
    seconds("fread at random", 4025.7, &HERE[2]),
    seconds("read forwards; as above", 2.33, &HERE[3]),
    seconds("read backwards", 507.3, &HERE[4]),
    seconds("read at random", 4133.2, &HERE[5]),
    seconds("mmap forwards; as above", 1.26, &HERE[6]),
    seconds(
        "mmap backwards; the author suspects that the previous run filled the cache",
        184.1,
        &HERE[7],
    ),
    seconds("mmap at random", 7101.3, &HERE[8]),
];
