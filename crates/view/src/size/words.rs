//! What is said about the need of a program, the same for each view.

use hotset_analysis::size::{
    KernelVersion, Must, PAGE_BYTES, PolicyKind, Prediction, Recommended, SizeLimit, SizeSummary,
    TooLittle,
};

use super::SizedTrace;
use crate::bench::words::bytes as real_bytes;
use crate::report::header::command_title;
use crate::units::{bytes, count, duration, percent, plural};

/// Why there are no limits.
pub(super) fn too_little(why: TooLittle, summary: &SizeSummary) -> String {
    match why {
        TooLittle::Gaps => format!(
            "{} of {} are missing, too many to predict from: record it again with a larger --buffer, or with --lossless.",
            plural(summary.seen.lost, "record"),
            count(summary.seen.records.saturating_add(summary.seen.lost))
        ),
        TooLittle::NoReferences if summary.sampled.is_some() => {
            "No page of a file was requested while it was watched, so nothing can be said of a file cache.".to_owned()
        }
        TooLittle::FewSampled => format!(
            "All pages that it requested take about {}, of which too few were sampled to tell limits apart. Record it instead: `hotset record`.",
            bytes(summary.distinct_pages.saturating_mul(PAGE_BYTES))
        ),
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

/// Where the memory beside the file cache is not that of the recording, or not known.
pub(super) fn not_recorded(summary: &SizeSummary) -> Option<String> {
    let taken = summary.request.map(|request| request.must_bytes);
    match (summary.must, taken) {
        (Some(must), Some(taken)) if must.bytes() != taken => Some(format!(
            "limits are those with {} instead, as --other says and with the index",
            bytes(taken)
        )),
        (Some(_), _) => None,
        (None, Some(taken)) => Some(format!(
            "Not measured: taken as {}, as --other says and with kernel memory for its files.",
            bytes(taken)
        )),
        (None, None) if summary.sampled.is_some() => Some(NO_PROCESS.to_owned()),
        (None, None) => Some(NO_MEMORY.to_owned()),
    }
}

const NO_MEMORY: &str = "Not measured: the recording does not say what its processes used; it is of another tool, of a whole host, or of less than some 10 ms. --other SIZE tells it.";

const NO_PROCESS: &str = "Not measured: no process of it could be looked at while it was watched. --other SIZE tells what they use.";

pub(super) fn title(trace: &SizedTrace<'_>, escaped: &dyn Fn(&[u8]) -> String) -> String {
    format!("Memory that {} needs", program(trace, escaped))
}

pub(super) fn program(trace: &SizedTrace<'_>, escaped: &dyn Fn(&[u8]) -> String) -> String {
    let command = trace.head.command.as_ref();
    command.map_or_else(|| "the recorded program".to_owned(), |one| command_title(one, escaped))
}

pub(super) fn extent(summary: &SizeSummary) -> String {
    let seen = &summary.seen;
    let requested = seen.read_pages + seen.written_pages + seen.faults;
    if let Some(sampled) = &summary.sampled {
        return format!(
            "{} watched · {} requested, about {} distinct ({}) · one in {} sampled",
            duration(seen.span_ns),
            plural(requested, "page"),
            count(summary.distinct_pages),
            bytes(summary.distinct_pages.saturating_mul(PAGE_BYTES)),
            count(sampled.one_in),
        );
    }
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
    parts.push(part("kernel memory for its files", must.index_bytes));
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
    let error = summary.prediction.as_ref().map(error);
    let error = error.as_deref().unwrap_or("compared with no real kernel");
    format!("predicted by {}; {error}", policy_of(summary))
}

/// The policy, and of which kernel it is.
pub(super) fn policy_of(summary: &SizeSummary) -> String {
    let policy = policy(summary.policy);
    match summary.host.map(|host| host.kernel) {
        Some(KernelVersion { major, minor }) => format!("{policy} of Linux {major}.{minor}"),
        None => policy.to_owned(),
    }
}

/// How far predictions were off.
pub(super) fn error(prediction: &Prediction) -> String {
    match prediction.mean_error.zip(prediction.worst_error) {
        Some((mean, worst)) => format!(
            "hit ratios of {} of real kernels were off by {mean:.2} points on average, {worst:.2} at the most",
            plural(prediction.runs.into(), "run")
        ),
        None => "not compared with real kernels".to_owned(),
    }
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
    if let Some((request, reason)) = request(summary) {
        lines.push(format!("Request {request}: {reason}."));
    }
    let Some(worth) = worth(summary) else { return lines };
    lines.push(match summary.limit {
        Some(limit) => format!("Limit {}: the same, and {worth}.", bytes(limit.bytes)),
        None => format!("{worth}."),
    });
    lines.push(where_it_thrashes(summary));
    lines
}

/// Where it goes wrong, by name.
pub(super) fn where_it_thrashes(summary: &SizeSummary) -> String {
    match thrash(summary) {
        Some(at) => format!("At {at} and below it thrashes: {}.", thrashes(summary)),
        None => NEVER_THRASHES.to_owned(),
    }
}

/// What thrashing is, as far as times are known.
pub(super) fn thrashes(summary: &SizeSummary) -> &'static str {
    match summary.miss_ns {
        _ if summary.thrash.is_some_and(|limit| limit.lacks_code) => "its own code has no room",
        Some(_) => "it waits longer for pages that it had read before than it takes for all else",
        None => "it reads more than half of the requested pages again",
    }
}

pub(super) const NEVER_THRASHES: &str = "It thrashes at none of these limits.";

/// What to reserve, and why.
pub(super) fn request(summary: &SizeSummary) -> Option<(String, String)> {
    let Recommended { bytes: size, must_bytes, margin_bytes, .. } = summary.request?;
    let (must, margin) = (bytes(must_bytes), bytes(margin_bytes));
    Some((bytes(size), format!("{must} that it must have, and a margin of {margin}")))
}

/// The cache that is enough, and what it is worth.
pub(super) fn worth(summary: &SizeSummary) -> Option<String> {
    let enough = summary.enough?;
    let most = percent(summary.limits.last().map_or(0.0, |limit| limit.hit_ratio));
    let found = percent(enough.hit_ratio);
    let unlimited = if found == most { "as".to_owned() } else { most };
    let cache = match summary.limit {
        Some(limit) => format!("{} of cache for the rest of its files", bytes(limit.cache_bytes)),
        None => format!("{} of cache", bytes(enough.cache_bytes)),
    };
    Some(format!(
        "{cache}: {found} of requested pages are found there, {unlimited} with unlimited memory"
    ))
}

/// The largest limit at which it thrashes.
pub(super) fn thrash(summary: &SizeSummary) -> Option<String> {
    let thrash = summary.thrash?;
    let cache = || format!("{} of cache", bytes(thrash.cache_bytes));
    Some(thrash.limit_bytes.map_or_else(cache, bytes))
}
