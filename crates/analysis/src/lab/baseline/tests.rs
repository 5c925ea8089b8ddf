use hotset_facts::random::Random;
use hotset_facts::{
    HostIdentity, LabBaseline, LabCell, LabFact, LabSession, LabSize, LabUnit, Level, Observed,
    OtherPrograms, Reason, TWIN,
};

use super::super::testing::{cell, invalid, session};
use super::*;
use crate::baseline::{FALSE_CLAIMS, FailAbove, HostPart};
use crate::bench::testing::noisy;

const WALL: fn(&CellChange) -> &Change = |one| &one.wall;

fn name(name: &str) -> Level {
    Level::Name(name.to_owned())
}

fn identity() -> HostIdentity {
    HostIdentity {
        cpu_model: Observed::Value("EPYC".to_owned()),
        machine: Observed::Missing(Reason::unsupported("no names")),
    }
}

fn quiet() -> OtherPrograms {
    OtherPrograms { cpu_ns: Observed::Value(0), within_ns: 5_000_000_000 }
}

/// Times with a ripple of 2 %.
fn walls(ns: f64) -> Vec<u64> {
    (0..15).map(|round| (ns * (1.0 + f64::from(round * 7 % 15) / 750.0)) as u64).collect()
}

fn read(state: &str, ns: f64) -> LabCell {
    cell(&[("method", name("pread")), ("state", name(state))], &walls(ns))
}

/// Cold and warm, so many times the usual time.
fn access(times: f64) -> LabSession {
    session("access", vec![read("cold", 9e6 * times), read("warm", 3e6 * times)])
}

fn baseline_of(sessions: impl IntoIterator<Item = LabSession>) -> LabBaseline {
    let saved = sessions
        .into_iter()
        .map(|session| saved_session(&session, &identity(), quiet()).expect("complete"));
    LabBaseline { name: "main".to_owned(), sessions: saved.collect() }
}

fn terms(wall: Option<f64>) -> LabTerms {
    LabTerms { fail_above: FailAbove { wall, cpu: None }, other_host: false, together: 1 }
}

fn compared(now: &LabSession, baseline: &LabBaseline) -> LabComparison {
    against(now, &identity(), quiet(), baseline, terms(Some(0.05)))
}

fn verdicts(comparison: &LabComparison) -> Vec<ChangeVerdict> {
    comparison.cells.iter().map(|one| one.wall.verdict).collect()
}

fn reasons(comparison: &LabComparison) -> Vec<Option<NotComparable>> {
    comparison.cells.iter().map(|one| one.wall.reason).collect()
}

#[test]
fn a_slow_down_of_a_cell_is_shown_and_fails_by_its_interval() {
    let baseline = baseline_of([access(1.0)]);
    let same = compared(&access(1.02), &baseline);
    assert_eq!(verdicts(&same), [ChangeVerdict::NoDifferenceShown; 2]);
    assert!(!same.with.failed && same.with.sessions == 1 && same.compares());
    let (least, most) = same.smallest_effects(WALL).expect("effects");
    assert!(least > 0.02 && most < 0.3 && least <= most, "{least} {most}");
    let slower = compared(&access(2.0), &baseline);
    assert_eq!(verdicts(&slower), [ChangeVerdict::Slower; 2]);
    assert!(slower.with.failed && slower.above_limit(WALL) == 2);
    // Half of the wall time, as the wall time is, in whole microseconds.
    assert_eq!(slower.cells[0].cpu.verdict, ChangeVerdict::Slower);
    let now = session("access", vec![read("cold", 18e6), read("warm", 9e6)]);
    let order: Vec<usize> = compared(&now, &baseline)
        .that_are(ChangeVerdict::Slower, WALL)
        .iter()
        .map(|one| one.cell)
        .collect();
    assert_eq!(order, [1, 0], "what differs most comes first");
    let faster = compared(&access(0.5), &baseline);
    assert!(!faster.with.failed && verdicts(&faster) == [ChangeVerdict::Faster; 2]);
}

#[test]
fn the_more_is_compared_the_wider_are_intervals() {
    let baseline = baseline_of([access(1.0)]);
    let width = |together: usize| {
        let asked = LabTerms { together, ..terms(None) };
        let found = against(&access(1.0), &identity(), quiet(), &baseline, asked);
        found.cells[0].wall.interval.expect("an interval").half_width()
    };
    assert!(width(5) > width(1));
    let mut many = access(1.0);
    for at in 0..50 {
        many.cells.push(cell(&[("at", Level::Number(at))], &walls(1e6)));
    }
    let found = compared(&many, &baseline).cells[0].wall.interval.expect("an interval");
    assert!(found.half_width() > width(5));
}

