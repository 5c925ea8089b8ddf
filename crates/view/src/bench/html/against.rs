//! How a session compares with a baseline.

use hotset_analysis::baseline::Change;
use hotset_analysis::bench::{BenchSummary, ConditionChange};

use super::super::baseline::notes;
use super::super::words::{condition, ratio_parts, time};
use crate::baseline::{Kind, estimate, sentence, sessions, title, verdict};
use crate::page::{Section, Table};

/// A row a condition for each kind of time; none where no baseline was named.
pub(super) fn baseline(summary: &BenchSummary) -> Option<Section> {
    let baseline = summary.baseline.as_ref()?;
    let (with, limits) = (&baseline.with, baseline.with.fail_above);
    let of = |one: &ConditionChange| {
        let name = condition(summary, one.condition);
        let cpu = format!("{name}, CPU time");
        [(name, one.wall, limits.wall), (cpu, one.cpu, limits.cpu)]
    };
    let rows: Vec<(String, Change, Option<f64>)> =
        baseline.conditions.iter().flat_map(of).collect();
    let known = |ns: Option<f64>| ns.map_or_else(|| "none".to_owned(), time);
    let parts = |change: &Change| {
        estimate(change).map_or_else(|| ("none".to_owned(), None), |it| ratio_parts(&it))
    };
    let table = Table::of(format!("{} ({})", title(with), sessions(with)), &rows)
        .words("Condition", |(name, ..)| name.clone())
        .numbers("Then", |(_, change, _)| known(change.baseline_ns))
        .numbers("Now", |(_, change, _)| known(change.now_ns))
        .numbers("Ratio", |(_, change, _)| parts(change).0)
        .numbers("Interval", |(_, change, _)| {
            parts(change)
                .1
                .map_or_else(|| "none".to_owned(), |(low, high)| format!("{low} to {high}"))
        })
        .words("Verdict", |(_, change, limit)| verdict(change, *limit, Kind::Conditions))
        .table();
    let mut notes: Vec<String> =
        notes(summary, baseline).iter().map(|note| sentence(note)).collect();
    notes.push(
        "The interval holds how much sessions of the same command differ; of sessions in which nothing changed, at most 1 in \
         100 is called slower."
            .to_owned(),
    );
    Some(Section {
        question: "Did it change since the baseline?".to_owned(),
        table,
        notes,
        ..Section::default()
    })
}
