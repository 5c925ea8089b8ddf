//! What `bench` does with baselines: checked before anything runs, compared and saved when it is over.

use hotset_analysis::baseline::ChangeVerdict;
use hotset_analysis::bench::{BenchSummary, DescribedBaseline, against, describe, saved_session};
use hotset_facts::{Baseline, OtherPrograms, WantedState};
use hotset_lab::CommandPlan;
use hotset_sys::CpuUse;
use hotset_view::baseline::sessions_of;

use crate::args::BenchArgs;
use crate::baseline::{Asked, not_saved, with_session};
use crate::exit::{Exit, Stop};
use crate::output;

/// What was asked for, as far as it can be checked before there is a session.
pub(super) struct Baselines<'a> {
    asked: Asked<'a>,
    started: CpuUse,
    others: OtherPrograms,
    compared: Option<Baseline>,
}

impl<'a> Baselines<'a> {
    /// Reads what is compared with, and refuses what could not be compared or saved after all the runs.
    pub(super) fn prepare(
        args: &'a BenchArgs,
        commands: &[CommandPlan],
        states: &[WantedState],
    ) -> Result<Self, Stop> {
        let (args, exports) = (&args.baselines, &args.exports);
        let asked = Asked::of(args);
        let files = [&exports.export_json, &exports.export_csv, &exports.export_markdown];
        asked.check_results(files.into_iter().chain([&exports.html]).flatten())?;
        let compared: Option<Baseline> = asked.compared()?;
        if let Some(baseline) = &compared {
            check_host(&asked, baseline)?;
            check_conditions(baseline, commands, states)?;
        }
        if let Some(name) = &args.save_baseline {
            let there: Option<Baseline> = asked.store.check_writable(name)?;
            if let Some(there) = there.filter(|_| args.add_session) {
                check_host(&asked, &there)?;
                check_commands(&there, commands)?;
            }
        }
        let started = CpuUse::now();
        Ok(Self { asked, started, others: started.others(), compared })
    }

    /// The rounds begin now.
    pub(super) fn begin(&mut self) {
        self.started = CpuUse::now();
    }

    /// The rounds are over: puts the comparison into the summary.
    pub(super) fn compare(&mut self, summary: &mut BenchSummary) {
        self.others = self.started.others();
        let Some(baseline) = &self.compared else { return };
        let Asked { args, host, .. } = &self.asked;
        let limits = self.asked.limits();
        let comparison = against(summary, host, self.others, baseline, limits, args.other_host);
        summary.baseline = Some(comparison);
    }

    /// Saves the session if that was asked for, and says how `bench` ends where it has run to its end.
    pub(super) fn finish(&self, summary: &BenchSummary, quiet: bool) -> Result<Exit, Stop> {
        let comparison = summary.baseline.as_ref();
        let failed = comparison.is_some_and(|comparison| comparison.with.failed);
        self.asked.save(failed, quiet, words, |name, kept: Option<&Baseline>| {
            let session = saved_session(summary, &self.asked.host, self.others);
            let session = session.map_err(|why| Stop::own(not_saved(name, why.as_str())))?;
            let kept = kept.map(|kept| kept.sessions.as_slice());
            let sessions = with_session(kept, session, |_, _| true);
            Ok(Baseline { name: name.to_owned(), sessions })
        })?;
        let shown = |verdict| verdict != ChangeVerdict::NotComparable;
        let compared =
            comparison.map(|all| all.conditions.iter().any(|one| shown(one.wall.verdict)));
        self.asked.end(failed, compared)
    }

    /// Says why nothing is saved of a session that did not run to its end.
    pub(super) fn say_not_saved(&self, summary: &BenchSummary) {
        if let (Some(name), Err(why)) =
            (&self.asked.args.save_baseline, saved_session(summary, &self.asked.host, self.others))
        {
            output::say(not_saved(name, why.as_str()));
        }
    }
}

/// `2 sessions, 2026-11-20 to 2026-11-26`.
fn words(baseline: &Baseline) -> String {
    sessions_of(baseline.sessions.iter().map(|session| session.started_at))
}

fn check_host(asked: &Asked<'_>, baseline: &Baseline) -> Result<(), Stop> {
    asked.check_host(&baseline.name, baseline.sessions.iter().map(Into::into))
}

/// A session of which nothing can be compared is run for nothing.
fn check_conditions(
    baseline: &Baseline,
    commands: &[CommandPlan],
    states: &[WantedState],
) -> Result<(), Stop> {
    let known: DescribedBaseline = describe(baseline);
    let has = |plan: &CommandPlan| states.iter().any(|&state| known.has(&plan.command.name, state));
    if commands.iter().any(has) {
        return Ok(());
    }
    Err(Stop::usage(format_args!(
        "the baseline {} has none of these commands in these states; it has {} (--command-name names a command)",
        baseline.name,
        known.words()
    )))
}

/// Sessions of different commands have nothing in common but the name.
fn check_commands(baseline: &Baseline, commands: &[CommandPlan]) -> Result<(), Stop> {
    let known = baseline.sessions.iter().flat_map(|session| &session.commands);
    for known in known {
        let same = |plan: &&CommandPlan| plan.command.name == known.name;
        let Some(plan) = commands.iter().find(same) else { continue };
        let own = &plan.command;
        if own.argv != known.argv || own.shell != known.shell {
            return Err(Stop::usage(format_args!(
                "the baseline {} has another command under the name {:?}; replace it without --add-session, or choose another \
                 --command-name",
                baseline.name, known.name
            )));
        }
    }
    Ok(())
}
