use std::time::Duration;

use hotset_analysis::live::testing::{Doing, interval, reads};
use hotset_analysis::live::{LossWatch, StatScope, StatTotals};
use hotset_facts::{Feature, Interval, LiveIo, LiveLosses, NotMeasured, Observed, Reason};

use super::*;

const ALL: Layout = Layout { time: false, width: None };

fn busy() -> Interval {
    let io = LiveIo {
        read_pages: 123_456,
        read_misses: 1_000,
        readahead_hits: 20_000,
        readahead_pages: 20_480,
        dirtied_pages: 77,
        direct_read_bytes: 5 << 20,
        direct_write_bytes: 700 << 10,
        faults: 1_234,
        major_faults: 5,
        ..LiveIo::default()
    };
    let mut interval = interval(vec![Doing { process: 0, file: 0, io }]);
    interval.at += Duration::from_millis(3_661_250);
    interval.evicted_pages = Observed::Value(4_321);
    interval.host.written_back_pages = Observed::Value(640);
    interval
}

fn of(interval: &Interval, scope: StatScope, gaps: &[NotMeasured]) -> StatLine {
    StatLine::of(interval, scope, gaps, 4096)
}

fn row<'a>(interval: &Interval, line: &'a StatLine, lost: &'a [GrownLoss]) -> Row<'a> {
    Row { at: interval.at, line, lost, late: 0 }
}

fn losses() -> Vec<GrownLoss> {
    LossWatch::default().grown(&LiveLosses {
        tasks: 1_200,
        origins: 3,
        events: 1,
        ..LiveLosses::default()
    })
}

/// A host, an idle one, a process on a kernel without tracepoints, and a group.
fn lines() -> [(Interval, StatLine); 4] {
    let gaps = [Feature::DirtyTracepoint, Feature::FileFaults].map(NotMeasured::lacking);
    let mut idle = interval(vec![reads(0, 0, 0)]);
    idle.evicted_pages = Observed::Missing(Reason::unsupported("no tracepoint"));
    let (busy, group) = (busy(), StatScope::Group(Observed::Value(300 << 20)));
    [
        (busy.clone(), of(&busy, StatScope::Host, &[])),
        (idle.clone(), of(&idle, StatScope::Host, &[])),
        (busy.clone(), of(&busy, StatScope::Processes, &gaps)),
        (busy.clone(), of(&busy, group, &[])),
    ]
}

#[test]
fn text() {
    let mut out = String::new();
    for layout in [ALL, Layout { time: true, width: None }, Layout { time: false, width: Some(80) }]
    {
        out += &header(layout);
        for (interval, line) in lines() {
            out += &super::line(&row(&interval, &line, &[]), layout, 3600);
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn csv() {
    let mut out = csv_header();
    for (interval, line) in lines() {
        out += &csv_line(&row(&interval, &line, &losses()));
    }
    insta::assert_snapshot!(out);
    let fields = |line: &str| line.split(',').count();
    assert!(out.lines().all(|line| fields(line) == fields(&csv_header())));
}

/// A line of each kind, and one with losses.
pub(crate) fn documents() -> [Vec<u8>; 5] {
    let lines = lines();
    let late = |at: usize| {
        let (interval, line) = &lines[at];
        json_line(&Row { late: 2, ..row(interval, line, &[]) })
    };
    let (interval, line) = &lines[0];
    [late(0), late(1), late(2), late(3), json_line(&row(interval, line, &losses()))]
}

fn json() -> [serde_json::Value; 5] {
    documents().map(|line| serde_json::from_slice(&line).expect("JSON"))
}

#[test]
fn json_lines() {
    let lines: Vec<String> = json().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn json_lines_are_what_the_schema_says() {
    let refused = |line: &serde_json::Value| {
        let bytes = serde_json::to_vec(line).expect("JSON");
        crate::wire::schema_tests::refused("hotset.stat/1", &bytes).expect("a schema")
    };
    for line in json() {
        assert_eq!(refused(&line), [""; 0], "{line}");
        let mut short = line.clone();
        short.as_object_mut().expect("object").remove("hits");
        assert!(!refused(&short).is_empty(), "no key may be left out");
    }
}

#[test]
fn a_line_is_read_back() {
    for (interval, line) in &lines() {
        let losses = losses();
        let row = Row { late: 2, ..row(interval, line, &losses) };
        let bytes = json_line(&row);
        let documents = crate::wire::documents(&bytes).expect("documents");
        let read = crate::wire::read_stat(&documents[0]).expect("a line");
        let again = Row { at: read.at, line: &read.line, lost: &read.lost, late: read.late };
        assert_eq!(json_line(&again), bytes);
        assert_eq!(super::line(&again, ALL, 0), super::line(&row, ALL, 0));
    }
}

#[test]
fn the_first_six_columns_stand_where_cachestat_prints_them() {
    // bcc tools/cachestat.py: "%8s %8s %8s %8s %12s %10s".
    let six = "   TOTAL   MISSES     HITS  DIRTIES   BUFFERS_MB  CACHED_MB";
    assert!(header(ALL).starts_with(six));
    assert_eq!(header(Layout { time: false, width: Some(20) }).trim_end(), six);
    assert_eq!(header(ALL).trim_end().len(), MIN_WIDTH);
    let narrow = Layout { time: true, width: Some(MIN_WIDTH) };
    assert_eq!(narrow.hidden().collect::<Vec<_>>(), ["WRITEBACK_MB"]);
    let (interval, line) = lines().into_iter().next().expect("a line");
    let text = super::line(&row(&interval, &line, &[]), ALL, 0);
    let cut: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(cut[..6], ["123456", "1000", "122456", "77", "24", "2048"]);
}

#[test]
fn a_share_is_never_rounded_to_all_or_nothing() {
    let mut line = lines()[0].1;
    let mut field = |share: f64| {
        line.device_share = Some(share);
        let interval = busy();
        let text = super::line(&row(&interval, &line, &[]), ALL, 0);
        text.split_whitespace().nth(7).map(str::to_owned).expect("DEVICE%")
    };
    assert_eq!(
        [field(0.99999), field(0.00001), field(1.0), field(0.0)],
        ["99.9", "0.1", "100.0", "0.0"]
    );
}

#[test]
fn words() {
    let mut totals = StatTotals::default();
    let mut out = vec![summary_words(&totals)];
    for (_, line) in lines() {
        totals.add(&line, true, false);
        out.push(summary_words(&totals));
    }
    totals.add(&lines()[0].1, false, true);
    out.push(summary_words(&totals));
    out.extend(lines().iter().flat_map(|(_, line)| missing_words(line)));
    out.extend(losses().iter().map(loss_words));
    out.extend([late_words(1, 1, 2.0), late_words(1_000, 1_001, 1001.04)]);
    out.push(gap_words(&NotMeasured::lacking(Feature::FileFaults)));
    insta::assert_snapshot!(out.join("\n"));
}
