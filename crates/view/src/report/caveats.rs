//! What this report does not know: what was not measured, and what was lost.

use hotset_analysis::{Losses, Outcome, Summary};
use hotset_facts::{Observed, Profile, Reason};

use super::screen::Screen;
use crate::escape::escape_text;
use crate::units::count;

pub(super) fn push(screen: &mut Screen, summary: &Summary) {
    let missing = missing_words(summary);
    let losses = losses(&summary.losses);
    let notes = notes(screen, summary);
    if missing.is_empty() && losses.is_empty() && notes.is_empty() {
        return;
    }
    screen.line("");
    push_list(screen, "Not measured: ", &missing);
    push_list(screen, "Losses: ", &losses);
    push_list(screen, "Note: ", &notes);
}

/// What a person should know about the host before they compare two runs.
fn notes(screen: &Screen, summary: &Summary) -> Vec<String> {
    let environment = &summary.profile.environment;
    let idle = screen.all && environment.evicts_idle_cache;
    let idle = idle.then_some(
        "this host evicts idle page cache by itself (DAMON), so what is warm now is cold in a while",
    );
    idle.into_iter().map(str::to_owned).collect()
}

/// Without the sensor what is missing is most of the report. Its reason says what would bring it.
pub(super) fn push_unprivileged(screen: &mut Screen, summary: &Summary) {
    let missing = missing_words(summary);
    screen.line("");
    push_list(screen, "Not measured: ", &missing);
}

fn push_list(screen: &mut Screen, label: &str, items: &[String]) {
    if !items.is_empty() {
        screen.paragraph(label, " ", &items.join("; "), 0);
    }
}

fn missing_words(summary: &Summary) -> Vec<String> {
    let all = missing(summary).into_iter();
    all.map(|(reason, what)| format!("{}: {}", escape_text(&what.join(", ")), escape_text(&reason)))
        .collect()
}

/// What the sensor says it can't measure, then groups of counters that are missing without its saying so, then rules
/// that could not tell, as one: reasons, each with what is missing for it.
pub(crate) fn missing(summary: &Summary) -> Vec<(String, Vec<String>)> {
    let profile = &summary.profile;
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    for item in &profile.sensor.not_measured {
        item.feature.unmeasured().iter().for_each(|what| add(&mut by_reason, &item.reason, what));
    }
    let said = |reason: Reason| {
        let gaps = &profile.sensor.not_measured;
        gaps.iter().any(|item| item.feature.reason() == reason)
    };
    for (what, reason) in missing_groups(profile) {
        if !said(reason) {
            add(&mut by_reason, &reason.to_string(), what);
        }
    }
    // What rules could not tell for a reason of their own (prices, that is) is one thing to a person, not a list of rules.
    for verdict in &summary.verdicts {
        if let Outcome::NotEnoughData(reason) = verdict.outcome {
            let known = |(_, missing): &(&str, Reason)| *missing == reason;
            let text = reason.to_string();
            let told = said(reason) || by_reason.iter().any(|(known, _)| *known == text);
            if !told && !missing_groups(profile).iter().any(known) {
                add(&mut by_reason, &text, "some findings");
            }
        }
    }
    by_reason
}

fn add(by_reason: &mut Vec<(String, Vec<String>)>, reason: &str, what: &str) {
    match by_reason.iter_mut().find(|(known, _)| known == reason) {
        Some((_, all)) => all.push(what.to_owned()),
        None => by_reason.push((reason.to_owned(), vec![what.to_owned()])),
    }
}

fn missing_groups(profile: &Profile) -> Vec<(&'static str, Reason)> {
    let io = &profile.totals;
    let lookups = match &profile.lookups {
        Observed::Value(_) => None,
        Observed::Missing(reason) => Some(*reason),
    };
    [
        ("read", io.read.reason()),
        ("write", io.write.reason()),
        ("mmap", io.mmap.faults.reason().or(io.mmap.pages_read.reason())),
        ("direct", io.direct.reason()),
        ("readahead", io.readahead.reason()),
        ("sync", io.sync.reason()),
        ("device", io.device.read_bytes.reason().or(io.device.write_bytes.reason())),
        ("time", io.time.reason()),
        ("lookups", lookups),
    ]
    .into_iter()
    .filter_map(|(what, reason)| Some((what, reason?)))
    .collect()
}

/// What was lost, and what that damages.
pub(crate) fn losses(losses: &Losses) -> Vec<String> {
    let sensor = &losses.sensor;
    let all = [
        (sensor.events, "events lost: some names and failed paths are missing, the counts are not"),
        (
            sensor.unattributed,
            "requests counted for no file or process: rows by file and process are lower bounds",
        ),
        (
            sensor.origins,
            "page ranges whose origin was not kept: what came from the device is a lower bound",
        ),
        (sensor.tasks, "tasks were not followed: what they did is not counted"),
        (
            sensor.requests,
            "requests of io_uring or Linux AIO were not followed: they are not counted",
        ),
        (
            sensor.skipped_programs,
            "times the kernel skipped the sensor's programs: counts are lower bounds",
        ),
        (losses.failed_unnamed, "failed lookups have no path"),
        (
            losses.contradictory_rows,
            "rows contradict themselves (more pages from the device than requested): trust none of their shares",
        ),
    ];
    let some = all.into_iter().filter(|(number, _)| *number > 0);
    some.map(|(number, what)| format!("{} {what}", count(number))).collect()
}
