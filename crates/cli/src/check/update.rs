//! `check --update`: limits that hold what the commands did now.

use std::collections::HashMap;

use hotset_analysis::check::{CheckReport, CheckResult, JudgedLimit, LimitOf, LimitVerdict};
use hotset_budget::Changed;
use hotset_facts::budget::Check;

use super::attempts::Ran;
use super::found::Found;
use super::init::make_directory_of;
use crate::exit::{Exit, OrExit, Stop};
use crate::output;

/// Writes the limits and baselines of commands that worked, and shows the change.
pub(super) fn update(
    found: &Found,
    report: &CheckReport,
    rans: &[Option<Ran>],
) -> Result<(), Stop> {
    let checks: HashMap<&str, &Check> =
        found.budget.checks.iter().map(|check| (check.name.as_str(), check)).collect();
    let mut changes = Vec::new();
    for (result, ran) in report.checks.iter().zip(rans) {
        let Some(check) = checks.get(result.name.as_str()) else { continue };
        let Some(last) = result.last().filter(|last| last.exit_as_wanted && !last.timed_out) else {
            output::say(format_args!("\"{}\" did not work, and keeps its limits", result.name));
            continue;
        };
        let broken = last.limits.iter().filter(|limit| limit.verdict == LimitVerdict::Broken);
        changes.extend(broken.filter_map(|limit| changed(result, check, limit)));
        if let (Some(file), Some(ran)) = (&check.baseline, ran) {
            let path = found.directory.join(file);
            make_directory_of(&path).or_exit(Exit::Own)?;
            output::profile(&ran.summary, &path).or_exit(Exit::Own)?;
        }
    }
    if changes.is_empty() {
        output::say("no limit had to be changed");
        return Ok(());
    }
    let new = hotset_budget::update(&found.text, &changes);
    let new = new.map_err(|error| Stop::own(format_args!("{}: {error}", found.path.display())))?;
    output::print(hotset_view::check::changed_lines(&found.text, &new).as_bytes())?;
    output::budget(&new, &found.path).or_exit(Exit::Own)
}

fn changed<'a>(
    result: &'a CheckResult,
    check: &Check,
    limit: &'a JudgedLimit,
) -> Option<Changed<'a>> {
    let which = limit.which.as_deref();
    let among = match limit.on {
        LimitOf::Run => None,
        LimitOf::Files => Some((
            "file",
            check.file.iter().position(|files| Some(files.pattern.as_str()) == which)?,
        )),
        LimitOf::Processes => {
            let is_it =
                |one: &hotset_facts::budget::ProcessLimits| Some(one.name.as_str()) == which;
            Some(("process", check.process.iter().position(is_it)?))
        }
    };
    let value = limit.value.value()?;
    Some(Changed { check: &result.name, among, number: &limit.number, unit: limit.unit, value })
}
