//! The host of a saved result.

use crate::escape::escape_text;
use crate::json::EnvironmentIn;
use crate::units::bytes;

/// What the numbers hold for, as names and values.
pub(super) fn conditions(
    hotset: &str,
    started_at: &str,
    host: &EnvironmentIn,
) -> Vec<(String, String)> {
    let mut all = vec![
        ("Began", escape_text(started_at)),
        ("Kernel", escape_text(&host.kernel)),
        ("CPUs", host.cpus.to_string()),
        ("Memory", bytes(host.memory_bytes)),
    ];
    if let Some(limit) = host.memory_limit_bytes {
        all.push(("Memory limit", bytes(limit)));
    }
    all.push(("Page size", bytes(host.page_size_bytes)));
    for one in &host.filesystems {
        let ahead = one.read_ahead_kb.map_or_else(
            || "read-ahead unknown".to_owned(),
            |kb| format!("read-ahead {}", bytes(kb.saturating_mul(1024))),
        );
        let [mount, kind, device] =
            [&one.mount, &one.fs_type, &one.device].map(|text| escape_text(text));
        all.push(("File system", format!("{mount}: {kind} on {device}, {ahead}")));
    }
    let evicts = if host.evicts_idle_cache { "yes, by itself" } else { "no" };
    all.push(("Evicts idle cache", evicts.to_owned()));
    all.push(("hotset", escape_text(hotset)));
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
