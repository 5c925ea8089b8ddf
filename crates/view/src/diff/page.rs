//! A difference as a page.

use std::io::{self, Write};

use hotset_analysis::diff::{CounterChange, Difference, FindingChange, RowChanges};
use hotset_facts::Observed;

use super::fold::{Folded, fold};
use super::{caveats, words};
use crate::escape::{escape_bytes, escape_text};
use crate::page::{Answer, Entry, Page, PageWarning, Section, Table, TableOf, host, write_page};
use crate::units::{count, duration, plural};
use crate::wire;

/// Rows that a table shows.
const ROWS: usize = 200;

/// Writes a self-contained HTML page about a difference that this version of hotset found.
///
/// # Errors
/// Only those of `out`.
pub fn write_difference_html(difference: &Difference, out: &mut dyn Write) -> io::Result<()> {
    write_page(&difference_page(wire::VERSION, difference), out)
}

/// The page of a difference that this version of hotset found.
pub fn difference_page(version: &str, difference: &Difference) -> Page {
    let rows = [
        ("Which files differ?", "File", &difference.files),
        ("Which processes differ?", "Command", &difference.processes),
        ("Which paths were looked up in vain?", "Path", &difference.failed_lookups),
        ("Which paths were looked up and found?", "Path", &difference.found_lookups),
    ];
    let [first, others] = totals(difference);
    let mut sections: Vec<Section> = first.into_iter().collect();
    sections.extend(rows.iter().filter_map(|(question, noun, rows)| section(question, noun, rows)));
    sections.extend(findings(difference));
    sections.extend(matched(&rows));
    sections.extend(others);
    Page {
        title: words::title(difference, &escape_bytes),
        subtitle: words::extent(difference, &escape_bytes),
        headline: headline(difference),
        sections,
        conditions: conditions(version, difference),
        doubts: doubts(difference),
        ..Page::default()
    }
}

fn headline(difference: &Difference) -> Vec<Answer> {
    let number = if difference.differs { "yes" } else { "no" };
    let differs = Answer {
        question: "Do they differ?".to_owned(),
        number: number.to_owned(),
        sentence: format!("{}.", words::sum(difference).join("; ")),
        confidence: "times and what else varies from run to run are not asked".to_owned(),
    };
    let total = |question: &str, name: &str| {
        let one = difference.totals.iter().find(|one| one.name == name)?;
        let [before, after] = [one.before, one.after].map(|value| words::value(value, one.unit));
        one.by().map(|_| Answer {
            question: question.to_owned(),
            number: words::by(one),
            sentence: format!("{before} before, {after} after."),
            confidence: String::new(),
        })
    };
    let totals = [
        total("How much more was read from the device?", "device.read_bytes"),
        total("How many more lookups failed?", "lookups.failed"),
        total("How many more syncs were there?", "sync.calls"),
    ];
    std::iter::once(differs).chain(totals.into_iter().flatten()).collect()
}

/// The counters that a reader looks for first, then the others.
fn totals(difference: &Difference) -> [Option<Section>; 2] {
    let exact = words::differing(difference);
    let (number, is_first) =
        (exact.len() as u64, |one: &&CounterChange| words::place(one).is_some());
    let (first, mut others): (Vec<_>, Vec<_>) = exact.into_iter().partition(is_first);
    others.extend(words::varying(difference));
    let equal = difference.totals.iter().filter(|one| one.by() == Some(0)).count() as u64;
    let first = Section {
        question: "Which counters differ?".to_owned(),
        answer: format!("{}; {} equal.", differ(number), are(equal)),
        table: counters("Counters of the whole runs", first).table(),
        ..Section::default()
    };
    let note =
        |one: &&CounterChange| if one.varies { "varies from run to run" } else { "" }.to_owned();
    let others = (!others.is_empty()).then(|| Section {
        question: "Which other counters differ?".to_owned(),
        answer: "What varies from run to run makes no difference.".to_owned(),
        table: counters("Parts of these, and what varies", others).words("Note", note).table(),
        ..Section::default()
    });
    [Some(first), others]
}

fn counters<'a>(caption: &str, shown: Vec<&'a CounterChange>) -> TableOf<&'a CounterChange> {
    Table::of(caption, shown)
        .words("Counter", |one| escape_text(&one.name))
        .numbers("Before", |one| words::value(one.before, one.unit))
        .numbers("After", |one| words::value(one.after, one.unit))
        .numbers("Change", |one| words::by(one))
        .numbers("Share", |one| words::share(one))
}

