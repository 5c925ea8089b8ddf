//! Each gate with what it lets pass and what it doesn't.

use hotset_facts::Reason;

use super::*;

fn reached(pages: u64, cached_pages: u64) -> Observed<StateReached> {
    Observed::Value(StateReached { pages, cached_pages, ..StateReached::default() })
}

fn codes(doubts: &[LabDoubt]) -> Vec<&'static str> {
    doubts.iter().map(|doubt| doubt.code.as_str()).collect()
}

#[test]
fn a_state_is_reached_but_for_a_thousandth() {
    let code = |wanted, is| state(wanted, is, None).map(|doubt| doubt.code.as_str());
    assert_eq!(code(WantedState::Warm, reached(10_000, 9_990)), None);
    assert_eq!(code(WantedState::Warm, reached(10_000, 9_989)), Some("state-not-reached"));
    assert_eq!(code(WantedState::Warm, reached(1, 0)), Some("state-not-reached"));
    assert_eq!(code(WantedState::Cold, reached(10_000, 10)), None);
    assert_eq!(code(WantedState::Cold, reached(10_000, 11)), Some("state-not-reached"));
    assert_eq!(code(WantedState::AsIs, reached(10, 5)), None);
    let unknown = Observed::Missing(Reason::denied("not yours"));
    let told = state(WantedState::Cold, unknown, None).expect("a doubt").text;
    assert!(told.contains("not yours"));
    assert_eq!(state(WantedState::AsIs, unknown, None), None);
    let some = StateReached { unknown_files: 1, ..StateReached::default() };
    assert_eq!(code(WantedState::Cold, Observed::Value(some)), Some("state-not-reached"));
    let large = state(WantedState::Warm, reached(10, 10), Some((3, 10))).expect("a doubt");
    assert!(large.text.contains("3 page faults") && large.invalidates);
}

#[test]
fn a_warm_run_reads_nothing_and_has_its_cpu() {
    let warm = Expects::warm();
    let fine = Repetition {
        wall_ns: 100_000_000,
        cpu_ns: Some(81_000_000),
        device_read_bytes: Some(0),
        major_faults: Some(0),
        ..Default::default()
    };
    assert!(run(&warm, &fine, None).is_empty());
    let read = Repetition { device_read_bytes: Some(4096), major_faults: Some(1), ..fine };
    assert_eq!(
        codes(&run(&warm, &read, None)),
        ["device-reads-while-warm", "major-faults-while-warm"]
    );
    let waited = Repetition { cpu_ns: Some(79_000_000), ..fine };
    assert_eq!(codes(&run(&warm, &waited, None)), ["cpu-taken"]);
    // Within a tick of the clock that counts CPU time.
    let short = Repetition { wall_ns: 9_000_000, cpu_ns: Some(0), ..fine };
    assert!(run(&warm, &short, None).is_empty());
    // What isn't known is no reason.
    assert!(run(&warm, &Repetition::default(), None).is_empty());
}

#[test]
fn a_cold_run_reads_what_it_needs() {
    let cold = Expects::cold(1_000_000);
    let read = |bytes| Repetition {
        device_read_bytes: Some(bytes),
        wall_ns: 1_000_000_000,
        cpu_ns: Some(1),
        ..Default::default()
    };
    assert!(run(&cold, &read(950_000), None).is_empty());
    assert_eq!(codes(&run(&cold, &read(949_999), None)), ["too-few-device-bytes"]);
}

#[test]
fn counts_are_exact_and_calls_within_their_bounds() {
    let expects = Expects {
        bytes: Some(8),
        operations: Some(2),
        calls: vec![("pread", 2)],
        read_calls: Some((2, 3)),
        ..Expects::default()
    };
    let text =
        br#"{"probe":"x","bytes":8,"operations":2,"calls":{"pread":2},"repetitions_ns":[1]}"#;
    let answer = Answer::parse(text).expect("answer");
    let did = |calls| Repetition { read_calls: Some(calls), ..Default::default() };
    assert!(run(&expects, &did(2), Some(&answer)).is_empty());
    assert_eq!(codes(&run(&expects, &did(4), Some(&answer))), ["calls-not-confirmed"]);
    assert_eq!(codes(&run(&expects, &did(1), Some(&answer))), ["calls-not-confirmed"]);
    let other = Answer { bytes: 9, operations: None, calls: [].into(), ..answer };
    let doubts = run(&expects, &did(2), Some(&other));
    assert_eq!(codes(&doubts), ["wrong-count"; 3]);
    assert_eq!(doubts[0].text, "9 bytes; expected 8");
    assert!(run(&expects, &did(2), None).is_empty());
}

fn sample(cpu_ns: u64) -> LabSample {
    let missing = Observed::Missing(Reason::not_measured("x"));
    LabSample {
        round: 0,
        wall_ns: cpu_ns,
        operations: 1,
        cpu_ns: Observed::Value(cpu_ns),
        bytes: 0,
        syscalls: missing,
        reached_before: reached(0, 0),
        device_read_bytes: missing,
        device_write_bytes: missing,
        major_faults: missing,
        minor_faults: missing,
        doubts: Vec::new(),
    }
}

#[test]
fn pages_that_took_twice_the_usual_time_are_marked_where_there_is_a_usual_time() {
    const MS: u64 = 1_000_000;
    let marked = |times: &[u64], pages| {
        let mut samples: Vec<LabSample> = times.iter().map(|&ms| sample(ms * MS)).collect();
        slow_pages(&mut samples, pages);
        samples.iter().map(|sample| !sample.is_valid()).collect::<Vec<_>>()
    };
    assert_eq!(marked(&[50, 52, 51, 105], Some(1000)), [false, false, false, true]);
    assert_eq!(marked(&[50, 52, 51, 103], Some(1000)), [false; 4]);
    assert_eq!(marked(&[50, 51, 105], Some(1000)), [false; 3]);
    assert_eq!(marked(&[50, 52, 51, 500], Some(10)), [false; 4]);
    assert_eq!(marked(&[50, 52, 51, 500], None), [false; 4]);
    // Less than a tick of the clock that counts.
    assert_eq!(marked(&[1, 1, 1, 9], Some(1000)), [false; 4]);
}
