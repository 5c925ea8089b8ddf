//! A difference for a terminal.

use hotset_analysis::diff::{
    Change, CounterChange, Difference, FindingChange, MatchedRow, RowChanges,
};
use hotset_facts::Observed;

use super::fold::{Folded, each, fold};
use super::{caveats, words};
use crate::escape::{columns, escape_text, shorten_end, shorten_path};
use crate::report::Options;
use crate::report::screen::{Screen, Tone};
use crate::table::{Align, Table, pad};
use crate::units::{count, plural};

/// As wide as "changed" and "unclear".
const WORD_WIDTH: usize = 7;
const INDENT: usize = 2 + WORD_WIDTH + 2;
/// Counters of a row that tell most.
const COUNTERS: usize = 4;
/// As wide as the arrow before the second name of a pair.
const PAIR_INDENT: usize = 2;
/// Names that were matched, as examples.
const EXAMPLES: usize = 3;

/// A difference, ready for a terminal.
pub fn render_difference(difference: &Difference, options: &Options) -> String {
    let mut screen = Screen::new(options);
    let title = words::title(difference, &|name| screen.name(name));
    screen.title(&shorten_end(&title, screen.width));
    let extent = words::extent(difference, &|name| screen.name(name));
    screen.paragraph("", " ", &extent, 2);
    screen.paragraph("", " · ", &words::sum(difference).join(" · "), 2);
    push_totals(&mut screen, difference);
    for list in lists(difference) {
        push_rows(&mut screen, &list);
    }
    push_findings(&mut screen, difference);
    push_matched(&mut screen, difference);
    push_notes(&mut screen, difference);
    screen.finish()
}

/// Rows of a kind.
struct List<'a> {
    title: &'static str,
    rows: Option<&'a RowChanges>,
    /// How a name is shortened: the words of a command are no path.
    shorten: fn(&str, usize) -> String,
}

fn lists(difference: &Difference) -> [List<'_>; 4] {
    [
        list("Files", &difference.files, shorten_path),
        list("Processes", &difference.processes, shorten_end),
        list("Paths that were not found", &difference.failed_lookups, shorten_path),
        list("Paths that were found", &difference.found_lookups, shorten_path),
    ]
}

fn list<'a>(
    title: &'static str,
    rows: &'a Observed<RowChanges>,
    shorten: fn(&str, usize) -> String,
) -> List<'a> {
    List { title, rows: rows.as_value(), shorten }
}

/// The counters that differ; those that a reader looks for first, unless all are asked for.
fn push_totals(screen: &mut Screen, difference: &Difference) {
    let differing = words::differing(difference);
    let all = screen.all;
    let first = differing.iter().filter(|one| all || words::place(one).is_some());
    let mut shown: Vec<&CounterChange> = first.copied().collect();
    if shown.is_empty() {
        shown.clone_from(&differing);
    }
    let varying = words::varying(difference);
    let varies = if all { varying.as_slice() } else { &[] };
    if !shown.is_empty() || !varies.is_empty() {
        push_table(screen, &shown, varies);
    }
    let more = differing.len() - shown.len();
    if more > 0 {
        screen.below_table(&format!("{} more differ; -v shows them", count(more as u64)));
    }
    let equal = difference.totals.iter().filter(|one| one.by() == Some(0)).count();
    if shown.is_empty() {
        screen.heading("Totals", "");
        screen.note(&format!("{} are equal.", plural(equal as u64, "counter")));
    }
    if !all && !varying.is_empty() {
        push_varying(screen, &varying);
    }
}

/// What makes no difference, the times first that a reader wants anyway.
fn push_varying(screen: &mut Screen, varying: &[&CounterChange]) {
    const TOLD: [&str; 2] = ["command.wall_ns", "processes.minor_faults"];
    let told = varying.iter().filter(|one| TOLD.contains(&one.name.as_ref()));
    let mut told: Vec<String> = told
        .map(|one| {
            let [before, after] =
                [one.before, one.after].map(|value| words::value(value, one.unit));
            format!("{} {before} → {after}", one.name)
        })
        .collect();
    match varying.len() - told.len() {
        0 => {}
        more if told.is_empty() => told.push(plural(more as u64, "counter")),
        more => told.push(format!("{} more", count(more as u64))),
    }
    let told = told.join(", ");
    screen.note(&format!("Varies from run to run, and makes no difference: {told}"));
}

fn push_table(screen: &mut Screen, shown: &[&CounterChange], varies: &[&CounterChange]) {
    let mut table = Table::new(vec![
        ("before", Align::Right),
        ("after", Align::Right),
        ("change", Align::Right),
        ("", Align::Right),
        ("", Align::Left),
    ]);
    let mut names = Vec::new();
    for one in shown.iter().chain(varies) {
        names.push(one.name.to_string());
        let [before, after] = [one.before, one.after].map(|value| words::value(value, one.unit));
        let note = if one.varies { "varies" } else { "" };
        let share = words::share(one);
        table.push(vec![before, after, words::by(one), share, note.to_owned()]);
    }
    screen.table("Totals", &table, &names);
}

