use serde_json::Value;

use super::testing::{all, beside_baseline, troubled, versus};
use super::{BenchLook, TimeUnit, bench_csv, bench_markdown, render_bench, write_bench_json};
use crate::escape::columns;
use crate::report::Options;
use hotset_analysis::bench::{
    BenchSummary, ConfidenceInterval, Difference, RatioEstimate, summarise_bench,
};

const LOOK: BenchLook = BenchLook { unit: None, by_time: false };

type TestResult = Result<(), Box<dyn std::error::Error>>;

fn json(summary: &BenchSummary) -> Result<Value, Box<dyn std::error::Error>> {
    let mut bytes = Vec::new();
    write_bench_json(summary, &mut bytes)?;
    assert_eq!(bytes.iter().filter(|&&byte| byte == b'\n').count(), 1, "one line");
    Ok(serde_json::from_slice(&bytes)?)
}

fn refused(json: &Value) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    crate::wire::schema_tests::refused(crate::wire::bench::SCHEMA, &serde_json::to_vec(json)?)
}

#[test]
fn summaries_read_well() {
    for (name, summary) in all() {
        let text = render_bench(&summary, &Options::default(), LOOK);
        insta::assert_snapshot!(format!("{name}_80"), text);
    }
    let wide = Options { width: 120, all: true, ..Options::default() };
    insta::assert_snapshot!("versus_120", render_bench(&summarise_bench(versus()), &wide, LOOK));
}

#[test]
fn a_baseline_is_told_in_each_form() -> TestResult {
    let summary = beside_baseline();
    insta::assert_snapshot!("baseline_80", render_bench(&summary, &Options::default(), LOOK));
    insta::assert_snapshot!("baseline_markdown", bench_markdown(&summary, LOOK));
    let json = json(&summary)?;
    assert_eq!(refused(&json)?, [""; 0]);
    let baseline = &json["baseline"];
    assert_eq!((&baseline["name"], &baseline["failed"]), (&"main".into(), &true.into()));
    assert_eq!(baseline["conditions"][0]["wall"]["verdict"], "slower");
    assert_eq!(baseline["conditions"][2]["wall"]["reason"], "not in the baseline");
    let mut page = Vec::new();
    super::write_bench_html(&summary, &mut page)?;
    let page = String::from_utf8(page)?;
    assert!(page.contains("Did it change since the baseline?") && page.contains("above the limit"));
    Ok(())
}

#[test]
fn where_times_show_nothing_cpu_times_may() {
    let mut summary = summarise_bench(versus());
    let at = summary.comparisons.len() - 1;
    let text = |summary: &BenchSummary| render_bench(summary, &Options::default(), LOOK);
    assert!(!text(&summary).contains("CPU time:"), "nothing is shown");
    let comparison = &mut summary.comparisons[at];
    comparison.cpu = comparison.valid.map(|valid| RatioEstimate {
        ratio: 0.8,
        interval: Some(ConfidenceInterval { low: 0.78, high: 0.82 }),
        ..valid
    });
    comparison.cpu_verdict = Difference::Faster;
    let line = "  CPU time: A uses 1.250x [1.220, 1.282] the CPU time of B, 19 rounds\n";
    assert!(text(&summary).contains(line), "{}", text(&summary));
    // A difference of the times is all that one needs to know.
    summary.comparisons[at].difference = Difference::Faster;
    assert!(!text(&summary).contains("CPU time:"));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, summary) in all() {
        for (width, color, ascii) in
            [(72, false, false), (80, false, true), (100, false, false), (200, false, false)]
        {
            let options = Options { width, color, ascii, ..Options::default() };
            let text = render_bench(&summary, &options, LOOK);
            for line in text.lines() {
                assert!(columns(line) <= width, "{name}: {line}");
            }
            assert!(!ascii || text.is_ascii(), "{name}");
            assert!(!text.contains('\u{1b}'), "{name}");
        }
        let colored = render_bench(&summary, &Options { color: true, ..Options::default() }, LOOK);
        assert!(colored.contains('\u{1b}'));
    }
}

#[test]
fn tables_for_other_programs() {
    for (name, summary) in all() {
        insta::assert_snapshot!(format!("{name}_csv"), bench_csv(&summary));
        insta::assert_snapshot!(format!("{name}_markdown"), bench_markdown(&summary, LOOK));
    }
    let csv = bench_csv(&summarise_bench(versus()));
    assert!(csv.contains("\"load --format=json,v2 | sort (cold)\","), "a comma is quoted");
    let markdown = bench_markdown(&summarise_bench(troubled()), LOOK);
    assert!(markdown.lines().all(|line| line.matches('|').count() == 9), "{markdown}");
    let markdown = bench_markdown(&summarise_bench(versus()), LOOK);
    assert!(markdown.contains("`load --format=json,v2 \\| sort`"), "a pipe is no cell");
}

