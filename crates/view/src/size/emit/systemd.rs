//! A drop-in for a service of systemd: where its cache is reclaimed, and where it is killed.

use super::comment::Lines;
use super::{NotEmitted, SizedTrace, quantity, reasons};
use crate::units::bytes;

/// Writes it.
///
/// # Errors
/// There is no limit, and nothing else that a unit can be told.
pub(super) fn write(lines: &mut Lines, trace: &SizedTrace<'_>) -> Result<(), NotEmitted> {
    let summary = trace.summary;
    let Some((limit, reclaim)) = summary.limit.zip(summary.reclaim_from_bytes()) else {
        return Err(NotEmitted::NoLimit(reasons::no_limit(summary)));
    };
    let size = |bytes| quantity(bytes, ["M", "K", ""]);
    reasons::head(lines, trace, "limits of a service");
    lines.comment(0, "To apply it, on a host with control groups of version 2:");
    lines.command("install -D -m 644 FILE /etc/systemd/system/NAME.service.d/memory.conf");
    lines.command("systemctl daemon-reload");
    reasons::trust(lines, trace);
    lines.line("[Service]");
    lines.comment(
        0,
        &format!(
            "{}: {} that it must have and {} of file cache. Pages of files fill all memory up to here, and from here on the kernel \
             reclaims those that were used least. Any lower, and it would reclaim pages that the program reads again.",
            bytes(reclaim),
            bytes(limit.must_bytes),
            bytes(limit.cache_bytes)
        ),
    );
    lines.comment(0, &reasons::must(summary, &limit));
    lines.comment(0, &reasons::worth(summary));
    lines.comment(0, &reasons::thrash(summary));
    lines.line(&format!("MemoryHigh={}", size(reclaim)));
    lines.comment(
        0,
        &format!(
            "{}: the same and a margin of {}. A run that needs more than the recorded one first loses cache, then is slowed down \
             between the two numbers, and is killed only here.",
            bytes(limit.bytes),
            bytes(limit.margin_bytes)
        ),
    );
    lines.line(&format!("MemoryMax={}", size(limit.bytes)));
    lines.comment(
        0,
        &format!(
            "MemoryLow= is not set: a recording does not tell what other services can spare. Where the slices above this service set \
             it too, MemoryLow={} protects what it must have.",
            size(summary.request.map_or(0, |request| request.bytes))
        ),
    );
    Ok(())
}
