//! Snapshots of the page, and the road from JSON to it.

use hotset_facts::fleet::{
    FleetAnalysis, FleetAnswers, FleetAxis, FleetCell, FleetChart, FleetChartKind, FleetColumn,
    FleetCondition, FleetHeadline, FleetSeries, FleetUnit, FleetWarning,
};
use insta::assert_snapshot;

use super::fleet_page;
use crate::page::testing::lines;
use crate::wire::schema_tests::refused;
use crate::wire::{documents, fleet_json, read_fleet};

fn column(name: &str, title: &str, unit: FleetUnit) -> FleetColumn {
    let meaning = format!("What {name} is");
    FleetColumn { name: name.into(), title: title.into(), meaning, unit }
}

fn axis(title: &str, unit: FleetUnit) -> FleetAxis {
    FleetAxis { title: title.into(), unit, log: false }
}

fn workloads() -> FleetAnalysis {
    let text = |text: &str| Some(FleetCell::Text(text.into()));
    let (whole, real) =
        (|value| Some(FleetCell::Whole(value)), |value| Some(FleetCell::Real(value)));
    FleetAnalysis {
        name: "workloads".into(),
        question: "How much memory does each workload need?".into(),
        answer: "One wastes 1 GiB.".into(),
        columns: vec![
            column("workload", "Workload", FleetUnit::Text),
            column("limit_bytes", "Limit", FleetUnit::Bytes),
            column("hit_ratio", "Hit ratio", FleetUnit::Ratio),
            column("replicas", "Replicas", FleetUnit::Number),
            column("hosts", "Hosts", FleetUnit::Count),
            column("wait_ns", "Waits", FleetUnit::Nanoseconds),
            column("change_bytes", "Change", FleetUnit::Bytes),
        ],
        rows: vec![
            vec![
                text("shop/<b>db</b>/\u{1b}[31m😀"),
                whole(1 << 30),
                real(0.987),
                real(2.5),
                whole(1_200),
                real(1.5e6),
                real(-1_048_576.0),
            ],
            vec![text("shop/../web"), None, None, real(300.4), whole(1), None, None],
        ],
        row_count: 5_000,
        chart: Some(FleetChart {
            label: "Saving".into(),
            kind: FleetChartKind::Bars,
            x: axis("workload", FleetUnit::Text),
            y: axis("saving", FleetUnit::Bytes),
            names: vec!["<b>db</b>".into(), "web".into()],
            series: vec![FleetSeries {
                name: "saving".into(),
                points: vec![(0.0, 1e9), (1.0, 5e8)],
            }],
        }),
        notes: vec!["Peaks between two intervals are not seen.".into()],
    }
}

fn answers() -> FleetAnswers {
    FleetAnswers {
        root: "/srv/fleet".into(),
        days: vec!["2026-11-20".into(), "2026-11-21".into(), "2026-11-22".into()],
        hosts: 200,
        intervals: 864_000,
        headline: vec![FleetHeadline {
            question: "What can be freed?".into(),
            number: "1.00 GiB".into(),
            sentence: "One workload has more than it needs.".into(),
        }],
        analyses: vec![
            workloads(),
            FleetAnalysis {
                name: "changes".into(),
                question: "What changed?".into(),
                answer: "Nothing.".into(),
                columns: vec![column("workload", "Workload", FleetUnit::Text)],
                rows: Vec::new(),
                row_count: 0,
                chart: None,
                notes: Vec::new(),
            },
        ],
        warnings: vec![FleetWarning {
            text: "1 file was left out".into(),
            advice: "a.parquet: is cut off".into(),
        }],
        conditions: vec![FleetCondition { name: "Engine".into(), value: "DuckDB".into() }],
    }
}

/// Documents as they are written.
pub(crate) fn documents_of_fleets() -> Vec<Vec<u8>> {
    let nothing = FleetAnswers {
        days: Vec::new(),
        hosts: 0,
        intervals: 0,
        headline: Vec::new(),
        analyses: Vec::new(),
        warnings: Vec::new(),
        conditions: Vec::new(),
        ..answers()
    };
    [answers(), nothing].iter().map(fleet_json).collect()
}

#[test]
fn a_page_has_a_section_for_each_question() {
    assert_snapshot!(lines(&fleet_page("1.2.3", &answers())));
}

#[test]
fn what_is_written_is_read_back_and_fits_the_schema() -> Result<(), Box<dyn std::error::Error>> {
    let json = fleet_json(&answers());
    assert_eq!(read_fleet(&documents(&json)?[0])?, answers());
    assert_eq!(refused("hotset.fleet/1", &json)?, [""; 0]);
    Ok(())
}

#[test]
fn a_row_without_a_value_for_each_column_is_named() -> Result<(), Box<dyn std::error::Error>> {
    let mut short = answers();
    short.analyses[0].rows[1].pop();
    let json = fleet_json(&short);
    let error = read_fleet(&documents(&json)?[0]).expect_err("a value is missing");
    let expected = "analyses[0].rows[1]: 6 values; expected one for each of 7 columns";
    assert_eq!(error.to_string(), expected);
    Ok(())
}