fn limit(screen: &Screen) -> usize {
    if screen.all { usize::MAX } else { screen.top }
}

fn push_rows(screen: &mut Screen, list: &List<'_>) {
    let Some(rows) = list.rows.filter(|rows| !rows.rows.is_empty()) else { return };
    let note = [Some(words::changes(rows)), words::same(rows)];
    screen.heading(list.title, &note.into_iter().flatten().collect::<Vec<_>>().join("; "));
    let folded = if screen.all { each(rows) } else { fold(rows) };
    let (shown, rest) = folded.split_at(limit(screen).min(folded.len()));
    shown.iter().for_each(|row| push_row(screen, row, list.shorten));
    push_more(screen, rest.iter().map(|row| row.rows).sum());
}

fn push_more(screen: &mut Screen, more: u64) {
    if more > 0 {
        screen.below_table(&format!("and {} more; --top N and -v show them", count(more)));
    }
}

fn word(screen: &Screen, change: Change) -> String {
    let tone = match change {
        Change::Came | Change::Grew => Tone::Warning,
        Change::Went | Change::Shrank => Tone::Good,
        Change::Changed => Tone::Info,
        Change::Unclear => Tone::Quiet,
    };
    screen.paint(&pad(change.as_str(), WORD_WIDTH, Align::Left), tone)
}

fn push_row(screen: &mut Screen, folded: &Folded<'_>, shorten: fn(&str, usize) -> String) {
    let row = folded.row;
    let word = word(screen, row.change);
    let by = match row.by.is_empty() {
        true => folded.more(),
        false => format!("{} ({})", folded.more(), words::matched_by(&row.by)),
    };
    let room = screen.width.saturating_sub(INDENT + by.len());
    let name = folded.name(&|name| screen.name(name));
    let name = shorten(&name, room);
    screen.line(&format!("  {word}  {name}{by}"));
    let counters = folded.counters(screen.all);
    let shown = if screen.all { counters.len() } else { counters.len().min(COUNTERS) };
    let (told, rest) = counters.split_at(shown);
    let more = match rest.len() {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    if !told.is_empty() {
        screen.paragraph("", ", ", &format!("{}{more}", told.join(", ")), INDENT);
    }
}

fn push_findings(screen: &mut Screen, difference: &Difference) {
    let Some(findings) = difference.findings.as_value().filter(|all| !all.is_empty()) else {
        return;
    };
    screen.heading("Findings", "they rest on times");
    for one in findings {
        push_finding(screen, one);
    }
}

fn push_finding(screen: &mut Screen, one: &FindingChange) {
    let word = word(screen, one.change);
    let (title, facts) = words::finding(one);
    let title = shorten_end(&escape_text(&title), screen.width.saturating_sub(INDENT));
    screen.line(&format!("  {word}  {title}"));
    screen.paragraph("", " · ", &escape_text(&facts.join(" · ")), INDENT);
}

/// Which names were taken for one.
fn push_matched(screen: &mut Screen, difference: &Difference) {
    // What was found are the files once more.
    let shown = if screen.all { 4 } else { 3 };
    for list in lists(difference).into_iter().take(shown) {
        let Some(rows) = list.rows.filter(|rows| !rows.matched.is_empty()) else { continue };
        let number = count(rows.matched.len() as u64);
        screen.heading(&format!("{} matched although their names differ", list.title), &number);
        let limit = if screen.all { usize::MAX } else { EXAMPLES.min(screen.top) };
        for one in rows.matched.iter().take(limit) {
            push_pair(screen, one, list.shorten);
        }
        push_more(screen, rows.matched.len().saturating_sub(limit) as u64);
    }
}

/// Both names on one line; below each other where that is too short to tell them apart.
fn push_pair(screen: &mut Screen, one: &MatchedRow, shorten: fn(&str, usize) -> String) {
    let by = format!(" ({})", words::matched_by(&one.by));
    let [before, after] =
        [&one.before, &one.after].map(|row| words::named(row, &|name| screen.name(name)));
    let line = format!("  {before} → {after}{by}");
    if columns(&line) <= screen.width {
        screen.line(&line);
        return;
    }
    let room = screen.width.saturating_sub(2 + PAIR_INDENT + columns(&by));
    let [before, after] = [before, after].map(|name| shorten(&name, room));
    screen.line(&format!("  {before}"));
    screen.line(&format!("  {:PAIR_INDENT$}{after}{by}", "→"));
}

fn push_notes(screen: &mut Screen, difference: &Difference) {
    let untold = words::not_compared(difference, screen.all, &|name| screen.name(name));
    let caveats = caveats::caveats(difference, &|name| screen.name(name));
    if untold.is_empty() && caveats.is_empty() {
        return;
    }
    screen.line("");
    if !untold.is_empty() {
        screen.paragraph("Not measured: ", " ", &escape_text(&untold.join("; ")), 0);
    }
    for caveat in &caveats {
        screen.paragraph("Caveat: ", " ", caveat, 0);
    }
}
