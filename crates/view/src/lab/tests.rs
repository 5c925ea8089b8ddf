use super::testing::{access, beside_baseline, present, result};
use super::*;
use crate::page::testing::lines;
use crate::report::Options;
use hotset_facts::{DoubtCode, LabDoubt};

#[test]
fn the_terminal_says_it_like_this() {
    let narrow = render_lab(&result(), &Options::default());
    insta::assert_snapshot!("narrow", narrow);
    let widest = narrow.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");
    insta::assert_snapshot!(
        "wide",
        render_lab(&result(), &Options { width: 120, ..Options::default() })
    );
}

#[test]
fn a_column_for_each_level_fits_too() {
    let result = result();
    let spec = spec::ChartSpec {
        question: "Which way is best?",
        x: "way",
        table: spec::Shape::Across("begins"),
        ..spec::ChartSpec::EMPTY
    };
    let options = Options::default();
    let text = table::for_test(&result, spec, &options);
    insta::assert_snapshot!("across", text);
}

#[test]
fn reasons_that_a_sample_shares_are_not_added_up() {
    let mut session = access();
    let doubt = |code, invalidates| LabDoubt { code, text: "so it is".to_owned(), invalidates };
    let (state, slow) = (DoubtCode::StateNotReached, DoubtCode::SlowPages);
    session.cells[0].samples[0].doubts = vec![doubt(state, true), doubt(slow, true)];
    session.cells[2].samples[0].doubts = vec![doubt(state, true), doubt(slow, false)];
    let cells = present(session).summary.cells;
    let of = |cell: usize| words::reasons(&cells[cell]);
    assert_eq!(of(0), "slow-pages 1, state-not-reached 1; a sample can have several reasons");
    assert_eq!(of(2), "slow-pages 1 (warning only), state-not-reached 1");
    assert_eq!((of(4).as_str(), words::counted(&cells[0]).as_str()), ("", "6 of 7"));
}

#[test]
fn without_a_sample_there_are_no_tables() {
    let mut session = super::testing::access();
    session.cells.iter_mut().for_each(|cell| cell.samples.clear());
    let text = render_lab(&super::testing::present(session), &Options::default());
    assert!(text.contains("No sample was taken.") && !text.contains("cached before"), "{text}");
}

#[test]
fn the_page_reads_like_this() {
    let result = result();
    let pages = lab_pages(&[Named { name: "", result: &result }]);
    assert_eq!(pages.len(), 1);
    insta::assert_snapshot!("page", lines(&pages[0]));
}

#[test]
fn two_runs_stand_beside_each_other() {
    let (before, mut after) = (result(), access());
    for sample in after.cells.iter_mut().flat_map(|cell| &mut cell.samples) {
        sample.wall_ns *= 2;
    }
    let after = present(after);
    let runs = [
        Named { name: "before.json", result: &before },
        Named { name: "after.json", result: &after },
    ];
    let pages = lab_pages(&runs);
    assert_eq!(pages.len(), 1, "one experiment is one page");
    let names: Vec<&str> = pages[0].sections[0]
        .chart
        .iter()
        .flat_map(|chart| chart.series.iter().map(|series| series.name.as_str()))
        .collect();
    assert!(names.iter().filter(|name| name.ends_with("before.json")).count() * 2 == names.len());
    let compared = pages[0].sections.iter().find(|section| section.question.contains("compare"));
    let compared = compared.expect("a comparison");
    assert!(compared.answer.contains("overlap in 0 of the 17 cells"), "{}", compared.answer);
    assert_eq!(compared.table.rows[0][4], "2.00x");
}

#[test]
fn runs_of_no_cells_are_a_page_without_charts() {
    let mut session = access();
    session.cells.clear();
    let result = present(session);
    let pages = lab_pages(&[Named { name: "", result: &result }]);
    assert!(pages[0].sections.iter().all(|section| section.chart.is_none()));
    assert!(render_lab(&result, &Options::default()).contains("Not measured"));
}

#[test]
fn a_baseline_is_told_in_each_form() {
    let mut result = beside_baseline();
    let text = render_lab(&result, &Options::default());
    let (told, _) = text.split_once("\nWhich way is best").expect("an answer");
    insta::assert_snapshot!("baseline", told);
    let pages = lab_pages(&[Named { name: "", result: &result }]);
    let page = &pages[0];
    assert_eq!(page.headline[0].number, "2 slower, 2 faster");
    let section = &page.sections[0];
    assert_eq!(section.question, "Did it change since the baseline?");
    let points = section.chart.iter().flat_map(|chart| &chart.series);
    let points: usize = points.map(|series| series.points.len()).sum();
    assert!(points > 0 && points < section.table.rows.len(), "{points}");
    let verdicts: Vec<&str> =
        section.table.rows.iter().filter_map(|row| row.last().map(String::as_str)).collect();
    assert!(verdicts.contains(&"slower, above the limit of 5.0 %"), "{verdicts:?}");
    assert!(verdicts.contains(&"not comparable: the baseline has no such cell"), "{verdicts:?}");
    if let Some(baseline) = &mut result.summary.baseline {
        baseline.with.sessions = 0;
    }
    let text = render_lab(&result, &Options::default());
    assert!(text.contains("baseline main  (no session of this experiment)"), "{text}");
}
