//! What checks look like.

use hotset_analysis::check::CheckOutcome;
use hotset_facts::{LearnedBy, WantedState};

use super::*;
use crate::report::Options;
use crate::wire::schema_tests::refused;

type TestResult = Result<(), Box<dyn std::error::Error>>;

fn plain(width: usize) -> Options {
    Options { width, color: false, ascii: false, ..Options::default() }
}

#[test]
fn a_terminal() {
    insta::assert_snapshot!("text", render_check(&testing::report(), &plain(100)));
    let options = Options { all: true, ..plain(60) };
    let narrow = render_check(&testing::report(), &options);
    insta::assert_snapshot!("text_all_60", narrow);
}

#[test]
fn machines() {
    let report = testing::report();
    insta::assert_snapshot!("junit", junit(&report));
    insta::assert_snapshot!("tap", tap(&report));
    insta::assert_snapshot!("annotations", annotations(&report));
    insta::assert_snapshot!("step_summary", step_summary(&report));
}

#[test]
fn json_fits_its_schema() -> TestResult {
    let line = check_json(&testing::report());
    assert_eq!(refused("hotset.check/1", &line)?, Vec::<String>::new());
    insta::assert_snapshot!(
        "json",
        serde_json::to_string_pretty(&serde_json::from_slice::<serde_json::Value>(&line)?)?
    );
    Ok(())
}

#[test]
fn without_the_sensor_and_interrupted_is_said() {
    let mut report = testing::report();
    report.checks.truncate(1);
    report.no_sensor = Some("not root".to_owned());
    report.interrupted = true;
    let text = render_check(&report, &plain(100));
    let counted =
        "without the sensor: not root. Lookups, opens and processes are counted by tracing";
    assert!(text.contains(counted), "{text}");
    report.no_trace = Some("ptrace failed".to_owned());
    let untraced = render_check(&report, &plain(100));
    assert!(
        untraced.contains("without the sensor: not root; nor by tracing: ptrace failed"),
        "{untraced}"
    );
    report.checks[0].state = WantedState::Cold;
    report.checks[0].learned_by = LearnedBy::Trace;
    report.checks[0].state_files = 23;
    let learned = render_check(&report, &plain(100));
    assert!(learned.contains("state cold of 23 files, learned by tracing"), "{learned}");
    assert!(text.ends_with("1 check: 1 passed; interrupted, the others were not run\n"), "{text}");
    assert!(tap(&report).ends_with("Bail out! interrupted\n"));
    assert_eq!(annotations(&report), "");
}

#[test]
fn xml_has_no_control_characters() {
    let mut report = testing::report();
    report.checks[0].outcome = CheckOutcome::NotRun;
    report.checks[0].attempts.clear();
    report.checks[0].error = Some("a\u{1}b\u{b}c".to_owned());
    report.checks[0].name = "tab\tand \"quotes\" <&>".to_owned();
    let xml = junit(&report);
    assert!(xml.contains("name=\"tab\tand &quot;quotes&quot; &lt;&amp;&gt;\""), "{xml}");
    assert!(!xml.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')), "{xml}");
}
