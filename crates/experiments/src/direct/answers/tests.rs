use hotset_analysis::lab::summarise_lab;
use hotset_analysis::lab::testing::{cell, invalid, session};
use hotset_facts::{Factor, LabCell, LabFact, LabSession, Level};

use crate::direct::found::{Quantity, fact};

fn named(name: &str) -> Level {
    Level::Name(name.to_owned())
}

fn app(mode: &str, which: &str, walls: &[u64]) -> LabCell {
    cell(&[("case", named("app")), ("mode", named(mode)), ("which", named(which))], walls)
}

fn dd(state: &str, walls: &[u64]) -> LabCell {
    cell(&[("case", named("dd")), ("mode", named("cached")), ("state", named(state))], walls)
}

/// The same cell again, which no answer rests on.
fn twin(mut cell: LabCell) -> LabCell {
    cell.id.push_str("/a-a");
    cell.factors.push(Factor { name: "twin".into(), level: named("a/a") });
    cell
}

fn with(mut session: LabSession, facts: Vec<LabFact>) -> LabSession {
    session.facts.extend(facts);
    session
}

const SEVEN: [u64; 7] = [100, 101, 99, 100, 102, 98, 100];

fn times(factor: u64) -> Vec<u64> {
    SEVEN.iter().map(|wall| wall * factor).collect()
}

#[test]
fn each_question_is_answered_with_its_numbers() {
    let cells = vec![
        dd("cold", &times(30)),
        dd("warm", &times(10)),
        twin(dd("warm", &times(11))),
        app("direct", "first", &times(50)),
        app("direct", "later", &times(40)),
        app("cached", "first", &times(45)),
        app("cached", "later", &times(2)),
    ];
    let facts = vec![
        fact("dd", "cold", Quantity::PagesRequested, 1000_u64),
        fact("dd", "cold", Quantity::Misses, 40_u64),
        fact("dd", "cold", Quantity::ReadaheadHits, 960_u64),
        fact("dd", "cold", Quantity::FoliosAdded, 50_u64),
        fact("dd", "warm", Quantity::PagesRequested, 1000_u64),
        fact("dd", "warm", Quantity::Misses, 0_u64),
        fact("dd", "warm", Quantity::ReadaheadHits, 0_u64),
        fact("app", "direct", Quantity::BytesReadDirectly, 33554432_u64),
        fact("app", "direct", Quantity::BytesRead, 33554432_u64),
        fact("app", "direct", Quantity::PagesRequested, 0_u64),
        fact("app", "direct", Quantity::OpenFlags, "O_RDONLY|O_DIRECT".to_owned()),
        fact("app", "direct", Quantity::FoliosAdded, 0_u64),
    ];
    let summary = summarise_lab(with(session("direct", cells), facts), super::answers);
    let [who, worth, twice, folios, noise] = summary.answers.as_slice() else {
        panic!("{:?}", summary.answers)
    };
    assert_eq!(who.number, "100 % direct I/O");
    assert!(who.answer.contains("O_DIRECT") && who.answer.contains("32 MiB of the 32 MiB"));
    assert_eq!(worth.number, "20.0x");
    assert!(worth.confidence.contains("95 %"), "{}", worth.confidence);
    assert!(twice.answer.contains("3.00x faster") && twice.answer.contains("100 % came from"));
    assert_eq!(folios.number, "50 of 1000");
    assert!(
        folios.answer.contains("too few by a factor of 20.0,")
            && folios.answer.contains("not measured")
    );
    // A second warm cell beside it hides nothing.
    assert_eq!(noise.evidence, ["dd/cached/warm", "dd/cached/warm/a-a"]);
    assert!(twice.answer.contains("0 % in the warm run"), "{}", twice.answer);
    let known: Vec<_> = summary.session.cells.iter().map(|cell| cell.id.as_str()).collect();
    let mut evidence = summary.answers.iter().flat_map(|answer| &answer.evidence).peekable();
    assert!(evidence.peek().is_some() && evidence.all(|id| known.contains(&id.as_str())));
}

#[test]
fn without_the_sensor_only_the_times_are_answered() {
    let cells = vec![app("direct", "later", &times(40)), app("cached", "later", &times(2))];
    let summary = summarise_lab(session("direct", cells), super::answers);
    assert_eq!(summary.answers.len(), 1);
    let cells = vec![dd("cold", &times(30)), dd("warm", &times(10))];
    let summary = summarise_lab(session("direct", cells), super::answers);
    assert!(summary.answers[0].answer.contains("not measured"), "{:?}", summary.answers);
}

#[test]
fn what_was_not_measured_has_no_answer() {
    let mut cold = dd("cold", &times(30));
    cold.samples = cold.samples.into_iter().map(invalid).collect();
    let summary =
        summarise_lab(session("direct", vec![cold, dd("warm", &times(10))]), super::answers);
    assert_eq!(summary.answers, []);
    assert_eq!(summarise_lab(session("direct", Vec::new()), super::answers).answers, []);
}
