//! The page of a need, and what a saved one has of it.

use std::path::Path;

use hotset_analysis::size::{Prediction, SizeSummary, TooLittle};
use hotset_facts::trace::TraceHead;
use hotset_facts::{ExitStatus, Target};

use super::*;
use crate::page::Page;
use crate::page::testing::lines;
use crate::replay::tests::telling_head;
use crate::results::{Contents, ResultFile, results_page};
use crate::size::tests::{compared, full, limit, summary, unknown, verified};
use crate::wire::{documents, read_size, size_json};

fn page(head: &TraceHead, summary: &SizeSummary) -> Page {
    let trace = SizedTrace { path: Some(Path::new("app.parquet")), head, summary };
    size_page("0.1.0", &trace, &caveats(&trace))
}

#[test]
fn a_page_says_it_like_this() {
    let mut known = compared();
    for limit in known.limits.iter_mut().chain(&mut known.enough).chain(&mut known.thrash) {
        limit.hit_ratio_range = (0.98 * limit.hit_ratio, 1.01 * limit.hit_ratio);
    }
    insta::assert_snapshot!("page", lines(&page(&full(), &known)));
    let head = TraceHead { memory: None, reclaim: None, ..telling_head(Target::Command) };
    insta::assert_snapshot!("page_unknown", lines(&page(&head, &unknown())));
}

fn without_limits() -> SizeSummary {
    SizeSummary { limits: Vec::new(), enough: None, thrash: None, limit: None, ..summary() }
}

#[test]
fn memory_that_was_told_is_not_said_to_be_measured() {
    let told = |must| {
        let page = page(&full(), &SizeSummary { must, ..summary() });
        let section = page.sections.iter().find(|one| one.question.starts_with("What must it"));
        section.expect("it is there").answer.clone()
    };
    assert!(told(None).starts_with("Not measured: taken as 102 MiB"), "{}", told(None));
    assert_eq!(told(summary().must), "");
    let must = summary().must.map(|must| hotset_analysis::size::Must { anon_bytes: 0, ..must });
    assert!(told(must).starts_with("Limits are those with 102 MiB instead"), "{}", told(must));
}

#[test]
fn a_page_of_one_limit_has_no_chart() {
    let page = page(&full(), &SizeSummary { limits: vec![limit(10, 1, 1, 0)], ..without_limits() });
    assert!(page.sections.iter().all(|section| section.chart.is_none()));
}

#[test]
fn a_page_without_limits_says_why() {
    for why in [TooLittle::NoReferences, TooLittle::OnePass, TooLittle::FewPages] {
        let page = page(&full(), &SizeSummary { too_little: Some(why), ..without_limits() });
        assert!(page.sections[0].chart.is_none() && page.sections[0].answer.len() > 20);
        let asked: Vec<&str> = page.headline.iter().map(|one| one.question.as_str()).collect();
        assert_eq!(asked, ["What to request?"]);
    }
}

fn saved(files: &[(&str, &[u8])]) -> Page {
    let file = |&(name, bytes)| ResultFile { name, contents: Contents::Documents(bytes) };
    let present = |session| Ok(crate::lab::testing::present(session));
    results_page(files.iter().map(file), &present).expect("a page")
}

#[test]
fn what_was_saved_is_read_as_it_was() -> Result<(), Box<dyn std::error::Error>> {
    let head = full();
    let path = Path::new("/tmp/a b.parquet");
    let run = verified(summary().limits[1], 210, ExitStatus::Code(3));
    let with_run = SizeSummary { verified: vec![run], ..summary() };
    for wanted in [summary(), compared(), unknown(), without_limits(), with_run] {
        let live = SizedTrace { path: Some(path), head: &head, summary: &wanted };
        let bytes = size_json(&live);
        let read = read_size(&documents(&bytes)?[0])?;
        assert_eq!(read.caveats, caveats(&live));
        let read = read.trace();
        // Caveats of a prediction are sentences of the document.
        let prediction = wanted.prediction.clone();
        let prediction = prediction.map(|one| Prediction { caveats: Vec::new(), ..one });
        assert_eq!(*read.summary, SizeSummary { prediction, ..wanted.clone() });
        assert_eq!((read.path, &read.head.command), (Some(path), &head.command));
        assert_eq!(
            (&read.head.environment, read.head.started_at),
            (&head.environment, head.started_at)
        );
        let version = crate::wire::VERSION;
        assert_eq!(saved(&[("s.json", &bytes)]), size_page(version, &live, &caveats(&live)));
    }
    Ok(())
}

#[test]
fn what_is_wrong_with_a_saved_one_is_named() -> Result<(), Box<dyn std::error::Error>> {
    let head = full();
    let bytes =
        size_json(&SizedTrace { path: Some(Path::new("a")), head: &head, summary: &summary() });
    let whole = String::from_utf8(bytes)?;
    for (from, to, wanted) in [
        (
            r#""policy":"mglru""#,
            r#""policy":"best""#,
            "policy: \"best\"; expected one of lru, fifo",
        ),
        (r#""kernel":"6.12""#, r#""kernel":"six""#, "kernel: \"six\"; expected a version of Linux"),
        (r#""hits":100000,"#, "", "limits[0]: missing field `hits`"),
    ] {
        let broken = whole.replace(from, to);
        assert_ne!(broken, whole, "{from}");
        let said = read_size(&documents(broken.as_bytes())?[0]).expect_err("it is wrong");
        assert!(said.to_string().starts_with(wanted), "{said}");
    }
    Ok(())
}

#[test]
fn several_stand_beside_each_other() {
    let head = full();
    let json = |summary: &SizeSummary| {
        size_json(&SizedTrace { path: Some(Path::new("a.parquet")), head: &head, summary })
    };
    let (known, unknown) = (json(&compared()), json(&unknown()));
    let page = saved(&[("6.12.json", &known), ("import.json", &unknown)]);
    let titles: Vec<&str> = page.parts.iter().map(|part| part.title.as_str()).collect();
    let wanted = [
        "Memory needs side by side",
        "6.12.json: Memory that true needs",
        "import.json: Memory that true needs",
    ];
    assert_eq!(titles, wanted);
    insta::assert_snapshot!("beside", lines(&page.parts[0]));
}
