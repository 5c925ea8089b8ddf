use hotset_facts::{
    Baseline, BenchSession, Condition, ConditionRole, Dev, Filesystem, HostIdentity, Observed,
    OtherPrograms, Reason, StopReason, WantedState,
};

use super::super::summarise::summarise_bench;
use super::super::testing::{condition, session};
use super::*;
use crate::baseline::{
    ChangeVerdict, FailAbove, HostPart, MeasuredOn, NotComparable, SESSION_SPREAD, host_differences,
};

fn quiet() -> OtherPrograms {
    OtherPrograms { cpu_ns: Observed::Value(0), within_ns: 5_000_000_000 }
}

fn identity(cpu: &str) -> HostIdentity {
    HostIdentity {
        cpu_model: Observed::Value(cpu.to_owned()),
        machine: Observed::Missing(Reason::unsupported("no names")),
    }
}

/// `app`, cold and warm, whose times are so many times the usual ones, with a ripple of 2 %.
fn app(times: f64, rounds: u32) -> BenchSession {
    let conditions = vec![condition(0, WantedState::Cold), condition(0, WantedState::Warm)];
    session(&["app"], conditions, rounds, |at, round| {
        let usual = [200e6, 50e6][at];
        (usual * times * (1.0 + f64::from(round * 7 % 15) / 750.0)) as u64
    })
}

fn baseline_of(sessions: impl IntoIterator<Item = BenchSession>) -> Baseline {
    let saved = sessions.into_iter().map(|session| {
        saved_session(&summarise_bench(session), &identity("EPYC"), quiet()).expect("complete")
    });
    Baseline { name: "main".to_owned(), sessions: saved.collect() }
}

fn compared(now: BenchSession, baseline: &Baseline, wall: Option<f64>) -> BaselineComparison {
    let limits = FailAbove { wall, cpu: None };
    against(&summarise_bench(now), &identity("EPYC"), quiet(), baseline, limits, false)
}

fn verdicts(comparison: &BaselineComparison) -> Vec<ChangeVerdict> {
    comparison.conditions.iter().map(|one| one.wall.verdict).collect()
}

#[test]
fn a_slow_down_is_shown_and_fails_by_its_interval() {
    let baseline = baseline_of([app(1.0, 15)]);
    let same = compared(app(1.01, 15), &baseline, Some(0.0));
    assert_eq!(verdicts(&same), [ChangeVerdict::NoDifferenceShown; 2]);
    assert!(
        !same.with.failed
            && same.with.host_differences.is_empty()
            && same.only_in_baseline.is_empty()
    );
    let slower = compared(app(1.2, 15), &baseline, Some(0.05));
    assert_eq!(verdicts(&slower), [ChangeVerdict::Slower; 2]);
    assert!(slower.with.failed);
    let wall = slower.conditions[1].wall;
    assert!((wall.ratio.expect("a ratio") - 1.2).abs() < 0.01, "{wall:?}");
    assert!(wall.smallest_effect().is_some_and(|effect| (0.03..0.1).contains(&effect)));
    // The point is above the limit, and its interval is not.
    let within = compared(app(1.2, 15), &baseline, Some(0.18));
    assert!(!within.with.failed && verdicts(&within) == [ChangeVerdict::Slower; 2]);
    let faster = compared(app(0.8, 15), &baseline, Some(0.05));
    assert!(!faster.with.failed && verdicts(&faster) == [ChangeVerdict::Faster; 2]);
}

#[test]
fn more_sessions_tell_how_much_sessions_differ() {
    let alike = baseline_of((0..10).map(|_| app(1.0, 15)));
    let apart = baseline_of((0..10).map(|at| app(if at % 2 == 0 { 1.0 } else { 1.15 }, 15)));
    let spread = |baseline: &Baseline| {
        compared(app(1.0, 15), baseline, None).conditions[0].wall.session_spread.expect("a spread")
    };
    assert!(spread(&alike) < SESSION_SPREAD && spread(&apart) > 2.0 * SESSION_SPREAD);
    let small = app(1.05, 15);
    assert_eq!(verdicts(&compared(small.clone(), &alike, None)), [ChangeVerdict::Slower; 2]);
    let none = [ChangeVerdict::NoDifferenceShown; 2];
    assert_eq!(verdicts(&compared(small, &apart, None)), none);
}

#[test]
fn what_can_not_be_compared_has_its_reason() {
    let baseline = baseline_of([app(1.0, 15)]);
    let reasons = |comparison: &BaselineComparison| -> Vec<Option<NotComparable>> {
        comparison.conditions.iter().map(|one| one.wall.reason).collect()
    };
    let few = compared(app(1.0, 5), &baseline, Some(0.05));
    assert_eq!(reasons(&few), [Some(NotComparable::TooFewRuns); 2]);
    assert!(few.conditions[0].wall.now_ns.is_some() && few.conditions[0].wall.interval.is_none());
    let mut then = baseline.clone();
    then.sessions[0].conditions[0].samples.truncate(3);
    then.sessions[0].conditions.truncate(1);
    let other = compared(app(1.0, 15), &then, Some(0.05));
    let expected = [NotComparable::TooFewRunsThen, NotComparable::NotInBaseline].map(Some);
    assert_eq!((reasons(&other), other.with.failed), (expected.to_vec(), false));
}

