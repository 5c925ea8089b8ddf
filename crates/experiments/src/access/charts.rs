//! The charts and tables of `lab access`.

use hotset_analysis::lab::ConstLevel::{self, Name, Number};
use hotset_view::lab::{ChartSpec, Scale, Shape, Shown};
use hotset_view::page::ChartKind;

const COLD: &[ConstLevel] = &[Name("cold")];
const WARM: &[ConstLevel] = &[Name("warm")];

/// A chart and a table for each question.
pub(super) const CHARTS: &[ChartSpec<'static>] = &[
    ChartSpec {
        question: "Which method of reading is fastest from a warm cache?",
        operation: "read",
        title: "Time per read, all pages cached in large folios",
        series: &["method"],
        keep: &[("state", WARM), ("folios", &[Name("large")])],
        ..BY_ORDER
    },
    ChartSpec {
        question: "Which method of reading is fastest from a cold cache?",
        operation: "read",
        title: "Time per read, no page cached at the start",
        series: &["method"],
        keep: &[("state", COLD)],
        notes: &[
            "Direct I/O was measured cold only: it bypasses the cache, so the state makes no difference.",
            "Random and reverse orders make a limited number of reads; see Other measurements.",
        ],
        ..BY_ORDER
    },
    ChartSpec {
        question: "How much is read from the device?",
        operation: "read",
        title: "Bytes read from the device per sample, from a cold cache",
        series: &["method"],
        keep: &[("state", COLD)],
        shown: Shown::DeviceBytes,
        ..BY_ORDER
    },
    ChartSpec {
        question: "Does mmap win backwards only because the previous run filled the cache?",
        operation: "read",
        title: "Time per backward read, from a cold cache and after a sequential run by the same method",
        kind: ChartKind::Bars,
        x: "state",
        series: &["method"],
        keep: &[
            ("order", &[Name("reverse")]),
            ("state", &[Name("cold"), Name("after-sequential")]),
            ("block_bytes", &[Number(1000)]),
            ("method", &[Name("fread"), Name("read"), Name("mmap")]),
        ],
        y_scale: Scale::Log,
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "What do tests measure that follow each other without an eviction?",
        operation: "read",
        title: "Time per read in one process: sequential from a cold cache, then reverse, then random over what is cached by then",
        series: &["method"],
        keep: &[("state", &[Name("chain")])],
        ..BY_ORDER
    },
    ChartSpec {
        question: "Does it matter how the cache was filled?",
        operation: "read",
        title: "Time per read of a fully cached file, in large and in single-page folios",
        kind: ChartKind::Bars,
        x: "folios",
        series: &["method", "order"],
        keep: &[
            ("block_bytes", &[Number(4096)]),
            ("method", &[Name("pread"), Name("mmap")]),
            ("order", &[Name("sequential"), Name("random")]),
        ],
        ..ChartSpec::EMPTY
    },
];

/// Bars for each order, a chart for each size of block.
const BY_ORDER: ChartSpec<'static> = ChartSpec {
    kind: ChartKind::Bars,
    x: "order",
    each: Some("block_bytes"),
    y_scale: Scale::Log,
    table: Shape::Across("order"),
    ..ChartSpec::EMPTY
};
