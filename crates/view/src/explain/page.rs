//! The page of an explanation: a section a finding, with a picture of what its change does.

use std::io::{self, Write};

use hotset_analysis::explain::{Explained, ProvedFinding};
use hotset_analysis::{Outcome, RuleVerdict};

use super::{ExplainedTrace, words};
use crate::escape::{escape_bytes, escape_path, escape_text};
use crate::page::{Answer, Entry, Page, PageWarning, Section, Table, host, write_page};
use crate::replay::{page as replays, picture};
use crate::report::header::quoted;
use crate::trace::words::untold;
use crate::units::{count, duration, plural};
use crate::wire;

/// Writes a self-contained HTML page about an explanation that this version of hotset made.
///
/// # Errors
/// Only those of `out`.
pub fn write_explained_html(trace: &ExplainedTrace<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_page(&explained_page(wire::VERSION, trace), out)
}

/// The page of an explanation, made by this version of hotset.
pub fn explained_page(version: &str, trace: &ExplainedTrace<'_>) -> Page {
    let explained = trace.explained;
    let mut sections: Vec<Section> =
        explained.findings.iter().map(|finding| section(trace, finding)).collect();
    if sections.is_empty() {
        sections.push(Section {
            question: "What is worth changing?".to_owned(),
            answer: words::nothing(explained).to_owned(),
            ..Section::default()
        });
    }
    sections.extend(rules(explained));
    Page {
        title: words::title(trace, &escape_bytes),
        subtitle: words::extent(trace, &escape_bytes).join(" · "),
        headline: headline(explained),
        sections,
        conditions: conditions(version, trace),
        doubts: doubts(trace),
        ..Page::default()
    }
}

/// The gain that comes first, how much there is to gain, and whether replays are to be believed.
fn headline(explained: &Explained) -> Vec<Answer> {
    let first = explained.findings.first().filter(|finding| finding.is_proved());
    let proved = first.and_then(|finding| {
        let (proof, replays) = (finding.proof.as_ref()?, explained.replays.as_ref()?);
        Some(Answer {
            question: escape_text(&finding.finding.title),
            number: format!("I/O {}", replays::speed_number(&proof.io)),
            sentence: words::proof(proof, replays),
            confidence: "proved by replay".to_owned(),
        })
    });
    let of = |is: fn(&ProvedFinding) -> bool| {
        count(explained.findings.iter().filter(|finding| is(finding)).count() as u64)
    };
    let found = Answer {
        question: "What was found?".to_owned(),
        number: plural(explained.findings.len() as u64, "finding"),
        sentence: format!(
            "{} proved by replay, {} refuted, {} not proved",
            of(ProvedFinding::is_proved),
            of(ProvedFinding::is_refuted),
            of(|finding| finding.proof.is_none())
        ),
        confidence: String::new(),
    };
    let io = Answer {
        question: "How much of the run is I/O?".to_owned(),
        number: words::io_share(explained),
        sentence: format!(
            "{} of I/O in a run of {}",
            duration(explained.io_ns),
            duration(explained.wall_ns)
        ),
        confidence: "of several threads, I/O times add up".to_owned(),
    };
    let replayed = explained.replays.as_ref().and_then(replays::fidelity);
    proved.into_iter().chain([found, io]).chain(replayed).collect()
}

/// A finding: what it rests on, what its change does, what to do.
fn section(trace: &ExplainedTrace<'_>, proved: &ProvedFinding) -> Section {
    let pictured = trace.explained.replays.as_ref().zip(proved.variant);
    let pictured = pictured.map(|(replays, variant)| picture::section(replays, variant));
    let mut section = Section {
        question: escape_text(&proved.finding.title),
        entries: vec![grounds(trace, proved)],
        below: vec![to_do(trace, proved)],
        ..pictured.unwrap_or_default()
    };
    // Bars say more than a sentence above them.
    if let (Some(why), None, Some(_)) = (&proved.not_proved, &proved.proof, &section.picture) {
        let why = escape_text(why);
        section.notes.insert(0, format!("The times of these replays prove nothing: {why}."));
    }
    section
}