#[test]
fn commands_and_states_are_found_by_their_names() {
    let baseline = baseline_of([app(1.0, 15)]);
    let mut now = app(1.0, 15);
    now.commands[0].argv = vec!["app".into(), "--new".into()];
    now.conditions[0].state = WantedState::AsIs;
    let comparison = compared(now, &baseline, None);
    assert_eq!(comparison.only_in_baseline, ["app (cold)"]);
    let words: Vec<Option<&str>> =
        comparison.conditions.iter().map(|one| one.other_command.as_deref()).collect();
    assert_eq!(words, [None, Some("app")], "as-is is not there at all");
    assert!(describe(&baseline).has("app", WantedState::Cold));
    assert!(!describe(&baseline).has("app", WantedState::AsIs));
    assert_eq!(describe(&baseline).words(), "app (cold), app (warm)");
}

#[test]
fn a_session_that_is_not_whole_is_not_saved() {
    let saved = |session| saved_session(&summarise_bench(session), &identity("EPYC"), quiet());
    let of = |stop| saved(BenchSession { stop, ..app(1.0, 15) }).err();
    assert_eq!(of(StopReason::MaxTime), None);
    assert_eq!(of(StopReason::Interrupted), Some(NotSaved::Interrupted));
    let error = StopReason::Error { message: "x".to_owned() };
    assert_eq!(of(error), Some(NotSaved::Error));
    assert_eq!(saved(app(1.0, 5)).err(), Some(NotSaved::TooFewRuns));
}

#[test]
fn a_session_that_differs_from_itself_decides_nothing_smaller() {
    let of = |again: f64| {
        let twin = ConditionRole::NoiseFloor { twin_of: 0 };
        let warm = condition(0, WantedState::Warm);
        let conditions = vec![warm, Condition { role: twin, ..warm }];
        session(&["app"], conditions, 15, |at, round| {
            (50e6 * [1.0, again][at] * (1.0 + f64::from(round * 7 % 15) / 750.0)) as u64
        })
    };
    let baseline = baseline_of([of(1.0)]);
    let slower = |again: f64| {
        let mut now = of(again);
        now.runs.iter_mut().for_each(|run| run.wall_ns = run.wall_ns * 11 / 10);
        compared(now, &baseline, None)
    };
    assert_eq!(verdicts(&slower(1.0)), [ChangeVerdict::Slower], "its twin is no condition");
    assert_eq!(verdicts(&slower(1.2)), [ChangeVerdict::NoDifferenceShown]);
}

#[test]
fn other_programs_explain_what_they_may() {
    let baseline = baseline_of([app(1.0, 15)]);
    let summary = summarise_bench(app(1.2, 15));
    let of = |cpu_ns| {
        let others = OtherPrograms { cpu_ns, ..quiet() };
        let host = identity("EPYC");
        against(&summary, &host, others, &baseline, FailAbove::default(), false)
    };
    assert_eq!(verdicts(&of(Observed::Value(0))), [ChangeVerdict::Slower; 2]);
    // One of two CPUs all the time.
    let busy = of(Observed::Value(5_000_000_000));
    assert_eq!(busy.conditions[0].wall.busy, Some(0.5));
    assert_eq!(verdicts(&busy), [ChangeVerdict::NoDifferenceShown; 2]);
}

#[test]
fn hosts_differ_in_what_forbids_and_in_what_does_not() {
    let mut baseline = baseline_of([app(1.0, 15), app(1.0, 15)]);
    let host = crate::fixtures::host();
    let found = |baseline: &Baseline, cpu: &str| {
        let cpu = identity(cpu);
        let now = MeasuredOn { version: "0.0.0", host: &cpu, environment: &host };
        host_differences(baseline.sessions.iter().map(Into::into), now)
    };
    assert_eq!(found(&baseline, "EPYC"), []);
    let other = found(&baseline, "Xeon");
    assert_eq!((other.len(), other[0].what, other[0].forbids), (1, HostPart::Cpu, true));
    assert_eq!((other[0].baseline.as_str(), other[0].now.as_str()), ("EPYC", "Xeon"));
    for session in &mut baseline.sessions {
        let environment = &mut session.environment;
        environment.kernel = "6.1.0".to_owned();
        environment.memory_bytes += environment.memory_bytes / 50;
        session.host.machine = Observed::Value("virtual".to_owned());
    }
    let allowed = found(&baseline, "EPYC");
    assert!(allowed.iter().all(|one| !one.forbids), "{allowed:?}");
    assert_eq!(
        allowed.iter().map(|one| one.what).collect::<Vec<_>>(),
        [HostPart::Machine, HostPart::Kernel]
    );
    baseline.sessions[1].environment.memory_bytes *= 2;
    let forbidden = found(&baseline, "EPYC");
    assert_eq!((forbidden[0].what, forbidden[0].forbids), (HostPart::Memory, true));
}

#[test]
fn cold_starts_from_another_type_of_file_system_are_not_compared() {
    let on = |fs_type: &str| {
        let mut session = app(1.0, 15);
        session.environment.filesystems = vec![Filesystem {
            mount: "/".into(),
            fs_type: fs_type.to_owned(),
            device: "/dev/vda".to_owned(),
            dev: Dev { major: 254, minor: 0 },
            options: "rw".to_owned(),
            read_ahead_kb: Observed::Value(128),
        }];
        session
    };
    let baseline = baseline_of([on("ext4")]);
    let moved = compared(on("xfs"), &baseline, None);
    let reasons: Vec<_> = moved.conditions.iter().map(|one| one.wall.reason).collect();
    assert_eq!(reasons, [Some(NotComparable::OtherFileSystem), None]);
    assert_eq!(moved.with.host_differences[0].what, HostPart::FileSystems);
    let summary = summarise_bench(on("xfs"));
    let asked =
        against(&summary, &identity("EPYC"), quiet(), &baseline, FailAbove::default(), true);
    assert_eq!(verdicts(&asked), [ChangeVerdict::NoDifferenceShown; 2]);
    assert_eq!(compared(on("ext4"), &baseline, None).with.host_differences, []);
}
