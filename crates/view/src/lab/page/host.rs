//! What the host was like.

use hotset_facts::{LabSession, Observed};

use crate::escape::escape_text;
use crate::lab::{Named, words};
use crate::page::host::host;
use crate::units::{bytes, count, duration};

/// What a run's numbers hold for, as names and values.
pub(super) fn conditions(run: &Named<'_>, several: bool) -> Vec<(String, String)> {
    let session = &run.summary().session;
    let mut all = host(session.started_at, &session.environment);
    all.extend(measured(session));
    if !several {
        return all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    }
    let name = escape_text(run.name);
    all.into_iter().map(|(what, value)| (format!("{name}: {what}"), value)).collect()
}

fn measured(session: &LabSession) -> Vec<(&'static str, String)> {
    let conditions = &session.conditions;
    let load = |load: &Observed<u64>| {
        words::observed(load, |load| format!("{}.{:02}", load / 100, load % 100))
    };
    let (before, after) = (&conditions.load_hundredths_before, &conditions.load_hundredths_after);
    let (directory, kind) =
        (escape_text(&conditions.directory), escape_text(&conditions.filesystem));
    let ahead = |kb: u64| bytes(kb.saturating_mul(1024));
    let pages = words::observed(&conditions.evicted_while_idle_pages, |pages| {
        format!("{} pages of idle files", count(pages))
    });
    let null = words::observed(&conditions.null_engine_ps, |ps| {
        format!(
            "{} per operation of an empty timed loop, not subtracted",
            words::time(ps as f64 / 1000.0)
        )
    });
    vec![
        ("Files in", format!("{directory} ({kind})")),
        ("Read-ahead of its device", words::observed(&conditions.read_ahead_kb, ahead)),
        ("Load", format!("{} at the start, {} at the end", load(before), load(after))),
        (
            "Time in which tasks waited for a CPU",
            words::observed(&conditions.cpu_pressure_permille, |permille| {
                crate::units::percent(permille as f64 / 1000.0)
            }),
        ),
        ("Evicted while idle", pages),
        ("Harness", null),
        ("Cost of two clock readings", words::observed(&conditions.clock_ns, duration)),
        ("Order", format!("random within each round, seed {}", session.seed)),
        ("hotset", escape_text(&session.version)),
    ]
}
