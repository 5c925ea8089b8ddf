use hotset_analysis::bench::summarise_bench;
use hotset_analysis::top::TopFrame;
use hotset_facts::{Interval, Observed, Reason};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::bench::{testing, write_bench_json};
use crate::lab::{Named, lab_pages, write_lab_json};
use crate::tui::testing::{Known, gaps, interval};

type TestResult = Result<(), Box<dyn std::error::Error>>;

fn lab_bytes() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut out = Vec::new();
    write_lab_json(&[crate::lab::testing::result()], &mut out)?;
    Ok(out)
}

fn bench_bytes() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut out = Vec::new();
    write_bench_json(&summarise_bench(testing::cold_warm()), &mut out)?;
    Ok(out)
}

fn profile_bytes() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut out = Vec::new();
    crate::write_profile_json(&crate::testing::summary(crate::testing::three_files()), &mut out)?;
    Ok(out)
}

fn page(files: &[(&str, &[u8])]) -> Result<Page, ResultError> {
    let files: Vec<ResultFile<'_>> =
        files.iter().map(|&(name, bytes)| ResultFile { name, bytes }).collect();
    results_page(&files, &|session| Ok(crate::lab::testing::present(session)))
}

#[test]
fn the_page_of_a_file_is_the_page_of_the_live_result() -> TestResult {
    for (name, live) in testing::all() {
        let mut bytes = Vec::new();
        write_bench_json(&live, &mut bytes)?;
        assert_eq!(page(&[("b.json", &bytes)])?, crate::bench::bench_page(&live), "{name}");
    }
    let live = crate::testing::summary(crate::testing::three_files());
    let live = profile_page(wire::VERSION, &live);
    assert_eq!(page(&[("p.json", &profile_bytes()?)])?, live);
    let live = crate::lab::testing::result();
    let live = lab_pages(&[Named { name: "l.json", result: &live }]);
    assert_eq!(page(&[("l.json", &lab_bytes()?)])?, live[0]);
    Ok(())
}

#[test]
fn a_page_of_a_run_tells_every_loss_and_gap_of_the_report() {
    let summary = crate::testing::summary(crate::testing::lossy());
    let page = profile_page("0.1.0", &summary);
    insta::assert_snapshot!("losses", crate::page::testing::lines(&page));
    let report = crate::render(&summary, &crate::report::Options::default());
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    for doubt in &page.doubts {
        let words = doubt.text.strip_prefix("not measured: ").unwrap_or(&doubt.text);
        assert!(report.contains(words), "{words} is not in {report}");
    }
}

#[test]
fn short_results_have_the_text_of_their_command() -> TestResult {
    let report = hotset_facts::SaveReport { files: 3, page_bytes: 4096, ..Default::default() };
    let found = page(&[("s.json", &crate::save_json(&report))])?;
    assert_eq!(found.sections[0].text, crate::save_text(&report));
    Ok(())
}

#[test]
fn all_kinds_stand_on_one_page_and_those_of_a_kind_beside_each_other() -> TestResult {
    let (lab, bench, profile) = (lab_bytes()?, bench_bytes()?, profile_bytes()?);
    let page = page(&[
        ("p.json", &profile),
        ("b.json", &bench),
        ("l.json", &lab),
        ("b.json", &bench),
        ("l.json", &lab),
        ("q.json", &profile),
    ])?;
    let titles: Vec<&str> =
        page.parts.iter().filter_map(|part| part.title.split(':').next()).collect();
    assert_eq!(titles, ["lab access", "bench", "bench", "bench", "run", "run", "run"]);
    assert!(page.parts[1].subtitle.starts_with("b.json ·"));
    assert!(page.parts[2].subtitle.starts_with("b.json (2) ·"), "{}", page.parts[2].subtitle);
    assert!(page.parts[0].sections.iter().any(|section| section.answer.contains("l.json (2)")));
    assert_eq!(page.headline.len(), 5, "the first answer of each part that has one");
    Ok(())
}

#[test]
fn an_error_names_the_file_the_place_and_what_would_be_right() -> TestResult {
    let bench = String::from_utf8(bench_bytes()?)?;
    let broken = bench.replacen("\"planned_rounds\":", "\"rounds_planned\":", 1);
    let lab = lab_bytes()?;
    let cut = &lab[..lab.len() - 40];
    let newer = bench.replace("hotset.bench/1", "hotset.bench/2");
    let two = [&lab[..], newer.as_bytes()].concat();
    let all: [(&str, &[u8]); 5] = [
        ("broken.json", broken.as_bytes()),
        ("cut.json", cut),
        ("two.json", &two),
        ("empty.json", b""),
        ("hyperfine.json", b"{\"results\": []}"),
    ];
    let errors = all.map(|one| {
        page(&[("good.json", &lab), one])
            .map_or_else(|error| error.to_string(), |_| "read".to_owned())
    });
    insta::assert_snapshot!("errors", errors.join("\n"));
    Ok(())
}

