//! A page as tests compare it: its words, its tables, and of its charts what one would check by eye.

use super::{Chart, Entry, Page, Point, Section, Series, Spread, Table};

/// The page's model, a thing a line.
pub(crate) fn lines(page: &Page) -> String {
    let mut out = Vec::new();
    push(page, "#", &mut out);
    out.join("\n")
}

fn push(page: &Page, level: &str, out: &mut Vec<String>) {
    out.push(format!("{level} {}", page.title));
    say(out, "", &page.subtitle);
    for answer in &page.headline {
        let said = [&answer.question, &answer.number, &answer.sentence, &answer.confidence];
        out.push(format!("answer: {}", said.map(String::as_str).join(" | ")));
    }
    page.sections.iter().for_each(|one| section(one, level, out));
    out.extend(page.conditions.iter().map(|(name, value)| format!("condition {name}: {value}")));
    out.extend(page.doubts.iter().map(|doubt| format!("doubt: {} | {}", doubt.text, doubt.advice)));
    for part in &page.parts {
        push(part, &format!("{level}#"), out);
    }
}

fn section(section: &Section, level: &str, out: &mut Vec<String>) {
    out.push(format!("\n{level}# {}", section.question));
    say(out, "", &section.answer);
    section.entries.iter().for_each(|one| entry(one, out));
    out.extend(section.text.lines().map(|line| format!("    {line}")));
    section.chart.iter().for_each(|one| chart(one, out));
    out.extend(
        section
            .picture
            .iter()
            .map(|one| format!("picture, {}, {} parts: {}", one.kind(), one.things(), one.label)),
    );
    section.notes.iter().for_each(|note| say(out, "note: ", note));
    table(&section.table, out);
    section.below.iter().for_each(|one| entry(one, out));
}

fn entry(one: &Entry, out: &mut Vec<String>) {
    out.push(format!("entry: {} | {} | {}", one.label, one.title, one.lines.join(" | ")));
    say(out, "  $ ", &one.command);
}

fn say(out: &mut Vec<String>, label: &str, text: &str) {
    if !text.is_empty() {
        out.push(format!("{label}{text}"));
    }
}

fn chart(chart: &Chart, out: &mut Vec<String>) {
    out.push(format!("chart of {}: {}", chart.kind.as_str(), chart.label));
    for (name, axis) in [("x", &chart.x), ("y", &chart.y)] {
        let log = if axis.log { ", logarithmic" } else { "" };
        let zero = if axis.zero { ", from 0" } else { "" };
        out.push(format!("  {name}: {} in {}{log}{zero}", axis.title, axis.unit.as_str()));
        say(out, "    at ", &axis.names.join(", "));
    }
    out.extend(chart.reference.map(|at| format!("  a line at {at}")));
    out.extend(
        chart.areas.iter().map(|area| format!("  shaded to {}: {}", number(area.to), area.text)),
    );
    out.extend(
        chart
            .lines
            .iter()
            .map(|line| format!("  {} at {}: {}", line.name, number(line.at), line.text)),
    );
    say(out, "  a cross is ", &chart.excluded);
    chart.series.iter().for_each(|one| series(one, out));
}

/// What is drawn of it, and what its first point says.
fn series(series: &Series, out: &mut Vec<String>) {
    let first = series.points.first().map_or("", |point| &point.text);
    let band = if series.band { ", with a band" } else { "" };
    out.push(format!("  series {}: {} points{band}; {first}", series.name, series.points.len()));
    out.extend(series.boxes.iter().map(spread));
    out.extend(series.points.chunks(6).map(|points| {
        let drawn: Vec<String> = points.iter().map(point).collect();
        format!("    {}", drawn.join("; "))
    }));
}

/// `at 4096: 2 (1.8 to 2.2)`; `x 4096: 2` where it is a cross.
fn point(point: &Point) -> String {
    let mark = if point.excluded { "x" } else { "at" };
    let interval = point
        .interval
        .map(|(low, high)| format!(" ({} to {})", number(low), number(high)))
        .unwrap_or_default();
    format!("{mark} {}: {}{interval}", number(point.x), number(point.y))
}

fn spread(spread: &Spread) -> String {
    let Spread { x, low, lower, median, upper, high } = *spread;
    let numbers = [low, lower, median, upper, high].map(number).join(" ");
    format!("    box at {}: {numbers}", number(x))
}

/// In six digits: the last ones of a sum may differ from host to host.
fn number(number: f64) -> String {
    format!("{number:.5e}")
        .parse()
        .map_or_else(|_| number.to_string(), |short: f64| short.to_string())
}

fn table(table: &Table, out: &mut Vec<String>) {
    if table.columns.is_empty() {
        return;
    }
    let mark = if table.rows.is_empty() { ", without rows" } else { "" };
    out.push(format!("table: {}{mark}", table.caption));
    let title = |column: &super::Column| match column.is_number {
        true => format!("{} (n)", column.title),
        false => column.title.clone(),
    };
    let head: Vec<String> = table.columns.iter().map(title).collect();
    let rows = std::iter::once(&head).chain(&table.rows);
    out.extend(rows.map(|row| format!("  {}", row.join(" | "))));
}
