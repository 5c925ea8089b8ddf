//! The charts and tables of `lab load`.

use hotset_analysis::lab::ConstLevel::{self, Name};
use hotset_view::lab::{ChartSpec, Scale, Shown};
use hotset_view::page::ChartKind;

/// What is loaded.
const LOADED: &[ConstLevel] = &[Name("load_empty"), Name("load_class"), Name("load_one")];
/// What loading is made of.
const PARTS: &[ConstLevel] = &[
    Name("read_empty"),
    Name("read_class"),
    Name("read_one"),
    Name("exists"),
    Name("compile_one"),
];
const WARM: &[ConstLevel] = &[Name("warm")];
const SEARCH: &[ConstLevel] = &[Name("search"), Name("lookup")];
const LIBRARY: &[ConstLevel] = &[Name("library")];

/// A chart and a table for each question.
pub(super) const CHARTS: &[ChartSpec<'static>] = &[
    ChartSpec {
        question: "Do 100 files load more slowly than the same classes in one file?",
        title: "Time of loading 100 empty files, 100 files with one class each, and all classes in one file",
        kind: ChartKind::Bars,
        x: "how",
        series: &["what", "state"],
        keep: &[("what", LOADED)],
        each: Some("runtime"),
        notes: &[
            "Measured inside the runtime, without its startup.",
            "Cold: only these files were evicted; their directories and inodes stayed in memory.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "What does a long search path cost?",
        title: "Time of loading 100 empty files, and of looking them up alone, by the number of directories searched first",
        kind: ChartKind::Lines,
        x: "directories",
        series: &["runtime", "how"],
        keep: &[("what", SEARCH), ("state", WARM)],
        x_scale: Scale::Linear,
        notes: &[
            "known: loaded by full path, as with a path cache; the search path is the same.",
            "stat: the same names looked up along the path, without loading.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "What does loading consist of?",
        title: "Time of reading, of checking 20 times whether each of 100 files exists, and of compiling",
        kind: ChartKind::Bars,
        x: "what",
        series: &["how"],
        keep: &[("what", PARTS), ("state", WARM)],
        each: Some("runtime"),
        y_scale: Scale::Log,
        notes: &[
            "legacy: read as Windows-31J and converted. compile_one: compiles the file with all classes, already read.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "How many system calls does loading make?",
        title: "System calls on files by the whole process, startup included",
        kind: ChartKind::Bars,
        x: "how",
        series: &["what"],
        keep: &[("what", LOADED), ("state", WARM)],
        each: Some("runtime"),
        shown: Shown::Calls,
        notes: &["Counted in separate runs that are not timed."],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "Where does the time of loading a library go?",
        title: "Time of the whole load, and of the parts that can be measured separately",
        kind: ChartKind::Bars,
        x: "part",
        series: &["library", "state"],
        keep: &[("what", LIBRARY)],
        each: Some("runtime"),
        notes: &["What the parts leave of the total is running the library's code."],
        ..ChartSpec::EMPTY
    },
];