#[test]
fn every_session_fits_the_schema() -> TestResult {
    for (name, summary) in all() {
        let errors = refused(&json(&summary)?)?;
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
    Ok(())
}

#[test]
fn a_session_is_read_back_whole() -> TestResult {
    for (name, summary) in all() {
        let mut bytes = Vec::new();
        write_bench_json(&summary, &mut bytes)?;
        let documents = crate::wire::documents(&bytes)?;
        let session = crate::wire::read_bench(&documents[0])?;
        assert_eq!(session, summary.session, "{name}");
        assert_eq!(summarise_bench(session), summary, "{name}");
    }
    Ok(())
}

#[test]
fn an_index_that_leads_nowhere_is_an_error() -> TestResult {
    let mut session = versus();
    session.stop = super::testing::troubled().stop;
    let good = json(&summarise_bench(session))?;
    for (pointer, place) in [
        ("/stop/condition", "stop.condition"),
        ("/runs/3/condition", "runs[3].condition"),
        ("/conditions/1/command", "conditions[1].command"),
        ("/conditions/4/repeats", "conditions[4].repeats"),
    ] {
        let mut json = good.clone();
        *json.pointer_mut(pointer).ok_or("no such key")? = 99.into();
        let bytes = serde_json::to_vec(&json)?;
        let documents = crate::wire::documents(&bytes)?;
        let error = crate::wire::read_bench(&documents[0]).map_err(|error| error.place);
        assert_eq!(error.err().as_deref(), Some(place));
    }
    Ok(())
}

#[test]
fn rows_and_units_are_as_asked_for() {
    let summary = summarise_bench(versus());
    let look = BenchLook { unit: Some(TimeUnit::Second), by_time: true };
    let markdown = bench_markdown(&summary, look);
    let rows: Vec<&str> = markdown.lines().skip(2).collect();
    assert!(rows[0].contains("| warm") && rows[4].contains("| cold"), "{markdown}");
    assert!(rows.iter().all(|row| row.contains(" s |") && !row.contains("ms")), "{markdown}");
    let base =
        rows.iter().position(|row| row.ends_with("| 1 |")).map(|at| format!("of row {}", at + 1));
    assert!(base.is_some_and(|base| markdown.contains(&base)), "{markdown}");
    let text = render_bench(&summary, &Options::default(), look);
    assert!(text.contains("cold 0.417 s → warm 0.097 s"), "{text}");
}

#[test]
fn the_schema_rejects_what_is_wrong() -> TestResult {
    let good = json(&summarise_bench(versus()))?;
    type Breakage = fn(&mut Value);
    let breakages: [(&str, Breakage); 8] = [
        ("other schema", |json| json["schema"] = "hotset.bench/2".into()),
        ("key left out", |json| {
            json["results"][0].as_object_mut().map(|result| result.remove("valid"));
        }),
        ("unknown key", |json| json["results"][0]["colour"] = 1.into()),
        ("unknown reason", |json| json["results"][0]["reasons"][0] = vec!["bad luck"].into()),
        ("negative time", |json| json["results"][0]["times"][0] = (-1).into()),
        ("unknown state", |json| json["results"][0]["state"] = "lukewarm".into()),
        ("unknown verdict", |json| json["comparisons"][0]["verdict"] = "better".into()),
        ("negative pages", |json| json["runs"][0]["reached_before"]["pages"] = (-1).into()),
    ];
    for (name, break_it) in breakages {
        let mut json = good.clone();
        break_it(&mut json);
        assert!(!refused(&json)?.is_empty(), "{name}");
    }
    Ok(())
}

#[test]
fn values_arrive_where_they_belong() -> TestResult {
    let json = json(&summarise_bench(versus()))?;
    let results = json["results"].as_array().ok_or("no results")?;
    assert_eq!(results.len(), 5);
    let warm = &results[1];
    assert_eq!(warm["command"], "load --format=json,v2 | sort (warm)");
    assert_eq!((&warm["state"], &warm["parameters"]["format"]), (&"warm".into(), &"json".into()));
    assert_eq!(warm["times"].as_array().map(Vec::len), Some(19));
    assert_eq!(warm["times_excluded"].as_array().map(Vec::len), Some(1));
    assert_eq!((&warm["valid_runs"], &warm["invalid_runs"]), (&19.into(), &1.into()));
    assert_eq!((&warm["valid"][0], &warm["valid"][1]), (&true.into(), &false.into()));
    assert_eq!(warm["reasons"][1], Value::from(vec!["major-faults", "device-read"]));
    let runs = json["runs"].as_array().ok_or("no runs")?;
    let of_warm: Vec<_> = runs.iter().filter(|run| run["condition"] == 1).collect();
    assert_eq!(of_warm[1]["device_read_bytes"], 3 << 20);
    assert_eq!(json["runs"][0]["io_pressure_ns"], Value::Null, "missing is not zero");
    assert_eq!(results[4]["repeats_result"], 1);
    let mut labels: Vec<&Value> = results.iter().map(|result| &result["command"]).collect();
    labels.dedup();
    assert_eq!(labels.len(), 5, "hyperfine's scripts put these into legends");
    let first = &json["comparisons"][0];
    assert_eq!(
        (&first["a"], &first["b"], &first["valid"]["rounds"]),
        (&1.into(), &0.into(), &19.into())
    );
    assert!(first["valid"]["ratio"].as_f64().is_some_and(|ratio| (4.2..4.4).contains(&ratio)));
    assert_eq!(
        (&json["extended_rounds"], &json["stop"]["reason"]),
        (&5.into(), &"max-time".into())
    );
    assert_eq!(json["seed"], 4_815_162_342_u64);
    Ok(())
}

#[test]
fn times_are_hyperfines() -> TestResult {
    let json = json(&summarise_bench(super::testing::cold_warm()))?;
    let cold = &json["results"][0];
    let times: Vec<f64> =
        cold["times"].as_array().ok_or("no times")?.iter().filter_map(Value::as_f64).collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    assert!(cold["mean"].as_f64().is_some_and(|found| (found - mean).abs() < 1e-9));
    assert!((0.41..0.42).contains(&mean), "seconds: {mean}");
    for key in ["mean", "stddev", "median", "user", "system", "min", "max"] {
        assert!(cold[key].is_f64(), "{key}");
    }
    for key in ["times", "exit_codes", "memory_usage_byte", "valid", "reasons"] {
        assert_eq!(cold[key].as_array().map(Vec::len), Some(15), "{key}");
    }
    Ok(())
}
