//! The answers of a fleet as a page: a section a question, with its chart and table.

use hotset_facts::fleet::{
    FleetAnalysis, FleetAnswers, FleetAxis, FleetChart, FleetChartKind, FleetColumn, FleetSeries,
    FleetUnit,
};

use super::words;
use crate::escape::escape_text;
use crate::page::{
    Answer, Axis, Chart, ChartKind, Column, Entry, Page, PageWarning, Point, Section, Series,
    Table, Unit,
};
use crate::units::{count, plural};

/// The page of answers that this version of hotset computed.
pub fn fleet_page(version: &str, answers: &FleetAnswers) -> Page {
    let headline = answers.headline.iter().map(|one| Answer {
        question: escape_text(&one.question),
        number: escape_text(&one.number),
        sentence: escape_text(&one.sentence),
        confidence: String::new(),
    });
    let doubts = answers
        .warnings
        .iter()
        .map(|one| PageWarning { text: escape_text(&one.text), advice: escape_text(&one.advice) });
    let given = answers.conditions.iter();
    let given = given.map(|one| (escape_text(&one.name), escape_text(&one.value)));
    Page {
        title: "A fleet's page cache".to_owned(),
        subtitle: subtitle(answers),
        headline: headline.collect(),
        sections: answers.analyses.iter().map(section).collect(),
        conditions: given.chain([("hotset".to_owned(), escape_text(version))]).collect(),
        doubts: doubts.collect(),
        ..Page::default()
    }
}

fn subtitle(answers: &FleetAnswers) -> String {
    let days = match answers.days.as_slice() {
        [] => "no day".to_owned(),
        [day] => day.clone(),
        [first, .., last] => format!("{first} to {last}"),
    };
    let hosts = plural(answers.hosts, "host");
    let intervals = plural(answers.intervals, "interval");
    escape_text(&format!("{}: {hosts}, {intervals}, {days} (UTC)", answers.root))
}

fn section(analysis: &FleetAnalysis) -> Section {
    let shown = analysis.rows.len() as u64;
    let cut = (shown < analysis.row_count).then(|| {
        format!(
            "The first {} of {} rows; the tables have all.",
            count(shown),
            count(analysis.row_count)
        )
    });
    let notes = analysis.notes.iter().map(|note| escape_text(note));
    Section {
        question: escape_text(&analysis.question),
        answer: escape_text(&analysis.answer),
        chart: analysis.chart.as_ref().map(chart),
        table: table(analysis),
        notes: cut.into_iter().chain(notes).collect(),
        below: meanings(analysis).into_iter().collect(),
        ..Section::default()
    }
}

/// What the columns are, for those who ask, below the table.
fn meanings(analysis: &FleetAnalysis) -> Option<Entry> {
    let meaning = |column: &FleetColumn| {
        format!("{}: {}.", escape_text(&column.title), escape_text(&column.meaning))
    };
    (!analysis.rows.is_empty()).then(|| Entry {
        title: "Columns".to_owned(),
        lines: vec![analysis.columns.iter().map(meaning).collect::<Vec<_>>().join(" ")],
        ..Entry::default()
    })
}

fn table(analysis: &FleetAnalysis) -> Table {
    if analysis.rows.is_empty() {
        return Table::default();
    }
    let column = |column: &FleetColumn| Column {
        title: escape_text(&column.title),
        is_number: column.unit != FleetUnit::Text,
    };
    let row = |row: &Vec<_>| {
        let cells = row.iter().zip(&analysis.columns);
        cells
            .map(|(cell, column): (&Option<_>, _)| words::value(cell.as_ref(), column.unit))
            .collect()
    };
    Table {
        caption: escape_text(&analysis.name),
        columns: analysis.columns.iter().map(column).collect(),
        rows: analysis.rows.iter().map(row).collect(),
    }
}

fn chart(chart: &FleetChart) -> Chart {
    let names: Vec<String> = chart.names.iter().map(|name| escape_text(name)).collect();
    Chart {
        label: escape_text(&chart.label),
        kind: match chart.kind {
            FleetChartKind::Bars => ChartKind::Bars,
            FleetChartKind::Lines => ChartKind::Lines,
        },
        series: chart.series.iter().map(|one| series(one, chart)).collect(),
        x: Axis { names, ..axis(&chart.x) },
        y: axis(&chart.y),
        ..Chart::default()
    }
}

fn axis(axis: &FleetAxis) -> Axis {
    let unit = match axis.unit {
        FleetUnit::Bytes => Unit::Bytes,
        FleetUnit::Ratio => Unit::Share,
        FleetUnit::Nanoseconds => Unit::Nanoseconds,
        FleetUnit::Text | FleetUnit::Count | FleetUnit::Number => Unit::Count,
    };
    Axis { log: axis.log, ..Axis::of(&escape_text(&axis.title), unit) }
}

fn series(series: &FleetSeries, chart: &FleetChart) -> Series {
    let point = |&(x, y): &(f64, f64)| {
        let place = match chart.names.get(x.round() as usize) {
            Some(name) => escape_text(name),
            None => words::number(x, chart.x.unit),
        };
        Point {
            x,
            y,
            text: format!("{place}: {}", words::number(y, chart.y.unit)),
            ..Point::default()
        }
    };
    Series {
        name: escape_text(&series.name),
        points: series.points.iter().map(point).collect(),
        ..Series::default()
    }
}
