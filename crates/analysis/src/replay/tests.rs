//! What replays show.

use hotset_facts::replay::ReplayState;
use hotset_facts::trace::RecordingCost;

use super::testing::{differing, sample, session};
use super::*;
use crate::bench::Difference;

#[test]
fn a_replay_is_compared_with_what_was_recorded() {
    let summary = summarise_replay(session((0..6).map(|round| sample(0, round, 95)).collect()));
    let fidelity = &summary.fidelity;
    assert_eq!(
        fidelity.recorded_io_ns,
        Some(100e6),
        "durations, and 1,000 entries into the kernel"
    );
    assert_eq!((fidelity.ratio, fidelity.no_claim), (Some(0.95), None));
    assert_eq!(fidelity.device_read_ratio, Some(1.0));
    assert!(fidelity.interval.is_some());
    assert!(summary.ratios.is_empty());
}

#[test]
fn faults_that_nobody_timed_are_compared_with_nothing() {
    let mut faults = sample(0, 0, 150);
    faults.untimed_ns = 50_000_000;
    let summary = summarise_replay(session(vec![faults]));
    assert_eq!(summary.fidelity.ratio, Some(1.0));
    assert_eq!(summary.cells[0].io_ns.expect("a time").median, 150e6);
}

#[test]
fn what_is_not_as_recorded_claims_nothing() {
    let claim = |session| summarise_replay(session).fidelity.no_claim;
    let at = |busy_ms| session(vec![sample(0, 0, busy_ms)]);
    assert_eq!(claim(at(79)), Some(NoClaim::Faster));
    assert_eq!((claim(at(80)), claim(at(125))), (None, None));
    assert_eq!(claim(at(126)), Some(NoClaim::Slower));
    let with_gaps = hotset_facts::replay::ReplaySession { gaps: 1, ..at(100) };
    assert_eq!(claim(with_gaps), Some(NoClaim::Gaps));
    let mut without_durations = at(100);
    without_durations.recorded.duration_ns = 0;
    assert_eq!(claim(without_durations), Some(NoClaim::NoDurations));
    assert_eq!(claim(session(vec![differing(sample(0, 0, 100))])), Some(NoClaim::Differences));
    assert_eq!(claim(session(Vec::new())), Some(NoClaim::NoReplay));
    let mut warm = sample(0, 0, 100);
    warm.state = ReplayState::Warm;
    assert_eq!(claim(session(vec![warm])), Some(NoClaim::NoReplay), "another state");
}

#[test]
fn replays_on_slow_and_fast_cpus_may_be_faster_than_recorded_and_never_slower() {
    let claim = |busy: [u64; 6]| {
        let samples = (0..).zip(busy).map(|(round, ms)| sample(0, round, ms)).collect();
        summarise_replay(session(samples)).fidelity.no_claim
    };
    assert_eq!(claim([60, 90, 61, 90, 62, 90]), None);
    assert_eq!(claim([60, 62, 61, 70, 62, 79]), Some(NoClaim::Faster));
    assert_eq!(claim([130, 100, 131, 100, 132, 133]), Some(NoClaim::Slower));
}

#[test]
fn what_a_slow_replay_saves_is_a_part_of_what_was_recorded() {
    let samples = (0..6).flat_map(|round| [sample(0, round, 120), sample(1, round, 60)]);
    let prediction = summarise_replay(session(samples.collect())).predictions.remove(0);
    assert!(prediction.saved_ns.is_some_and(|ns| (ns - 50e6).abs() < 1.0), "{prediction:?}");
}

#[test]
fn a_recording_that_knows_its_cost_is_corrected_by_it() {
    let mut session = session(vec![sample(0, 0, 85), sample(1, 0, 20)]);
    session.head.cost = Some(RecordingCost { beyond_duration_ns: -5_000, added_ns: 100_000 });
    let summary = summarise_replay(session);
    assert_eq!(summary.fidelity.recorded_io_ns, Some(85e6));
    assert_eq!(summary.predictions[0].wall_ns, 300_000_000, "as it was recorded");
}

#[test]
fn a_replay_with_other_pages_or_results_is_not_used() {
    let mut cold = sample(0, 1, 500);
    cold.pages.cached = 10;
    let samples = vec![sample(0, 0, 100), cold, differing(sample(0, 2, 10))];
    let cell = &summarise_replay(session(samples)).cells[0];
    assert_eq!((cell.valid, cell.without_state, cell.with_differences), (1, 1, 1));
    assert_eq!(cell.io_ns.expect("a time").max, 100e6);
}

#[test]
fn a_change_is_compared_within_rounds() {
    let noisy = [100, 200, 100, 150, 130, 100];
    let rounds = (0..).zip(noisy);
    let samples = rounds.flat_map(|(round, ms)| [sample(0, round, ms), sample(1, round, ms / 4)]);
    let mut samples: Vec<_> = samples.collect();
    // A round in which one side is not used has no ratio.
    samples.push(sample(0, 6, 100));
    samples.push(differing(sample(1, 6, 1)));
    let summary = summarise_replay(session(samples));
    let ratio = &summary.ratios[0];
    assert_eq!((ratio.variant, ratio.state, ratio.io.rounds), (1, ReplayState::Recorded, 6));
    assert!((ratio.io.ratio - 0.25).abs() < 0.01, "{ratio:?}");
    assert_eq!(ratio.io.difference(), Difference::Faster);
}

#[test]
fn a_prediction_takes_what_is_saved_off_the_recorded_run() {
    let samples = (0..6).flat_map(|round| [sample(0, round, 100), sample(1, round, 20)]);
    let predict = |session| summarise_replay(session).predictions.remove(0);
    let all = session(samples.collect());
    let prediction = predict(all.clone());
    assert_eq!((prediction.saved_ns, prediction.no_prediction), (Some(80e6), None));
    let (wall_ns, ends) = prediction.changed_wall_ns().expect("predicted");
    assert_eq!(wall_ns, 220e6);
    assert!(ends.is_some_and(|ends| ends.holds(220e6)));
    let mut shared = all.clone();
    shared.recorded.covered_ns = 70_000_000;
    assert_eq!(predict(shared).no_prediction, Some(NoPrediction::Overlap));
    let mut slow = all.clone();
    slow.recorded.duration_ns = 10_000_000;
    let slow = predict(slow);
    assert_eq!((slow.no_prediction, slow.saved_ns), (Some(NoPrediction::Fidelity), None));
    assert_eq!(slow.changed_wall_ns(), None);
    let mut without = all;
    without.samples.retain(|sample| sample.variant == 0);
    assert_eq!(predict(without).no_prediction, Some(NoPrediction::NoReplay));
}
