//! The page of a need of memory: what to set, what each limit is worth, what must be there beside, and how sure all that is.

mod beside;
mod charts;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use hotset_analysis::size::{Sampled, SizeSummary};

use super::caveats::caveats;
use super::{SizedTrace, verified, words};
use crate::escape::{escape_bytes, escape_path, escape_text};
use crate::page::{Answer, Page, PageWarning, Section, Table, host, write_page};
use crate::units::{bytes, count, duration, plural};
use crate::wire;

pub(crate) use beside::size_beside;

/// Writes a self-contained HTML page about a need of memory that this version of hotset predicted.
///
/// # Errors
/// Only those of `out`.
pub fn write_size_html(trace: &SizedTrace<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_page(&size_page(wire::VERSION, trace, &caveats(trace)), out)
}

/// The page of a need of memory, predicted by this version of hotset, with what could make it wrong.
pub(crate) fn size_page(version: &str, trace: &SizedTrace<'_>, caveats: &[String]) -> Page {
    let SizedTrace { head, summary, .. } = *trace;
    let mut sections = match summary.too_little {
        Some(why) => vec![Section {
            question: "What is a limit worth?".to_owned(),
            answer: words::too_little(why, summary),
            ..Section::default()
        }],
        None => charts::sections(summary),
    };
    sections.extend(runs(summary));
    sections.extend([must(summary), predicted(summary), seen(summary)]);
    let recorded = head.started_at.zip(head.environment.as_ref());
    let host = recorded.map(|(began, environment)| host::host(began, environment));
    let doubt = |text: &String| PageWarning { text: escape_text(text), ..PageWarning::default() };
    Page {
        title: words::title(trace, &escape_bytes),
        subtitle: match trace.path {
            Some(path) => format!("{} · {}", escape_path(path), words::extent(summary)),
            None => words::extent(summary),
        },
        headline: headline(summary),
        sections,
        conditions: host::with_version(host.unwrap_or_default(), version),
        doubts: caveats.iter().map(doubt).collect(),
        ..Page::default()
    }
}

/// What to set, each with its reason, and where it goes wrong.
fn headline(summary: &SizeSummary) -> Vec<Answer> {
    let limit = words::worth(summary).map(|worth| match summary.limit {
        Some(limit) => Answer {
            question: "What to limit it to?".to_owned(),
            number: bytes(limit.bytes),
            sentence: format!(
                "{} that it must have, a margin of {}, and {worth}.",
                bytes(limit.must_bytes),
                bytes(limit.margin_bytes)
            ),
            confidence: error(summary),
        },
        None => Answer {
            question: "How much cache is enough?".to_owned(),
            number: summary.enough.map_or_else(String::new, |enough| bytes(enough.cache_bytes)),
            sentence: format!("{worth}."),
            confidence: error(summary),
        },
    });
    let request = words::request(summary).map(|(request, reason)| Answer {
        question: "What to request?".to_owned(),
        number: request,
        sentence: format!("{reason}."),
        confidence: "its file cache is not in it".to_owned(),
    });
    let thrash = summary.enough.map(|_| Answer {
        question: "Where does it thrash?".to_owned(),
        number: words::thrash(summary)
            .map_or_else(|| "nowhere".to_owned(), |at| format!("{at} and below")),
        sentence: match summary.thrash {
            Some(_) => format!("There {}.", words::thrashes(summary)),
            None => words::NEVER_THRASHES.to_owned(),
        },
        confidence: String::new(),
    });
    [limit, request, thrash].into_iter().flatten().collect()
}

/// How far hit ratios may be off, as far as that was measured.
fn error(summary: &SizeSummary) -> String {
    summary
        .prediction
        .as_ref()
        .map_or_else(|| "compared with no real kernel".to_owned(), words::error)
}

/// What a limit has to leave beside the cache.
fn must(summary: &SizeSummary) -> Section {
    let question = "What must it have beside the file cache?".to_owned();
    let other = words::not_recorded(summary).map(|said| sentence(&said)).unwrap_or_default();
    let Some(must) = &summary.must else {
        return Section { question, answer: other, ..Section::default() };
    };
    let mut parts = words::parts(must);
    parts.push(("all of it".to_owned(), bytes(must.bytes())));
    let table = Table::of("Memory at its peak, by part", parts)
        .words("Part", |(name, _)| name.clone())
        .numbers("At the most", |(_, size)| size.clone())
        .table();
    Section { question, answer: other, table, ..Section::default() }
}

