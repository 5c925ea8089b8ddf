//! The charts and tables of `lab access`.

use hotset_analysis::lab::ConstLevel::{self, Name, Number};
use hotset_view::lab::{ChartSpec, Scale, Shape, Shown};
use hotset_view::page::ChartKind;

const COLD: &[ConstLevel] = &[Name("cold")];
const WARM: &[ConstLevel] = &[Name("warm")];

/// A chart and a table for each question.
pub(super) const CHARTS: &[ChartSpec<'static>] = &[
    ChartSpec {
        question: "Which way of reading is fastest from a warm cache?",
        title: "Time of one read, every page cached in large folios",
        series: &["method"],
        keep: &[("state", WARM), ("folios", &[Name("large")])],
        ..BY_ORDER
    },
    ChartSpec {
        question: "Which way of reading is fastest from a cold cache?",
        title: "Time of one read, no page cached at the start",
        series: &["method"],
        keep: &[("state", COLD)],
        notes: &[
            "Reads past the cache (direct) have no warm twin: for them the state makes no difference.",
            "Only so many reads are made at random and backwards; how many stands with what was found beside the cells.",
        ],
        ..BY_ORDER
    },
    ChartSpec {
        question: "How much does the device have to read for it?",
        title: "Bytes read from the device in a sample that begins cold",
        series: &["method"],
        keep: &[("state", COLD)],
        shown: Shown::DeviceBytes,
        ..BY_ORDER
    },
    ChartSpec {
        question: "Does mapping win backwards only because the run before has filled the cache?",
        title: "Time of one backward read, from a cold cache and from what a sequential run by the same method left",
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
        question: "Does it matter how the cache was filled?",
        title: "Time of one read of the same fully cached file, through large and through small folios",
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
