//! A budget, as a person writes it: any text is read or refused, and what is read can be changed and is a budget again.

#![no_main]

use hotset_budget::{Changed, read, update};
use hotset_facts::Unit;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(budget) = read(text) else { return };
    for check in &budget.checks {
        for number in check.limits.0.keys() {
            let changed =
                Changed { check: &check.name, among: None, number, unit: Unit::Count, value: 7 };
            let new = update(text, &[changed]).expect("a limit that was read");
            assert_eq!(read(&new).expect("a budget").checks.len(), budget.checks.len());
        }
    }
});
