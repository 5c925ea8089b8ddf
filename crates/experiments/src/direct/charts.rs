//! The charts and tables of `lab direct`.

use hotset_analysis::lab::ConstLevel::Name;
use hotset_view::lab::{ChartSpec, Scale};
use hotset_view::page::ChartKind;

/// A chart and a table for each question.
pub(super) const CHARTS: &[ChartSpec<'static>] = &[
    ChartSpec {
        question: "How much faster is reading without O_DIRECT?",
        operation: "read",
        title: "Time per read of a program that reads the same bytes repeatedly",
        kind: ChartKind::Bars,
        x: "which",
        series: &["mode"],
        keep: &[("case", &[Name("app")])],
        y_scale: Scale::Log,
        notes: &[
            "With O_DIRECT every read is read from the device, whatever is cached.",
            "Through the cache only the first read is.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "How much faster is dd when the file is cached?",
        operation: "read",
        title: "Time of reading the whole file in blocks of 1 MiB",
        kind: ChartKind::Bars,
        x: "state",
        series: &["case"],
        keep: &[("case", &[Name("dd")])],
        notes: &["The state was set and verified right before each run."],
        ..ChartSpec::EMPTY
    },
];
