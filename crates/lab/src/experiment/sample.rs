//! From what a probe answered to samples of cells.

use hotset_facts::{
    CountedBy, DoubtCode, Factor, FilledBy, LabCell, LabDoubt, LabSample, Observed, Reason,
    StateReached, WantedState,
};

use super::expects::Expects;
use super::gates;
use super::parts::{Part, PartSample, Splits};
use super::plan::{CellPlan, cell_id};
use hotset_sys::rawio::{Answer, Repetition};

/// The cells that a planned one becomes, still without samples.
pub(super) fn cells_of(experiment: &str, plan: &CellPlan) -> Vec<LabCell> {
    let cell = |more: &[Factor], state_wanted: WantedState, expects: &Expects| {
        let factors = with(&plan.factors, more);
        let turned_warm = state_wanted != plan.state;
        LabCell {
            id: cell_id(experiment, &factors),
            factors,
            unit: plan.unit,
            state_wanted,
            filled_by: if turned_warm { FilledBy::LargeFolios } else { plan.filled_by },
            syscalls_by: if kernel_counts(expects) { CountedBy::Kernel } else { CountedBy::Nobody },
            samples: Vec::new(),
        }
    };
    match &plan.splits {
        Splits::Whole => vec![cell(&[], wanted(plan, &plan.expects), &plan.expects)],
        Splits::Parts(parts) => {
            let of = |part: &Part| cell(&part.factors, wanted_of(plan, part), &part.expects);
            parts.iter().map(of).collect()
        }
    }
}

/// The factors with more of them, which stand in the place of those of the same name.
fn with(factors: &[Factor], more: &[Factor]) -> Vec<Factor> {
    let mut all = factors.to_vec();
    for factor in more {
        match all.iter_mut().find(|known| known.name == factor.name) {
            Some(known) => *known = factor.clone(),
            None => all.push(factor.clone()),
        }
    }
    all
}

/// The state that a part begins in.
fn wanted_of(plan: &CellPlan, part: &Part) -> WantedState {
    part.state.unwrap_or_else(|| wanted(plan, &part.expects))
}

/// The state that a cell of this plan begins in. A part that may read nothing from the device begins warm, however cold the
/// run began: it reads what an earlier part brought in.
fn wanted(plan: &CellPlan, expects: &Expects) -> WantedState {
    match plan.state.is_cold() && expects.max_device_bytes == Some(0) {
        true => WantedState::Warm,
        false => plan.state,
    }
}

/// What is expected of each of these cells.
pub(super) fn expects_of(plan: &CellPlan) -> Vec<&Expects> {
    match &plan.splits {
        Splits::Whole => vec![&plan.expects],
        Splits::Parts(parts) => parts.iter().map(|part| &part.expects).collect(),
    }
}

/// Where the plan knows how many calls of a kind there must be, the kernel's own count of them is shown.
fn kernel_counts(expects: &Expects) -> bool {
    expects.read_calls.is_some() || expects.write_calls.is_some()
}

fn calls_of(expects: &Expects, did: &Repetition) -> Option<u64> {
    match (expects.read_calls, expects.write_calls) {
        (_, Some(_)) => did.write_calls,
        (Some(_), None) => did.read_calls,
        (None, None) => None,
    }
}

/// The samples of a run, one for each of its cells.
pub(super) fn samples_of(
    plan: &CellPlan,
    answer: &Answer,
    round: u32,
    reached: Observed<StateReached>,
    doubts: &[LabDoubt],
) -> Vec<LabSample> {
    match &plan.splits {
        Splits::Whole => {
            let whole = answer.whole();
            let more = gates::run(&plan.expects, &whole, Some(answer));
            let did = Did { operations: answer.operations(), bytes: answer.bytes, whole };
            let mut one = sample(&plan.expects, &did, round, reached, [doubts, &more].concat());
            if plan.expects.write_calls.is_none()
                && let Some(calls) = told_calls(answer, &whole)
            {
                one.syscalls = Observed::Value(calls);
            }
            vec![one]
        }
        Splits::Parts(parts) => {
            // What is wrong with the whole run is wrong with each part.
            let more = gates::run(&plan.expects, &answer.whole(), Some(answer));
            let doubts = [doubts, &more].concat();
            let later = unknown_unless_warm(plan.state, reached);
            let before = |part: &Part| if part.from == 0 { reached } else { later };
            let one = |part: &Part| {
                let state = wanted_of(plan, part);
                let mut one = of_part((part, state), answer, round, before(part), &doubts);
                if plan.is_set_by_probe && one.reached_before.value().is_none() {
                    one.doubts.extend(gates::state(state, one.reached_before, None));
                }
                one
            };
            parts.iter().map(one).collect()
        }
    }
}

