use hotset_facts::{BenchSession, Condition, ConditionRole, Observed, Reason, WantedState};

use super::*;
use crate::bench::summarise_bench;
use crate::bench::testing::{condition, session};

/// A warm and a cold one, their times 10 and 20 ms, and the warm one again.
fn three(rounds: u32) -> BenchSession {
    let twin = ConditionRole::NoiseFloor { twin_of: 0 };
    let conditions = vec![
        condition(0, WantedState::Warm),
        condition(0, WantedState::Cold),
        Condition { role: twin, ..condition(0, WantedState::Warm) },
    ];
    session(&["app"], conditions, rounds, |index, round| {
        [10_000_000, 20_000_000, 10_000_000][index] + u64::from(round)
    })
}

/// What is told once: of which conditions, and what.
fn told(session: BenchSession) -> Vec<(Vec<usize>, String)> {
    let warnings = summarise_bench(session).grouped_warnings();
    let of = |warning: &BenchWarning| match &warning.about {
        About::Session => Vec::new(),
        About::Conditions(all) | About::Commands(all) => all.clone(),
    };
    warnings.iter().map(|warning| (of(warning), warning.text(&default_time))).collect()
}

fn doubtful(session: &mut BenchSession, doubted: impl Fn(&hotset_facts::BenchRun) -> bool) {
    for run in session.runs.iter_mut().filter(|run| doubted(run)) {
        run.reached_before = Observed::Missing(Reason::denied("not this user's"));
    }
}

#[test]
fn what_is_true_of_several_conditions_is_told_once_with_its_runs_added_up() {
    let mut all = three(8);
    doubtful(&mut all, |run| run.condition != 1 || run.round == 0);
    let once = "17 of 24 runs excluded, e.g. the cache state is unknown".to_owned();
    let told = told(all.clone());
    assert!(told.contains(&(vec![0, 1, 2], once)), "{told:?}");
    let none = "no valid runs (16 excluded); showing the estimate from all runs".to_owned();
    assert!(told.contains(&(vec![0, 2], none)), "{told:?}");
    let labelled = summarise_bench(all).labelled_warnings();
    let unknown: Vec<&str> = labelled
        .iter()
        .filter(|warning| warning.kind == "state-unknown")
        .map(|warning| warning.text.as_str())
        .collect();
    let each = |label: &str, runs| {
        format!("app ({label}): {runs} of 8 runs excluded, e.g. the cache state is unknown")
    };
    assert_eq!(unknown, [each("warm", 8), each("cold", 1), each("warm, again", 8)]);
}

#[test]
fn conditions_that_differ_are_told_from_what_to_what() {
    let mut short = three(4);
    short.timer.spawn_noise_ns = Observed::Value(7_000_000);
    short.runs.retain(|run| run.condition != 1 || run.round > 0);
    let told = told(short);
    let blur = "the start of a process varied by 7.00 ms here, and differences below five times that, 35.0 ms, are not claimed";
    let times = format!("10.0 ms to 20.0 ms are short: {blur}");
    let runs = "3 to 4 runs each; a 95 % confidence interval requires 6".to_owned();
    assert_eq!(told, [(vec![0, 1, 2], times), (vec![0, 1, 2], runs)]);
}

/// One cause of what is not warm is not one of what is not cold.
#[test]
fn different_advice_keeps_warnings_apart() {
    let mut session = three(8);
    for run in &mut session.runs {
        let (before, after) = (run.reached_before, run.reached_after);
        (run.reached_before, run.reached_after) = (after, before);
        if run.condition != 1
            && let Observed::Value(reached) = &mut run.reached_before
        {
            reached.cached_pages = 0;
        }
    }
    let warnings = summarise_bench(session).grouped_warnings();
    let states: Vec<&BenchWarning> =
        warnings.iter().filter(|warning| warning.kind() == "state-not-reached").collect();
    let about: Vec<&About> = states.iter().map(|warning| &warning.about).collect();
    assert_eq!(about, [&About::Conditions(vec![0, 2]), &About::Conditions(vec![1])]);
    assert_ne!(states[0].advice(), states[1].advice());
}

#[test]
fn a_run_with_two_reasons_is_not_two_runs() {
    let mut session = three(9);
    for (at, run) in session.runs.iter_mut().filter(|run| run.condition == 0).enumerate() {
        run.device_read_bytes = Observed::Value(if at < 3 { 4096 } else { 0 });
        run.major_faults = u64::from(at == 2);
    }
    let summary = summarise_bench(session.clone());
    assert_eq!(summary.conditions[0].invalid_runs, 3);
    assert_eq!(
        told(session),
        [
            (
                vec![0],
                "3 of 9 runs excluded (1 of them for other reasons, too), e.g. read 4.00 KiB from the device"
                    .to_owned()
            ),
            (
                vec![0],
                "1 of 9 runs excluded (for another reason, too), e.g. 1 major fault".to_owned()
            ),
        ]
    );
    assert_eq!(other_reasons(4, 0), "");
    assert_eq!(other_reasons(4, 4), "all of them for other reasons, too");
}

#[test]
fn a_run_whose_repetition_is_counted_has_a_reason_too() {
    let mut session = three(8);
    let again = session.runs[3].clone();
    session.runs.push(hotset_facts::BenchRun { repeat: 1, ..again });
    let summary = summarise_bench(session.clone());
    assert_eq!(summary.conditions[0].invalid_runs, 1);
    let text = "1 of 9 runs excluded: valid, but another run of the round is counted".to_owned();
    assert_eq!(told(session), [(vec![0], text)]);
}

#[test]
fn times_are_written_by_whoever_shows_them() {
    let mut session = three(8);
    session.timer.spawn_noise_ns = Observed::Value(3_000_000);
    let warnings = summarise_bench(session).grouped_warnings();
    let text = warnings[0].text(&|ns| format!("<{:.0}>", ns / 1000.0));
    assert_eq!(
        text,
        "<10000> are short: the start of a process varied by <3000> here, and differences below five times that, <15000>, are \
         not claimed"
    );
}
