//! Each condition of a session against the same one of a baseline.

use hotset_facts::{
    Baseline, BaselineCondition, BaselineSample, BaselineSession, BenchCommand, Condition,
    ConditionRole, HostIdentity, OtherPrograms, WantedState,
};

use super::super::order::median;
use super::super::ratio::RatioEstimate;
use super::super::summarise::told_apart_ns;
use super::super::summary::BenchSummary;
use super::describe::{label, words};
use super::save::session_of;
use super::{BaselineComparison, ConditionChange};
use crate::baseline::{
    Centre, Change, ComparedWith, FALSE_CLAIMS, FailAbove, NotComparable, SESSION_SPREAD, Session,
    Terms, busy_share, host_differences, on_other_file_systems,
};

/// Compares a session with a baseline. `other_host`: someone asked for it whatever the hosts are.
pub fn against(
    summary: &BenchSummary,
    host: &HostIdentity,
    others: OtherPrograms,
    baseline: &Baseline,
    fail_above: FailAbove,
    other_host: bool,
) -> BaselineComparison {
    against_saved(&session_of(summary, host, others), baseline, fail_above, other_host)
}

/// The same of a session that was saved.
pub fn against_saved(
    now: &BaselineSession,
    baseline: &Baseline,
    fail_above: FailAbove,
    other_host: bool,
) -> BaselineComparison {
    let measured = |(_, one): &(usize, &BaselineCondition)| is_measured(one);
    let own: Vec<(usize, &BaselineCondition)> =
        now.conditions.iter().enumerate().filter(measured).collect();
    let share = FALSE_CLAIMS / own.len().max(1) as f64;
    let conditions: Vec<ConditionChange> = own
        .iter()
        .map(|&(condition, one)| {
            let both = Both { baseline, now, one, share, other_host };
            ConditionChange {
                condition,
                other_command: both.other_command(),
                wall: both.change(|sample| sample.wall_ns, true, fail_above.wall),
                cpu: both.change(|sample| sample.cpu_ns, false, fail_above.cpu),
            }
        })
        .collect();
    let times = baseline.sessions.iter().map(|session| session.started_at);
    let hosts = host_differences(baseline.sessions.iter().map(Into::into), now.into());
    let with = ComparedWith::of(&baseline.name, times, now.started_at, hosts, fail_above);
    let failed = conditions.iter().any(|one| one.wall.above_limit || one.cpu.above_limit);
    BaselineComparison {
        with: ComparedWith { failed, ..with },
        only_in_baseline: only_in_baseline(baseline, now),
        conditions,
    }
}

fn is_measured(one: &BaselineCondition) -> bool {
    one.condition.role == ConditionRole::Measured
}

fn command<'a>(session: &'a BaselineSession, condition: &Condition) -> Option<&'a BenchCommand> {
    session.commands.get(condition.command)
}

/// The same command, by its name, in the same state.
fn same<'a>(
    then: &'a BaselineSession,
    now: &BaselineSession,
    one: &Condition,
) -> Option<&'a BaselineCondition> {
    let name = &command(now, one)?.name;
    then.conditions.iter().find(|other| {
        is_measured(other)
            && other.condition.state == one.state
            && command(then, &other.condition).is_some_and(|command| command.name == *name)
    })
}

/// A session of the baseline, and the condition of it that is compared.
type Then<'a> = (&'a BaselineSession, &'a BaselineCondition);

/// A condition, and what it is compared with.
struct Both<'a> {
    baseline: &'a Baseline,
    now: &'a BaselineSession,
    one: &'a BaselineCondition,
    share: f64,
    other_host: bool,
}