#[test]
fn what_can_not_be_compared_has_its_reason() {
    let baseline = baseline_of([access(1.0)]);
    let mut now = access(1.0);
    now.cells[0].samples.truncate(5);
    now.cells[1].id = "pread/lukewarm".to_owned();
    let found = compared(&now, &baseline);
    let expected = [NotComparable::TooFewRuns, NotComparable::NotInBaseline].map(Some);
    assert_eq!(reasons(&found), expected);
    assert_eq!(found.only_in_baseline, ["pread/warm"]);
    assert!(!found.compares() && found.not_comparable(NotComparable::TooFewRuns, WALL).len() == 1);
    let mut then = baseline.clone();
    then.sessions[0].cells[0].samples.truncate(5);
    then.sessions[0].cells[1].unit = LabUnit::NanosecondsPerOperation;
    let found = compared(&access(1.0), &then);
    let expected = [NotComparable::TooFewRunsThen, NotComparable::NotInBaseline].map(Some);
    assert_eq!(reasons(&found), expected);
    let other = compared(&session("direct", access(1.0).cells), &baseline);
    assert_eq!((other.with.sessions, other.compares()), (0, false));
}

#[test]
fn other_work_is_not_compared() {
    let baseline = baseline_of([access(1.0)]);
    let changed = |change: fn(&mut hotset_facts::LabSample)| {
        let mut now = access(1.0);
        now.cells[0].samples.iter_mut().for_each(change);
        reasons(&compared(&now, &baseline))[0]
    };
    let other = Some(NotComparable::OtherWork);
    assert_eq!(changed(|sample| sample.bytes += 1), other);
    assert_eq!(changed(|sample| sample.operations += 1), other);
    let grown = |sample: &mut hotset_facts::LabSample| {
        if let Some(reached) = sample.reached_before.as_value_mut() {
            reached.pages += 1;
        }
    };
    assert_eq!(changed(grown), other, "a file of another size");
    // What varies from sample to sample anyway says nothing.
    assert_eq!(changed(|sample| sample.bytes += u64::from(sample.round)), None);
    let denied = Observed::Missing(Reason::denied("needs root"));
    let mut now = access(1.0);
    now.cells[0].samples.iter_mut().for_each(|sample| sample.reached_before = denied);
    assert_eq!(reasons(&compared(&now, &baseline))[0], None);
}

#[test]
fn another_file_system_is_not_compared_unless_asked_for() {
    let baseline = baseline_of([access(1.0)]);
    let mut moved = access(1.0);
    moved.conditions.filesystem = "xfs".to_owned();
    let elsewhere = Some(NotComparable::OtherFileSystem);
    assert_eq!(reasons(&compared(&moved, &baseline)), [elsewhere; 2]);
    let asked = LabTerms { other_host: true, ..terms(None) };
    let found = against(&moved, &identity(), quiet(), &baseline, asked);
    assert_eq!(reasons(&found), [None; 2]);
}

#[test]
fn what_else_differs_is_named() {
    let mut then = access(1.0);
    then.facts.push(LabFact::new("python", "3.11.2".to_owned()));
    then.facts.push(LabFact::new("misses", 7));
    then.size = LabSize::Full;
    let baseline = baseline_of([then.clone(), then.clone()]);
    let mut now = access(1.0);
    now.environment.kernel = "6.1.0".to_owned();
    now.facts.push(LabFact::new("python", "3.12.0".to_owned()));
    now.facts.push(LabFact::new("misses", 8));
    let found = compared(&now, &baseline);
    let named: Vec<(&str, &str, &str)> = found
        .fact_differences
        .iter()
        .map(|one| (one.what.as_str(), one.baseline.as_str(), one.now.as_str()))
        .collect();
    assert_eq!(named, [("size", "full", "quick"), ("python", "3.11.2", "3.12.0")]);
    let hosts: Vec<HostPart> = found.with.host_differences.iter().map(|one| one.what).collect();
    assert_eq!(hosts, [HostPart::Kernel]);
}

