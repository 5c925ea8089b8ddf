//! The charts and tables of `lab direct`.

use hotset_analysis::lab::ConstLevel::Name;
use hotset_view::lab::{ChartSpec, Scale};
use hotset_view::page::ChartKind;

/// A chart and a table for each question.
pub(super) const CHARTS: &[ChartSpec<'static>] = &[
    ChartSpec {
        question: "What is it worth to drop O_DIRECT?",
        title: "Time of one read of the program that reads again and again",
        kind: ChartKind::Bars,
        x: "which",
        series: &["mode"],
        keep: &[("case", &[Name("app")])],
        y_scale: Scale::Log,
        notes: &[
            "With O_DIRECT every read is a read of the device, whatever is cached.",
            "Through the cache only the first one is.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "What does the cache do for a dd that is run twice?",
        title: "Time of reading the whole file in blocks of 1 MiB",
        kind: ChartKind::Bars,
        x: "state",
        series: &["case"],
        keep: &[("case", &[Name("dd")])],
        notes: &["The state was set and verified right before each run."],
        ..ChartSpec::EMPTY
    },
];