impl Both<'_> {
    /// The sessions of the baseline that have the condition, with it.
    fn then(&self) -> Vec<Then<'_>> {
        let has = |then| Some((then, same(then, self.now, &self.one.condition)?));
        self.baseline.sessions.iter().filter_map(has).collect()
    }

    fn other_command(&self) -> Option<String> {
        let own = command(self.now, &self.one.condition)?;
        let (then, one) = self.then().pop()?;
        let other = command(then, &one.condition)?;
        let same = other.argv == own.argv && other.shell == own.shell;
        (!same).then(|| words(other))
    }

    fn change(&self, of: fn(&BaselineSample) -> u64, waits: bool, limit: Option<f64>) -> Change {
        let then = self.then();
        let sessions: Vec<Session> = then
            .iter()
            .filter_map(|(session, one)| session_times(session, one, of, waits))
            .collect();
        let now = session_times(self.now, self.one, of, waits);
        let now_ns = median(self.one.samples.iter().map(|sample| of(sample) as f64));
        match (self.reason(&then), now) {
            (None, Some(now)) => {
                let blur = self.blur(&then, &sessions, now);
                let terms = Terms { share: self.share, blur, spread: SESSION_SPREAD };
                Change::of(&sessions, now, terms, limit)
            }
            (reason, _) => Change::none(reason.unwrap_or(NotComparable::TooFewRuns), now_ns),
        }
    }

    fn reason(&self, then: &[Then<'_>]) -> Option<NotComparable> {
        let now = &self.now.environment;
        let is_elsewhere = |(then, _): &Then<'_>| on_other_file_systems(&then.environment, now);
        let reads = self.one.condition.state != WantedState::Warm;
        if then.is_empty() {
            Some(NotComparable::NotInBaseline)
        } else if reads && !self.other_host && then.iter().any(is_elsewhere) {
            Some(NotComparable::OtherFileSystem)
        } else {
            None
        }
    }

    /// The nanoseconds by which the times must differ: some where one of them is short.
    fn blur(&self, then: &[Then<'_>], sessions: &[Session], now: Session) -> f64 {
        let spawns = then.iter().map(|(session, ..)| told_apart_ns(&session.timer));
        let blur = spawns.fold(told_apart_ns(&self.now.timer), f64::max);
        let short = |session: &Session| session.centre.log.exp() < blur;
        if short(&now) || sessions.iter().any(short) { blur } else { 0.0 }
    }
}

/// The centre of a condition's times in a session; none where it has too few.
fn session_times(
    session: &BaselineSession,
    one: &BaselineCondition,
    of: fn(&BaselineSample) -> u64,
    waits: bool,
) -> Option<Session> {
    let centre = Centre::of(one.samples.iter().map(|sample| of(sample) as f64))?;
    let waiting = || median(one.samples.iter().filter_map(share_waited));
    // What one command differs from itself by holds for all of the session.
    let noise = session.conditions.iter().filter_map(|twin| {
        let ConditionRole::NoiseFloor { twin_of } = twin.condition.role else { return None };
        itself(session.conditions.get(twin_of)?, twin, of)
    });
    let waiting = if waits { waiting() } else { None };
    let busy = busy_share(&session.other_programs, session.environment.cpus);
    Some(Session { centre, busy, waiting, noise: noise.fold(0.0, f64::max) })
}

/// What a condition differs from its repetition by, where the interval shows that it does.
fn itself(
    one: &BaselineCondition,
    twin: &BaselineCondition,
    of: fn(&BaselineSample) -> u64,
) -> Option<f64> {
    let pairs = one.samples.iter().filter_map(|sample| {
        let other = twin.samples.iter().find(|other| other.round == sample.round)?;
        Some((of(sample), of(other)))
    });
    let interval = RatioEstimate::of(pairs)?.interval?;
    (!interval.holds(1.0)).then(|| interval.high.max(1.0 / interval.low) - 1.0)
}

/// The share of a run in which some task waited for a CPU, or the hypervisor took one.
fn share_waited(sample: &BaselineSample) -> Option<f64> {
    let waited = sample.cpu_pressure_ns.value()?;
    let stolen = sample.steal_ns.value().unwrap_or(0);
    let share = waited.saturating_add(stolen) as f64 / sample.wall_ns.max(1) as f64;
    Some(share.min(1.0))
}

fn only_in_baseline(baseline: &Baseline, now: &BaselineSession) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for then in &baseline.sessions {
        for one in then.conditions.iter().filter(|one| is_measured(one)) {
            let Some(command) = command(then, &one.condition) else { continue };
            let known = now.conditions.iter().any(|other| {
                other.condition.state == one.condition.state
                    && now.commands.get(other.condition.command).map(|own| &own.name)
                        == Some(&command.name)
            });
            let label = label(&command.name, one.condition.state);
            if !known && !names.contains(&label) {
                names.push(label);
            }
        }
    }
    names
}
