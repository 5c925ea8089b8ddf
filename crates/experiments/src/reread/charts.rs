//! The charts and tables of `lab reread`.

use hotset_analysis::lab::ConstLevel::{self, Name};
use hotset_view::lab::{ChartSpec, Scale, Shape, Shown};
use hotset_view::page::ChartKind;

type Keep = (&'static str, &'static [ConstLevel]);

const READ: Keep = ("what", &[Name("read")]);
const PATTERN: Keep = ("contents", &[Name("pattern")]);
const FRESH: Keep = ("buffer", &[Name("fresh")]);
const LATER: Keep = ("which", &[Name("later")]);

const STATES: &str = "warm: all of the file was cached before each read; evicted: none of it; kept: none before the first \
    read, then left alone; direct: O_DIRECT, and none of it cached.";
const WHOLE: &str =
    "A read opens the file, gets memory for all of it, reads, closes and gives the memory back.";

/// A chart and a table for each question.
pub(super) const CHARTS: &[ChartSpec<'static>] = &[
    ChartSpec {
        question: "Does reading a file a second time get faster?",
        title: "The first read of an evicted file, and the median of later ones",
        kind: ChartKind::Bars,
        x: "size_bytes",
        series: &["which"],
        keep: &[
            READ,
            PATTERN,
            FRESH,
            ("cache", &[Name("kept")]),
            ("which", &[Name("first"), Name("later")]),
        ],
        x_scale: Scale::Places,
        y_scale: Scale::Log,
        table: Shape::Across("which"),
        notes: &[WHOLE],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "What is the cache worth at each size?",
        title: "Median of later reads of a process, by what was cached before each",
        kind: ChartKind::Bars,
        x: "size_bytes",
        series: &["cache"],
        keep: &[
            READ,
            PATTERN,
            FRESH,
            LATER,
            ("cache", &[Name("warm"), Name("evicted"), Name("direct")]),
        ],
        x_scale: Scale::Places,
        y_scale: Scale::Log,
        table: Shape::Across("cache"),
        notes: &[STATES],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "Do mean and median of the later reads differ?",
        title: "Median and mean of later reads, by what was cached before each",
        kind: ChartKind::Bars,
        x: "cache",
        series: &["which"],
        keep: &[READ, PATTERN, FRESH, ("which", &[Name("later"), Name("later-mean")])],
        each: Some("size_bytes"),
        table: Shape::Across("which"),
        notes: &[
            STATES,
            "later: one read, the median; later-mean: bytes from the device are those of all later reads together.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "Where do the bytes go, and what does that cost?",
        title: "Reading a cached file into each kind of memory",
        kind: ChartKind::Bars,
        x: "buffer",
        series: &["what"],
        keep: &[READ, PATTERN, LATER, ("cache", &[Name("warm")])],
        each: Some("size_bytes"),
        notes: &[
            "fresh: new memory for each read; reused: the same memory, touched before; huge: new memory with MADV_HUGEPAGE.",
            "mmap: the file is mapped and one word of each cache line looked at; the others copy and look at nothing.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "What does the memory alone cost?",
        title: "Memory of the file's size: touched for the first time, filled with zeros, given back",
        kind: ChartKind::Bars,
        x: "what",
        series: &["buffer"],
        keep: &[LATER, PATTERN, ("what", &[Name("touch"), Name("zero"), Name("release")])],
        each: Some("size_bytes"),
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "Does the cache matter where the data is parsed?",
        title: "Reading a JSON document, parsing it, and both",
        kind: ChartKind::Bars,
        x: "parser",
        series: &["what", "cache"],
        keep: &[LATER, ("contents", &[Name("json")])],
        each: Some("size_bytes"),
        y_scale: Scale::Log,
        notes: &[
            "none: the document is read and not parsed.",
            "serde_json makes a tree that owns its strings; simd-json a flat list that borrows them.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "What came from the device?",
        title: "Bytes read from the device in one read",
        kind: ChartKind::Bars,
        x: "cache",
        series: &["which"],
        keep: &[READ, PATTERN, FRESH, ("which", &[Name("first"), Name("later")])],
        each: Some("size_bytes"),
        shown: Shown::DeviceBytes,
        y_scale: Scale::Linear,
        table: Shape::Across("which"),
        notes: &[STATES],
        ..ChartSpec::EMPTY
    },
];
