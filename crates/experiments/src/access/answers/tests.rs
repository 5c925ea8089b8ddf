//! Answers from cells that are made by hand.

use hotset_analysis::lab::testing::{cell, session};
use hotset_analysis::lab::{LabAnswer, summarise_lab};
use hotset_facts::{LabCell, LabUnit, Level};

fn named(name: &str) -> Level {
    Level::Name(name.to_owned())
}

fn read(method: &str, order: &str, state: &str, walls: &[u64]) -> LabCell {
    let mut factors = vec![
        ("method", named(method)),
        ("order", named(order)),
        ("block_bytes", Level::Number(1000)),
        ("state", named(state)),
    ];
    if state == "warm" {
        factors.push(("folios", named("large")));
    }
    LabCell { unit: LabUnit::NanosecondsPerOperation, ..cell(&factors, walls) }
}

fn with(mut cell: LabCell, factor: &'static str, level: &str) -> LabCell {
    cell.factors.retain(|known| known.name != factor);
    cell.factors.push(hotset_facts::Factor { name: factor.into(), level: named(level) });
    cell.id.push_str(level);
    cell
}

fn answers(cells: Vec<LabCell>) -> Vec<LabAnswer> {
    summarise_lab(session("access", cells), super::answers).answers
}

const FAST: [u64; 6] = [1000, 1010, 1020, 1030, 1040, 1050];
const SLOW: [u64; 6] = [3000, 3030, 3060, 3090, 3120, 3150];

#[test]
fn the_best_is_named_with_its_lead_over_the_next() {
    let told = answers(vec![
        read("fread", "random", "warm", &[9000; 6]),
        read("pread", "random", "warm", &SLOW),
        read("mmap", "random", "warm", &FAST),
        read("pread", "reverse", "warm", &FAST),
        read("mmap", "reverse", "warm", &FAST),
    ]);
    assert_eq!(told.len(), 1);
    assert!(told[0].question.contains("1000 B") && told[0].question.contains("warm"));
    assert!(
        told[0]
            .answer
            .contains("Random: mmap takes 102 ns per read, 3.00x faster than pread, the next."),
        "{}",
        told[0].answer
    );
    assert!(told[0].answer.contains("no difference from"), "{}", told[0].answer);
    assert_eq!(
        told[0].evidence[..2],
        ["mmap/random/1000/warm/large", "pread/random/1000/warm/large"]
    );
}

/// The next one by its median is apart from the first; a third one has rounds that are faster than both.
#[test]
fn a_best_that_is_not_shown_to_beat_all_others_is_not_told_as_one() {
    let unsteady = [900, 950, 9000, 9000, 9000, 9000];
    let told = answers(vec![
        read("mmap", "random", "warm", &FAST),
        read("pread", "random", "warm", &SLOW),
        read("fread", "random", "warm", &unsteady),
    ]);
    let answer = &told[0].answer;
    assert!(
        answer.contains("mmap takes 102 ns") && answer.contains("difference from fread was"),
        "{answer}"
    );
    assert!(
        told[0].confidence.starts_with("random, time of pread / mmap: 95 %"),
        "{}",
        told[0].confidence
    );
    assert_eq!(told[0].evidence.len(), 3);
}

#[test]
fn one_method_alone_wins_nothing_and_few_rounds_settle_nothing() {
    assert_eq!(answers(vec![read("pread", "random", "cold", &FAST)]), []);
    let few = answers(vec![
        read("pread", "random", "cold", &FAST[..3]),
        read("mmap", "random", "cold", &SLOW[..3]),
    ]);
    assert!(few[0].answer.contains("too few rounds"), "{}", few[0].answer);
}

fn backwards(mapped_cold: &[u64]) -> Vec<LabCell> {
    let mut cells = vec![read("mmap", "reverse", "cold", mapped_cold)];
    cells.extend(["read", "fread"].map(|method| read(method, "reverse", "cold", &SLOW)));
    cells.extend(METHODS.map(|method| read(method, "reverse", "after-sequential", &FAST)));
    cells
}

