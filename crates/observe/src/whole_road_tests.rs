//! The same answer in every view where a kernel lacks a tracepoint: from the choice of programs, by way of the conversion
//! and the analysis, to JSON, lines of `stat`, metrics and samples of `top`.

use hotset_analysis::live::{
    Accumulated, SeriesLimits, StatLine, StatScope, summarise_interval, testing,
};
use hotset_analysis::top::{Column, Kind, NoNames, Order, TopFrame};
use hotset_analysis::{Gate, fixtures, summarise};
use hotset_facts::{Interval, NotMeasured, Observed, Profile, Reason};
use hotset_view::live::stat::{Row as StatRow, csv_header, csv_line, json_line};
use hotset_view::metrics::{Exposition, GroupLabels, Measured, OwnNumbers, SamplingState};
use hotset_view::tui::{BatchOptions, batch_text};
use serde_json::Value;

use crate::collector::Collector;
use crate::convert::io_of;
use crate::features::{FUNCTIONS, KernelFeatures, Layout, TRACEPOINTS, Tracepoint};
use crate::live::counters;
use crate::record::{Row, zeroed};
use crate::select::{Selection, select};
use crate::sensor;

const NONE: Reason = Reason::not_measured("not in this test");

/// What a current kernel gives, but for these tracepoints.
fn kernel_without(missing: &[&str]) -> Selection {
    let known = TRACEPOINTS.iter().filter(|name| !missing.contains(name));
    let point = |name: &'static str| {
        let arguments = if name == "io_uring_complete" { 3 } else { 1 };
        (name, Tracepoint { arguments, ..Tracepoint::default() })
    };
    let features = KernelFeatures {
        tracepoints: known.map(|name| point(name)).collect(),
        read_only_cast: true,
        functions: [None; FUNCTIONS.len()],
        task_storage: true,
        bounded_loop: true,
        atomics: true,
        preemptible: false,
        mappings: true,
        layout: Layout { pg_head: 6, ..Layout::default() },
    };
    select(&features).unwrap()
}

/// A row in which the programs of any kernel count: a fault brought pages in, and a write read some first.
fn row() -> Row {
    Row { owner: 1, write_calls: 3, write_pages: 3, fault_pages: 24, fault_filled: 24, ..zeroed() }
}

/// What `hotset run --json` says in its totals, and what it says is not measured.
fn run_json(selection: &Selection) -> (Value, Vec<NotMeasured>) {
    let sensor = sensor::describe(selection, &zeroed(), 0, None, &Collector::default());
    let gaps = sensor.not_measured.clone();
    let totals = io_of(&row(), &selection.missing);
    let profile = Profile { sensor, totals, ..fixtures::profile() };
    let mut out = Vec::new();
    let summary = summarise(profile, Observed::Missing(NONE), Gate::default());
    hotset_view::write_profile_json(&summary, &mut out).unwrap();
    (serde_json::from_slice(&out).unwrap(), gaps)
}

fn interval() -> Interval {
    let io = counters::of(&row());
    testing::interval(vec![testing::Doing { process: 0, file: 0, io }])
}

fn stat(gaps: &[NotMeasured]) -> (Value, Value) {
    let interval = interval();
    let line = StatLine::of(&interval, StatScope::Host, gaps, 4096);
    let row = StatRow { at: interval.at, line: &line, lost: &[], late: 0 };
    let csv = csv_line(&row);
    let header = csv_header();
    let named = header.trim().split(',').zip(csv.trim().split(','));
    let named = named.map(|(name, value)| (name.to_owned(), Value::from(value)));
    (serde_json::from_slice(&json_line(&row)).unwrap(), Value::Object(named.collect()))
}

