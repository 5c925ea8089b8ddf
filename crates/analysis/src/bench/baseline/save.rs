//! What of a session a baseline keeps.

use hotset_facts::{
    BaselineCondition, BaselineSample, BaselineSession, BenchRun, ConditionRole, HostIdentity,
    OtherPrograms, StopReason,
};

use super::super::order::MIN_ROUNDS;
use super::super::summary::BenchSummary;

hotset_facts::words! {
    /// Why a session is nothing to compare with.
    pub enum NotSaved {
        /// Someone interrupted it.
        Interrupted = "the session was interrupted",
        /// A command failed.
        Failed = "a command failed",
        /// Something around the commands failed.
        Error = "the session ended with an error",
        /// A condition has fewer valid runs than an interval needs.
        TooFewRuns = "a condition has fewer than 6 valid runs; ask for more rounds",
    }
}

/// What a baseline keeps of a session.
///
/// # Errors
/// Where the session is not complete, or has too few valid runs to be compared with.
pub fn saved_session(
    summary: &BenchSummary,
    host: &HostIdentity,
    others: OtherPrograms,
) -> Result<BaselineSession, NotSaved> {
    let session = &summary.session;
    match session.stop {
        StopReason::Interrupted => return Err(NotSaved::Interrupted),
        StopReason::Failed { .. } => return Err(NotSaved::Failed),
        StopReason::Error { .. } => return Err(NotSaved::Error),
        StopReason::PreciseEnough
        | StopReason::TooShort
        | StopReason::RunsDone
        | StopReason::MaxTime => {}
    }
    let saved = session_of(summary, host, others);
    // A repeated condition is compared with nothing but the one that it repeats.
    let enough = |one: &BaselineCondition| {
        one.condition.role != ConditionRole::Measured || one.samples.len() >= MIN_ROUNDS
    };
    if saved.conditions.iter().all(enough) { Ok(saved) } else { Err(NotSaved::TooFewRuns) }
}

/// The same of any session, for one that is compared.
pub(super) fn session_of(
    summary: &BenchSummary,
    host: &HostIdentity,
    others: OtherPrograms,
) -> BaselineSession {
    let session = &summary.session;
    let conditions = session.conditions.iter().enumerate();
    BaselineSession {
        version: session.version.clone(),
        started_at: session.started_at,
        host: host.clone(),
        environment: session.environment.clone(),
        other_programs: others,
        timer: session.timer,
        commands: session.commands.clone(),
        conditions: conditions
            .map(|(at, &condition)| {
                let counted = summary.runs_of(at).filter(|(_, judged)| judged.counted);
                let mut samples: Vec<BaselineSample> =
                    counted.map(|(run, _)| sample(run)).collect();
                samples.sort_by_key(|sample| sample.round);
                BaselineCondition { condition, samples }
            })
            .collect(),
    }
}

fn sample(run: &BenchRun) -> BaselineSample {
    BaselineSample {
        round: run.round,
        wall_ns: run.wall_ns,
        cpu_ns: run.user_ns.saturating_add(run.system_ns),
        cpu_pressure_ns: run.cpu_pressure_ns,
        steal_ns: run.steal_ns,
    }
}
