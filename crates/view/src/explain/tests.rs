//! Explanations as they are shown.

use std::path::Path;
use std::sync::Arc;

use hotset_analysis::explain::{
    Attempt, Explained, Explanation, FileShare, Language, ProvedFinding, Setting, TraceFinding,
    TraceSiteShare, explained,
};
use hotset_analysis::replay::summarise_replay;
use hotset_analysis::replay::testing::{sample, session};
use hotset_analysis::{Evidence, Outcome, RuleVerdict, Saving, Severity};
use hotset_facts::trace::{Frame, Site, SiteIndex, SiteState, TraceLists};
use hotset_facts::{Observed, Reason, Target};

use super::*;
use crate::report::Options;
use crate::wire::explanation_json;
use crate::wire::schema_tests::refused;

pub(super) fn finding(title: &str, severity: Severity, high_ns: u64) -> TraceFinding {
    TraceFinding {
        rule: "fsync_per_write",
        severity,
        title: title.to_owned(),
        evidence: vec![
            Evidence::count("sync_calls", 1_200),
            Evidence::count("sync_ns", 90_000_000),
        ],
        saving: Saving::of_wall(high_ns / 2, high_ns, 300_000_000),
        files: vec![FileShare {
            file: None,
            path: Some("/srv/shop/data/orders.log".into()),
            records: 1_200,
            time_ns: 90_000_000,
        }],
        more_files: 3,
        sites: vec![TraceSiteShare { site: SiteIndex(0), records: 1_200, time_ns: 90_000_000 }],
        changes: vec!["sync-every=50".to_owned()],
        unproved: None,
        advice: "Group commits: sync once per 10 to 50 records.".to_owned(),
        how: vec![(Language::Python, "Call os.fsync once per group.".to_owned())],
        risks: Some("A crash then loses a group of records instead of one.".to_owned()),
        settings: vec![setting()],
    }
}

pub(super) fn setting() -> Setting {
    Setting {
        of: "git".to_owned(),
        how: "Set core.fsyncMethod=batch: one fsync per command covers all objects.".to_owned(),
        risks: "After a crash, run git fsck.".to_owned(),
        file: "hotset.gitconfig".to_owned(),
        place: "For all repositories of a user, run:".to_owned(),
        run: Some("git config --global --add include.path /PATH/hotset.gitconfig".to_owned()),
        comment: "#".to_owned(),
        text: "[core]\n\tfsyncMethod = batch\n".to_owned(),
    }
}

fn lists() -> TraceLists {
    let frame = |function: &str, line| {
        Arc::new(Frame {
            function: Some(function.to_owned()),
            module: Some("/usr/bin/shop".into()),
            offset: 0x1234,
            source: Some("src/store.c".into()),
            line: Some(line),
        })
    };
    let frames = vec![frame("store_write", 212), frame("main", 20)];
    let site = Site { frames, state: SiteState::Whole };
    TraceLists { sites: vec![site], ..TraceLists::default() }
}

/// Four findings: one that is proved, one that the replay refutes, one that can't be proved, and one that informs.
pub(super) fn some() -> Explained {
    let findings = vec![
        finding("Files are read at the start and never again", Severity::Info, 0),
        finding("40 % of the bytes were read before", Severity::Warning, 60_000_000),
        finding("Four threads wait for one file", Severity::Warning, 30_000_000),
        finding("store.write() syncs after each record", Severity::Critical, 85_000_000),
    ];
    let verdicts = vec![
        RuleVerdict { rule: "small_writes", outcome: Outcome::Clear },
        RuleVerdict {
            rule: "readahead_wasted",
            outcome: Outcome::NotEnoughData(Reason::not_measured("pages were not recorded")),
        },
    ];
    let explanation = Explanation { wall_ns: 300_000_000, io_ns: 100_000_000, findings, verdicts };
    let rounds = (0..6).flat_map(|round| {
        [sample(0, round, 95), sample(1, round, 95), sample(2, round, 20 + u64::from(round))]
    });
    let attempts = vec![
        Attempt::Not("it informs".to_owned()),
        Attempt::Variant(1),
        Attempt::Not("a replay keeps the order of threads".to_owned()),
        Attempt::Variant(2),
    ];
    explained(explanation, attempts, Some(summarise_replay(session(rounds.collect()))))
}

fn none() -> Explained {
    let verdicts = vec![RuleVerdict { rule: "small_writes", outcome: Outcome::Clear }];
    let explanation =
        Explanation { wall_ns: 300_000_000, io_ns: 1_000_000, findings: Vec::new(), verdicts };
    explained(explanation, Vec::new(), None)
}

