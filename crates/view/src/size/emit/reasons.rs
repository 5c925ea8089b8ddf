//! Why each number is what it is: sentences, the same in each form.

use hotset_analysis::size::{PAGE_BYTES, Recommended, SizeSummary};

use super::super::{SizedTrace, caveats, words};
use super::comment::Lines;
use crate::escape::shorten_end;
use crate::report::text::name_for;
use crate::units::{bytes, count, percent};

/// Columns of a name: two lines of a comment.
const NAME_WIDTH: usize = 180;

/// What the file is of, and how well it is known.
pub(super) fn head(lines: &mut Lines, trace: &SizedTrace<'_>, what: &str) {
    let name = |bytes: &[u8]| name_for(bytes, true);
    let title = shorten_end(&words::title(trace, &name), NAME_WIDTH);
    lines.comment(0, &format!("{title}: {what}"));
    let path = trace.path.map(|path| {
        let path = name(path.as_os_str().as_encoded_bytes());
        format!(", of {}", shorten_end(&path, NAME_WIDTH))
    });
    let path = path.unwrap_or_default();
    lines.comment(0, &format!("By hotset size{path}: {}", words::extent(trace.summary)));
    lines.comment(0, "");
}

/// How well it is predicted, and what could make that wrong.
pub(super) fn trust(lines: &mut Lines, trace: &SizedTrace<'_>) {
    lines.comment(0, "");
    if trace.summary.limit.is_some() {
        lines.comment(0, &format!("Hit ratios are {}.", words::predicted(trace.summary)));
    }
    for caveat in caveats(trace) {
        lines.item(&caveat);
    }
}

/// What the program must have beside its cache, part by part.
pub(super) fn must(summary: &SizeSummary, recommended: &Recommended) -> String {
    match &summary.must {
        Some(must) if must.bytes() == recommended.must_bytes => {
            let parts = words::parts(must).into_iter().map(|(name, size)| format!("{name} {size}"));
            let parts: Vec<String> = parts.collect();
            format!("It must have {}: {}, each at its peak.", bytes(must.bytes()), parts.join(", "))
        }
        _ => format!(
            "It must have {}: what --other says, and kernel memory for its files.",
            bytes(recommended.must_bytes)
        ),
    }
}

/// What is recommended is made of.
pub(super) fn parts(recommended: &Recommended) -> String {
    let Recommended { must_bytes, cache_bytes, margin_bytes, .. } = *recommended;
    let cache = match cache_bytes {
        0 => String::new(),
        size => format!(", {} of file cache", bytes(size)),
    };
    format!(
        "{} that it must have{cache}, and a margin of {} for runs that need more than this one did.",
        bytes(must_bytes),
        bytes(margin_bytes)
    )
}

/// What the cache of the recommended limit is worth; nothing where none is recommended.
pub(super) fn worth(summary: &SizeSummary) -> String {
    let (Some(enough), Some(most)) = (summary.enough, summary.limits.last()) else {
        return String::new();
    };
    format!(
        "With {} of file cache, {} of requested pages are cached, {} with unlimited memory.",
        bytes(enough.cache_bytes),
        percent(enough.hit_ratio),
        percent(most.hit_ratio)
    )
}

/// Where it thrashes, and whether that is at the limit itself.
pub(super) fn thrash(summary: &SizeSummary) -> String {
    if summary.thrash.is_none() {
        return "It thrashes at none of the limits that were simulated.".to_owned();
    }
    let said = words::where_it_thrashes(summary);
    let limit = summary.limit.map_or(u64::MAX, |limit| limit.bytes);
    let thrash = summary.thrash.and_then(|thrash| thrash.limit_bytes);
    match thrash.is_some_and(|thrash| limit <= thrash) {
        true => format!("{said} This limit is among them: a higher --target avoids that."),
        false => said,
    }
}

/// Why there is no limit; nothing where there is one.
pub(super) fn no_limit(summary: &SizeSummary) -> String {
    summary.too_little.map_or_else(String::new, |why| words::too_little(why, summary))
}

/// What all pages take.
pub(super) fn all_pages(summary: &SizeSummary) -> String {
    format!(
        "{} distinct pages that it requests ({})",
        count(summary.distinct_pages),
        bytes(summary.distinct_pages.saturating_mul(PAGE_BYTES))
    )
}
