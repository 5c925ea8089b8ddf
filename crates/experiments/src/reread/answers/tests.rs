use hotset_analysis::lab::testing::{cell, session};
use hotset_analysis::lab::{LabAnswer, summarise_lab};
use hotset_facts::{LabCell, Level};

use super::parse::speed_for;

fn name(name: &str) -> Level {
    Level::Name(name.to_owned())
}

/// Documents have these sizes here, and files of any contents others.
const JSON: [u64; 1] = [148_480];

/// Six rounds around a time in microseconds.
fn around(
    what: &str,
    bytes: u64,
    cache: &str,
    buffer: &str,
    parser: &str,
    which: &str,
    us: u64,
) -> LabCell {
    let walls: Vec<u64> = (0..6).map(|round| us * 1000 + round).collect();
    cell(
        &[
            ("what", name(what)),
            ("contents", name(if JSON.contains(&bytes) { "json" } else { "pattern" })),
            ("size_bytes", Level::Number(bytes)),
            ("cache", name(cache)),
            ("buffer", name(buffer)),
            ("parser", name(parser)),
            ("which", name(which)),
        ],
        &walls,
    )
}

fn read(bytes: u64, cache: &str, buffer: &str, which: &str, us: u64) -> LabCell {
    around("read", bytes, cache, buffer, "none", which, us)
}

fn answers(cells: Vec<LabCell>) -> Vec<LabAnswer> {
    summarise_lab(session("reread", cells), super::answers).answers
}

#[test]
fn no_cells_no_answers() {
    assert_eq!(answers(Vec::new()), []);
    assert_eq!(answers(vec![read(1024, "kept", "fresh", "first", 80)]), []);
}

#[test]
fn a_later_read_is_faster_slower_or_not_shown_to_be_either() {
    let answer_of = |first, later| {
        let mut cells = vec![
            read(1024, "kept", "fresh", "first", first),
            read(1024, "kept", "fresh", "later", later),
        ];
        for round in &mut cells[1].samples[..3] {
            round.wall_ns += 20_000;
        }
        answers(cells).remove(0)
    };
    let faster = answer_of(250, 80);
    assert!(faster.answer.starts_with("Yes, 2.80x faster"), "{}", faster.answer);
    assert!(faster.question.contains("1 KiB") && faster.confidence.contains("6 rounds"));
    assert_eq!(faster.evidence.len(), 2);
    assert!(answer_of(100, 90).answer.starts_with("No difference"));
    assert!(answer_of(50, 90).answer.starts_with("No, later reads are slower"));
    let mut few =
        vec![read(1024, "kept", "fresh", "first", 250), read(1024, "kept", "fresh", "later", 80)];
    few[0].samples.truncate(3);
    assert!(answers(few).remove(0).answer.starts_with("Too few rounds"));
}

/// The first read of a process pays for more than the cache.
#[test]
fn what_the_cache_is_worth_is_told_from_later_reads_alone() {
    let cells = vec![
        read(1024, "kept", "fresh", "first", 600),
        read(1024, "kept", "fresh", "later", 50),
        read(1024, "warm", "fresh", "later", 50),
        read(1024, "evicted", "fresh", "later", 250),
    ];
    let told = answers(cells).remove(0);
    assert_eq!(told.number, "12.0x");
    let cache = "the evicted file takes 250 µs and one of the cached file 50.0 µs: 5.00x faster";
    assert!(told.answer.contains(cache), "{}", told.answer);
    assert_eq!(told.evidence.len(), 4);
}

fn large() -> Vec<LabCell> {
    let bytes = 1 << 30;
    vec![
        read(bytes, "warm", "fresh", "later", 1000),
        read(bytes, "warm", "reused", "later", 300),
        read(bytes, "warm", "huge", "later", 400),
        read(bytes, "evicted", "fresh", "later", 1500),
        read(bytes, "evicted", "reused", "later", 900),
        around("touch", bytes, "none", "fresh", "none", "later", 550),
        around("zero", bytes, "none", "reused", "none", "later", 100),
        around("release", bytes, "none", "fresh", "none", "later", 50),
    ]
}

