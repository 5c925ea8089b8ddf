use super::*;
use crate::bench::testing::{condition, noisy, session};
use hotset_facts::random::Random;
use hotset_facts::{BenchSession, Observed, WantedState};

const PLAN: Plan = Plan {
    fixed_rounds: None,
    first_rounds: 15,
    block_rounds: 5,
    max_rounds: 100,
    max_time_ns: None,
    target_half_width: 0.02,
};

fn two(rounds: u32, spread: f64) -> BenchSession {
    let mut rng = Random::new(9);
    let conditions = vec![condition(0, WantedState::AsIs), condition(1, WantedState::AsIs)];
    session(&["a", "b"], conditions, rounds, |_, _| noisy(&mut rng, 5e7, spread))
}

fn decided(plan: &Plan, session: &BenchSession, rounds: u32, elapsed_ns: u64) -> Decision {
    decide(plan, Progress { session, rounds, elapsed_ns })
}

#[test]
fn precise_data_stop_after_the_planned_rounds_and_not_before() {
    for rounds in 1..15 {
        assert_eq!(decided(&PLAN, &two(rounds, 1e-4), rounds, 0), Decision::GoOn, "{rounds}");
    }
    let stop = Decision::Stop(StopReason::PreciseEnough);
    assert_eq!(decided(&PLAN, &two(15, 1e-4), 15, 0), stop);
    let loose = Plan { target_half_width: 1e9, ..PLAN };
    assert_eq!(decided(&loose, &two(16, 0.3), 16, 0), Decision::GoOn, "looks only after a block");
    assert_eq!(decided(&loose, &two(20, 0.3), 20, 0), stop);
}

#[test]
fn noisy_data_go_on_until_the_most_rounds() {
    for rounds in [15, 20, 99] {
        assert_eq!(decided(&PLAN, &two(rounds, 0.5), rounds, 0), Decision::GoOn);
    }
    let done = Decision::Stop(StopReason::RunsDone);
    assert_eq!(decided(&PLAN, &two(100, 0.5), 100, 0), done);
}

#[test]
fn fixed_rounds_are_neither_more_nor_fewer() {
    let plan = Plan { fixed_rounds: Some(3), ..PLAN };
    assert_eq!(decided(&plan, &two(2, 1e-4), 2, 0), Decision::GoOn);
    assert_eq!(decided(&plan, &two(3, 1e-4), 3, 0), Decision::Stop(StopReason::RunsDone));
    assert_eq!(plan.planned_rounds(Warmup::Rounds(2)), 5);
    assert_eq!(Plan { first_rounds: 1, ..PLAN }.planned_rounds(Warmup::Detect), 6);
    let few = Plan { max_rounds: 3, ..PLAN };
    assert_eq!(few.planned_rounds(Warmup::Detect), 3);
    assert_eq!(decided(&few, &two(2, 0.5), 2, 0), Decision::GoOn);
    assert_eq!(decided(&few, &two(3, 0.5), 3, 0), Decision::Stop(StopReason::RunsDone));
}

#[test]
fn a_round_that_cannot_end_in_time_is_not_begun() {
    let plan = Plan { max_time_ns: Some(100), ..PLAN };
    let session = two(9, 0.5);
    assert_eq!(decided(&plan, &session, 9, 90), Decision::GoOn);
    assert_eq!(decided(&plan, &session, 9, 91), Decision::Stop(StopReason::MaxTime));
    assert_eq!(decided(&plan, &two(0, 0.5), 0, 1000), Decision::GoOn, "one round always is");
}

#[test]
fn one_condition_is_precise_if_its_median_is() {
    let one = |spread: f64| {
        let mut rng = Random::new(9);
        let conditions = vec![condition(0, WantedState::AsIs)];
        session(&["a"], conditions, 15, |_, _| noisy(&mut rng, 5e7, spread))
    };
    assert_eq!(decided(&PLAN, &one(1e-4), 15, 0), Decision::Stop(StopReason::PreciseEnough));
    assert_eq!(decided(&PLAN, &one(0.5), 15, 0), Decision::GoOn);
}

#[test]
fn what_no_number_of_rounds_helps_is_not_waited_for() {
    let mut session = two(15, 0.5);
    session.timer.spawn_noise_ns = Observed::Value(50_000_000);
    assert_eq!(decided(&PLAN, &session, 15, 0), Decision::Stop(StopReason::TooShort));
    let mut narrow = two(15, 1e-4);
    narrow.timer.spawn_noise_ns = Observed::Value(50_000_000);
    assert_eq!(decided(&PLAN, &narrow, 15, 0), Decision::Stop(StopReason::PreciseEnough));
    let mut none_valid = two(15, 1e-4);
    none_valid.conditions[0].state = WantedState::Cold;
    assert_eq!(decided(&PLAN, &none_valid, 15, 0), Decision::GoOn, "no valid run, no interval");
}