#[test]
fn only_samples_that_count_are_kept_and_only_of_a_whole_session() {
    let mut one = access(1.0);
    let sample = one.cells[0].samples[0].clone();
    one.cells[0].samples[0] = invalid(sample);
    let saved = saved_session(&one, &identity(), quiet()).expect("complete");
    assert_eq!((saved.cells[0].samples.len(), saved.cells[1].samples.len()), (14, 15));
    assert_eq!(few_rounds(&saved), (0, 2));
    assert_eq!(cell_medians(&saved.cells[1]).2, 15);
    one.cells[0].samples.truncate(6);
    let saved = saved_session(&one, &identity(), quiet()).expect("one cell is enough");
    assert_eq!(few_rounds(&saved), (1, 2));
    one.cells[1].samples.truncate(5);
    let few = saved_session(&one, &identity(), quiet());
    assert_eq!(few.err(), Some(LabNotSaved::TooFewRounds));
    let stopped = LabSession { interrupted: true, ..access(1.0) };
    let stopped = saved_session(&stopped, &identity(), quiet());
    assert_eq!(stopped.err(), Some(LabNotSaved::Interrupted));
}

#[test]
fn a_session_whose_equal_cells_differ_decides_nothing_smaller() {
    let of = |times: f64, again: f64| {
        let mut session = access(times);
        let twin = [("method", name("pread")), ("state", name("warm")), (TWIN, name("a/a"))];
        session.cells.push(cell(&twin, &walls(3e6 * times * again)));
        session
    };
    let baseline = baseline_of([of(1.0, 1.0)]);
    let slower = compared(&of(1.4, 1.0), &baseline);
    assert_eq!(verdicts(&slower), [ChangeVerdict::Slower; 2], "the twin is no cell");
    assert_eq!(slower.only_in_baseline, [""; 0]);
    let noisy = compared(&of(1.4, 1.6), &baseline);
    assert_eq!(verdicts(&noisy), [ChangeVerdict::NoDifferenceShown; 2]);
}

#[test]
fn other_programs_and_waiting_explain_what_they_may() {
    let baseline = baseline_of([access(1.0)]);
    let of = |cpu_ns| {
        let others = OtherPrograms { cpu_ns: Observed::Value(cpu_ns), ..quiet() };
        verdicts(&against(&access(1.5), &identity(), others, &baseline, terms(None)))
    };
    assert_eq!(of(0), [ChangeVerdict::Slower; 2]);
    assert_eq!(of(5_000_000_000), [ChangeVerdict::NoDifferenceShown; 2]);
    let mut then = access(1.0);
    then.conditions.cpu_pressure_permille = Observed::Value(0);
    let mut now = access(1.5);
    now.conditions.cpu_pressure_permille = Observed::Value(400);
    let found = compared(&now, &baseline_of([then]));
    assert_eq!(verdicts(&found), [ChangeVerdict::NoDifferenceShown; 2]);
    assert_eq!(found.cells[0].cpu.verdict, ChangeVerdict::Slower, "CPU time does not wait");
}

#[test]
fn an_unchanged_session_calls_a_cell_slower_as_seldom_as_promised() {
    const SESSIONS: usize = 400;
    const CELLS: u64 = 40;
    let mut rng = Random::new(20_261_127);
    // The sum of twelve even numbers is nearly normal.
    let normal = |rng: &mut Random| (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
    let mut simulated = |times: f64| {
        let cells = (0..CELLS).map(|at| {
            let level = 5e6 * times * (CELL_SPREAD * normal(&mut rng)).exp();
            let walls: Vec<u64> = (0..15).map(|_| noisy(&mut rng, level, 0.01)).collect();
            cell(&[("at", Level::Number(at))], &walls)
        });
        session("access", cells.collect())
    };
    let (mut false_claims, mut found) = (0, 0);
    for _ in 0..SESSIONS {
        let baseline = baseline_of([simulated(1.0)]);
        let slower =
            |now: &LabSession| compared(now, &baseline).that_are(ChangeVerdict::Slower, WALL).len();
        false_claims += usize::from(slower(&simulated(1.0)) > 0);
        found += slower(&simulated(1.5));
    }
    let rate = false_claims as f64 / SESSIONS as f64;
    assert!(rate <= FALSE_CLAIMS, "{rate}");
    let found = found as f64 / (SESSIONS as f64 * CELLS as f64);
    assert!(found >= 0.95, "{found}");
}
