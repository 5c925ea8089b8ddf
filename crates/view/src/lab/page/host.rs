//! What the host was like.

use hotset_facts::{LabSession, Observed};

use crate::escape::{escape_bytes, escape_text};
use crate::lab::{Named, words};
use crate::units::{bytes, count, duration};

/// What a run's numbers hold for, as names and values.
pub(super) fn conditions(run: &Named<'_>, several: bool) -> Vec<(String, String)> {
    let session = &run.summary().session;
    let mut all = host(session);
    all.extend(measured(session));
    if !several {
        return all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    }
    let name = escape_text(run.name);
    all.into_iter().map(|(what, value)| (format!("{name}: {what}"), value)).collect()
}

fn host(session: &LabSession) -> Vec<(&'static str, String)> {
    let (environment, conditions) = (&session.environment, &session.conditions);
    let mut all = vec![
        ("Began", hotset_facts::format::rfc3339(session.started_at)),
        ("Kernel", escape_text(&environment.kernel)),
        ("CPUs", environment.cpus.to_string()),
        ("Memory", bytes(environment.memory_bytes)),
    ];
    if let Some(limit) = environment.memory_limit_bytes {
        all.push(("Memory limit", bytes(limit)));
    }
    all.push(("Page size", bytes(environment.page_size_bytes)));
    let (directory, kind) =
        (escape_text(&conditions.directory), escape_text(&conditions.filesystem));
    all.push(("Files in", format!("{directory} ({kind})")));
    let ahead = |kb: u64| bytes(kb.saturating_mul(1024));
    all.push(("Read-ahead there", words::observed(&conditions.read_ahead_kb, ahead)));
    for one in &environment.filesystems {
        let mount = escape_bytes(one.mount.as_os_str().as_encoded_bytes());
        let (kind, device) = (escape_text(&one.fs_type), escape_text(&one.device));
        all.push(("File system", format!("{mount}: {kind} on {device}")));
    }
    all
}

fn measured(session: &LabSession) -> Vec<(&'static str, String)> {
    let conditions = &session.conditions;
    let load = |load: &Observed<u64>| {
        words::observed(load, |load| format!("{}.{:02}", load / 100, load % 100))
    };
    let (before, after) = (&conditions.load_hundredths_before, &conditions.load_hundredths_after);
    let evicts =
        if session.environment.evicts_idle_cache { "yes, by a DAMON scheme; " } else { "" };
    let pages = words::observed(&conditions.evicted_while_idle_pages, |pages| {
        format!("{} pages of idle files vanished meanwhile", count(pages))
    });
    let null = words::observed(&conditions.null_engine_ps, |ps| {
        format!(
            "{} an operation of an empty timed loop, not subtracted",
            words::time(ps as f64 / 1000.0)
        )
    });
    vec![
        ("Load", format!("{} at the start, {} at the end", load(before), load(after))),
        (
            "Time in which tasks waited for a CPU",
            words::observed(&conditions.cpu_pressure_permille, |permille| {
                crate::units::percent(permille as f64 / 1000.0)
            }),
        ),
        ("Evicts idle cache", format!("{evicts}{pages}")),
        ("Harness", null),
        ("A pair of clock readings", words::observed(&conditions.clock_ns, duration)),
        ("Order", format!("random within each round, seed {}", session.seed)),
        ("hotset", escape_text(&session.version)),
    ]
}
