//! The charts and tables of `lab reread`.

use hotset_analysis::lab::ConstLevel::{self, Name};
use hotset_view::lab::{ChartSpec, Scale, Shape, Shown};
use hotset_view::page::ChartKind;

type Keep = (&'static str, &'static [ConstLevel]);

const READ: Keep = ("what", &[Name("read")]);
const FILE: Keep = ("contents", &[Name("pattern"), Name("file")]);
const FRESH: Keep = ("buffer", &[Name("fresh")]);
const NATIVE_MEMORY: Keep =
    ("buffer", &[Name("fresh"), Name("reused"), Name("huge"), Name("mmap"), Name("mmap-populate")]);
const LATER: Keep = ("which", &[Name("later")]);

const STATES: &str = "warm: all of the file was cached before each read; evicted: none of it; kept: none before the first \
    read, unchanged afterwards; direct: O_DIRECT, none of it cached.";
const WHOLE: &str =
    "A read opens the file, allocates memory for all of it, reads, closes and frees the memory.";

/// A chart and a table for each question.
pub(super) const CHARTS: &[ChartSpec<'static>] = &[
    ChartSpec {
        question: "Is reading a file a second time faster?",
        operation: "read",
        title: "Time of the first read of an evicted file, and median of later reads",
        kind: ChartKind::Bars,
        x: "size_bytes",
        series: &["which"],
        keep: &[
            READ,
            FILE,
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
        question: "How much does the cache gain at each size?",
        operation: "read",
        title: "Median of a process's later reads, by what was cached before each",
        kind: ChartKind::Bars,
        x: "size_bytes",
        series: &["cache"],
        keep: &[
            READ,
            FILE,
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
        operation: "read",
        title: "Median and mean of later reads, by what was cached before each",
        kind: ChartKind::Bars,
        x: "cache",
        series: &["which"],
        keep: &[READ, FILE, FRESH, ("which", &[Name("later"), Name("later-mean")])],
        each: Some("size_bytes"),
        table: Shape::Across("which"),
        notes: &[
            STATES,
            "later: the median of one read; later-mean: device bytes are those of all later reads together.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "How much does the kind of memory matter that the file is read into?",
        operation: "read",
        title: "Time of reading a cached file into each kind of memory",
        kind: ChartKind::Bars,
        x: "buffer",
        series: &["what"],
        keep: &[READ, FILE, LATER, ("cache", &[Name("warm")]), NATIVE_MEMORY],
        each: Some("size_bytes"),
        notes: &[
            "fresh: new memory for each read; reused: the same memory, touched before; huge: new memory with MADV_HUGEPAGE.",
            "mmap: the file is mapped and one word of each cache line is read; the others copy the data and do not read it.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "How long does a plain read take in each language?",
        operation: "read",
        title: "Time of reading a whole file with the language's own function",
        kind: ChartKind::Bars,
        x: "reader",
        series: &["cache"],
        keep: &[READ, FILE, LATER, ("buffer", &[Name("runtime")])],
        each: Some("size_bytes"),
        table: Shape::Across("cache"),
        notes: &[
            "A process reads an evicted file once, after reads of another file; a cached file many times.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "How long does the memory alone take?",
        operation: "pass",
        title: "Time for memory of the file's size: first touch, filling with zeros, freeing",
        kind: ChartKind::Bars,
        x: "what",
        series: &["buffer"],
        keep: &[LATER, FILE, ("what", &[Name("touch"), Name("zero"), Name("release")])],
        each: Some("size_bytes"),
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "Does the cache matter if the data is parsed?",
        operation: "document",
        title: "Time of reading a JSON document, of parsing it, and of both",
        kind: ChartKind::Bars,
        x: "parser",
        series: &["what", "cache"],
        keep: &[LATER, ("contents", &[Name("json")])],
        each: Some("size_bytes"),
        y_scale: Scale::Log,
        notes: &[
            "none: the document is read but not parsed.",
            "serde_json builds a tree that owns its strings; simd-json builds a flat list that borrows them.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "How much is read from the device?",
        operation: "read",
        title: "Bytes read from the device per read",
        kind: ChartKind::Bars,
        x: "cache",
        series: &["which"],
        keep: &[READ, FILE, FRESH, ("which", &[Name("first"), Name("later")])],
        each: Some("size_bytes"),
        shown: Shown::DeviceBytes,
        y_scale: Scale::Linear,
        table: Shape::Across("which"),
        notes: &[STATES],
        ..ChartSpec::EMPTY
    },
];
