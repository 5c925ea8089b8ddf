use hotset_facts::{DoubtCode, LabDoubt, LabUnit, Level};

use super::answer::compare;
use super::testing::{cell, invalid, sample, session};
use super::*;

fn name(name: &str) -> Level {
    Level::Name(name.to_owned())
}

#[test]
fn what_does_not_count_is_not_averaged_in_and_not_lost() {
    let mut one = cell(&[("method", name("pread"))], &[10, 20, 30, 40, 50, 60]);
    one.samples.push(invalid(sample(6, 9_000, 10)));
    let numbers = CellNumbers::of(&one);
    assert_eq!((numbers.median, numbers.low, numbers.high), (Some(35.0), Some(10.0), Some(60.0)));
    assert_eq!((numbers.valid, numbers.invalid, numbers.rounds), (6, 1, 6));
    assert_eq!(numbers.median_of_all, Some(40.0));
    assert_eq!(numbers.reasons.len(), 1);
    let reason = &numbers.reasons[0];
    assert_eq!(
        (reason.code.as_str(), reason.samples, reason.invalidates),
        ("state-not-reached", 1, true)
    );
    let again = one.samples[6].doubts[0].clone();
    one.samples[6].doubts.push(again);
    assert_eq!(CellNumbers::of(&one).reasons[0].samples, 1, "one sample with two doubts");
    assert_eq!(numbers.device_read_bytes, Some(0.0));
    assert_eq!(numbers.device_write_bytes, None, "missing is not zero");
    assert_eq!(numbers.cached_before, Some((1.0, 1.0)));
}

#[test]
fn a_sample_with_two_reasons_is_not_two_samples() {
    let mut one = cell(&[("method", name("pread"))], &[10, 20, 30]);
    let doubt = |code, invalidates| LabDoubt { code, text: "so it is".to_owned(), invalidates };
    let (state, reads) = (DoubtCode::StateNotReached, DoubtCode::DeviceReadsWhileWarm);
    one.samples[0].doubts = vec![doubt(state, true), doubt(reads, true)];
    one.samples[1].doubts = vec![doubt(state, true), doubt(state, true), doubt(reads, false)];
    let reasons = CellNumbers::of(&one).reasons;
    let of = |code, invalidates| {
        let found = |reason: &&LabReason| (reason.code, reason.invalidates) == (code, invalidates);
        reasons.iter().find(found).map(|reason| (reason.samples, reason.for_others_too))
    };
    assert_eq!(of(state, true), Some((2, 1)));
    assert_eq!([of(reads, true), of(reads, false)], [Some((1, 1)), Some((1, 0))]);
    let summary = summarise_lab(session("access", vec![one]), |_, _| Vec::new());
    let texts: Vec<&str> = summary.doubts.iter().map(|doubt| doubt.text.as_str()).collect();
    let wanted = [
        "2 of 3 samples in 1 cell are excluded (state-not-reached; 1 of them for other reasons, too), for example",
        "1 of 3 samples in 1 cell is excluded (device-reads-while-warm; for another reason, too), for example",
        "1 of 3 samples in 1 cell has a warning (device-reads-while-warm), for example",
    ];
    for wanted in wanted {
        assert!(texts.iter().any(|text| text.starts_with(wanted)), "{wanted}: {texts:?}");
    }
}

#[test]
fn below_six_rounds_there_is_no_interval() {
    let numbers = CellNumbers::of(&cell(&[], &[10, 20, 30, 40, 50]));
    assert_eq!((numbers.median, numbers.low, numbers.high), (Some(30.0), None, None));
    let nothing = CellNumbers::of(&cell(&[], &[]));
    assert_eq!((nothing.median, nothing.valid), (None, 0));
}

/// A hundred samples of one process are one round, not a hundred.
#[test]
fn samples_of_one_round_are_one_round() {
    let mut one = cell(&[], &[]);
    one.samples = (0..100).map(|at| sample(0, 100 + at, 1)).collect();
    let numbers = CellNumbers::of(&one);
    assert_eq!((numbers.rounds, numbers.valid, numbers.low), (1, 100, None));
    assert_eq!(numbers.median, Some(149.5));
}

#[test]
fn an_operation_has_its_share_and_none_has_no_value() {
    let mut one = cell(&[], &[1000]);
    one.unit = LabUnit::NanosecondsPerOperation;
    one.samples.push(sample(1, 1000, 0));
    let numbers = CellNumbers::of(&one);
    assert_eq!((numbers.median, numbers.cpu_ns, numbers.rounds), (Some(100.0), Some(50.0), 1));
}

#[test]
fn cells_are_compared_inside_of_rounds() -> Result<(), &'static str> {
    let slow = cell(&[("method", name("a"))], &[100, 1000, 100, 100, 100, 100, 100]);
    let mut fast = cell(&[("method", name("b"))], &[50, 500, 50, 50, 50, 50]);
    fast.samples.push(invalid(sample(6, 1, 1)));
    let ratio = compare(&slow, &fast).ok_or("no ratio")?;
    assert_eq!((ratio.ratio, ratio.rounds), (0.5, 6));
    assert_eq!(confidence(&ratio), "95 % CI 0.500 to 0.500, 6 rounds");
    fast.unit = LabUnit::NanosecondsPerOperation;
    assert_eq!(compare(&slow, &fast), None);
    Ok(())
}

#[test]
fn two_runs_stand_beside_each_other() {
    let summary_of = |walls: &[u64]| {
        let cells = vec![
            cell(&[("method", name("pread"))], walls),
            cell(&[("method", name("mmap"))], &[7]),
        ];
        summarise_lab(session("access", cells), |_, _| Vec::new())
    };
    let (a, same) =
        (summary_of(&[100, 101, 102, 103, 104, 105]), summary_of(&[104, 105, 106, 107, 108, 109]));
    let slower = summary_of(&[200, 202, 204, 206, 208, 210]);
    let both = compare_runs(&a, &slower);
    assert_eq!(both.len(), 2);
    assert!((both[0].ratio - 2.0).abs() < 1e-9);
    assert_eq!(both[0].agree, Some(false));
    assert_eq!((both[1].ratio, both[1].interval, both[1].agree), (1.0, None, None));
    assert_eq!(agreement(&both), (0, 1));
    assert_eq!(agreement(&compare_runs(&a, &same)), (1, 1));
}

#[test]
fn what_damages_the_numbers_is_said() {
    let mut one = cell(&[("method", name("pread"))], &[10, 20]);
    one.samples[1] = invalid(one.samples[1].clone());
    let mut two = cell(&[("method", name("mmap"))], &[10]);
    two.samples[0] = invalid(two.samples[0].clone());
    let mut session = session("access", vec![one, two]);
    session.interrupted = true;
    session.conditions.load_hundredths_before = hotset_facts::Observed::Value(350);
    session.environment.evicts_idle_cache = true;
    let summary = summarise_lab(session, |_, _| Vec::new());
    let kinds: Vec<&str> = summary.doubts.iter().map(|doubt| doubt.kind).collect();
    let expected =
        ["interrupted", "no-number", "state-not-reached", "few-rounds", "evicts-idle", "load"];
    assert_eq!(kinds, expected);
    assert_eq!(
        summary.doubts[2].text,
        "2 of 3 samples in 2 cells are excluded (state-not-reached), for example \"pread\": 3 of 4 pages were cached"
    );
}
