use super::*;
use crate::bench::testing::{condition, noisy, session};
use crate::bench::{Difference, MIN_ROUNDS};
use hotset_facts::random::Random;
use hotset_facts::{Condition, StopReason, StuckPages, Unevictable, Unreadable, Warmup};

const MS: f64 = 1e6;

fn cold_warm(rounds: u32) -> BenchSession {
    let mut rng = Random::new(5);
    let conditions = vec![condition(0, WantedState::Warm), condition(0, WantedState::Cold)];
    session(&["app"], conditions, rounds, |index, _| {
        noisy(&mut rng, [96.0, 412.0][index] * MS, 0.01)
    })
}

fn text_of(summary: &BenchSummary, warning: usize) -> String {
    summary.labelled_warnings()[warning].text.clone()
}

fn kinds(summary: &BenchSummary) -> Vec<&'static str> {
    summary.warnings.iter().map(|warning| warning.kind()).collect()
}

#[test]
fn cold_against_warm() {
    let summary = summarise_bench(cold_warm(15));
    assert_eq!(summary.conditions[0].label, "app (warm)");
    assert_eq!(summary.comparisons.len(), 1);
    let ratio = summary.comparisons[0].valid.map_or(0.0, |valid| valid.ratio);
    assert!((4.1..4.5).contains(&ratio), "{ratio}");
    assert_eq!(summary.comparisons[0].difference, Difference::Slower);
    assert_eq!((summary.rounds, summary.extended_rounds), (15, 0));
    assert_eq!(summary.cold_warm.len(), 1);
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
}

#[test]
fn an_invalid_run_is_marked_and_its_repetition_counts() {
    let mut session = cold_warm(10);
    let mut again = session.runs[4].clone();
    session.runs[4].device_read_bytes = Observed::Value(1 << 20);
    session.runs[4].wall_ns *= 5;
    again.repeat = 1;
    session.runs.push(again);
    let summary = summarise_bench(session);
    let warm = &summary.conditions[0];
    assert_eq!((warm.valid_runs, warm.invalid_runs), (10, 1));
    assert_eq!(warm.valid.map(|times| times.runs), Some(10));
    let max = |times: Option<Times>| times.map_or(0.0, |times| times.wall_ns.max);
    assert!(max(warm.all) > 4.0 * max(warm.valid), "all runs hold the invalid one");
    assert_eq!(kinds(&summary), ["device-read"]);
    assert!(
        text_of(&summary, 0).starts_with("app (warm): 1 of 11 runs excluded, e.g. read 1.00 MiB")
    );
}

#[test]
fn a_state_that_was_never_reached_has_no_estimate() {
    let mut session = cold_warm(10);
    for run in session.runs.iter_mut().filter(|run| run.condition == 1) {
        run.reached_before = run.reached_after;
    }
    let summary = summarise_bench(session);
    assert!(summary.conditions[1].valid.is_none() && summary.conditions[1].all.is_some());
    let comparison = summary.comparisons[0];
    assert!(comparison.valid.is_none() && comparison.all.is_some());
    assert_eq!(comparison.difference, Difference::NoInterval);
    assert_eq!(kinds(&summary), ["no-valid-run", "state-not-reached"]);
}

#[test]
fn few_runs_have_no_interval() {
    let summary = summarise_bench(cold_warm(2));
    assert!(summary.comparisons[0].valid.is_some_and(|valid| valid.interval.is_none()));
    assert_eq!(kinds(&summary), ["few-runs"; 2]);
    let summary = summarise_bench(cold_warm(MIN_ROUNDS as u32 - 1));
    assert_eq!(kinds(&summary), ["no-interval"; 2]);
    assert!(summarise_bench(cold_warm(MIN_ROUNDS as u32)).warnings.is_empty());
}

