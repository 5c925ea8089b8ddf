//! What `bench` does with baselines: checked before anything runs, compared and saved when it is over.

mod store;

use hotset_analysis::bench::{
    BenchSummary, ChangeVerdict, DescribedBaseline, FailAbove, HostDifference, NotSaved, against,
    describe, host_differences, saved_session,
};
use hotset_facts::{Baseline, BaselineSession, HostIdentity, OtherPrograms, WantedState};
use hotset_lab::CommandPlan;
use hotset_sys::CpuUse;
use hotset_view::bench::{host_difference, sessions_of};

use crate::args::BaselineArgs;
use crate::exit::{Exit, Stop};
use crate::output;
use store::Store;

/// A baseline has no more sessions than this: enough to tell how much they differ, and a file that one can commit.
const MOST_SESSIONS: usize = 20;

/// What was asked for, as far as it can be checked before there is a session.
pub(super) struct Baselines<'a> {
    args: &'a BaselineArgs,
    store: Store<'a>,
    host: HostIdentity,
    started: CpuUse,
    others: OtherPrograms,
    compared: Option<Baseline>,
}

impl<'a> Baselines<'a> {
    /// Reads what is compared with, and refuses what could not be compared or saved after all the runs.
    pub(super) fn prepare(
        args: &'a BaselineArgs,
        commands: &[CommandPlan],
        states: &[WantedState],
    ) -> Result<Self, Stop> {
        let store = Store { directory: &args.baseline_dir };
        let host = hotset_sys::host_identity();
        let compared = args.baseline.as_deref().map(|name| store.read(name)).transpose()?;
        let started = CpuUse::now();
        let others = started.others();
        let baselines = Self { args, store, host, started, others, compared };
        if let Some(baseline) = &baselines.compared {
            baselines.check_host(baseline)?;
            check_conditions(baseline, commands, states)?;
        }
        if let Some(name) = &args.save_baseline {
            let there = baselines.store.check_writable(name)?;
            if let Some(there) = there.filter(|_| args.add_session) {
                baselines.check_host(&there)?;
                check_commands(&there, commands)?;
            }
        }
        Ok(baselines)
    }

    fn check_host(&self, baseline: &Baseline) -> Result<(), Stop> {
        if self.args.other_host {
            return Ok(());
        }
        let environment = hotset_sys::environment(&[], &[]);
        let version = env!("CARGO_PKG_VERSION");
        let differences = host_differences(baseline, &environment, &self.host, version);
        let forbid = differences.iter().filter(|one: &&HostDifference| one.forbids);
        let all: Vec<String> = forbid.map(host_difference).collect();
        if all.is_empty() {
            return Ok(());
        }
        Err(Stop::own(format_args!(
            "the baseline {} was measured on another host ({}), whose times say nothing about this one's; --other-host uses it all \
             the same",
            baseline.name,
            all.join("; ")
        )))
    }

    /// The rounds begin now.
    pub(super) fn begin(&mut self) {
        self.started = CpuUse::now();
    }

    /// The rounds are over: puts the comparison into the summary.
    pub(super) fn compare(&mut self, summary: &mut BenchSummary) {
        self.others = self.started.others();
        let Some(baseline) = &self.compared else { return };
        let limits = FailAbove { wall: self.args.fail_above, cpu: self.args.fail_cpu_above };
        let comparison =
            against(summary, &self.host, self.others, baseline, limits, self.args.other_host);
        summary.baseline = Some(comparison);
    }

