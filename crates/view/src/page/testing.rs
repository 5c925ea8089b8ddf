//! A page as tests compare it: its words, its tables, and of its charts what one would check by eye.

use super::{Chart, Page, Section, Series, Table};

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
    out.extend(page.doubts.iter().map(|one| format!("doubt: {} | {}", one.text, one.advice)));
    for part in &page.parts {
        push(part, &format!("{level}#"), out);
    }
}

fn section(section: &Section, level: &str, out: &mut Vec<String>) {
    out.push(format!("\n{level}# {}", section.question));
    say(out, "", &section.answer);
    out.extend(section.text.lines().map(|line| format!("    {line}")));
    section.chart.iter().for_each(|one| chart(one, out));
    section.notes.iter().for_each(|note| say(out, "note: ", note));
    table(&section.table, out);
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
        out.push(format!("  {name}: {} in {}{log}", axis.title, axis.unit.as_str()));
        say(out, "    at ", &axis.names.join(", "));
    }
    out.extend(chart.reference.map(|at| format!("  a line at {at}")));
    say(out, "  a cross is ", &chart.excluded);
    out.extend(chart.series.iter().map(series));
}

/// How many points, and what the first one says.
fn series(series: &Series) -> String {
    let crosses = series.points.iter().filter(|point| point.excluded).count();
    let intervals = series.points.iter().filter(|point| point.interval.is_some()).count();
    let (points, boxes) = (series.points.len(), series.boxes.len());
    let first = series.points.first().map_or("", |point| &point.text);
    format!(
        "  series {}: {points} points, {crosses} crosses, {intervals} intervals, {boxes} boxes; {first}",
        series.name
    )
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
