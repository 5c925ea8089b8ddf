use super::*;
use crate::bench::testing::{PAGE, PAGES, condition, run, session};
use hotset_facts::{Condition, Percent, Reason, SetMember};

fn planned(conditions: &[Condition]) -> BenchSession {
    session(&["app"], conditions.to_vec(), 0, |_, _| 0)
}

/// The doubts about the last of ten runs in `state`, after `change` was done to it.
fn doubts(state: WantedState, change: impl Fn(&mut BenchRun)) -> Vec<&'static str> {
    let conditions = [condition(0, state)];
    let mut runs: Vec<BenchRun> =
        (0..10).map(|round| run(&conditions, 0, round, 100_000_000)).collect();
    if let Some(last) = runs.last_mut() {
        change(last);
    }
    let judged = judge(&planned(&conditions), &runs);
    assert!(judged[..9].iter().all(|run| run.doubts.is_empty()), "{judged:?}");
    judged[9].doubts.iter().map(Doubt::as_str).collect()
}

fn before(cached_pages: u64, stuck_pages: u64) -> Observed<StateReached> {
    let pages = PAGES;
    Observed::Value(StateReached { pages, cached_pages, stuck_pages, unknown_files: 0 })
}

#[test]
fn good_runs_have_no_doubts() {
    let half = Percent::new(50).map(WantedState::Share);
    let states = [WantedState::AsIs, WantedState::Cold, WantedState::ColdAll, WantedState::Warm];
    for state in states.into_iter().chain(half) {
        assert!(doubts(state, |_| ()).is_empty(), "{state}");
    }
}

#[test]
fn warm_is_nearly_every_page() {
    let warm = |cached| doubts(WantedState::Warm, |run| run.reached_before = before(cached, 0));
    assert!(warm(PAGES - PAGES / 1000).is_empty());
    assert_eq!(warm(PAGES - PAGES / 1000 - 1), ["state-not-reached"]);
}

#[test]
fn cold_is_what_can_be_evicted() {
    let cold =
        |cached, stuck| doubts(WantedState::Cold, |run| run.reached_before = before(cached, stuck));
    assert!(cold(PAGES / 1000, 0).is_empty());
    assert_eq!(cold(PAGES / 1000 + 1, 0), ["state-not-reached"]);
    assert!(cold(800, 800).is_empty(), "libc stays");
    assert_eq!(cold(900, 800), ["state-not-reached"]);
}

#[test]
fn a_share_is_met_within_a_point() {
    let half = Percent::new(50).map(WantedState::Share).unwrap_or(WantedState::AsIs);
    let share = |cached, stuck| {
        doubts(half, |run| {
            run.reached_before = before(cached, stuck);
            run.system_ns = 1_000_000 + (PAGES - cached) * 1_000;
        })
    };
    assert!(share(4_900, 0).is_empty() && share(5_100, 0).is_empty());
    assert_eq!(share(4_899, 0), ["state-not-reached"]);
    assert_eq!(share(5_101, 0), ["state-not-reached"]);
    assert!(share(6_000, 6_000).is_empty(), "more is stuck than was wanted");
    assert!(share(5_400, 600).is_empty(), "half of what is stuck was not wanted");
    assert_eq!(share(5_401, 600), ["state-not-reached"]);
}

#[test]
fn a_warm_run_reads_nothing_whatever_the_state_was() {
    let read = doubts(WantedState::Warm, |run| run.device_read_bytes = Observed::Value(512));
    assert_eq!(read, ["device-read"]);
    assert_eq!(doubts(WantedState::Warm, |run| run.major_faults = 1), ["major-faults"]);
}

#[test]
fn a_cold_run_reads_what_it_needs_itself() {
    let all = PAGES * PAGE;
    let read =
        |bytes| doubts(WantedState::Cold, |run| run.device_read_bytes = Observed::Value(bytes));
    assert!(read(all * 95 / 100).is_empty());
    assert_eq!(read(all * 94 / 100), ["device-read-too-little"]);
    let nothing_new = doubts(WantedState::Cold, |run| {
        run.device_read_bytes = Observed::Value(0);
        run.reached_after = run.reached_before;
    });
    assert!(nothing_new.is_empty(), "what it doesn't need it doesn't read");
}

/// Cold runs that read so many bytes each, of files stored as `change` says.
fn read_by_all(bytes: &[u64], change: impl Fn(&mut SetMember)) -> Vec<Vec<&'static str>> {
    let conditions = [condition(0, WantedState::Cold)];
    let mut session = planned(&conditions);
    session.sets[0].members.iter_mut().for_each(change);
    let run = |(round, &bytes)| BenchRun {
        device_read_bytes: Observed::Value(bytes),
        ..run(&conditions, 0, round, 100_000_000)
    };
    let runs: Vec<_> = (0..).zip(bytes).map(run).collect();
    let judged = judge(&session, &runs);
    judged.iter().map(|run| run.doubts.iter().map(Doubt::as_str).collect()).collect()
}

