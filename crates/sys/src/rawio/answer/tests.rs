//! The line of a probe, read and written.

use std::collections::BTreeSet;

use super::*;

const TWO: &[u8] = br#"{"probe":"native","job":"x","bytes":8,"operations":4,"calls":{"read":2},
    "repetitions_ns":[3,5],"repetitions":[
    {"wall_ns":3,"cpu_ns":1,"device_read_bytes":4096,"major_faults":1,"cached_before_pages":7,"pages":9},
    {"wall_ns":5,"cpu_ns":2,"device_read_bytes":0,"major_faults":0,"cached_before_pages":9,"pages":9}]}"#;

#[test]
fn parts_are_added_and_what_one_lacks_is_missing() {
    let answer = Answer::parse(TWO).expect("answer");
    let whole = answer.whole();
    assert_eq!((whole.wall_ns, whole.cpu_ns, whole.device_read_bytes), (8, Some(3), Some(4096)));
    assert_eq!((whole.minor_faults, whole.cached_before_pages), (None, Some(7)));
    assert_eq!((answer.operations(), answer.parts().len()), (4, 2));
}

#[test]
fn what_a_probe_does_not_tell_is_that_of_its_whole_process() {
    let usage =
        Usage { minor_faults: 30, major_faults: 2, device_read_bytes: 4096, ..Usage::default() };
    let told = |text: &[u8]| Answer::parse(text).expect("answer").completed(&usage).whole();
    let whole = told(br#"{"probe":"ruby","repetitions_ns":[3],"major_faults":1}"#);
    assert_eq!((whole.device_read_bytes, whole.major_faults), (Some(4096), Some(1)));
    assert_eq!((whole.minor_faults, whole.cpu_ns), (Some(30), None));
    assert_eq!(told(TWO), Answer::parse(TWO).expect("answer").whole());
}

#[test]
fn totals_are_of_the_whole_and_times_of_the_parts() {
    let text = br#"{"probe":"go","bytes":1,"repetitions_ns":[3,5],"cpu_ns":7,"unknown":1}"#;
    let answer = Answer::parse(text).expect("answer");
    assert_eq!((answer.whole().wall_ns, answer.whole().cpu_ns), (8, Some(7)));
    assert_eq!(answer.parts()[1], Repetition { wall_ns: 5, ..Default::default() });
    assert_eq!(answer.operations(), 2);
    let one = br#"{"probe":"go","repetitions_ns":[3],"cpu_ns":7}"#;
    assert_eq!(Answer::parse(one).expect("answer").parts()[0].cpu_ns, Some(7));
}

#[test]
fn what_is_no_answer_is_shown() {
    let error = |text: &[u8]| Answer::parse(text).expect_err("refused");
    assert!(error(b"hello").contains("hello"));
    assert!(error(br#"{"probe":"x","repetitions_ns":[]}"#).contains("timed nothing"));
    assert!(error(&[TWO, b"more"].concat()).contains("no answer"));
    let uneven = br#"{"probe":"x","repetitions_ns":[1],"repetitions":[{},{}]}"#;
    assert!(error(uneven).contains("2 repetitions"));
}

#[test]
fn a_line_without_what_every_probe_tells_is_refused() {
    let error = |text: &[u8]| Answer::parse(text).expect_err("refused");
    assert!(error(br#"{"repetitions_ns":[3]}"#).contains("missing field `probe`"));
    assert!(error(br#"{"probe":"ruby"}"#).contains("missing field `repetitions_ns`"));
}

/// The words in back quotes.
fn quoted(text: &str) -> impl Iterator<Item = String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

#[test]
fn the_contract_names_each_field_of_the_line_and_no_other() {
    let contract = include_str!("../../../../../docs/probes.md");
    let (_, contract) = contract.split_once("| field | what |").expect("the fields");
    let (table, rest) = contract.split_once("The native probe adds").expect("the native probe's");
    let (native, _) = rest.split_once(". For the others").expect("the others'");
    let cells = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let told: BTreeSet<String> = cells.flat_map(quoted).chain(quoted(native)).collect();

    let all = br#"{"wall_ns":1,"cpu_ns":2,"device_read_bytes":3,"device_write_bytes":4,
        "major_faults":5,"minor_faults":6,"preempted":7,"read_calls":8,"write_calls":9,
        "cached_before_pages":10,"pages":11}"#;
    let one: Repetition = serde_json::from_slice(all).expect("a repetition");
    let line = serde_json::to_value(Answer::of(one, 12, 13)).expect("JSON");
    let whole = line.as_object().expect("an object");
    let part = whole["repetitions"][0].as_object().expect("an object");
    assert!(part.values().all(serde_json::Value::is_u64), "{part:?}");
    assert_eq!(told, whole.keys().chain(part.keys()).cloned().collect());
}

#[test]
fn what_a_native_probe_writes_is_read_back() {
    let one = Repetition { wall_ns: 1, cpu_ns: Some(2), pages: Some(9), ..Default::default() };
    let answer = Answer { probe: "native".to_owned(), ..Answer::of(one, 12, 13) };
    let answer = answer.with_calls([("pread", 10)]);
    let printed = serde_json::to_vec(&answer).expect("JSON");
    assert_eq!(Answer::parse(&printed).expect("read"), answer);
    assert_eq!((answer.whole(), answer.operations()), (one, 12));
}