/// The calls of a run by the probe's word: those that the kernel counted for it, with what goes through a ring; else those
/// that it believes it made.
fn told_calls(answer: &Answer, whole: &Repetition) -> Option<u64> {
    let counted = whole.read_calls.zip(whole.write_calls).map(|(reads, writes)| reads + writes);
    let entered = answer.calls.get("io_uring_enter").copied().unwrap_or(0);
    let believed = || (!answer.calls.is_empty()).then(|| answer.calls.values().sum());
    counted.map(|calls| calls + entered).or_else(believed)
}

struct Did {
    operations: u64,
    bytes: u64,
    whole: Repetition,
}

/// What later parts began with, where the probe doesn't look again: a run that began warm only reads, another one has
/// changed what is cached.
fn unknown_unless_warm(
    state: WantedState,
    reached: Observed<StateReached>,
) -> Observed<StateReached> {
    match state {
        WantedState::Warm => reached,
        _ => Observed::Missing(Reason::not_measured("earlier parts of the run changed the cache")),
    }
}

fn of_part(
    (part, wanted): (&Part, WantedState),
    answer: &Answer,
    round: u32,
    reached: Observed<StateReached>,
    doubts: &[LabDoubt],
) -> LabSample {
    let all = answer.parts();
    let end = part.to.unwrap_or(all.len()).min(all.len());
    let mut some: Vec<Repetition> = all.get(part.from..end).unwrap_or_default().to_vec();
    // Repetitions move the same number of bytes each, in as many operations.
    let repetitions = all.len().max(1) as u64;
    let each_bytes = answer.bytes / repetitions;
    let each_operations = (answer.operations() / repetitions).max(1);
    let did = match part.sample {
        PartSample::Sum => Did {
            operations: each_operations * some.len() as u64,
            bytes: each_bytes * some.len() as u64,
            whole: some.into_iter().reduce(Repetition::plus).unwrap_or_default(),
        },
        PartSample::Median => {
            some.sort_by_key(|repetition| repetition.wall_ns);
            let middle = some.get(some.len().saturating_sub(1) / 2).copied();
            let bytes = if middle.is_some() { each_bytes } else { 0 };
            Did { operations: each_operations, bytes, whole: middle.unwrap_or_default() }
        }
    };
    let mut doubts = [doubts, &gates::run(&part.expects, &did.whole, None)].concat();
    if did.whole.wall_ns == 0 {
        let text = "the probe has no such repetition".to_owned();
        doubts.push(LabDoubt { code: DoubtCode::Failed, text, invalidates: true });
    }
    // What was cached right before this part, where the probe looked itself, which knows best.
    let seen = did.whole.pages.zip(did.whole.cached_before_pages);
    let reached = seen.map_or(reached, |(pages, cached_pages)| {
        Observed::Value(StateReached { pages, cached_pages, ..StateReached::default() })
    });
    // Once is enough: the whole run's doubt about its beginning may be there already.
    if seen.is_some() && !doubts.iter().any(|doubt| doubt.code == DoubtCode::StateNotReached) {
        doubts.extend(gates::state(wanted, reached, None));
    }
    sample(&part.expects, &did, round, reached, doubts)
}

fn sample(
    expects: &Expects,
    did: &Did,
    round: u32,
    reached_before: Observed<StateReached>,
    doubts: Vec<LabDoubt>,
) -> LabSample {
    let told = |value: Option<u64>| match value {
        Some(value) => Observed::Value(value),
        None => Observed::Missing(Reason::not_measured("the probe does not tell")),
    };
    let whole = did.whole;
    LabSample {
        round,
        wall_ns: whole.wall_ns,
        operations: did.operations,
        cpu_ns: told(whole.cpu_ns),
        bytes: did.bytes,
        syscalls: calls_of(expects, &whole).map_or(
            Observed::Missing(Reason::not_measured("its calls were not counted")),
            Observed::Value,
        ),
        reached_before,
        device_read_bytes: told(whole.device_read_bytes),
        device_write_bytes: told(whole.device_write_bytes),
        major_faults: told(whole.major_faults),
        minor_faults: told(whole.minor_faults),
        doubts,
    }
}

