use super::super::testing::all;
use super::*;

fn written(summary: &BenchSummary) -> Result<String, Box<dyn std::error::Error>> {
    let mut out = Vec::new();
    write_bench_html(summary, &mut out)?;
    Ok(String::from_utf8(out)?)
}

#[test]
fn pages_of_sessions() {
    for (name, summary) in all() {
        insta::assert_snapshot!(name, crate::page::testing::lines(&page(&summary)));
    }
}

#[test]
fn every_run_is_a_point_and_a_row() {
    for (name, summary) in all() {
        let page = page(&summary);
        let runs = summary.session.runs.len();
        let points = |section: &crate::page::Section| {
            let series = section.chart.iter().flat_map(|chart| &chart.series);
            series.map(|series| series.points.len()).sum::<usize>()
        };
        let Some(first) = page.sections.first() else { panic!("{name}: no section") };
        assert_eq!(points(first), runs, "{name}");
        if runs > 0 {
            let Some(last) = page.sections.last() else { panic!("{name}: no section") };
            assert_eq!((points(last), last.table.rows.len()), (runs, runs), "{name}");
        }
        let invalid = summary.runs.iter().filter(|run| !run.is_valid()).count();
        let series = first.chart.iter().flat_map(|chart| &chart.series);
        let crosses =
            series.flat_map(|series| &series.points).filter(|point| point.excluded).count();
        assert_eq!(crosses, invalid, "{name}: these sessions have no warm-up");
    }
}

#[test]
fn a_run_that_is_not_counted_has_all_its_reasons() {
    let mut session = super::super::testing::cold_warm();
    session.warmup = hotset_facts::Warmup::Rounds(1);
    // A warm run of the warm-up that read, and the repetition of one that seemed invalid when it ended.
    session.runs[1].major_faults = 3;
    let again = session.runs[5].clone();
    session.runs.push(hotset_facts::BenchRun { repeat: 1, ..again });
    let page = page(&hotset_analysis::bench::summarise_bench(session));
    let Some(last) = page.sections.last() else { panic!("no section") };
    let said = |row: usize| last.table.rows[row].last().map(String::as_str);
    assert_eq!(said(0), Some("not counted: warm-up"));
    assert_eq!(said(1), Some("not counted: warm-up, 3 major faults"));
    assert_eq!(said(5), Some("not counted: another run of this round is counted"));
    assert_eq!([said(3), said(30)], [Some("counted"); 2]);
}

#[test]
fn a_point_is_where_its_run_was() {
    for (name, summary) in all() {
        let page = page(&summary);
        let Some(chart) = page.sections.first().and_then(|section| section.chart.as_ref()) else {
            assert!(summary.session.runs.is_empty(), "{name}");
            continue;
        };
        for (index, series) in chart.series.iter().enumerate() {
            let walls: Vec<f64> =
                summary.runs_of(index).map(|(run, _)| run.wall_ns as f64).collect();
            let drawn: Vec<f64> = series.points.iter().map(|point| point.y).collect();
            assert_eq!(drawn, walls, "{name}");
            let places = || series.points.iter().map(|point| point.x - index as f64);
            assert!(places().all(|x| (-0.33..0.33).contains(&x)), "{name}: beside another");
            assert!(places().is_sorted(), "{name}: not in order of time");
        }
    }
}

#[test]
fn names_stay_text() -> Result<(), Box<dyn std::error::Error>> {
    let mut session = super::super::testing::cold_warm();
    if let Some(command) = session.commands.first_mut() {
        command.name = "a</script><script>alert('x')</script>\"&\u{1b}[2J\u{202e}".to_owned();
    }
    let html = written(&hotset_analysis::bench::summarise_bench(session))?;
    assert!(!html.contains("<script>alert"), "markup from a name");
    assert!(html.contains("a&lt;/script&gt;&lt;script&gt;alert('x')"), "the name itself is shown");
    assert!(html.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()), "a control character");
    assert!(!html.contains('\u{202e}'), "a character that turns text around");
    Ok(())
}