#[test]
fn what_is_short_must_differ_by_more_than_starts_do() {
    let mut session = cold_warm(15);
    session.timer.spawn_noise_ns = Observed::Value(30_000_000);
    let summary = summarise_bench(session);
    assert!(summary.conditions[0].too_short && !summary.conditions[1].too_short);
    assert!(summary.conditions[0].valid.is_some_and(|times| times.wall_interval.is_some()));
    assert_eq!(summary.comparisons[0].difference, Difference::Slower, "by twice what blurs it");
    assert!(summary.comparisons[0].valid.is_some_and(|valid| valid.interval.is_some()));
    assert_eq!(kinds(&summary), ["too-short"]);
    let text = text_of(&summary, 0);
    assert!(text.contains("varied by 30.0 ms") && text.contains("that, 150 ms"), "{text}");
    let mut session = cold_warm(15);
    session.timer.spawn_noise_ns = Observed::Value(70_000_000);
    let summary = summarise_bench(session);
    assert_eq!(summary.comparisons[0].difference, Difference::WithinNoise, "350 ms of blur");
    assert_eq!(summary.cold_warm[0].device_share, None, "a difference that is not shown");
}

#[test]
fn a_session_that_differs_from_itself_claims_nothing_small() {
    let twin = Condition {
        role: ConditionRole::NoiseFloor { twin_of: 0 },
        ..condition(0, WantedState::Warm)
    };
    let conditions = vec![condition(0, WantedState::Warm), condition(1, WantedState::Warm), twin];
    let mut rng = Random::new(6);
    let session = session(&["a", "b"], conditions, 15, |index, _| {
        noisy(&mut rng, [100.0, 103.0, 106.0][index] * MS, 0.0001)
    });
    let summary = summarise_bench(session);
    let floor = summary.undecidable_below.unwrap_or(0.0);
    assert!((0.059..0.062).contains(&floor), "{floor}");
    assert_eq!(summary.comparisons.len(), 1, "the twin is compared with nothing else");
    assert_eq!(summary.comparisons[0].difference, Difference::WithinNoise);
    assert_eq!(kinds(&summary), ["noise-floor"]);
    assert_eq!(summary.conditions[2].label, "a (warm, again)");
}

#[test]
fn noise_that_never_reaches_the_other_side_hides_no_difference() {
    let twin = Condition {
        role: ConditionRole::NoiseFloor { twin_of: 0 },
        ..condition(0, WantedState::Warm)
    };
    let conditions = vec![condition(0, WantedState::Warm), condition(0, WantedState::Cold), twin];
    // 4.18 ms from the cache, 120 ms from the device; repeated, the first took three times as long, and 119 ms in one round.
    let of = |again: [u64; 6]| {
        summarise_bench(session(&["a"], conditions.clone(), 6, |index, round| {
            let round = round as usize;
            let first = if round == 4 { 3_900_000 } else { 4_180_000 };
            [first, 120_000_000, again[round] * 100_000][index] + round as u64
        }))
    };
    let summary = of([130, 120, 140, 90, 1_190, 125]);
    assert!(summary.undecidable_below.is_some_and(|floor| floor > 29.0), "{summary:?}");
    assert_eq!(summary.comparisons[0].difference, Difference::Slower);
    let summary = of([130, 120, 140, 90, 1_300, 125]);
    assert!(summary.undecidable_below.is_some_and(|floor| floor > 29.0));
    assert_eq!(summary.comparisons[0].difference, Difference::WithinNoise, "130 ms, once");
    assert_eq!(summary.cold_warm[0].device_share, None);
}

#[test]
fn warm_up_rounds_are_kept_apart() {
    let mut rng = Random::new(8);
    let conditions = vec![condition(0, WantedState::AsIs)];
    let mut session = session(&["app"], conditions, 15, |_, round| {
        noisy(&mut rng, if round < 4 { 160.0 } else { 100.0 } * MS, 0.01)
    });
    session.warmup = Warmup::Detect;
    let summary = summarise_bench(session.clone());
    assert_eq!((summary.warmup_rounds, summary.conditions[0].warmup_runs), (4, 4));
    assert_eq!(summary.conditions[0].valid.map(|times| times.runs), Some(11));
    assert_eq!(summary.conditions[0].label, "app");
    assert_eq!(kinds(&summary), ["warm-up"]);
    session.warmup = Warmup::Rounds(0);
    assert_eq!(summarise_bench(session).conditions[0].warmup_runs, 0);
}

