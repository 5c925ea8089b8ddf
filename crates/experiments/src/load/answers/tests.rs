use hotset_analysis::lab::summarise_lab;
use hotset_analysis::lab::testing::{cell, session};
use hotset_facts::{LabCell, LabFact, LabSession, Level};

use super::*;

const MS: u64 = 1_000_000;

fn named(names: &[(&'static str, &str)], walls: &[u64]) -> LabCell {
    let factors: Vec<_> =
        names.iter().map(|&(name, level)| (name, Level::Name(level.to_owned()))).collect();
    cell(&factors, walls)
}

fn load(what: &str, how: &str, state: &str, ms: u64) -> LabCell {
    let walls: Vec<u64> = (0..7).map(|round| ms * MS + round).collect();
    named(&[("runtime", "ruby"), ("what", what), ("how", how), ("state", state)], &walls)
}

fn search(how: &str, directories: u64, ms: u64) -> LabCell {
    behind(("search", how), directories, ms)
}

fn behind((what, how): (&str, &str), directories: u64, ms: u64) -> LabCell {
    let mut factors: Vec<_> = [("runtime", "ruby"), ("what", what), ("how", how)]
        .map(|(name, level)| (name, Level::Name(level.to_owned())))
        .to_vec();
    factors.push(("directories", Level::Number(directories)));
    factors.push(("state", Level::Name("warm".to_owned())));
    cell(&factors, &[ms * MS; 7])
}

fn told(cells: Vec<LabCell>) -> Vec<LabAnswer> {
    summarise_lab(session("load", cells), answers).answers
}

#[test]
fn the_change_that_saves_the_most_time_comes_first() {
    let cells = vec![
        load("load_class", "source", "warm", 10),
        load("load_one", "source", "warm", 4),
        load("load_class", "iseq", "warm", 7),
        search("path", 0, 5),
        search("path", 100, 25),
        search("known", 100, 6),
    ];
    let answers = told(cells);
    let best = &answers[0];
    assert_eq!(best.number, "19.0 ms saved");
    let order = ["a path cache", "merging", "precompiling"].map(|word| best.answer.find(word));
    assert!(order.is_sorted() && order.iter().all(Option::is_some), "{}", best.answer);
    assert_eq!(best.evidence.len(), 6);
    assert!(best.evidence[0].contains("search/path/100"), "{:?}", best.evidence);
}

#[test]
fn what_may_be_chance_is_told_neither_to_save_nor_to_cost() {
    let mut merged = load("load_one", "source", "warm", 12);
    let mut cold = load("load_class", "source", "cold", 12);
    for cell in [&mut merged, &mut cold] {
        cell.samples.iter_mut().step_by(2).for_each(|sample| sample.wall_ns = 8 * MS);
    }
    let answers = told(vec![load("load_class", "source", "warm", 10), merged, cold]);
    let answer_to = |question: &str| {
        let found = answers.iter().find(|answer| answer.question.contains(question));
        found.unwrap_or_else(|| panic!("{question}"))
    };
    let wins = answer_to("which saves most");
    assert!(
        wins.answer.contains("no difference detected for merging 100 files into one"),
        "{wins:?}"
    );
    assert_eq!(wins.number, "no saving detected");
    assert!(answer_to("cold cache").answer.contains("no difference detected"), "{answers:?}");
}

#[test]
fn a_miss_costs_the_difference_divided_by_the_lookups_that_it_adds() {
    // Ten operations a sample, 100 directories: 20 ms are 1000 misses.
    let answers = told(vec![search("path", 0, 5), search("path", 50, 15), search("path", 100, 25)]);
    let miss =
        answers.iter().find(|answer| answer.question.contains("search-path lookup")).expect("miss");
    assert_eq!(miss.number, "20.0 µs per failed lookup");
    assert_eq!(miss.evidence, ["ruby/search/path/0/warm", "ruby/search/path/100/warm"]);
    assert!(miss.confidence.starts_with("95 % CI"), "{}", miss.confidence);
}

/// The answer to what a miss costs, of 20 ms for 1000 misses.
fn miss_with(lookups: &[(u64, u64)]) -> LabAnswer {
    let lookup = |&(directories, ms): &(u64, u64)| behind(("lookup", "stat"), directories, ms);
    let searches = [search("path", 0, 5), search("path", 100, 25), search("known", 100, 5)];
    let answers = told(searches.into_iter().chain(lookups.iter().map(lookup)).collect());
    let found = answers.into_iter().find(|answer| answer.question.contains("search-path lookup"));
    found.expect("miss")
}

#[test]
fn lookups_alone_are_a_share_of_a_miss_where_both_were_measured_behind_the_same_directories() {
    let miss = miss_with(&[(0, 1), (10, 3), (100, 9)]);
    assert!(
        miss.answer.contains("without loading) are 40.0 % of that: 8.00 µs of 20.0 µs."),
        "{miss:?}"
    );
    assert_eq!(miss.number, "20.0 µs per failed lookup");
    assert!(miss.confidence.contains("; the lookups alone: 95 % CI 8.00 µs to"), "{miss:?}");
    assert_eq!(miss.evidence[2..], ["ruby/lookup/stat/0/warm", "ruby/lookup/stat/100/warm"]);
    // Neither end of the path alone, nor another path, nor a difference that is none.
    for lookups in [&[(100, 9)][..], &[(0, 1), (50, 9)], &[(0, 9), (100, 9)], &[(0, 9), (100, 1)]] {
        let miss = miss_with(lookups);
        assert!(!miss.answer.contains("alone") && miss.evidence.len() == 2, "{miss:?}");
    }
}

#[test]
fn lookups_that_were_measured_alone_have_an_answer_of_their_own() {
    let lookups = vec![behind(("lookup", "stat"), 0, 1), behind(("lookup", "stat"), 100, 9)];
    let answer = told(lookups).remove(0);
    assert!(answer.question.contains("without loading"), "{answer:?}");
    assert_eq!(answer.number, "8.00 µs per failed lookup");
    assert!(told(vec![behind(("lookup", "stat"), 100, 9)]).is_empty());
}

#[test]
fn reading_is_told_as_text_and_of_many_files_against_one_file_as_it_is() {
    let answer = told(vec![
        load("read_one", "binary", "warm", 2),
        load("read_class", "binary", "warm", 6),
        load("read_one", "text", "warm", 3),
        load("read_one", "legacy", "warm", 8),
    ]);
    let answer = answer.iter().find(|answer| answer.question.contains("reading take"));
    let answer = answer.expect("an answer");
    for part in ["100 files 6.00 ms (3.00x", "as text 3.00 ms (1.50x", "Windows-31J 8.00 ms (4.00x"]
    {
        assert!(answer.answer.contains(part), "{part}: {}", answer.answer);
    }
    assert_eq!((answer.number.as_str(), answer.evidence.len()), ("2.00 ms", 4));
    assert!(told(vec![load("read_one", "text", "warm", 3)]).is_empty(), "with nothing to compare");
}

#[test]
fn asking_for_files_is_told_by_the_question() {
    // Ten operations a sample.
    let answer = told(vec![load("exists", "stat", "warm", 4)]).remove(0);
    assert!(answer.question.contains("whether a file exists"), "{answer:?}");
    assert_eq!(answer.number, "400 µs");
    assert!(answer.confidence.starts_with("95 % CI 400 µs to 400 µs"), "{}", answer.confidence);
}

#[test]
fn lookups_that_take_longer_than_the_search_are_no_share_of_it() {
    let miss = miss_with(&[(0, 1), (100, 31)]);
    assert!(miss.answer.ends_with("without loading) take longer: 30.0 µs."), "{miss:?}");
}

#[test]
fn shares_leave_out_what_was_not_measured() {
    let cells = vec![
        load("load_class", "source", "warm", 10),
        load("compile_one", "source", "warm", 4),
        load("read_class", "binary", "warm", 1),
    ];
    let answers = told(cells);
    let shares =
        answers.iter().find(|answer| answer.question.contains("source files go")).expect("shares");
    assert_eq!(shares.number, "40.0 % compiling");
    assert!(!shares.answer.contains("empty"), "{}", shares.answer);
    assert_eq!(shares.evidence.len(), 3);
}

fn part_of(library: &str, part: &str, state: &str, ms: u64) -> LabCell {
    let names = [
        ("runtime", "ruby"),
        ("what", "library"),
        ("library", library),
        ("part", part),
        ("state", state),
    ];
    named(&names, &[ms * MS; 7])
}

#[test]
fn each_library_of_a_session_has_its_own_answer() {
    let cells = vec![
        part_of("json", "total", "warm", 20),
        part_of("set", "total", "warm", 5),
        part_of("json", "total", "cold", 60),
    ];
    let answers = told(cells);
    let questions: Vec<&str> = answers.iter().map(|answer| answer.question.as_str()).collect();
    let of = |library| format!("ruby: where does the time of loading {library} go?");
    assert_eq!(questions, [of("json"), of("set")]);
    assert!(answers[0].answer.contains("60.0 ms cold") && !answers[1].answer.contains("cold"));
}

#[test]
fn a_part_of_a_library_that_nobody_measured_is_not_called_zero() {
    let part = |part, state, ms| part_of("rexml/document", part, state, ms);
    let some =
        vec![part("total", "warm", 20), part("compile", "warm", 5), part("total", "cold", 60)];
    let answer = told(some).pop().expect("answer");
    assert!(answer.answer.contains("looking up files not measured"), "{}", answer.answer);
    assert!(answer.answer.contains("running its code not measured"), "{}", answer.answer);
    assert!(answer.answer.contains("60.0 ms cold, 3.00x the time"), "{}", answer.answer);
    let parts = [("total", 20), ("lookup", 1), ("read", 2), ("compile", 5)];
    let all = parts.map(|(name, ms)| part(name, "warm", ms)).to_vec();
    let answer = told(all).pop().expect("answer");
    assert!(answer.answer.contains("running its code 60.0 %"), "{}", answer.answer);
}

#[test]
fn a_library_of_which_nothing_is_compiled_spends_the_rest_on_its_code() {
    let parts = [("total", 20), ("lookup", 1), ("read", 2)];
    let cells = parts.map(|(name, ms)| part_of("json", name, "warm", ms)).to_vec();
    let mut one = session("load", cells);
    let answer = |session: LabSession| summarise_lab(session, answers).answers.remove(0).answer;
    assert!(answer(one.clone()).contains("compiling not measured, running its code not measured"));
    one.facts.push(LabFact::new("files compiled while loading of json", 0));
    let all = answer(one);
    assert!(all.ends_with("none of its files is compiled, running its code 85.0 %."), "{all}");
}

#[test]
fn without_cells_there_is_no_answer_and_the_second_of_two_equal_cells_is_none() {
    assert_eq!(told(Vec::new()), []);
    let mut twin = load("load_class", "source", "warm", 10);
    twin.factors
        .push(hotset_facts::Factor { name: "twin".into(), level: Level::Name("a/a".into()) });
    assert_eq!(told(vec![twin, load("load_one", "source", "warm", 4)]), []);
}
