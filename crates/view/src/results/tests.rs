use std::sync::LazyLock;

use hotset_analysis::bench::summarise_bench;
use hotset_analysis::top::TopFrame;
use hotset_facts::{Interval, LiveLosses, Observed, Reason};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::bench::{testing, write_bench_json};
use crate::lab::{Named, lab_pages, write_lab_json};
use crate::page::PageWarning;
use crate::tui::testing::{Known, interval};
use crate::wire::testing::{SAMPLES, Sample, recording_header};

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
    let files = files
        .iter()
        .map(|&(name, bytes)| ResultFile { name, contents: Contents::Documents(bytes) });
    results_page(files, &|session| Ok(crate::lab::testing::present(session)))
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

/// Text without its line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Each doubt as a reader sees it.
fn doubts(page: &Page) -> Vec<String> {
    let doubt = |doubt: &PageWarning| format!("{}: {}", doubt.text, doubt.advice);
    page.doubts.iter().map(doubt).collect()
}

#[test]
fn a_page_of_a_run_tells_every_loss_and_gap_of_the_report() {
    let summary = crate::testing::summary(crate::testing::lossy());
    let page = profile_page("0.1.0", &summary);
    insta::assert_snapshot!("losses", crate::page::testing::lines(&page));
    let report = words(&crate::render(&summary, &crate::report::Options::default()));
    let (rest, losses) = report.split_once(" Losses: ").expect("losses");
    let (_, missing) = rest.split_once(" Not measured: ").expect("what is not measured");
    let told: Vec<&str> = missing.split("; ").chain(losses.split("; ")).collect();
    for told in &told {
        let has = |doubt: &String| doubt.contains(told.trim_end_matches('.'));
        assert!(doubts(&page).iter().any(has), "{told} is not on the page");
    }
    assert_eq!(page.doubts.len(), told.len(), "and nothing else");
}

#[test]
fn a_page_of_a_run_tells_how_it_ended() {
    let mut killed = crate::testing::nasty_names();
    killed.command.still_running = 2;
    let page = profile_page("0.1.0", &crate::testing::summary(killed));
    assert!(
        page.subtitle.starts_with("killed by signal 11 after 60.0 ms, 2 still running · "),
        "{}",
        page.subtitle
    );
}

#[test]
fn a_page_of_lines_tells_what_the_terminal_was_told_while_they_came() -> TestResult {
    let lines = crate::live::stat::tests::documents();
    let page = page(&[("s.json", &lines.concat())])?;
    insta::assert_snapshot!("stat", crate::page::testing::lines(&page));
    let doubts = doubts(&page).join("\n");
    for line in &lines {
        let read = crate::wire::read_stat(&documents(line)?[0])?;
        for loss in &read.lost {
            assert!(doubts.contains(loss.what) && doubts.contains(loss.damage), "{}", loss.what);
        }
        for (column, reason) in crate::live::stat::columns_without_number(&read.line) {
            assert!(
                doubts.contains(column) && doubts.contains(reason.detail),
                "{column}: {reason}"
            );
        }
    }
    assert!(doubts.contains("8 lines came late"), "{doubts}");
    Ok(())
}

#[test]
fn a_page_of_a_listing_tells_what_has_no_number_and_no_row() -> TestResult {
    let whole = page(&[("l.json", &crate::listing::tests::json())])?;
    insta::assert_snapshot!("listing", crate::page::testing::lines(&whole));
    let mut json: Value = serde_json::from_slice(&crate::listing::tests::json())?;
    json["partial"] = json!(false);
    json["unreadable"] = json!([]);
    json["directories"] = json!([]);
    json["files"].as_array_mut().ok_or("files")?.truncate(1);
    let part = page(&[("l.json", json.to_string().as_bytes())])?;
    assert_eq!(doubts(&part), ["1 file unknown, without a row here: "]);
    assert_eq!(part.sections.len(), 1);
    Ok(())
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
    let wanted = [
        "lab access",
        "Benchmarks side by side",
        "b.json",
        "b.json (2)",
        "Runs side by side",
        "p.json",
        "q.json",
    ];
    assert_eq!(titles, wanted);
    let asked: Vec<&str> =
        page.headline.iter().filter_map(|one| one.question.split(':').next()).collect();
    assert_eq!(asked, ["access", "b.json", "b.json (2)", "p.json", "q.json"]);
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
    let errors = all.map(|file| {
        page(&[("good.json", &lab), file])
            .map_or_else(|error| error.to_string(), |_| "read".to_owned())
    });
    insta::assert_snapshot!("errors", errors.join("\n"));
    Ok(())
}

/// A recording of so many intervals, on a kernel that lacks something and with losses.
fn recording(intervals: u64) -> Vec<u8> {
    let mut out = crate::wire::top::header_line(&recording_header());
    for number in 1..=intervals {
        let mut lacking = interval(number);
        lacking.losses = LiveLosses { tasks: number, events: 3, ..LiveLosses::default() };
        for row in &mut lacking.rows {
            let mut io = row.io.unpack();
            (io.device_read_bytes, io.device_write_bytes) = (0, 0);
            row.io = io.into();
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
    let caption = "All that was counted, by interval";
    assert_eq!(shown(1000)?, (1000, caption.to_owned()));
    assert_eq!(shown(1001)?, (1000, format!("{caption}; the first 1000 in the table")));
    Ok(())
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

static DOCUMENTS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let parsed = |sample: &Sample| serde_json::from_slice(&sample.bytes).unwrap_or_default();
    SAMPLES.iter().map(parsed).collect()
});

#[test]
fn every_format_has_a_page() -> TestResult {
    let (lines, whole): (Vec<&Sample>, Vec<&Sample>) =
        SAMPLES.iter().partition(|sample| sample.format == wire::top::SCHEMA);
    for sample in whole {
        page(&[("sample.json", &sample.bytes)])?;
    }
    let recording: Vec<u8> = lines.iter().flat_map(|sample| sample.bytes.clone()).collect();
    page(&[("sample.top", &recording)])?;
    Ok(())
}

#[test]
fn a_recording_that_ends_within_an_interval_is_shown_as_far_as_it_goes() -> TestResult {
    let whole = recording(2);
    let cut = page(&[("r.top", &whole[..whole.len() - 9])])?;
    assert_eq!(cut.sections[0].table.rows.len(), 1);
    assert!(doubts(&cut).contains(&"it ends within an interval, which is left out: ".to_owned()));
    let broken = [&whole[..whole.len() - 9], b"\n"].concat();
    assert!(page(&[("r.top", &broken)]).is_err_and(|error| error.error.place == "line 3"));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    /// What is damaged is refused with a reason or shown, but nothing panics.
    #[test]
    fn no_damaged_document_makes_it_panic(
        which in any::<prop::sample::Index>(),
        steps in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
        with in prop::option::of(prop::sample::select(vec![
            json!(null), json!(true), json!(0), json!(7), json!(-1), json!(0.5), json!("text"), json!([]), json!({}),
        ])),
    ) {
        let mut document = which.get(&DOCUMENTS).clone();
        damage(&mut document, &steps, with.as_ref());
        let line = document.to_string() + "\n";
        // A line of a recording needs the header before it.
        let header = match document.get("schema") {
            Some(_) => Vec::new(),
            None => crate::wire::top::header_line(&recording_header()),
        };
        if let Err(error) = page(&[("damaged.json", &[&header, line.as_bytes()].concat())]) {
            prop_assert!(!error.error.text.is_empty());
        }
    }
}