/// A recording of so many intervals, on a kernel that lacks what [`gaps`] lists.
fn recording(intervals: u64) -> Vec<u8> {
    let header = crate::wire::top::Header {
        hotset: "0.1.0".into(),
        host: "db-7".into(),
        interval_ns: 1_000_000_000,
        scope: None,
        not_measured: gaps(),
    };
    let mut out = crate::wire::top::header_line(&header);
    for number in 1..=intervals {
        let mut lacking = interval(number);
        for io in lacking.rows.iter_mut().map(|row| &mut row.io) {
            (io.device_read_bytes, io.device_write_bytes) = (0, 0);
        }
        lacking.evicted_pages = Observed::Missing(Reason::unsupported("no tracepoint"));
        let frame = TopFrame::of(lacking, &mut Known);
        out.extend(crate::wire::top::interval_line(&frame));
    }
    out
}

#[test]
fn a_recording_says_what_its_kernel_could_not_measure() -> TestResult {
    let page = page(&[("r.top", &recording(2))])?;
    insta::assert_snapshot!("recording", crate::page::testing::lines(&page));
    assert_eq!(page.sections[0].chart, None, "a line at 0 would be a measurement");
    Ok(())
}

#[test]
fn a_long_recording_is_shown_in_part_and_says_so() -> TestResult {
    let quiet =
        Interval { processes: Vec::new(), files: Vec::new(), rows: Vec::new(), ..interval(1) };
    let line = crate::wire::top::interval_line(&TopFrame::of(quiet, &mut Known));
    let shown = |intervals| -> Result<(usize, String), ResultError> {
        let bytes = [recording(0), line.repeat(intervals)].concat();
        let page = page(&[("r.top", &bytes)])?;
        let table = &page.sections[0].table;
        Ok((table.rows.len(), table.caption.clone()))
    };
    let caption = "All processes together, by interval";
    assert_eq!(shown(1000)?, (1000, caption.to_owned()));
    assert_eq!(shown(1001)?, (1000, format!("{caption}; the first 1000 in the table")));
    Ok(())
}

/// A document of each format that is quick to make.
fn some_documents() -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let support = hotset_facts::Support {
        kernel: "6.12".to_owned(),
        euid: 0,
        capabilities: Vec::new(),
        sensor_start_ms: hotset_facts::Observed::Value(7),
    };
    let all = [
        lab_bytes()?,
        bench_bytes()?,
        profile_bytes()?,
        crate::save_json(&hotset_facts::SaveReport::default()),
        crate::restore_json(&hotset_facts::RestoreReport::default()),
        crate::doctor_json(&support),
    ];
    Ok(all.iter().map(|bytes| serde_json::from_slice(bytes)).collect::<Result<_, _>>()?)
}

/// A key or an entry somewhere in the value is removed, or becomes another value.
fn damage(value: &mut Value, steps: &[prop::sample::Index], with: Option<&Value>) {
    let size = value.as_object().map(serde_json::Map::len);
    let size = size.or(value.as_array().map(Vec::len)).filter(|size| *size > 0);
    let (Some(size), Some((step, rest))) = (size, steps.split_first()) else { return };
    let at = step.index(size);
    let child = match &mut *value {
        Value::Object(map) => map.values_mut().nth(at),
        other => other.get_mut(at),
    };
    match child {
        Some(child) if !rest.is_empty() && (child.is_object() || child.is_array()) => {
            damage(child, rest, with);
        }
        Some(child) if with.is_some() => *child = with.cloned().unwrap_or_default(),
        _ => match value {
            Value::Object(map) => {
                let key = map.keys().nth(at).cloned();
                key.map(|key| map.remove(&key));
            }
            Value::Array(entries) => drop(entries.remove(at)),
            _ => {}
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_key_that_is_gone_or_another_value_is_refused_or_shown(
        which in any::<prop::sample::Index>(),
        steps in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
        with in prop::option::of(prop::sample::select(vec![
            json!(null), json!(true), json!(0), json!(7), json!(-1), json!(0.5), json!("text"), json!([]), json!({}),
        ])),
    ) {
        let all = some_documents().map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut document = which.get(&all).clone();
        damage(&mut document, &steps, with.as_ref());
        if let Err(error) = page(&[("damaged.json", document.to_string().as_bytes())]) {
            prop_assert!(!error.error.text.is_empty());
        }
    }
}
