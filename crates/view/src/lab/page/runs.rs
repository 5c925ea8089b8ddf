//! Runs of one experiment beside each other, cell by cell.

use hotset_analysis::lab::{CellComparison, agreement, compare_runs};

use crate::escape::escape_text;
use crate::lab::{Named, words};
use crate::page::{Axis, Chart, ChartKind, Column, Point, Section, Series, Table, Unit};
use crate::units::real;

/// Every other run against the first one.
pub(super) fn section(runs: &[Named<'_>]) -> Option<Section> {
    let (first, others) = runs.split_first()?;
    let compared: Vec<(&Named<'_>, Vec<CellComparison>)> = others
        .iter()
        .map(|other| (other, compare_runs(first.summary(), other.summary())))
        .collect();
    if compared.iter().all(|(_, cells)| cells.is_empty()) {
        return None;
    }
    let agree = compared.iter().map(|(other, cells)| {
        let (agree, of) = agreement(cells);
        format!(
            "The confidence intervals of {} and {} overlap in {agree} of the {of} cells that have them in both.",
            escape_text(first.name),
            escape_text(other.name)
        )
    });
    Some(Section {
        question: "How do the runs compare?".to_owned(),
        answer: agree.collect::<Vec<_>>().join(" "),
        chart: Some(chart(first, &compared)),
        table: table(first, &compared),
        notes: vec![
            "Rounds of two runs cannot be paired: the ratio is that of the medians, and its interval is the widest that both \
             95 % CIs allow."
                .to_owned(),
        ],
        ..Section::default()
    })
}

/// What tells the cell from others: levels that all cells share are left out.
fn id(first: &Named<'_>, cell: &CellComparison) -> String {
    let cells = &first.summary().session.cells;
    cells.get(cell.a).map_or_else(String::new, |cell| words::name_among(cells, cell))
}

fn ratio(cell: &CellComparison) -> String {
    format!("{}x", real(cell.ratio))
}

fn interval(cell: &CellComparison) -> String {
    let words =
        cell.interval.map(|interval| format!("{} to {}", real(interval.low), real(interval.high)));
    words.unwrap_or_else(|| "none".to_owned())
}

fn chart(first: &Named<'_>, compared: &[(&Named<'_>, Vec<CellComparison>)]) -> Chart {
    let mut names: Vec<String> = Vec::new();
    let series = compared.iter().map(|(other, cells)| {
        let point = |cell: &CellComparison| {
            let name = id(first, cell);
            let at = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            });
            let text = format!("{name}: {}, interval {}", ratio(cell), interval(cell));
            let interval = cell.interval.map(|interval| (interval.low, interval.high));
            Point { x: at as f64, y: cell.ratio, interval, text, excluded: false }
        };
        let name = format!("{} / {}", escape_text(other.name), escape_text(first.name));
        Series { name, points: cells.iter().map(point).collect(), ..Series::default() }
    });
    let series = series.collect();
    Chart {
        label: format!(
            "Time of each cell divided by that of {}; 1 is no difference",
            escape_text(first.name)
        ),
        kind: ChartKind::Points,
        x: Axis { names, ..Axis::default() },
        y: Axis {
            title: "relative time".to_owned(),
            unit: Unit::Ratio,
            log: true,
            ..Axis::default()
        },
        series,
        reference: Some(1.0),
        ..Chart::default()
    }
}

fn table(first: &Named<'_>, compared: &[(&Named<'_>, Vec<CellComparison>)]) -> Table {
    let mut columns = vec![Column::words("Cell"), Column::words("Run")];
    columns.extend(["First run", "This run", "Ratio", "Interval"].map(Column::numbers));
    columns.push(Column::words("95 % CIs"));
    let rows = compared.iter().flat_map(|(other, cells)| {
        cells.iter().map(move |cell| {
            let time = |run: &Named<'_>, at: usize| {
                words::or_unknown(
                    run.summary().cells.get(at).and_then(|numbers| numbers.median),
                    words::time,
                )
            };
            let agree = match cell.agree {
                Some(true) => "overlap",
                Some(false) => "apart",
                None => "none",
            };
            vec![
                id(first, cell),
                escape_text(other.name),
                time(first, cell.a),
                time(other, cell.b),
                ratio(cell),
                interval(cell),
                agree.to_owned(),
            ]
        })
    });
    let caption = format!("Medians compared with those of {}", escape_text(first.name));
    Table { caption, columns, rows: rows.collect() }
}
