//! A session: rounds of runs, until the judge has seen enough.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use hotset_facts::units::nanos;
use hotset_facts::{
    BenchRun, BenchSession, Condition, Decision, Dev, ExitStatus, Progress, StopReason, Timer,
    Warmup,
};

use crate::failures::IgnoredFailures;
use crate::hooks::Hook;
use crate::planned::{CommandPlan, LabError, Learned};
use crate::rounds::{self, Outcome, Place};
use crate::runs::Bench;
use crate::schedule::Order;

/// All that a session needs to know before it starts.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The version of hotset.
    pub version: String,
    /// The commands, with what was learned of them.
    pub commands: Vec<(CommandPlan, Learned)>,
    /// The conditions of a round; see [`crate::conditions`].
    pub conditions: Vec<Condition>,
    /// The seed of the orders; see [`Order::fresh_seed`].
    pub seed: u64,
    /// Rounds that are planned before the first one.
    pub planned_rounds: u32,
    /// What is done about a warm-up.
    pub warmup: Warmup,
    /// What limits short times; see [`crate::timer()`].
    pub timer: Timer,
    /// How often a run that doesn't count is repeated within its round.
    pub max_repeats: u32,
    /// Go on where a command fails so.
    pub ignored_failures: IgnoredFailures,
}

/// Who knows which runs count and how many are enough.
pub trait Judge {
    /// False to have this run repeated in its round. The run is kept all the same, and is not in `progress` yet.
    fn counts(&mut self, run: &BenchRun, progress: Progress<'_>) -> bool;
    /// Asked before the first round and after each.
    fn decide(&mut self, progress: Progress<'_>) -> Decision;
    /// A run is about to begin: for those who show progress.
    fn begins(&mut self, _condition: usize, _round: u32) {}
}

/// What a session came to.
#[derive(Debug)]
pub struct Ended {
    /// All runs up to its end.
    pub session: BenchSession,
    /// What ended it, where that was none of the session's own reasons.
    pub error: Option<LabError>,
}

/// Runs the session. Ends early, with what there is so far, when `stop` is set, or a command or something around it fails.
///
/// # Errors
/// Where a command, a hook or a state is not possible at all, and there was no run. The clean-up commands are run all the same.
pub fn run(plan: Plan, judge: &mut dyn Judge, stop: &AtomicBool) -> Result<Ended, LabError> {
    let (order, max_repeats) = (Order::new(plan.seed), plan.max_repeats);
    let mut running = Running::new(plan, judge, stop)?;
    let outcome = running
        .hooks(Hook::Setup)
        .and_then(|()| rounds::run(&mut running, order, max_repeats, stop));
    let cleaned = running.hooks(Hook::Cleanup);
    let error = match (outcome, cleaned) {
        (Err(error), _) if running.session.runs.is_empty() => return Err(error),
        (Err(error), _) => {
            running.session.stop = StopReason::Error { message: error.to_string() };
            Some(error)
        }
        (Ok(stop), cleaned) => {
            running.session.stop = stop;
            cleaned.err()
        }
    };
    // Which pages stay was learned on the way.
    running.session.sets = running.benches.into_iter().map(|bench| bench.set).collect();
    Ok(Ended { session: running.session, error })
}

struct Running<'a> {
    session: BenchSession,
    benches: Vec<Bench>,
    began: Instant,
    ignored_failures: IgnoredFailures,
    judge: &'a mut dyn Judge,
    stop: &'a AtomicBool,
}

impl rounds::Cells for Running<'_> {
    type Error = LabError;

    fn count(&self) -> usize {
        self.session.conditions.len()
    }

    fn decide(&mut self, rounds: u32) -> Decision {
        self.judge.decide(progress(&self.session, rounds, self.began))
    }

    fn run(&mut self, place: Place) -> Result<Outcome, LabError> {
        let Some(&condition) = self.session.conditions.get(place.cell) else {
            return Ok(Outcome::Counts);
        };
        self.judge.begins(place.cell, place.round);
        let Some(bench) = self.benches.get_mut(condition.command) else {
            return Ok(Outcome::Counts);
        };
        let ran = bench.run(condition.state, place, self.began);
        let is_stopped = self.stop.load(Ordering::Relaxed);
        let run = match ran {
            // Ctrl-C reaches the command too: what it was cut off from is no run.
            Ok(run) if !is_stopped || run.exit == ExitStatus::Code(0) => run,
            _ if is_stopped => return Ok(Outcome::Stop(StopReason::Interrupted)),
            Ok(run) => run,
            Err(error) => return Err(error),
        };
        let exit = run.exit;
        let failed = self.ignored_failures.is_failure(exit);
        let counts =
            failed || self.judge.counts(&run, progress(&self.session, place.round, self.began));
        self.session.runs.push(run);
        Ok(match counts {
            _ if failed => {
                let output_tail = self.benches[condition.command].command.tail();
                let condition = place.cell;
                Outcome::Stop(StopReason::Failed { condition, exit, output_tail })
            }
            true => Outcome::Counts,
            false => Outcome::Again,
        })
    }
}

fn progress(session: &BenchSession, rounds: u32, began: Instant) -> Progress<'_> {
    Progress { session, rounds, elapsed_ns: nanos(began.elapsed()) }
}

impl<'a> Running<'a> {
    fn new(plan: Plan, judge: &'a mut dyn Judge, stop: &'a AtomicBool) -> Result<Self, LabError> {
        let devices: HashSet<Dev> = plan
            .commands
            .iter()
            .flat_map(|(_, learned)| learned.set.members.iter().map(|member| member.id.dev))
            .collect();
        let mut devices: Vec<Dev> = devices.into_iter().collect();
        devices.sort_unstable();
        let mut session = BenchSession {
            version: plan.version,
            started_at: SystemTime::now(),
            environment: hotset_sys::environment(&devices, &[]),
            timer: plan.timer,
            commands: Vec::new(),
            sets: Vec::new(),
            learned: Vec::new(),
            conditions: plan.conditions,
            seed: plan.seed,
            planned_rounds: plan.planned_rounds,
            warmup: plan.warmup,
            runs: Vec::new(),
            stop: StopReason::Interrupted,
        };
        let mut benches = Vec::new();
        for (plan, Learned { set, io }) in plan.commands {
            let command = plan.ready()?;
            session.commands.push(plan.command.clone());
            session.learned.push(io);
            session.sets.push(set.clone());
            benches.push(Bench { plan, command, set });
        }
        let ignored_failures = plan.ignored_failures;
        Ok(Self { session, benches, began: Instant::now(), ignored_failures, judge, stop })
    }

    /// Runs a hook of every command, whatever the first ones come to.
    fn hooks(&self, hook: Hook) -> Result<(), LabError> {
        let ran: Vec<_> = self.benches.iter().map(|bench| bench.plan.run_hook(hook)).collect();
        ran.into_iter().collect()
    }
}

#[cfg(test)]
mod tests;
