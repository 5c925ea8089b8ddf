//! Findings and proofs in words.

use hotset_analysis::Outcome;
use hotset_analysis::explain::{Explained, Language, Proof, ProvedFinding, Setting};
use hotset_analysis::replay::ReplaySummary;
use hotset_facts::trace::TraceLists;

use super::ExplainedTrace;
use crate::bench::words::time;
use crate::replay::words as replay_words;
use crate::report::findings::{evidence_words, time_saved};
use crate::report::header::command_title;
use crate::sites::{Escape, with_callers};
use crate::units::{count, duration, percent, plural};

/// How much of the run was I/O, and how much was proved; with the path of the recording where it is kept.
pub(super) fn extent(trace: &ExplainedTrace<'_>, escape: Escape<'_>) -> Vec<String> {
    let explained = trace.explained;
    let io = format!(
        "{} of I/O in a run of {} ({})",
        duration(explained.io_ns),
        duration(explained.wall_ns),
        io_share(explained)
    );
    let proved = explained.findings.iter().filter(|finding| finding.is_proved()).count();
    let found = plural(explained.findings.len() as u64, "finding");
    let found = format!("{found}, {} proved by replay", count(proved as u64));
    let path = trace.path.map(|path| escape(path.as_os_str().as_encoded_bytes()));
    path.into_iter().chain([io, found]).collect()
}

/// The share of the run that was I/O.
pub(super) fn io_share(explained: &Explained) -> String {
    percent(explained.io_ns as f64 / explained.wall_ns.max(1) as f64)
}

/// Why there is nothing to change.
pub(super) fn nothing(explained: &Explained) -> &'static str {
    match explained.verdicts.iter().any(|verdict| verdict.outcome == Outcome::Clear) {
        true => {
            "None: nothing in this recording is worth changing. No rule found a saving of 5 % of wall time or 50 ms."
        }
        false => "None: the recording does not have enough data for any rule.",
    }
}

/// What was explained.
pub(super) fn title(trace: &ExplainedTrace<'_>, escape: Escape<'_>) -> String {
    let path = |path: &std::path::Path| escape(path.as_os_str().as_encoded_bytes());
    let what = match &trace.head.command {
        Some(command) => command_title(command, escape),
        None => trace.path.map_or_else(|| "a recording".to_owned(), path),
    };
    format!("Explanation of {what}")
}

/// What is behind a finding: its saving as estimated and its numbers.
pub(super) fn facts(finding: &ProvedFinding) -> Vec<String> {
    let estimated = (!finding.is_proved()).then(|| time_saved(&finding.finding.saving)).flatten();
    let estimated = estimated.map(|saved| format!("would save {saved} (estimated)"));
    estimated.into_iter().chain(evidence_words(&finding.finding.evidence)).collect()
}

/// `Replayed with sync-every=50: I/O 31.0x faster [27.4, 36.2]; the run takes 1.40 s [1.35 s, 1.46 s] instead of 3.40 s.`
pub(super) fn proof(proof: &Proof, replays: &ReplaySummary) -> String {
    let changes: Vec<&str> = proof.changes.iter().map(|change| change.change.as_str()).collect();
    let io = replay_words::speed(&proof.io);
    let replayed = format!("Replayed with {}: I/O {io}", changes.join(" and "));
    let rounds = plural(proof.io.rounds as u64, "round");
    let fidelity =
        replays.fidelity.ratio.map_or_else(String::new, |ratio| format!(", fidelity {ratio:.2}"));
    let wall = proof.prediction.as_ref().and_then(|prediction| {
        let (after, ends) = prediction.changed_wall_ns()?;
        let ends = ends
            .map_or_else(String::new, |ends| format!(" [{}, {}]", time(ends.low), time(ends.high)));
        Some(format!(
            "; the run takes {}{ends} instead of {}",
            time(after),
            time(prediction.wall_ns as f64)
        ))
    });
    format!("{replayed}{} ({rounds}{fidelity}).", wall.unwrap_or_default())
}

/// What is saved beside I/O where a program keeps what it made of bytes: no replay computes.
pub(super) fn computing(finding: &ProvedFinding) -> Option<String> {
    let saving = &finding.finding.saving;
    let keeps = finding.finding.changes.iter().any(|change| change == "once");
    let more = saving.high_ns.saturating_sub(saving.low_ns);
    (keeps && more > saving.low_ns / 10).then(|| {
        format!(
            "Up to {} more if what is computed from these bytes is kept, too (estimated).",
            duration(more)
        )
    })
}

/// The files of a finding, the one with most of it first.
pub(super) fn files(finding: &ProvedFinding, escape: Escape<'_>) -> Vec<String> {
    use std::os::unix::ffi::OsStrExt;
    let paths = finding.finding.files.iter().filter_map(|file| file.path.as_deref());
    paths.map(|path| escape(path.as_os_str().as_bytes())).collect()
}

/// The code behind it: `by load_rows (db.c:88) < read_all < main`.
pub(super) fn sites(
    finding: &ProvedFinding,
    lists: &TraceLists,
    escape: Escape<'_>,
) -> Vec<String> {
    let known = finding.finding.sites.iter().filter_map(|share| lists.site(share.site));
    known.map(|site| format!("by {}", with_callers(site, escape))).collect()
}

/// `git: Set core.fsyncMethod=batch … Risk: … (--emit writes hotset.gitconfig)`.
pub(super) fn setting(setting: &Setting) -> String {
    let Setting { of, how, risks, file, .. } = setting;
    format!("{of}: {how} Risk: {risks} (--emit writes {file})")
}

/// How a language is written by people.
pub(super) fn language(language: Language) -> &'static str {
    match language {
        Language::C => "C",
        Language::Cpp => "C++",
        Language::Rust => "Rust",
        Language::Go => "Go",
        Language::Python => "Python",
        Language::Node => "Node.js",
        Language::Java => "Java",
        Language::Ruby => "Ruby",
        Language::Shell => "Shell",
    }
}