#[test]
fn holes_are_not_read() {
    let data = (PAGES - 100) * PAGE;
    let sparse = |bytes: &[u64]| read_by_all(bytes, |member| member.hole_bytes = 100 * PAGE);
    let too_little = vec!["device-read-too-little"];
    assert_eq!(sparse(&[data, data * 94 / 100]), [Vec::new(), too_little.clone()]);
    let dense = read_by_all(&[data * 95 / 100], |_| ());
    assert_eq!(dense, [too_little]);
}

#[test]
fn compressed_files_take_what_most_runs_took() {
    let all = PAGES * PAGE;
    let packed = |bytes: &[u64]| read_by_all(bytes, |member| member.may_be_compressed = true);
    let (too_little, none) = (vec!["device-read-too-little"], Vec::new());
    assert_eq!(packed(&[all / 5, all / 5 - 512]), [none.clone(), none.clone()]);
    assert_eq!(packed(&[all / 5, all / 6]), [none.clone(), too_little.clone()], "read by another");
    assert_eq!(packed(&[0, 0]), [too_little.clone(), too_little.clone()], "nothing is no proof");
    let (data, tables) = (all / 5, all / 10);
    let counted = |bytes: &[u64]| packed(bytes).iter().map(Vec::is_empty).collect::<Vec<_>>();
    assert_eq!(counted(&[data + tables, data, data]), [true; 3], "tables are read once");
    let some = [data, data + tables, data, data + tables, data];
    assert_eq!(counted(&some), [true; 5], "or now and then");
    let half_warm = [data + tables, data, data / 2, data, data / 2, data, 0, 0];
    assert_eq!(counted(&half_warm), [true, true, false, true, false, true, false, false]);
    assert_eq!(packed(&[all, 3 * all]), [none.clone(), none], "never more than the pages");
}

#[test]
fn disturbance_is_measured_against_the_limit_and_the_usual() {
    let switches = |n| doubts(WantedState::Warm, |run| run.involuntary_switches = n);
    assert!(switches(20).is_empty());
    assert_eq!(switches(21), ["involuntary-switches"]);
    let steal = |ns| doubts(WantedState::Warm, |run| run.steal_ns = Observed::Value(ns));
    assert!(steal(1_000_000).is_empty());
    assert_eq!(steal(10_000_000), ["steal"]);
    let pressure = |ns| doubts(WantedState::Warm, |run| run.cpu_pressure_ns = Observed::Value(ns));
    assert!(pressure(10_000_000).is_empty());
    assert_eq!(pressure(11_000_000), ["cpu-pressure"]);
}

#[test]
fn what_all_runs_have_is_the_command_and_no_disturbance() {
    let conditions = [condition(0, WantedState::Warm)];
    let busy = |round| BenchRun {
        involuntary_switches: 3_000,
        cpu_pressure_ns: Observed::Value(80_000_000),
        ..run(&conditions, 0, round, 100_000_000)
    };
    let judged = judge(&planned(&conditions), &(0..10).map(busy).collect::<Vec<_>>());
    assert!(judged.iter().all(JudgedRun::is_valid));
}

#[test]
fn pages_that_cost_too_much_are_the_hosts_doing() {
    let slow = |ns| doubts(WantedState::Cold, |run| run.system_ns = ns);
    assert!(slow(30_000_000).is_empty(), "19 ms more than the usual 11 ms for 10,000 pages");
    assert_eq!(slow(32_000_000), ["slow-pages"]);
    let one_sample = doubts(WantedState::Cold, |run| {
        run.system_ns = 8_000_000;
        let pages = run.reached_after.as_value_mut().expect("a known state");
        pages.cached_pages = 300;
    });
    assert!(one_sample.is_empty(), "26 us a page, but in all no more than a few ticks");
    let few = doubts(WantedState::Warm, |run| run.system_ns = 90_000_000);
    assert!(few.is_empty(), "no page newly cached");
}

#[test]
fn what_is_unknown_is_said() {
    let none = Reason::denied("not ours");
    let unknown = |state| doubts(state, |run| run.reached_before = Observed::Missing(none));
    assert_eq!(unknown(WantedState::Warm), ["state-unknown"]);
    assert!(unknown(WantedState::AsIs).is_empty());
    let device = doubts(WantedState::Cold, |run| run.device_read_bytes = Observed::Missing(none));
    assert_eq!(device, ["device-unknown"]);
    assert!(!Doubt::DeviceUnknown.invalidates() && Doubt::StateUnknown.invalidates());
    assert_eq!(doubts(WantedState::Warm, |run| run.inputs_changed = vec![0]), ["inputs-changed"]);
}

#[test]
fn a_run_of_no_condition_is_not_counted() {
    let conditions = [condition(0, WantedState::Warm)];
    let mut stray = run(&conditions, 0, 0, 1);
    stray.condition = 7;
    assert!(!judge(&planned(&conditions), &[stray])[0].is_valid());
}
