//! What to change, the largest saving first.

use hotset_analysis::{Evidence, Finding, Number, Outcome, Saving, Severity, SiteShare, Summary};
use hotset_facts::CallSites;

use super::screen::{Screen, Tone};
use super::text::{wrap, wrap_by};
use crate::escape::{columns, escape_text, shorten_end, shorten_path};
use crate::sites::{Escape, with_callers};
use crate::table::{Align, pad};
use crate::units::{bytes, count, duration, percent, plural, real, whole_percent};

/// As wide as "CRITICAL".
const WORD_WIDTH: usize = 8;
pub(crate) const INDENT: usize = 2 + WORD_WIDTH + 2;

pub(super) fn push(screen: &mut Screen, summary: &Summary) {
    if !summary.findings.is_empty() {
        push_if_any(screen, summary);
        return;
    }
    screen.heading("Findings", "");
    screen.below_table(&none(summary));
}

/// Why there is no finding.
pub(crate) fn none(summary: &Summary) -> String {
    if summary.verdicts.iter().any(|verdict| verdict.outcome == Outcome::Clear) {
        let share = whole_percent(summary.gate.min_share_of_wall);
        let time = duration(summary.gate.min_saving_ns);
        format!("None: no rule found a saving of {share} of wall time or {time}.")
    } else {
        "None: no rule had enough data.".to_owned()
    }
}

/// A screen has room for the full text of this many.
const FULL: usize = 2;

pub(super) fn push_if_any(screen: &mut Screen, summary: &Summary) {
    if summary.findings.is_empty() {
        return;
    }
    let brief = if screen.all { 0 } else { summary.findings.len().saturating_sub(FULL) };
    let note = if brief > 0 { "-v shows the advice for all" } else { "" };
    screen.heading("Findings", note);
    let (full, rest) = summary.findings.split_at(summary.findings.len() - brief);
    let sites = summary.profile.sites.as_ref();
    full.iter().for_each(|finding| push_finding(screen, finding, sites));
    rest.iter().for_each(|finding| push_line(screen, finding));
}

fn word(screen: &Screen, severity: Severity) -> String {
    let (word, tone) = match severity {
        Severity::Critical => ("CRITICAL", Tone::Critical),
        Severity::Warning => ("WARNING", Tone::Warning),
        Severity::Info => ("INFO", Tone::Info),
    };
    screen.paint(&pad(word, WORD_WIDTH, Align::Left), tone)
}

/// Title and saving in one line.
fn push_line(screen: &mut Screen, finding: &Finding) {
    let word = word(screen, finding.severity);
    let room = screen.width - INDENT;
    let saving = time_saved(&finding.saving).map_or(String::new(), |time| format!(" ({time})"));
    let title = shorten_end(&escape_text(&finding.title), room.saturating_sub(columns(&saving)));
    let title = screen.paint(&title, Tone::Heading);
    screen.line(&format!("  {word}  {title}{saving}"));
}

/// How much it matters, and what it is.
pub(crate) fn push_title(screen: &mut Screen, severity: Severity, title: &str) {
    let word = word(screen, severity);
    let title = escape_text(title);
    for (i, line) in wrap(&title, screen.width - INDENT).iter().enumerate() {
        let line = screen.paint(line, Tone::Heading);
        let start = if i == 0 { format!("  {word}  ") } else { " ".repeat(INDENT) };
        screen.line(&format!("{start}{line}"));
    }
}

fn push_finding(screen: &mut Screen, finding: &Finding, sites: Option<&CallSites>) {
    push_title(screen, finding.severity, &finding.title);
    push_evidence(screen, finding);
    push_files(screen, finding);
    for line in askers(finding, sites, &|name| screen.name(name)) {
        let line = shorten_end(&line, screen.width.saturating_sub(INDENT));
        screen.line(&format!("{:INDENT$}{line}", ""));
    }
    screen.paragraph("", " ", &escape_text(&finding.advice), INDENT);
}

/// The saving and the numbers behind it: what has room in a line, or all.
fn push_evidence(screen: &mut Screen, finding: &Finding) {
    if saving(&finding.saving).is_none() && !screen.all {
        // What has no saving has said its number in the title.
        return;
    }
    let facts = facts(finding).join(" · ");
    if screen.all {
        screen.paragraph("", " · ", &facts, INDENT);
    } else if let Some(line) = wrap_by(&facts, " · ", screen.width - INDENT).first() {
        screen.line(&format!("{:INDENT$}{line}", ""));
    }
}

/// The saving and the numbers behind it, each in words.
pub(crate) fn facts(finding: &Finding) -> Vec<String> {
    let evidence = evidence_words(&finding.evidence);
    saving(&finding.saving).into_iter().chain(evidence).collect()
}