fn differ(number: u64) -> String {
    match number {
        0 => "None".to_owned(),
        1 => "1 differs".to_owned(),
        number => format!("{} differ", count(number)),
    }
}

fn are(number: u64) -> String {
    format!("{} {}", count(number), if number == 1 { "is" } else { "are" })
}

fn section(question: &str, noun: &str, rows: &Observed<RowChanges>) -> Option<Section> {
    let rows = rows.as_value()?;
    if rows.rows.is_empty() && rows.same == 0 {
        return None;
    }
    let folded = fold(rows);
    let (shown, rest) = folded.split_at(ROWS.min(folded.len()));
    let rest: u64 = rest.iter().map(|row| row.rows).sum();
    let cut = (rest > 0).then(|| format!("{} more; the JSON has all.", count(rest)));
    let said = [Some(words::changes(rows)).filter(|said| !said.is_empty()), words::same(rows)];
    let mut table = Table::of("The largest effect first", shown)
        .words(noun, |one| format!("{}{}", one.name(&escape_bytes), one.more()))
        .words("What became of it", |one| one.row.change.as_str().to_owned())
        .words("Counters", |one| escape_text(&one.counters(false).join(", ")));
    if shown.iter().any(|one| !one.row.by.is_empty()) {
        let by = |one: &&Folded<'_>| words::matched_by(&one.row.by);
        table = table.words("Matched although they differ in", by);
    }
    Some(Section {
        question: question.to_owned(),
        answer: format!("{}.", said.into_iter().flatten().collect::<Vec<_>>().join("; ")),
        table: table.table(),
        notes: cut.into_iter().collect(),
        ..Section::default()
    })
}

fn findings(difference: &Difference) -> Option<Section> {
    let findings = difference.findings.as_value().filter(|all| !all.is_empty())?;
    let entry = |one: &FindingChange| {
        let (title, facts) = words::finding(one);
        Entry {
            label: one.change.as_str().to_owned(),
            title: escape_text(&title),
            lines: vec![escape_text(&facts.join(" · "))],
            command: String::new(),
        }
    };
    Some(Section {
        question: "Which findings appeared or went?".to_owned(),
        entries: findings.iter().map(entry).collect(),
        notes: vec!["Findings rest on times, which vary from run to run.".to_owned()],
        ..Section::default()
    })
}

/// Names that were taken for one.
fn matched(lists: &[(&str, &str, &Observed<RowChanges>)]) -> Option<Section> {
    let all = lists.iter().filter_map(|(.., rows)| rows.as_value());
    let all: Vec<_> = all.flat_map(|rows| &rows.matched).collect();
    let cut = (all.len() > ROWS)
        .then(|| format!("The first {ROWS} of {}; the JSON has all.", count(all.len() as u64)));
    (!all.is_empty()).then(|| Section {
        question: "Which names were taken for one?".to_owned(),
        answer: format!("{} that differ.", plural(all.len() as u64, "pair")),
        table: Table::of("Names that differ", all.into_iter().take(ROWS))
            .words("Before", |one| words::named(&one.before, &escape_bytes))
            .words("After", |one| words::named(&one.after, &escape_bytes))
            .words("They differ in", |one| words::matched_by(&one.by))
            .table(),
        notes: cut.into_iter().collect(),
        ..Section::default()
    })
}

fn doubts(difference: &Difference) -> Vec<PageWarning> {
    let warning = |text: String| PageWarning { text, advice: String::new() };
    let caveats = caveats::caveats(difference, &escape_bytes).into_iter().map(warning);
    let untold = words::not_compared(difference, true, &escape_bytes).into_iter();
    caveats
        .chain(untold.map(|text| warning(format!("not measured: {}", escape_text(&text)))))
        .collect()
}

/// The host of the second run, and how long both took.
fn conditions(version: &str, difference: &Difference) -> Vec<(String, String)> {
    let after = &difference.after;
    let known = after.started_at.zip(after.environment.as_ref());
    let mut all = known.map(|(began, host)| host::host(began, host)).unwrap_or_default();
    for (name, about) in [("Wall time before", &difference.before), ("Wall time after", after)] {
        if let Some(command) = &about.command {
            all.push((name, duration(command.wall_ns)));
        }
    }
    host::with_version(all, version)
}