#[test]
fn files_that_stay_and_files_that_changed_are_named() {
    let mut session = cold_warm(6);
    session.stop = StopReason::Interrupted;
    session.sets[0].members[0].cannot_evict =
        Some(StuckPages { pages: 800, reason: Unevictable::Mapped });
    session.sets[0].unreadable.push(Unreadable { path: "/root/x".into(), reason: "denied".into() });
    session.runs[3].inputs_changed = vec![0];
    session.runs[3].exit = ExitStatus::Code(1);
    let summary = summarise_bench(session);
    assert_eq!(
        kinds(&summary),
        ["unfinished", "failed-runs", "inputs-changed", "stuck-pages", "unreadable-files"]
    );
    let stuck = text_of(&summary, 3);
    assert!(stuck.contains("8.0 % of the pages") && stuck.contains("/data/app.bin (mapped"));
    assert_eq!(summary.conditions[1].valid_runs, 6, "these doubts don't make a run invalid");
}

#[test]
fn labels_are_unique() {
    let conditions = vec![condition(0, WantedState::Warm); 3];
    let session = session(&["app"], conditions, 1, |_, _| 1);
    let labels = labels(&session);
    assert_eq!(labels, ["app (warm)", "app (warm) #2", "app (warm) #3"]);
}

#[test]
fn an_empty_or_broken_session_does_not_panic() {
    let mut session = cold_warm(0);
    assert_eq!(summarise_bench(session.clone()).rounds, 0);
    session.runs = cold_warm(7).runs;
    session.commands.clear();
    session.sets.clear();
    session.learned.clear();
    session.environment.page_size_bytes = 0;
    for run in &mut session.runs {
        run.condition *= 7;
        run.wall_ns = u64::MAX;
        run.user_ns = u64::MAX;
        run.round = u32::MAX;
    }
    let summary = summarise_bench(session);
    assert_eq!(summary.conditions.len(), 2);
}

/// Two commands whose times are noisy, with CPU times of these nanoseconds, and the first one again.
fn busy(cpu_ns: [u64; 3]) -> BenchSession {
    let mut rng = Random::new(11);
    let mut conditions = vec![condition(0, WantedState::AsIs), condition(1, WantedState::AsIs)];
    conditions.push(Condition {
        role: ConditionRole::NoiseFloor { twin_of: 0 },
        ..condition(0, WantedState::AsIs)
    });
    let mut session = session(&["a", "b"], conditions, 15, |_, _| noisy(&mut rng, 90.0 * MS, 0.5));
    for run in &mut session.runs {
        let noise = 1.0 + 0.01 * rng.unit();
        (run.user_ns, run.system_ns) = ((cpu_ns[run.condition] as f64 * noise) as u64, 0);
    }
    session
}

#[test]
fn cpu_times_tell_commands_apart_on_a_busy_host() {
    let ms = 1_000_000;
    let told = |cpu_ns| {
        let summary = summarise_bench(busy(cpu_ns));
        let comparison = summary.comparisons[0];
        assert_eq!(comparison.difference, Difference::NoDifferenceShown, "{comparison:?}");
        (comparison.cpu_verdict, comparison.cpu.map_or(0.0, |cpu| cpu.ratio))
    };
    let (verdict, ratio) = told([50 * ms, 55 * ms, 50 * ms]);
    assert_eq!(verdict, Difference::Slower);
    assert!((1.09..1.11).contains(&ratio), "{ratio}");
    assert_eq!(told([50 * ms; 3]).0, Difference::NoDifferenceShown);
    // A command that differs from itself by 20 % says nothing of 10 %.
    assert_eq!(told([50 * ms, 55 * ms, 60 * ms]).0, Difference::WithinNoise);
}
