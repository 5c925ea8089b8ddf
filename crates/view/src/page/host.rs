//! The host that numbers were measured on.

use std::time::SystemTime;

use hotset_facts::{Environment, Observed};

use crate::escape::{escape_path, escape_text};
use crate::units::bytes;

/// When, and on what: as names and values.
pub(crate) fn host(began: SystemTime, host: &Environment) -> Vec<(&'static str, String)> {
    let began = jiff::Timestamp::try_from(began);
    let mut all = vec![
        ("Began", began.map_or_else(|_| "unknown".to_owned(), |at| format!("{at:.0}"))),
        ("Kernel", escape_text(&host.kernel)),
        ("CPUs", host.cpus.to_string()),
        ("Memory", bytes(host.memory_bytes)),
    ];
    if let Some(limit) = host.memory_limit_bytes {
        all.push(("Memory limit", bytes(limit)));
    }
    all.push(("Page size", bytes(host.page_size_bytes)));
    for one in &host.filesystems {
        let mount = escape_path(&one.mount);
        let ahead = match &one.read_ahead_kb {
            Observed::Value(kb) => format!("read-ahead {}", bytes(kb.saturating_mul(1024))),
            Observed::Missing(reason) => format!("read-ahead unknown: {reason}"),
        };
        let (kind, device) = (escape_text(&one.fs_type), escape_text(&one.device));
        all.push(("File system", format!("{mount}: {kind} on {device}, {ahead}")));
    }
    let evicts = if host.evicts_idle_cache { "yes, by itself" } else { "no" };
    all.push(("Evicts idle cache", evicts.to_owned()));
    all
}

/// With the version that measured, as a page has them.
pub(crate) fn with_version(
    mut all: Vec<(&'static str, String)>,
    version: &str,
) -> Vec<(String, String)> {
    all.push(("hotset", escape_text(version)));
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