/// Runs under limits, beside what was predicted for them.
fn runs(summary: &SizeSummary) -> Option<Section> {
    let first = summary.verified.first()?;
    let mut table = Table::of("Runs under limits", summary.verified.iter())
        .words("Limit", |one| bytes(one.run.limit_bytes));
    for (at, title) in verified::TITLES.into_iter().enumerate().take(verified::row(first).len()) {
        table = table.numbers(title, move |one| verified::row(one).swap_remove(at));
    }
    Some(Section {
        question: "What did runs under these limits do?".to_owned(),
        answer: sentence(&verified::below(summary)),
        table: table.table(),
        ..Section::default()
    })
}

fn predicted(summary: &SizeSummary) -> Section {
    Section {
        question: "How was it predicted, and how well?".to_owned(),
        answer: sentence(&words::predicted(summary)),
        ..Section::default()
    }
}

/// What stands quiet below a table of the terminal, as a sentence.
fn sentence(said: &str) -> String {
    let mut letters = said.trim_end_matches('.').chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// What a sample has of the program.
fn watched(sampled: &Sampled, summary: &SizeSummary) -> Section {
    let rows = [
        ("Watched", duration(sampled.span_ns)),
        ("Requested", plural(sampled.requested_pages, "page")),
        ("Distinct, about", plural(summary.distinct_pages, "page")),
        ("In the sample, one page in", count(sampled.one_in)),
        ("Pages in the sample", count(sampled.pages)),
        ("Direct I/O", bytes(sampled.direct_bytes)),
        ("Lost requests for sampled pages", count(sampled.lost)),
    ];
    Section {
        question: "What was sampled?".to_owned(),
        table: Table::of("What the sample has of the program", rows)
            .words("What", |(name, _)| (*name).to_owned())
            .numbers("How much", |(_, value)| value.clone())
            .table(),
        ..Section::default()
    }
}

/// What the recording has of the program.
fn seen(summary: &SizeSummary) -> Section {
    if let Some(sampled) = &summary.sampled {
        return watched(sampled, summary);
    }
    let seen = &summary.seen;
    let pages = |pages: u64| plural(pages, "page");
    let known = |value: Option<String>| value.unwrap_or_else(|| "not known".to_owned());
    // Where the recording does not tell hits it tells no misses; where misses took no time, it tells no times.
    let device_pages = seen.hits.map(|_| seen.device_pages);
    let waited_ns =
        device_pages.filter(|&pages| pages == 0 || seen.waited_ns > 0).map(|_| seen.waited_ns);
    let rows = [
        ("Recorded", duration(seen.span_ns)),
        ("Records", count(seen.records)),
        ("Threads", count(seen.threads)),
        ("Files", count(seen.files)),
        ("Requested by reads", pages(seen.read_pages)),
        ("Requested by writes", pages(seen.written_pages)),
        ("Touched in mappings", pages(seen.faults)),
        ("Of these, in mappings for random access", pages(seen.random_faults)),
        ("Distinct", pages(summary.distinct_pages)),
        ("Cached when they were requested", known(seen.hits.map(pages))),
        ("Direct I/O", bytes(seen.direct_bytes)),
        ("Read from the device, read-ahead included", known(device_pages.map(pages))),
        ("Waited for the device", known(waited_ns.map(duration))),
        (
            "A page from the device takes",
            known(summary.miss_ns.map(|ns| duration(ns.round() as u64))),
        ),
        ("Requests without a known place in a file", count(seen.unplaced)),
        ("Lost records", count(seen.lost)),
    ];
    Section {
        question: "What was recorded?".to_owned(),
        table: Table::of("What the recording has of the program", rows)
            .words("What", |(name, _)| (*name).to_owned())
            .numbers("How much", |(_, value)| value.clone())
            .table(),
        ..Section::default()
    }
}
