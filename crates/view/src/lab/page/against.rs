//! How an experiment compares with a baseline, cell by cell.

use hotset_analysis::baseline::{Change, ChangeVerdict};
use hotset_analysis::lab::{CellChange, LabComparison, LabSummary};

use crate::baseline::{Kind, estimate, sentence as as_sentence, sessions, title, verdict};
use crate::bench::words::ratio_parts;
use crate::lab::baseline::{Compared, name, notes, sentence, times};
use crate::lab::{Named, words};
use crate::page::{Answer, Axis, Chart, ChartKind, Point, Section, Series, Table, Unit};

/// Of what a slow-down is seldom claimed.
const CLAIMS: &str =
    "of sessions in which nothing changed, at most 1 in 100 has a cell that is called slower";

/// The answer of a run that was compared with one.
pub(super) fn answer(run: &Named<'_>) -> Option<Answer> {
    let baseline = run.summary().baseline.as_ref()?;
    let [wall, _] = times(baseline);
    let changed = [ChangeVerdict::Slower, ChangeVerdict::Faster].map(|verdict| {
        let cells = baseline.that_are(verdict, wall.of).len();
        format!("{cells} {}", verdict.as_str())
    });
    Some(Answer {
        question: "Did it change since the baseline?".to_owned(),
        sentence: as_sentence(&sentence(baseline, wall)),
        number: changed.join(", "),
        confidence: CLAIMS.to_owned(),
    })
}

/// All cells of a run that was compared with one.
pub(super) fn section(run: &Named<'_>) -> Option<Section> {
    let summary = run.summary();
    let baseline = summary.baseline.as_ref()?;
    let mut notes: Vec<String> =
        notes(summary, baseline).iter().map(|note| as_sentence(note)).collect();
    notes.push(format!("The interval holds how much sessions differ; {CLAIMS}."));
    Some(Section {
        question: "Did it change since the baseline?".to_owned(),
        answer: as_sentence(&sentence(baseline, times(baseline)[0])),
        chart: chart(summary, baseline),
        table: table(summary, baseline),
        notes,
        ..Section::default()
    })
}

/// Wall times of all cells, and CPU times that show something.
fn rows<'a>(
    summary: &LabSummary,
    baseline: &'a LabComparison,
) -> Vec<(String, &'a Change, Compared)> {
    let [wall, cpu] = times(baseline);
    let shows = |one: &&CellChange| {
        matches!(one.cpu.verdict, ChangeVerdict::Slower | ChangeVerdict::Faster)
    };
    let walls = baseline.cells.iter().map(|one| (one, wall));
    let cpus = baseline.cells.iter().filter(shows).map(|one| (one, cpu));
    let row = |(one, time): (&'a CellChange, Compared)| {
        (format!("{}{}", name(summary, one), time.suffix), (time.of)(one), time)
    };
    walls.chain(cpus).map(row).collect()
}

fn table(summary: &LabSummary, baseline: &LabComparison) -> Table {
    let known = |ns: Option<f64>| ns.map_or_else(|| "none".to_owned(), words::time);
    let parts = |change: &Change| {
        estimate(change).map_or_else(|| ("none".to_owned(), None), |it| ratio_parts(&it))
    };
    let caption = format!("{} ({})", title(&baseline.with), sessions(&baseline.with));
    Table::of(caption, rows(summary, baseline))
        .words("Cell", |(name, ..)| name.clone())
        .numbers("Then", |(_, change, _)| known(change.baseline_ns))
        .numbers("Now", |(_, change, _)| known(change.now_ns))
        .numbers("Ratio", |(_, change, _)| parts(change).0)
        .numbers("Interval", |(_, change, _)| {
            let ends = parts(change).1;
            ends.map_or_else(|| "none".to_owned(), |(low, high)| format!("{low} to {high}"))
        })
        .words("Verdict", |(_, change, time)| verdict(change, time.limit, Kind::Cells))
        .table()
}

/// The ratios of the cells that have one; nothing where none has.
fn chart(summary: &LabSummary, baseline: &LabComparison) -> Option<Chart> {
    let known: Vec<(String, &Change)> = baseline
        .cells
        .iter()
        .filter(|one| one.wall.ratio.is_some())
        .map(|one| (name(summary, one), &one.wall))
        .collect();
    let point = |(at, (name, change)): (usize, &(String, &Change))| {
        let (ratio, ends) = ratio_parts(&estimate(change)?);
        let ends =
            ends.map_or_else(String::new, |(low, high)| format!(", interval {low} to {high}"));
        Some(Point {
            x: at as f64,
            y: change.ratio?,
            // Nothing below any size can be drawn by factors.
            interval: change
                .interval
                .filter(|interval| interval.low > 0.0)
                .map(|interval| (interval.low, interval.high)),
            text: format!("{name}: {ratio}{ends}"),
            excluded: false,
        })
    };
    let points: Vec<Point> = known.iter().enumerate().filter_map(point).collect();
    (!points.is_empty()).then(|| Chart {
        label: "Time of each cell divided by that of the baseline; 1 is no difference".to_owned(),
        kind: ChartKind::Points,
        x: Axis { names: known.iter().map(|(name, _)| name.clone()).collect(), ..Axis::default() },
        y: Axis {
            title: "relative time".to_owned(),
            unit: Unit::Ratio,
            log: true,
            ..Axis::default()
        },
        series: vec![Series { name: "wall time".to_owned(), points, ..Series::default() }],
        reference: Some(1.0),
        ..Chart::default()
    })
}