    /// Saves the session if that was asked for, and says how `bench` ends where it has run to its end.
    pub(super) fn finish(&self, summary: &BenchSummary, quiet: bool) -> Result<Exit, Stop> {
        let comparison = summary.baseline.as_ref();
        let failed = comparison.is_some_and(|comparison| comparison.failed);
        match &self.args.save_baseline {
            Some(name) if failed => output::say(format_args!(
                "the session is not saved as the baseline {name}, because it is slower than --fail-above or --fail-cpu-above allows"
            )),
            Some(name) => self.save(name, summary, quiet)?,
            None => {}
        }
        let limited = self.args.fail_above.is_some() || self.args.fail_cpu_above.is_some();
        let shown = |verdict| verdict != ChangeVerdict::NotComparable;
        let compared =
            comparison.is_none_or(|all| all.conditions.iter().any(|one| shown(one.wall.verdict)));
        match comparison {
            Some(_) if failed => Ok(Exit::Slower),
            Some(all) if limited && !compared => Err(Stop::own(format_args!(
                "nothing can be compared with the baseline {}, so --fail-above decides nothing",
                all.name
            ))),
            _ => Ok(Exit::Success),
        }
    }

    /// Says why nothing is saved of a session that did not run to its end.
    pub(super) fn say_not_saved(&self, summary: &BenchSummary) {
        if let (Some(name), Err(why)) =
            (&self.args.save_baseline, saved_session(summary, &self.host, self.others))
        {
            output::say(not_saved(name, why));
        }
    }

    fn save(&self, name: &str, summary: &BenchSummary, quiet: bool) -> Result<(), Stop> {
        let session = saved_session(summary, &self.host, self.others);
        let session = session.map_err(|why| Stop::own(not_saved(name, why)))?;
        // Another one may have added a session since this one was prepared.
        let there = self.store.check_writable(name)?;
        let kept = self.args.add_session.then_some(there.as_ref()).flatten();
        let baseline = with_session(name, kept, session);
        self.store.write(&baseline)?;
        if !quiet {
            let path = self.store.path(name);
            let done = match (&there, kept) {
                (_, Some(_)) => format!("now {}", sessions_of(&baseline)),
                (Some(old), None) => format!("replacing {}", sessions_of(old)),
                (None, None) => "a new one".to_owned(),
            };
            output::say(format_args!("saved as baseline {name}, {done}: {}", path.display()));
        }
        Ok(())
    }
}

fn not_saved(name: &str, why: NotSaved) -> String {
    format!("nothing is saved as the baseline {name}: {}", why.as_str())
}

/// The sessions that there were, without the oldest where they are too many, and one more.
fn with_session(name: &str, kept: Option<&Baseline>, session: BaselineSession) -> Baseline {
    let mut sessions = kept.map_or_else(Vec::new, |kept| kept.sessions.clone());
    let surplus = (sessions.len() + 1).saturating_sub(MOST_SESSIONS);
    sessions.drain(..surplus);
    sessions.push(session);
    Baseline { name: name.to_owned(), sessions }
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

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use hotset_facts::{Observed, Reason, Timer};

    use super::*;

    fn session(version: &str) -> BaselineSession {
        let unknown = || Observed::Missing(Reason::not_measured("a test"));
        BaselineSession {
            version: version.to_owned(),
            started_at: UNIX_EPOCH,
            host: HostIdentity { cpu_model: unknown(), machine: unknown() },
            environment: hotset_analysis::fixtures::host(),
            other_programs: OtherPrograms { cpu_ns: Observed::Value(0), within_ns: 1 },
            timer: Timer {
                resolution_ns: 1,
                spawn_noise_ns: Observed::Missing(Reason::not_measured("a test")),
            },
            commands: Vec::new(),
            conditions: Vec::new(),
        }
    }

    #[test]
    fn the_oldest_session_makes_room() {
        let mut baseline = with_session("main", None, session("0"));
        for number in 1..=MOST_SESSIONS {
            baseline = with_session("main", Some(&baseline), session(&number.to_string()));
        }
        assert_eq!(baseline.sessions.len(), MOST_SESSIONS);
        assert_eq!(baseline.sessions[0].version, "1");
        assert_eq!(baseline.sessions[MOST_SESSIONS - 1].version, MOST_SESSIONS.to_string());
        let replaced = with_session("main", None, session("new"));
        assert_eq!(replaced.sessions.len(), 1);
    }
}
