//! What a reader of a run's page sees first: the findings, then what came from the cache, then the time in file I/O.

use hotset_analysis::{Finding, SliceKind, Summary};
use hotset_facts::Observed;

use crate::escape::escape_text;
use crate::page::Answer;
use crate::report::findings::time_saved;
use crate::report::{cache, time};
use crate::units::{count, duration, percent, plural};

/// Findings that have a place at the top; the section below has all.
const FINDINGS: usize = 2;
/// Kinds of I/O that a sentence names.
const SLICES: usize = 3;

pub(super) fn answers(summary: &Summary) -> Vec<Answer> {
    let findings = summary.findings.iter().take(FINDINGS).map(finding);
    findings.chain(from_cache(summary)).chain(in_io(summary)).collect()
}

fn finding(one: &Finding) -> Answer {
    let saving = time_saved(&one.saving);
    Answer {
        question: format!("Finding ({})", one.severity.as_str()),
        sentence: format!("{}.", escape_text(&one.title)),
        number: saving
            .map_or_else(|| "no saving claimed".to_owned(), |time| format!("saves {time}")),
        confidence: escape_text(&one.advice),
    }
}

/// The share of the requested pages that was cached. Nothing where no read call was made.
fn from_cache(summary: &Summary) -> Option<Answer> {
    let question = "How much of what was read came from the page cache?".to_owned();
    let (read, numbers) = match (summary.profile.totals.read, summary.totals.read) {
        (Observed::Value(read), Observed::Value(numbers)) => (read, numbers),
        (Observed::Missing(reason), _) | (_, Observed::Missing(reason)) => {
            return Some(Answer {
                question,
                number: "not measured".to_owned(),
                sentence: escape_text(&reason.to_string()),
                confidence: String::new(),
            });
        }
    };
    let share = numbers.cache_share?;
    let at_most = if summary.losses.from_device_at_least { "at most " } else { "" };
    let parts: Vec<String> = cache::read_rows(summary, &read)
        .into_iter()
        .skip(1)
        .map(|([name, pages, bytes, _], note)| {
            let note = if note.is_empty() { String::new() } else { format!("; {note}") };
            format!("{pages} {name} ({bytes}{note})")
        })
        .collect();
    Some(Answer {
        question,
        sentence: format!("Of {}: {}.", plural(read.pages, "requested page"), parts.join(", ")),
        number: format!("{at_most}{}", percent(share)),
        confidence: format!("counted in {}, not sampled", plural(read.calls, "read call")),
    })
}

/// How long calls and faults took, and which kinds.
fn in_io(summary: &Summary) -> Option<Answer> {
    let io_ns = summary.time.io_ns.value()?;
    let slices = match &summary.time.slices {
        Observed::Value(slices) => slices,
        Observed::Missing(_) => return None,
    };
    let io =
        slices.iter().filter(|one| !matches!(one.kind, SliceKind::Computing | SliceKind::Rest));
    let kinds: Vec<String> =
        io.map(|one| format!("{} {}", time::label(summary, one.kind), duration(one.ns))).collect();
    let named = kinds.iter().take(SLICES).cloned().collect::<Vec<_>>().join(", ");
    let rest = match kinds.len().saturating_sub(SLICES) {
        0 => String::new(),
        rest => format!(", {} more", count(rest as u64)),
    };
    let share = summary.time.io_of_wall.map(|share| format!(" ({})", percent(share)));
    Some(Answer {
        question: "How long did file I/O take?".to_owned(),
        sentence: if named.is_empty() {
            "No file I/O.".to_owned()
        } else {
            format!("{named}{rest}.")
        },
        number: duration(io_ns),
        confidence: format!("{}{}", time::base(summary), share.unwrap_or_default()),
    })
}