/// What a finding rests on, and what replays say of it.
fn grounds(trace: &ExplainedTrace<'_>, proved: &ProvedFinding) -> Entry {
    let finding = &proved.finding;
    let status = match proved {
        proved if proved.is_proved() => "Proved by replay",
        refuted if refuted.is_refuted() => "Refuted by replay",
        _ => "Not proved",
    };
    let mut lines = vec![escape_text(&words::facts(proved).join(" · "))];
    let files = words::files(proved, &escape_bytes);
    if !files.is_empty() {
        let more = match finding.more_files {
            0 => String::new(),
            more => format!(" and {} more", count(more)),
        };
        lines.push(format!("In {}{more}", files.join(", ")));
    }
    lines.extend(words::sites(proved, trace.lists, &escape_bytes));
    if let (Some(proof), Some(replays)) = (&proved.proof, &trace.explained.replays) {
        lines.push(words::proof(proof, replays));
    }
    lines.extend(words::computing(proved));
    lines.extend(
        proved.not_proved.as_deref().map(|why| format!("Not proved: {}.", escape_text(why))),
    );
    lines.retain(|line| !line.is_empty());
    lines.dedup();
    Entry {
        label: finding.severity.as_str().to_owned(),
        title: status.to_owned(),
        lines,
        command: String::new(),
    }
}

/// What the programmer does, what that risks, and how to see it again.
fn to_do(trace: &ExplainedTrace<'_>, proved: &ProvedFinding) -> Entry {
    let finding = &proved.finding;
    let how = finding.how.iter();
    let how = how.map(|(language, how)| format!("{}: {how}", words::language(*language)));
    let risks = finding.risks.iter().map(|risks| format!("Risk: {risks}"));
    let settings = finding.settings.iter().map(words::setting);
    let advice = std::iter::once(finding.advice.clone()).chain(how).chain(risks).chain(settings);
    let mut lines: Vec<String> = advice.map(|line| escape_text(&line)).collect();
    let command = command(trace, &finding.changes);
    if !command.is_empty() {
        lines.push(match trace.path {
            Some(_) => "To replay the recording with this change:".to_owned(),
            None => {
                "To replay the recording with this change, keep it (hotset explain -o app.parquet):"
                    .to_owned()
            }
        });
    }
    Entry { label: String::new(), title: "What to do".to_owned(), lines, command }
}

/// `sudo hotset replay app.parquet --as sync-every=50`.
fn command(trace: &ExplainedTrace<'_>, changes: &[String]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let path =
        trace.path.map_or_else(|| "app.parquet".to_owned(), |path| quoted(escape_path(path)));
    let changes: Vec<String> =
        changes.iter().map(|change| format!(" --as {}", escape_text(change))).collect();
    format!("sudo hotset replay {path}{}", changes.concat())
}

/// What the other rules said: most of them nothing, which is no table worth.
fn rules(explained: &Explained) -> Option<Section> {
    let is_clear = |verdict: &&RuleVerdict| verdict.outcome == Outcome::Clear;
    let clear = explained.verdicts.iter().filter(is_clear);
    let clear: Vec<String> = clear.map(|verdict| escape_text(verdict.rule)).collect();
    let said = |verdict: &&RuleVerdict| match &verdict.outcome {
        Outcome::Clear => String::new(),
        Outcome::NotEnoughData(reason) => escape_text(&reason.to_string()),
    };
    let unknown = explained.verdicts.iter().filter(|verdict| !is_clear(verdict));
    let answer = match clear.is_empty() {
        true => String::new(),
        false => format!("Nothing worth changing: {}.", clear.join(", ")),
    };
    (!explained.verdicts.is_empty()).then(|| Section {
        question: "What do the other rules say?".to_owned(),
        answer,
        table: Table::of("Rules without enough data", unknown)
            .words("Rule", |verdict| escape_text(verdict.rule))
            .words("What is missing", said)
            .table(),
        ..Section::default()
    })
}

/// What the recording lacks, and what replays are to be doubted for.
fn doubts(trace: &ExplainedTrace<'_>) -> Vec<PageWarning> {
    let untold = untold(trace.head, &escape_bytes).into_iter();
    let untold = untold.map(|text| PageWarning { text, advice: String::new() });
    untold.chain(trace.explained.replays.iter().flat_map(replays::doubts)).collect()
}

/// The host that it was replayed on, else the one that it was recorded on.
fn conditions(version: &str, trace: &ExplainedTrace<'_>) -> Vec<(String, String)> {
    let replayed = trace.explained.replays.as_ref().map(|replays| &replays.session);
    let replayed = replayed.map(|session| (session.started_at, &session.environment));
    let host = replayed.or(trace.head.started_at.zip(trace.head.environment.as_ref()));
    let host = host.map(|(began, environment)| host::host(began, environment));
    host::with_version(host.unwrap_or_default(), version)
}