/// The metrics of the host, by name without labels.
fn metrics(gaps: &[NotMeasured]) -> Vec<String> {
    let interval = interval();
    let limits = SeriesLimits { commands: 1, cgroups: 1, mounts: 1 };
    let mut counted = Accumulated::new(limits);
    counted.add(&interval, &summarise_interval(&interval));
    let own = OwnNumbers {
        version: "0",
        started: interval.at,
        last_sample: Some(interval.at),
        interval_ns: 1,
        sample_ns: 0,
        last_sample_ns: 0,
        rows: 0,
        processes: 0,
        responses: Vec::new(),
        refused_connections: 0,
        process: Observed::Missing(NONE),
        otlp: None,
        fleet: None,
    };
    let families = hotset_view::metrics::families(&Measured {
        state: &SamplingState::Running,
        counted: &counted,
        page_bytes: 4096,
        curves: None,
        memory: &Observed::Missing(NONE),
        group: &|_| GroupLabels::default(),
        mount: None,
        watched: &[],
        not_measured: gaps,
        own: &own,
    });
    let text = hotset_view::metrics::exposition(&families, Exposition::Prometheus);
    String::from_utf8(text.into()).unwrap().lines().map(str::to_owned).collect()
}

/// What a sample of `top` has in a column of its only process.
fn top(gaps: &[NotMeasured], title: &str) -> String {
    let options = BatchOptions {
        kind: Kind::Processes,
        order: Order::usual(Column::Hits),
        filter: String::new(),
        top: 1,
        not_measured: gaps.to_vec(),
    };
    let text = batch_text(&TopFrame::of(interval(), &mut NoNames), &options);
    let mut lines = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let at = lines.next().unwrap().iter().position(|word| *word == title).unwrap();
    lines.next().unwrap()[at].to_owned()
}

#[test]
fn dirtied_pages_are_nowhere_zero_without_their_tracepoint() {
    let (run, gaps) = run_json(&kernel_without(&["writeback_dirty_folio", "writeback_dirty_page"]));
    assert_eq!(run["totals"]["write"]["calls"], 3);
    assert_eq!(run["totals"]["write"]["dirtied_pages"], Value::Null);
    let (json, csv) = stat(&gaps);
    assert_eq!((&json["dirties"], &csv["dirties"]), (&Value::Null, &Value::from("")));
    assert!(!metrics(&gaps).iter().any(|line| line.starts_with("hotset_dirtied_pages")));
    assert_eq!(top(&gaps, "DIRTIES"), "-");
}

#[test]
fn pages_that_faults_bring_in_are_counted_without_the_tracepoints_of_faults() {
    let (run, gaps) = run_json(&kernel_without(&["mm_filemap_fault", "mm_filemap_map_pages"]));
    assert_eq!(run["totals"]["mmap"]["pages_read"], 24);
    assert_eq!(run["totals"]["mmap"]["faults"], Value::Null);
    let (json, csv) = stat(&gaps);
    assert_eq!((&json["faults"], &csv["faults"]), (&Value::Null, &Value::from("")));
    let metrics = metrics(&gaps);
    assert!(metrics.contains(&"hotset_mapped_fault_read_pages_total 24".to_owned()), "{metrics:?}");
    assert!(!metrics.iter().any(|line| line.starts_with("hotset_mapped_faults")));
    assert_eq!(top(&gaps, "FAULTS"), "-");
}

#[test]
fn what_the_block_layer_tells_is_missing_without_its_tracepoint() {
    let (run, gaps) = run_json(&kernel_without(&["block_bio_queue"]));
    assert_eq!(run["totals"]["device"]["read_bytes"], Value::Null);
    assert_eq!(run["totals"]["write"]["misses"], Value::Null, "reads that a write waited for");
    let metrics = metrics(&gaps);
    for name in ["hotset_device_read_bytes", "hotset_write_missed_pages"] {
        assert!(!metrics.iter().any(|line| line.starts_with(name)), "{name}");
    }
}

#[test]
fn a_kernel_that_has_everything_leaves_no_gap() {
    let (run, gaps) = run_json(&kernel_without(&[]));
    assert!(gaps.is_empty());
    assert_eq!(run["totals"]["write"]["dirtied_pages"], 0);
    assert_eq!(stat(&gaps).0["dirties"], 0);
    assert_eq!(top(&gaps, "FAULTS"), "0");
}
