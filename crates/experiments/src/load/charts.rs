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
const SEARCH: &[ConstLevel] = &[Name("search")];
const LIBRARY: &[ConstLevel] = &[Name("library")];

/// A chart and a table for each question.
pub(super) const CHARTS: &[ChartSpec<'static>] = &[
    ChartSpec {
        question: "Do 100 files load slower than the same classes in one?",
        title: "Time of loading 100 empty files, 100 files with a class each, and all classes in one file",
        kind: ChartKind::Bars,
        x: "how",
        series: &["what", "state"],
        keep: &[("what", LOADED)],
        each: Some("runtime"),
        notes: &[
            "Measured inside the runtime, without its start.",
            "Cold: only these files were evicted; their directories and inodes stay in memory.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "What does a long search path cost?",
        title: "Time of loading 100 empty files behind directories that don't have them",
        kind: ChartKind::Lines,
        x: "directories",
        series: &["runtime", "how"],
        keep: &[("what", SEARCH), ("state", WARM)],
        x_scale: Scale::Linear,
        notes: &[
            "known: loaded by their full paths, as a cache of paths would, with the same directories on the path.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "What is loading made of?",
        title: "Time of reading, of asking 20 times whether each of 100 files is there, and of compiling",
        kind: ChartKind::Bars,
        x: "what",
        series: &["how"],
        keep: &[("what", PARTS), ("state", WARM)],
        each: Some("runtime"),
        y_scale: Scale::Log,
        notes: &[
            "legacy: Windows-31J, converted. compile_one: the file with all classes, read before.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "How many calls does loading make?",
        title: "System calls on files, for the whole process with its start",
        kind: ChartKind::Bars,
        x: "how",
        series: &["what"],
        keep: &[("what", LOADED), ("state", WARM)],
        each: Some("runtime"),
        shown: Shown::Calls,
        notes: &["Counted in runs of their own, never in timed ones."],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "Where does the time of loading the library go?",
        title: "Time of the whole, and of what could be measured apart",
        kind: ChartKind::Bars,
        x: "part",
        series: &["state"],
        keep: &[("what", LIBRARY)],
        each: Some("runtime"),
        ..ChartSpec::EMPTY
    },
];