/// Numbers behind a finding, each in words.
pub(crate) fn evidence_words(evidence: &[Evidence]) -> impl Iterator<Item = String> {
    evidence.iter().filter(|evidence| is_shown(evidence)).map(words)
}

/// The saving is said in words, and zeros say nothing to a person.
fn is_shown(evidence: &Evidence) -> bool {
    let zero = matches!(evidence.value, Number::Count(0));
    !zero && !evidence.name.starts_with("saving_")
}

/// As many files as one line has room for, at least one.
fn push_files(screen: &mut Screen, finding: &Finding) {
    let room = screen.width.min(100).saturating_sub(INDENT);
    let mut line = String::from("in ");
    for (i, path) in finding.files.iter().enumerate() {
        let left = finding.files.len() - i;
        let path = screen.path(path);
        if i == 0 {
            // Room for ", 4 more".
            line.push_str(&shorten_path(&path, room.saturating_sub(11)));
        } else if columns(&line) + columns(&path) + 10 <= room {
            line.push_str(&format!(", {path}"));
        } else {
            line.push_str(&format!(", {left} more"));
            break;
        }
    }
    if !finding.files.is_empty() {
        screen.line(&format!("{:INDENT$}{line}", ""));
    }
}

/// The code behind it: "92 % of read calls by load_rows (db.c:88) < read_all < main".
pub(crate) fn askers(
    finding: &Finding,
    sites: Option<&CallSites>,
    escape: Escape<'_>,
) -> Vec<String> {
    let line = |one: &SiteShare| {
        let site = sites?.sites.get(one.site as usize)?;
        Some(format!(
            "{} of {} by {}",
            whole_percent(one.share),
            one.of,
            with_callers(site, escape)
        ))
    };
    finding.sites.iter().filter_map(line).collect()
}

/// "would save 1.2 s to 1.9 s (28.5 % to 45.1 % of the wall time)".
fn saving(saving: &Saving) -> Option<String> {
    let time = time_saved(saving)?;
    let share = match (saving.low_of_wall, saving.high_of_wall) {
        (Some(low), Some(high)) if saving.low_ns > 0 && percent(low) != percent(high) => {
            format!(", {} to {} of the run", percent(low), percent(high))
        }
        (_, Some(high)) => format!(", {} of the run", percent(high)),
        (_, None) => String::new(),
    };
    Some(format!("would save {time}{share}"))
}

/// "1.2 s to 1.9 s", "up to 3 s".
pub(crate) fn time_saved(saving: &Saving) -> Option<String> {
    let (low, high) = (duration(saving.low_ns), duration(saving.high_ns));
    match (saving.low_ns, saving.high_ns) {
        (_, 0) => None,
        (0, _) => Some(format!("up to {high}")),
        _ if low == high => Some(format!("about {high}")),
        _ => Some(format!("{low} to {high}")),
    }
}

/// "major fault" of "major faults", "directory" of "directories".
fn singular(noun: &str) -> String {
    match (noun.strip_suffix("ies"), noun.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (None, Some(stem)) => stem.to_owned(),
        (None, None) => noun.to_owned(),
    }
}

/// `read_calls: 240000` as "240,000 read calls", `mean_read_bytes: 26` as "mean read 26 B": a trailing unit of the name
/// decides how the number is printed.
fn words(evidence: &Evidence) -> String {
    let spoken = evidence.name.replace('_', " ");
    let whole = match evidence.value {
        Number::Count(count) => count,
        Number::Real(real) => real.max(0.0).round() as u64,
    };
    if let Some(name) = spoken.strip_suffix(" ns") {
        format!("{name} {}", duration(whole))
    } else if let Some(name) = spoken.strip_suffix(" bytes") {
        format!("{name} {}", bytes(whole))
    } else if let Some(name) = spoken.strip_suffix(" pages") {
        format!("{name} {}", plural(whole, "page"))
    } else if let (Some(name), Number::Real(value)) =
        (spoken.strip_suffix(" percent"), evidence.value)
    {
        format!("{name} {}", percent(value / 100.0))
    } else {
        let value = match evidence.value {
            Number::Count(1) => return format!("1 {}", singular(&spoken)),
            Number::Count(value) => count(value),
            Number::Real(value) => real(value),
        };
        format!("{value} {spoken}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        let said = |name, count| words(&Evidence { name, value: Number::Count(count) });
        assert_eq!(said("from_device_pages", 1), "from device 1 page");
        assert_eq!(said("mapped_in_pages", 2_747), "mapped in 2,747 pages");
        assert_eq!(said("major_faults", 1), "1 major fault");
        assert_eq!(said("silent_directories", 1), "1 silent directory");
        assert_eq!(said("most_opens_of_a_file", 1), "1 most opens of a file");
        assert_eq!(said("sync_calls", 12), "12 sync calls");
    }
}
