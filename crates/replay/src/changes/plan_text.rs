//! Plans as text, for tests: a line a step, with what it waits for.

use std::fmt::Write as _;

use hotset_facts::replay::{ReplayPlan, Step};

use super::{apply, parse};

/// `pread 0 @4096+100=100 #7`: what it does to what, where, how many bytes of how many, and its record.
fn step_text(step: &Step) -> String {
    let Step { kind, target, offset, bytes, result, record, flags } = step;
    let flags = if flags.0 == 0 { String::new() } else { format!(" {flags}") };
    format!("{} {target} @{offset}+{bytes}={result} #{record}{flags}", kind.as_str())
}

/// All threads.
pub(super) fn plan_text(plan: &ReplayPlan) -> String {
    let mut text = String::new();
    for (at, thread) in plan.threads.iter().enumerate() {
        let ring = match thread.ring_depth {
            0 => String::new(),
            depth => format!(" with {depth} in flight"),
        };
        let _ = writeln!(text, "thread {at}{ring}");
        for (place, step) in thread.steps.iter().enumerate() {
            for wait in thread.waits.iter().filter(|wait| wait.before as usize == place) {
                let _ = writeln!(text, "  wait {} {}", wait.thread, wait.steps);
            }
            let _ = writeln!(text, "  {}", step_text(step));
        }
    }
    text
}

/// A plan after one change.
pub(super) fn after(plan: &ReplayPlan, asked: &str) -> String {
    let asked = parse(asked).expect("a change");
    plan_text(&apply(plan, &[asked]).expect("something to change").plan)
}

/// Why one change does not apply to a plan.
pub(super) fn why_not(plan: &ReplayPlan, asked: &str) -> String {
    let asked = parse(asked).expect("a change");
    apply(plan, &[asked]).expect_err("nothing to change").to_string()
}
