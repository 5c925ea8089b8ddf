//! What holds of all changes.

use hotset_facts::replay::ReplayPlan;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::testing::{plan, requests};
use super::*;

/// Every change, with an argument that random traces have something for.
fn every() -> Vec<Asked> {
    let text = |change: &Change| match change.argument {
        Some(Argument::Size) => format!("{}=8K", change.name),
        Some(Argument::Count | Argument::Depth) => format!("{}=2", change.name),
        None => change.name.to_owned(),
    };
    all().iter().map(|change| parse(&text(change)).expect("a change")).collect()
}

/// Makes a change, if there is something to change. [`apply`] holds it against what changes must keep.
fn apply_some(plan: &ReplayPlan, asked: &Asked) -> ReplayPlan {
    match apply(plan, std::slice::from_ref(asked)) {
        Ok(changed) => changed.plan,
        Err(ChangeError::NotApplicable { .. }) => plan.clone(),
        Err(error) => panic!("{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn every_change_keeps_what_a_program_gets(requests in requests(40)) {
        let plan = plan(&requests);
        for asked in every() {
            let changed = apply_some(&plan, &asked);
            prop_assert_eq!(changed.recorded, plan.recorded);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn so_do_every_two_of_them(requests in requests(30)) {
        let plan = plan(&requests);
        for one in every() {
            let changed = apply_some(&plan, &one);
            for other in every() {
                apply_some(&changed, &other);
            }
        }
    }
}

#[test]
fn random_traces_have_something_for_every_change() {
    let mut runner = TestRunner::deterministic();
    let mut times = vec![0; all().len()];
    for _ in 0..100 {
        let requests = requests(40).new_tree(&mut runner).expect("requests").current();
        let plan = plan(&requests);
        for (times, asked) in times.iter_mut().zip(every()) {
            *times += u32::from(apply(&plan, &[asked]).is_ok());
        }
    }
    let named: Vec<_> = all().iter().map(|change| change.name).zip(times).collect();
    assert!(named.iter().all(|(_, times)| *times >= 5), "{named:?}");
}
