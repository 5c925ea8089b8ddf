//! What a reader of a trace's page sees first: the costliest file and why, what was waited for, what came from the cache.

use hotset_analysis::trace::{TraceFileNumbers, TraceSummary};

use crate::escape::escape_bytes;
use crate::page::Answer;
use crate::trace::words;
use crate::units::{bytes, count, duration, percent, plural};

pub(super) fn answers(summary: &TraceSummary) -> Vec<Answer> {
    let costliest = summary.files.first().and_then(|file| costliest(summary, file));
    [costliest, waited(summary), from_cache(summary), failed(summary)]
        .into_iter()
        .flatten()
        .collect()
}

/// The costliest file, and what most of its time went to. Nothing where nothing was timed.
fn costliest(summary: &TraceSummary, file: &TraceFileNumbers) -> Option<Answer> {
    let kind = file.counts.costliest_kind()?;
    let name = words::file(file.index, file.file.as_ref(), &escape_bytes);
    let of_all = summary.time_share(&file.counts).map_or_else(String::new, |share| {
        format!(" took {} of the time of all requests;", percent(share))
    });
    let of_file = file.counts.time_share(&kind).map_or_else(String::new, percent);
    let order = file
        .reads_in_order
        .share()
        .map(|share| format!("{} of its reads are sequential", percent(share)));
    let device = file
        .counts
        .device_read_bytes
        .filter(|&read| read > 0)
        .map(|read| format!("{} read from the device for it", bytes(read)));
    let beside: Vec<String> = order.into_iter().chain(device).collect();
    Some(Answer {
        question: "Which file cost most?".to_owned(),
        number: duration(file.counts.time_ns?),
        sentence: format!(
            "{name}{of_all} {of_file} of that went to {} ({}).",
            words::kinds(kind.kind),
            plural(kind.requests, "request"),
        ),
        confidence: beside.join(", "),
    })
}

/// How long threads waited, and in what. Nothing where that is not told.
fn waited(summary: &TraceSummary) -> Option<Answer> {
    let waited = summary.totals.waited_ns.filter(|&ns| ns > 0)?;
    let share = summary.totals.waited_share()?;
    let mut kinds: Vec<_> = summary.totals.by_kind().filter(|one| one.time_ns > 0).collect();
    kinds.sort_by_key(|one| std::cmp::Reverse(one.time_ns));
    let kinds = kinds.iter().take(3);
    let named = kinds.map(|one| format!("{} {}", words::kinds(one.kind), duration(one.time_ns)));
    Some(Answer {
        question: "How long did threads wait in requests?".to_owned(),
        number: duration(waited),
        sentence: format!(
            "{} of the time in requests. By kind, requests took: {}.",
            percent(share),
            named.collect::<Vec<_>>().join(", ")
        ),
        confidence: "times of threads add up".to_owned(),
    })
}

/// The share of requested pages that was cached. Nothing where no record tells it.
fn from_cache(summary: &TraceSummary) -> Option<Answer> {
    let read = summary.totals.read_pages?;
    let share = read.device_share()?;
    let faults = summary.totals.fault_pages.filter(|&pages| pages > 0);
    let faults = faults.map_or_else(String::new, |pages| {
        format!(" Faults on mappings brought in {} besides.", words::of_pages(pages))
    });
    Some(Answer {
        question: "How much of what reads asked for came from the device?".to_owned(),
        number: percent(share),
        sentence: format!(
            "Of {}: {} missed, {} read-ahead hits, {} other hits.{faults}",
            plural(read.pages, "requested page"),
            count(read.misses),
            count(read.ahead_hits),
            count(read.hits.saturating_sub(read.ahead_hits)),
        ),
        confidence: format!("counted in {}, not sampled", plural(read.requests, "read")),
    })
}

/// Lookups that failed, where they are more than the handful of any program.
fn failed(summary: &TraceSummary) -> Option<Answer> {
    const MANY: u64 = 100;
    let failed = &summary.failed_lookups;
    if failed.calls < MANY {
        return None;
    }
    let most = failed.paths.first().map_or_else(String::new, |path| {
        let name = escape_bytes(path.path.as_os_str().as_encoded_bytes());
        format!(" Most often: {name} ({}).", plural(path.calls, "call"))
    });
    let time =
        failed.time_ns.map_or_else(String::new, |ns| format!(" They took {}.", duration(ns)));
    Some(Answer {
        question: "How many path lookups failed?".to_owned(),
        number: count(failed.calls),
        sentence: format!("The path did not exist.{time}{most}"),
        confidence: String::new(),
    })
}