#[test]
fn the_parts_of_a_large_read_are_shares_of_the_whole() {
    let answer = answers(large()).remove(0);
    for part in ["30.0 %", "55.0 %", "10.0 %", "5.0 %", "90.0 %", "1.50x faster", "3.00x faster"] {
        assert!(answer.answer.contains(part), "{part}: {}", answer.answer);
    }
    assert!(answer.answer.contains("400 µs into huge pages"), "{}", answer.answer);
    assert!(!answer.answer.contains("mapped"), "nobody measured that: {}", answer.answer);
    assert_eq!(answer.evidence.iter().filter(|id| id.contains("evicted")).count(), 2);
    let mut without = large();
    without.retain(|cell| cell.name("what") != Some("zero"));
    assert_eq!(answers(without), []);
}

#[test]
fn twins_do_not_hide_the_cell_that_they_repeat() {
    let mut cells = large();
    let mut twin = cells[0].clone();
    twin.factors.push(hotset_facts::Factor { name: "twin".into(), level: name("a/a") });
    cells.push(twin);
    let told = answers(cells);
    assert_eq!(told.len(), 2);
    assert!(told[1].question.contains("noise floor"), "{}", told[1].question);
}

/// The article's case: 1.52 ms to parse, 0.54 ms to read without the cache and 0.08 ms with it.
#[test]
fn the_speed_is_where_the_gain_is_that_large() {
    let (bytes, cold, warm) = (148_480, 540_000.0, 80_000.0);
    let at = |gain: f64| speed_for(gain, bytes, cold, warm).expect("a speed");
    for gain in [1.1, 2.0, 6.0] {
        let parse = bytes as f64 / at(gain);
        assert!(((cold + parse) / (warm + parse) - gain).abs() < 1e-9);
    }
    assert!((at(1.1) * 1000.0 - 32.85).abs() < 0.01, "MB/s");
    assert_eq!(speed_for(1.1, bytes, 85_000.0, warm), None);
    assert_eq!(speed_for(2.0, bytes, 160_000.0, warm), None);
}

#[test]
fn parsers_are_told_with_what_the_cache_gains_with_each() {
    let bytes = 148_480;
    let both =
        |cache, parser, us| around("read+parse", bytes, cache, "reused", parser, "later", us);
    let cells = vec![
        read(bytes, "warm", "reused", "later", 80),
        read(bytes, "evicted", "reused", "later", 540),
        around("parse", bytes, "none", "reused", "serde_json", "later", 1520),
        both("warm", "serde_json", 1590),
        both("evicted", "serde_json", 2490),
        around("parse", bytes, "none", "runtime", "python-json", "later", 760),
        around("read+parse", bytes, "warm", "runtime", "python-json", "later", 800),
        around("read+parse", bytes, "evicted", "runtime", "python-json", "later", 2400),
    ];
    let answer = answers(cells).remove(0);
    assert!(answer.number.ends_with("MB/s"), "{}", answer.number);
    for part in [
        "serde_json 97.7 MB/s (the cache gains 1.29x computed, 1.57x measured)",
        // Its own reads are not the native ones, from which a gain would be computed.
        "python-json 195 MB/s (the cache gains 3.00x measured)",
    ] {
        assert!(answer.answer.contains(part), "{part}: {}", answer.answer);
    }
    assert_eq!(answer.evidence.len(), 8);
    let near = vec![
        read(bytes, "warm", "reused", "later", 80),
        read(bytes, "evicted", "reused", "later", 85),
        around("parse", bytes, "none", "reused", "serde_json", "later", 1520),
    ];
    let none = answers(near).remove(0);
    assert!(
        none.answer.starts_with("At no speed") && none.number == "at no speed",
        "{}",
        none.answer
    );
}

#[test]
fn parts_that_do_not_fit_are_no_answer() {
    let told = |faults: u64| {
        let cells = vec![
            read(1024, "warm", "fresh", "later", 100),
            read(1024, "warm", "reused", "later", 36),
            around("touch", 1024, "none", "fresh", "none", "later", faults),
            around("zero", 1024, "none", "reused", "none", "later", 16),
            around("release", 1024, "none", "fresh", "none", "later", 5),
        ];
        let answers = answers(cells);
        let found = answers.into_iter().find(|answer| answer.question.contains("time of reading"));
        found.expect("an answer")
    };
    assert_eq!(told(60).number, "60.0 % for page faults");
    let odd = told(143);
    assert!(odd.answer.contains("is unknown"), "{}", odd.answer);
    assert_eq!(odd.number, "unknown: the parts do not add up");
    assert!(!odd.number.contains('%') && odd.answer.contains("184"), "{}", odd.answer);
}
