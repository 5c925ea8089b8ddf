//! One check: run, judged, and run again where it fails.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hotset_analysis::Summary;
use hotset_analysis::check::{CheckOutcome, CheckResult};
use hotset_analysis::diff::Side;
use hotset_facts::budget::Check;
use hotset_facts::{FileSet, LearnedBy, WantedState};
use hotset_lab::{CommandPlan, build, from_paths};
use hotset_watch::{CheckOptions, Checker};

use super::found::Found;
use super::judged::{attempt, summary_of};
use super::planned::planned;

/// How long a run may take where the budget says nothing.
pub(super) const TIMEOUT: Duration = Duration::from_secs(600);

/// What is kept of the last run, for `--update`.
pub(super) struct Ran {
    pub(super) summary: Summary,
}

/// Runs a check, and says what it came to.
pub(super) fn run_check(
    found: &Found,
    check: &Check,
    baseline: Option<&Side>,
    retries: u32,
    checker: &mut Checker,
    stop: &AtomicBool,
) -> (CheckResult, Option<Ran>) {
    let mut result = CheckResult {
        name: check.name.clone(),
        argv: Vec::new(),
        state: check.state,
        learned_by: LearnedBy::Nothing,
        state_files: 0,
        outcome: CheckOutcome::NotRun,
        error: None,
        attempts: Vec::new(),
    };
    let mut ran = None;
    if let Err(error) =
        run_all(found, check, baseline, retries, checker, stop, &mut result, &mut ran)
    {
        result.outcome = CheckOutcome::NotRun;
        result.error = Some(error);
    }
    (result, ran)
}

#[expect(clippy::too_many_arguments, reason = "what a check is run with, and what it fills in")]
fn run_all(
    found: &Found,
    check: &Check,
    baseline: Option<&Side>,
    retries: u32,
    checker: &mut Checker,
    stop: &AtomicBool,
    result: &mut CheckResult,
    ran: &mut Option<Ran>,
) -> Result<(), String> {
    let plan = planned(check, &found.directory).map_err(|error| error.to_string())?;
    result.argv = plan.command.argv.clone();
    let options =
        CheckOptions { state: check.state, timeout: check.timeout.unwrap_or(TIMEOUT), stop };
    let place = plan.surroundings.directory.clone().unwrap_or_default();
    let mut files = files_of(&plan, check.state, &check.files, &place, checker, &options)?;
    result.learned_by = files.learned_by;
    result.state_files = files.members.len() as u64;
    for _ in 0..=check.retries.unwrap_or(retries) {
        let run = checker.run(&plan, &mut files, &options).map_err(|error| error.to_string())?;
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let summary = summary_of(&run, hotset_sys::costs::table());
        let attempt = attempt(check, &run, &summary, baseline, &place);
        let outcome = attempt.outcome();
        result.attempts.push(attempt);
        *ran = Some(Ran { summary });
        result.outcome = match outcome {
            CheckOutcome::Passed if result.attempts.len() > 1 => CheckOutcome::PassedOnRetry,
            other => other,
        };
        if !outcome.fails() {
            break;
        }
    }
    Ok(())
}

/// The files that a state is set on: those that were named, else those that a run uses.
pub(super) fn files_of(
    plan: &CommandPlan,
    state: WantedState,
    named: &[String],
    place: &Path,
    checker: &mut Checker,
    options: &CheckOptions<'_>,
) -> Result<FileSet, String> {
    let nothing = build(LearnedBy::Nothing, &[], None);
    match state {
        WantedState::AsIs => return Ok(nothing),
        WantedState::ColdAll => {
            hotset_sys::cache::may_drop_everything()
                .map_err(|error| format!("state cold-all: {error}; or use cold"))?;
            return Ok(nothing);
        }
        WantedState::Cold | WantedState::Warm | WantedState::Share(_) => {}
    }
    if named.is_empty() {
        let learned = checker.learn(plan, options);
        let (files, killed) = learned.map_err(|error| format!("state {state}: {error}"))?;
        return match killed {
            None => Ok(files),
            Some(_) => Err("it did not end in time when its files were to be learned".to_owned()),
        };
    }
    let paths: Vec<_> = named.iter().map(|path| place.join(path)).collect();
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        return Err(format!("files: {}: not found", missing.display()));
    }
    let (candidates, unreadable) = from_paths(paths, options.stop);
    let mut files = build(LearnedBy::Given, &candidates, None);
    files.unreadable.extend(unreadable);
    Ok(files)
}