/// A run without an answer: kept in each of its cells, so that the failure is counted.
pub(super) fn failed(
    plan: &CellPlan,
    round: u32,
    reached: Observed<StateReached>,
    why: &str,
) -> Vec<LabSample> {
    let doubt = LabDoubt { code: DoubtCode::Failed, text: why.to_owned(), invalidates: true };
    let none = Did { operations: 0, bytes: 0, whole: Repetition::default() };
    let one = sample(&Expects::default(), &none, round, reached, vec![doubt]);
    let cells = match &plan.splits {
        Splits::Whole => 1,
        Splits::Parts(parts) => parts.len(),
    };
    vec![one; cells]
}

#[cfg(test)]
mod tests {
    use super::super::plan::{ProbeCommand, name};
    use super::*;

    fn split(part: PartSample, from: usize, to: Option<usize>, which: &str) -> Part {
        let factors = vec![name("which", which)];
        Part { factors, state: None, from, to, sample: part, expects: Expects::warm() }
    }

    fn plan(splits: Splits) -> CellPlan {
        let probe = ProbeCommand::Program { argv: Vec::new() };
        let plan = CellPlan::new(vec![name("what", "read")], WantedState::Warm, probe);
        CellPlan { splits, ..plan }
    }

    fn answer() -> Answer {
        let text =
            br#"{"probe":"x","bytes":40,"operations":4,"repetitions_ns":[90,5,9,7],"repetitions":[
            {"wall_ns":90,"device_read_bytes":4096,"pages":2,"cached_before_pages":0},
            {"wall_ns":5,"device_read_bytes":0},{"wall_ns":9,"device_read_bytes":4096},
            {"wall_ns":7,"device_read_bytes":0,"pages":2,"cached_before_pages":2}]}"#;
        Answer::parse(text).expect("answer")
    }

    #[test]
    fn calls_are_the_kernels_count_or_what_the_probe_believes() {
        let told = |text: &[u8]| {
            let answer = Answer::parse(text).expect("answer");
            told_calls(&answer, &answer.whole())
        };
        let kernel = br#"{"probe":"x","repetitions_ns":[1],"read_calls":3,"write_calls":1,
            "calls":{"io_uring_enter":5,"pread":9}}"#;
        assert_eq!(told(kernel), Some(9));
        assert_eq!(
            told(br#"{"probe":"x","repetitions_ns":[1],"calls":{"open":2,"read":4}}"#),
            Some(6)
        );
        assert_eq!(told(br#"{"probe":"x","repetitions_ns":[1]}"#), None);
    }

    #[test]
    fn a_run_is_one_sample_or_one_for_each_part() {
        let unknown = Observed::Missing(Reason::not_measured("x"));
        let whole = samples_of(&plan(Splits::Whole), &answer(), 3, unknown, &[]);
        assert_eq!((whole[0].wall_ns, whole[0].operations, whole[0].round), (111, 4, 3));
        let parts = plan(Splits::Parts(vec![
            split(PartSample::Sum, 0, Some(1), "first"),
            split(PartSample::Sum, 1, None, "later"),
            split(PartSample::Median, 1, None, "median"),
            split(PartSample::Sum, 9, None, "none"),
        ]));
        let ids: Vec<_> = cells_of("reread", &parts).iter().map(|c| c.id.clone()).collect();
        assert_eq!(ids[..2], ["reread/read/first", "reread/read/later"]);
        let samples = samples_of(&parts, &answer(), 0, unknown, &[]);
        let told: Vec<_> = samples
            .iter()
            .map(|sample| (sample.wall_ns, sample.operations, sample.bytes))
            .collect();
        assert_eq!(told, [(90, 1, 10), (21, 3, 30), (7, 1, 10), (0, 0, 0)]);
        let cached = samples[2].reached_before.value().map(|reached| reached.cached_pages);
        assert_eq!(cached, Some(2));
        // Each part is judged by what it read itself.
        let valid: Vec<bool> = samples.iter().map(LabSample::is_valid).collect();
        assert_eq!(valid, [false, false, true, false]);
        assert_eq!(failed(&parts, 0, unknown, "why").len(), 4);
        assert_eq!(expects_of(&parts).len(), 4);
    }

    #[test]
    fn orders_in_a_row_are_cells_that_begin_with_what_the_one_before_left() {
        let order = |order| vec![name("order", order)];
        let parts = vec![
            Part::at(0, order("sequential"), Expects::default()),
            Part::at(1, order("reverse"), Expects::default()),
        ];
        let probe = ProbeCommand::Program { argv: Vec::new() };
        let factors = vec![name("order", "chain"), name("state", "chain")];
        let plan = CellPlan::new(factors, WantedState::Cold, probe);
        let plan = CellPlan { splits: Splits::Parts(parts), ..plan };
        let cells = cells_of("access", &plan);
        let told: Vec<_> = cells.iter().map(|cell| (cell.id.as_str(), cell.state_wanted)).collect();
        assert_eq!(
            told,
            [
                ("access/sequential/chain", WantedState::Cold),
                ("access/reverse/chain", WantedState::AsIs)
            ]
        );
        let text =
            br#"{"probe":"x","bytes":4000,"operations":4,"repetitions_ns":[9,5],"repetitions":[
            {"wall_ns":9,"pages":2,"cached_before_pages":0},
            {"wall_ns":5,"pages":2,"cached_before_pages":2}]}"#;
        let answer = Answer::parse(text).expect("answer");
        let cold = Observed::Value(StateReached { pages: 2, ..StateReached::default() });
        let samples = samples_of(&plan, &answer, 0, cold, &[]);
        for sample in &samples {
            assert!(sample.is_valid(), "{sample:?}");
            assert_eq!((sample.operations, sample.bytes), (2, 2000));
        }
    }

    #[test]
    fn a_probe_that_sets_the_state_has_to_tell_it() {
        let unknown = Observed::Missing(Reason::not_measured("x"));
        let parts = [split(PartSample::Sum, 0, Some(1), "first")];
        let cold = Part { expects: Expects::default(), ..parts[0].clone() };
        let plan = CellPlan {
            state: WantedState::Cold,
            is_set_by_probe: true,
            ..plan(Splits::Parts(vec![cold]))
        };
        let valid = |text: &[u8]| {
            let answer = Answer::parse(text).expect("answer");
            samples_of(&plan, &answer, 0, unknown, &[])[0].is_valid()
        };
        let told = |cached: &str| {
            let text = format!(
                "{{\"probe\":\"x\",\"repetitions_ns\":[9],\"repetitions\":[{{\"wall_ns\":9{cached}}}]}}"
            );
            valid(text.as_bytes())
        };
        assert!(told(",\"pages\":2,\"cached_before_pages\":0"));
        assert!(!told(",\"pages\":2,\"cached_before_pages\":2"));
        assert!(!told(""));
    }

    #[test]
    fn what_a_later_part_began_with_is_not_what_the_run_began_with() {
        let none = StateReached { pages: 2, ..StateReached::default() };
        let text = br#"{"probe":"x","repetitions_ns":[9,5],"repetitions":[
            {"wall_ns":9,"device_read_bytes":0},{"wall_ns":5,"device_read_bytes":0}]}"#;
        let answer = Answer::parse(text).expect("answer");
        let seen = |state| {
            let parts = vec![
                split(PartSample::Sum, 0, Some(1), "first"),
                split(PartSample::Median, 1, None, "later"),
            ];
            let plan = CellPlan { state, ..plan(Splits::Parts(parts)) };
            let samples = samples_of(&plan, &answer, 0, Observed::Value(none), &[]);
            samples.iter().map(|sample| sample.reached_before.value()).collect::<Vec<_>>()
        };
        assert_eq!(seen(WantedState::Cold), [Some(none), None]);
        assert_eq!(seen(WantedState::Warm), [Some(none), Some(none)]);
    }
}