const METHODS: [&str; 3] = ["mmap", "read", "fread"];

fn artefact(cells: Vec<LabCell>) -> Option<LabAnswer> {
    answers(cells).into_iter().find(|answer| answer.question.contains("backward run"))
}

#[test]
fn the_suspicion_is_settled_either_way() {
    let no = artefact(backwards(&FAST)).expect("an answer");
    assert!(no.answer.starts_with("No: ") && no.answer.contains("3.00x faster"), "{}", no.answer);
    assert!(
        no.answer.contains("fread takes 102 ns instead of 308 ns (100 % cached)"),
        "{}",
        no.answer
    );
    assert_eq!(no.evidence.len(), 6);
    let yes = artefact(backwards(&[9000; 6])).expect("an answer");
    assert!(yes.answer.starts_with("Yes: "), "{}", yes.answer);
    let open = artefact(backwards(&SLOW)).expect("an answer");
    assert!(open.answer.contains("no difference"), "{}", open.answer);
    let mut without = backwards(&FAST);
    without.remove(0);
    assert_eq!(artefact(without), None);
}

#[test]
fn small_folios_are_compared_with_the_same_read_through_large_ones() {
    let large = read("mmap", "sequential", "warm", &FAST);
    let small = with(read("mmap", "sequential", "warm", &SLOW), "folios", "small");
    let told = answers(vec![large, small]);
    assert_eq!(told.len(), 1);
    assert!(
        told[0].answer.contains("mmap sequential 3.00x (308 ns and 102 ns)"),
        "{}",
        told[0].answer
    );
}

#[test]
fn a_cell_that_differs_from_itself_shows_what_can_not_be_told() {
    let first = read("pread", "random", "cold", &FAST);
    let noise = |walls: &[u64]| {
        let twin = with(read("pread", "random", "cold", walls), "twin", "a/a");
        answers(vec![first.clone(), twin]).pop().expect("an answer")
    };
    assert!(noise(&FAST).answer.starts_with("Identical cells differ no more"));
    let loud = noise(&SLOW);
    assert!(loud.answer.starts_with("Identical cells differ by more"), "{}", loud.answer);
    assert_eq!(loud.number, "3.00x");
}

#[test]
fn the_articles_figures_stand_beside_the_cells_that_measure_the_same() {
    let figures = crate::access::published::FIGURES;
    assert_eq!(figures.len(), 9);
    let read = |method, state| read(method, "reverse", state, &FAST);
    let like = |cells: &[LabCell]| -> Vec<Vec<usize>> {
        let all = figures.iter().map(|figure| figure.like(cells));
        all.filter(|places| !places.is_empty()).collect()
    };
    assert_eq!(like(&[read("mmap", "cold")]), [[0]]);
    assert!(like(&[read("mmap", "warm"), read("pread", "cold")]).is_empty());
    // As the article ran them, unless each was measured from a cold cache.
    assert_eq!(like(&[read("mmap", "chain")]), [[0]]);
    assert_eq!(like(&[read("mmap", "chain"), read("mmap", "cold")]), [[1]]);
}

#[test]
fn tests_in_one_go_are_told_beside_the_same_from_a_cold_cache() {
    let told = answers(vec![
        read("mmap", "sequential", "chain", &SLOW),
        read("mmap", "reverse", "chain", &FAST),
        read("mmap", "random", "chain", &FAST),
        read("mmap", "reverse", "cold", &SLOW),
    ]);
    let answer = told.iter().find(|answer| answer.question.contains("one go")).expect("an answer");
    assert_eq!(answer.number, "3.00x (mmap, reverse)");
    assert!(answer.answer.contains("mmap: reverse 102 ns instead of 308 ns"), "{}", answer.answer);
    assert!(answer.answer.contains("random 102 ns (100 % cached"), "{}", answer.answer);
    let alone = answers(vec![read("read", "random", "chain", &FAST)]);
    assert_eq!(alone[0].number, "not compared");
}
