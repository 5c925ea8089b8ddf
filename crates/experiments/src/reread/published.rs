//! What the article measured that this experiment repeats.

use hotset_analysis::lab::ConstLevel::{Name, Number};
use hotset_analysis::lab::{ConstLevel, PublishedFigure};

const SOURCE: &str =
    "an article on reading the same file again, with and without the cache, and parsing it";
const MACHINE: &str = "a Mac with an SSD; not described further";

const fn ms(
    what: &'static str,
    value: f64,
    here: &'static [(&'static str, ConstLevel)],
) -> PublishedFigure {
    PublishedFigure {
        source: SOURCE,
        machine: MACHINE,
        what,
        value,
        unit: "ms",
        here,
        or_here: &[],
    }
}

type Here = &'static [(&'static str, ConstLevel)];

macro_rules! read {
    ($bytes:expr, $cache:literal) => {
        &[
            ("what", Name("read")),
            ("contents", Name("pattern")),
            ("size_bytes", Number($bytes)),
            ("cache", Name($cache)),
            ("buffer", Name("fresh")),
            ("which", Name("later")),
        ]
    };
}

macro_rules! document {
    ($what:literal, $cache:literal, $parser:literal) => {
        &[
            ("what", Name($what)),
            ("contents", Name("json")),
            ("size_bytes", Number(145 << 10)),
            ("cache", Name($cache)),
            ("parser", Name($parser)),
            ("which", Name("later")),
        ]
    };
}

const KIB: Here = read!(1 << 10, "warm");
const KIB_COLD: Here = read!(1 << 10, "evicted");
const MIB: Here = read!(1 << 20, "warm");
const MIB_COLD: Here = read!(1 << 20, "evicted");
const GIB: Here = read!(1 << 30, "warm");
const GIB_COLD: Here = read!(1 << 30, "evicted");

/// The published figures. The article does not say which parser it used; a tree of values is the likeliest.
pub(super) const FIGURES: &[PublishedFigure] = &[
    ms("read 1 KiB, cache on", 0.08, KIB),
    ms("read 1 KiB, cache off", 0.25, KIB_COLD),
    ms("read 1 MiB, cache on", 0.24, MIB),
    ms("read 1 MiB, cache off", 1.75, MIB_COLD),
    ms("read 1 GiB, cache on", 724.0, GIB),
    ms("read 1 GiB, cache off", 788.0, GIB_COLD),
    ms("read and parse JSON, cache on", 1.59, document!("read+parse", "warm", "serde_json")),
    ms("read and parse JSON, cache off", 2.49, document!("read+parse", "evicted", "serde_json")),
    ms("read JSON only, cache on", 0.08, document!("read", "warm", "none")),
    ms("read JSON only, cache off", 0.54, document!("read", "evicted", "none")),
    ms("parse JSON only", 1.52, document!("parse", "none", "serde_json")),
];
