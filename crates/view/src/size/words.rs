//! What is said about the need of a program, the same for each view.

use hotset_analysis::size::{
    KernelVersion, Must, PAGE_BYTES, PolicyKind, Recommended, SizeLimit, SizeSummary, TooLittle,
};

use super::SizedTrace;
use crate::bench::words::bytes as real_bytes;
use crate::report::header::command_title;
use crate::units::{bytes, count, duration, percent, plural};

/// Why there are no limits.
pub(super) fn too_little(why: TooLittle, summary: &SizeSummary) -> String {
    match why {
        TooLittle::NoReferences => {
            "No request of the recording has a known place in a file, so nothing can be said of a file cache.".to_owned()
        }
        TooLittle::OnePass => {
            "The device reads the same at any limit, because hardly any page is requested again later: more memory for files gains nothing."
                .to_owned()
        }
        TooLittle::FewPages => format!(
            "All pages that it requests take {}: any limit that leaves what it must have has room for them.",
            bytes(summary.distinct_pages.saturating_mul(PAGE_BYTES))
        ),
    }
}

pub(super) const NO_MEMORY: &str =
    "Not measured: the recording does not say what its processes used. --other SIZE tells it.";

pub(super) fn title(trace: &SizedTrace<'_>, escaped: &dyn Fn(&[u8]) -> String) -> String {
    match &trace.head.command {
        Some(command) => format!("Memory that {} needs", command_title(command, escaped)),
        None => "Memory that the recorded program needs".to_owned(),
    }
}

pub(super) fn extent(summary: &SizeSummary) -> String {
    let seen = &summary.seen;
    let requested = seen.read_pages + seen.written_pages + seen.faults;
    format!(
        "{} recorded · {} requested, {} distinct ({}) · {}",
        duration(seen.span_ns),
        plural(requested, "page"),
        count(summary.distinct_pages),
        bytes(summary.distinct_pages.saturating_mul(PAGE_BYTES)),
        plural(seen.files, "file"),
    )
}

pub(super) fn parts(must: &Must) -> Vec<(String, String)> {
    let part = |name: &str, size: u64| (name.to_owned(), bytes(size));
    let mut parts = vec![part("anonymous memory", must.anon_bytes)];
    if must.shmem_bytes > 0 {
        parts.push(part("shared memory and tmpfs", must.shmem_bytes));
    }
    parts.push(part("page tables", must.page_tables_bytes));
    if must.code_bytes > 0 {
        parts.push(part("program code", must.code_bytes));
    }
    parts.push(part("index of the file cache", must.index_bytes));
    parts
}

/// The limit, or the cache where the rest is not known.
pub(super) fn limit(limit: &SizeLimit) -> String {
    limit.limit_bytes.map_or_else(|| format!("? + {}", bytes(limit.cache_bytes)), bytes)
}

pub(super) fn row(limit: &SizeLimit, is_timed: bool, mark: String) -> Vec<String> {
    let dash = || "-".to_owned();
    let read = |pages: u64| bytes(pages.saturating_mul(PAGE_BYTES));
    let mut row = vec![bytes(limit.cache_bytes), percent(limit.hit_ratio), read(limit.refaults)];
    if is_timed {
        row.push(limit.device_read_bytes_per_s.map_or_else(dash, real_bytes));
        let waits = limit.waited_s_per_hour();
        row.push(waits.map_or_else(dash, |s| format!("{} s/h", count(s.round() as u64))));
    } else {
        row.push(bytes(limit.read_bytes()));
    }
    row.push(mark);
    row
}

/// What a row stands out by.
pub(super) fn mark(limit: &SizeLimit, summary: &SizeSummary) -> String {
    let is_enough = summary.enough.is_some_and(|enough| enough.cache_bytes == limit.cache_bytes);
    match () {
        () if limit.thrashes() => "thrashes".to_owned(),
        () if is_enough => "enough".to_owned(),
        () => String::new(),
    }
}

/// By what it was predicted, and how well that was found to be.
pub(super) fn predicted(summary: &SizeSummary) -> String {
    let policy = policy(summary.policy);
    let Some((host, prediction)) = summary.host.zip(summary.prediction.as_ref()) else {
        return format!("predicted by {policy}; compared with no real kernel");
    };
    let KernelVersion { major, minor } = host.kernel;
    let error = match prediction.mean_error.zip(prediction.worst_error) {
        Some((mean, worst)) => format!(
            "hit ratios of {} of real kernels were off by {mean:.2} points on average, {worst:.2} at the most",
            plural(prediction.runs.into(), "run")
        ),
        None => "not compared with real kernels".to_owned(),
    };
    format!("predicted by {policy} of Linux {major}.{minor}; {error}")
}

/// As `--policy` names it.
pub(crate) fn policy_word(policy: PolicyKind) -> &'static str {
    match policy {
        PolicyKind::Lru => "lru",
        PolicyKind::Fifo => "fifo",
        PolicyKind::Classic => "lists",
        PolicyKind::ClassicOldSizes { .. } => "lists-6.12",
        PolicyKind::Mglru => "mglru",
    }
}

fn policy(policy: PolicyKind) -> &'static str {
    match policy {
        PolicyKind::Lru => "least recently used",
        PolicyKind::Fifo => "first in, first out",
        PolicyKind::Classic => "the active and inactive lists",
        PolicyKind::ClassicOldSizes { .. } => {
            "the active and inactive lists with sizes up to 2 s old"
        }
        PolicyKind::Mglru => "the multi-gen LRU",
    }
}

/// What to reserve and to limit, each with its reason, and where it goes wrong.
pub(super) fn recommended(trace: &SizedTrace<'_>) -> Vec<String> {
    let summary = trace.summary;
    let mut lines = Vec::new();
    if let Some(Recommended { bytes: size, must_bytes, margin_bytes, .. }) = summary.request {
        lines.push(format!(
            "Request {}: {} that it must have, and a margin of {}.",
            bytes(size),
            bytes(must_bytes),
            bytes(margin_bytes)
        ));
    }
    let Some(enough) = summary.enough else { return lines };
    let most = summary.limits.last().map_or(0.0, |limit| limit.hit_ratio);
    let worth = format!(
        "{} of requested pages are found there, {} with unlimited memory",
        percent(enough.hit_ratio),
        percent(most)
    );
    lines.push(match summary.limit {
        Some(limit) => format!(
            "Limit {}: the same, and {} of cache for the rest of its files: {worth}.",
            bytes(limit.bytes),
            bytes(limit.cache_bytes)
        ),
        None => format!("{} of cache: {worth}.", bytes(enough.cache_bytes)),
    });
    lines.push(thrash(summary));
    lines
}

/// Where it goes wrong, by name.
pub(super) fn thrash(summary: &SizeSummary) -> String {
    match summary.thrash {
        Some(thrash) => format!(
            "At {} and below it thrashes: {}.",
            thrash
                .limit_bytes
                .map_or_else(|| format!("{} of cache", bytes(thrash.cache_bytes)), bytes),
            match thrash.lacks_code {
                true => "its own code has no room",
                false =>
                    "it waits longer for pages that it had read before than it takes for all else",
            }
        ),
        None => "It thrashes at none of these limits.".to_owned(),
    }
}