fn with<T>(explained: &Explained, work: impl FnOnce(&ExplainedTrace<'_>) -> T) -> T {
    let session = session(Vec::new());
    let (path, head, lists) = (Some(Path::new("app.parquet")), &session.head, &lists());
    work(&ExplainedTrace { path, head, lists, explained })
}

/// Saved explanations: with proofs, with nothing, and with replays that nobody believes.
pub(crate) fn documents() -> Vec<Vec<u8>> {
    let mut doubtful = some();
    let mut session = crate::replay::tests::doubtful();
    session.syscall_ns = Observed::Missing(Reason::denied("perf_event_open"));
    doubtful.replays = Some(summarise_replay(session));
    let of = crate::replay::tests::telling_head;
    let all = [
        (some(), of(Target::Pid { pid: 7 })),
        (none(), of(Target::Cgroup { path: "/a.slice".into() })),
        (doubtful, of(Target::Command)),
    ];
    let written = all.iter().map(|(explained, head)| {
        with(explained, |trace| explanation_json(&ExplainedTrace { head, ..*trace }))
    });
    written.collect()
}

#[test]
fn the_terminal_says_it_like_this() {
    let text = |explained: &Explained, all| {
        let options = Options { all, ..Options::default() };
        with(explained, |trace| render_explained(trace, &options))
    };
    insta::assert_snapshot!("some", text(&some(), false));
    insta::assert_snapshot!("all", text(&some(), true));
    insta::assert_snapshot!("none", text(&none(), false));
    let widest = text(&some(), true).lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");
}

#[test]
fn what_is_proved_comes_first_and_what_is_refuted_last() {
    let findings = some().findings;
    let titles: Vec<&str> = findings.iter().map(|one| one.finding.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "store.write() syncs after each record",
            "Four threads wait for one file",
            "Files are read at the start and never again",
            "40 % of the bytes were read before",
        ]
    );
    assert!(findings[0].is_proved() && !findings[1..].iter().any(ProvedFinding::is_proved));
}

/// The page of what was written and read again.
fn reread(explained: &Explained) -> Result<crate::page::Page, Box<dyn std::error::Error>> {
    let json = with(explained, explanation_json);
    let document = crate::wire::documents(&json)?.remove(0);
    let read = crate::wire::read_explanation(&document)?;
    Ok(explained_page(&document.hotset, &read.trace()))
}

#[test]
fn the_page_says_it_like_this() {
    let page = |explained: &Explained| {
        with(explained, |trace| explained_page(crate::wire::VERSION, trace))
    };
    insta::assert_snapshot!("page", crate::page::testing::lines(&page(&some())));
    insta::assert_snapshot!("page_none", crate::page::testing::lines(&page(&none())));
}

#[test]
fn the_page_of_a_saved_explanation_is_that_of_the_live_one()
-> Result<(), Box<dyn std::error::Error>> {
    for explained in [some(), none()] {
        let live = with(&explained, |trace| explained_page(crate::wire::VERSION, trace));
        assert_eq!(reread(&explained)?, live);
    }
    Ok(())
}

#[test]
fn a_damaged_explanation_is_refused_with_the_place() -> Result<(), Box<dyn std::error::Error>> {
    let json: serde_json::Value = serde_json::from_slice(&with(&some(), explanation_json))?;
    let refused = |place: &str, value: serde_json::Value| {
        let mut json = json.clone();
        *json.pointer_mut(place).expect("a key") = value;
        let text = json.to_string();
        let read = crate::wire::documents(text.as_bytes())
            .and_then(|all| crate::wire::read_explanation(&all[0]).map(drop));
        read.expect_err(place).to_string()
    };
    let null = serde_json::Value::Null;
    for (place, value, begins) in [
        ("/findings/1/not_proved", null.clone(), "findings[1], not_proved: null"),
        ("/findings/0/severity", "grave".into(), "findings[0].severity: unknown variant"),
        ("/findings/0/evidence/0/value", "many".into(), "findings[0].evidence[0].value: "),
        ("/rules/1/reason", null, "rules[1], reason: null"),
        ("/rules/1/reason", "no kind".into(), "rules[1], reason: \"no kind\""),
        ("/replays/variants/1/pattern/lanes", 7.into(), "replays.variants[1].pattern.lanes: "),
    ] {
        let error = refused(place, value);
        assert!(error.starts_with(begins), "{place}: {error}");
    }
    Ok(())
}

#[test]
fn the_page_says_each_proof_and_reason_as_the_terminal_does() {
    let explained = some();
    let lines = with(&explained, |trace| {
        crate::page::testing::lines(&explained_page(crate::wire::VERSION, trace))
    });
    for finding in &explained.findings {
        let why = finding.not_proved.iter().map(|why| format!("Not proved: {why}."));
        let replays = explained.replays.as_ref().expect("replays");
        let proof = finding.proof.iter().map(|proof| words::proof(proof, replays));
        for said in why.chain(proof) {
            assert!(lines.contains(&said), "{said} is not in {lines}");
        }
    }
}

#[test]
fn json_is_as_its_schema_says() -> Result<(), Box<dyn std::error::Error>> {
    for explained in [some(), none()] {
        let json = with(&explained, explanation_json);
        assert_eq!(refused("hotset.explanation/1", &json)?, [""; 0]);
    }
    Ok(())
}
