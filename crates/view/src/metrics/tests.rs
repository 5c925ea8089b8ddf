use std::collections::BTreeSet;

use hotset_analysis::live::{SeriesLimits, summarise_interval, testing::interval, testing::reads};
use hotset_facts::{Feature, LiveIo, NotMeasured, Observed, Reason};
use serde_json::Value as Json;

use super::testing::{Host, epoch};
use super::*;

fn lines(host: &Host, format: Exposition) -> Vec<String> {
    let text = host.measured(|measured| exposition(&families(measured), format));
    text.lines().map(str::to_owned).collect()
}

fn about<'a>(lines: &'a [String], name: &str) -> Vec<&'a str> {
    let is_it = |line: &&str| {
        let rest = line.trim_start_matches("# HELP ").trim_start_matches("# TYPE ");
        let rest = rest.trim_start_matches("# UNIT ");
        rest.split([' ', '{']).next().is_some_and(|word| word.trim_end_matches("_total") == name)
    };
    lines.iter().map(String::as_str).filter(is_it).collect()
}

#[test]
fn the_two_texts_differ_where_their_formats_do() {
    let host = Host::new();
    let (old, open) = (lines(&host, Exposition::Prometheus), lines(&host, Exposition::OpenMetrics));
    assert_eq!(
        about(&old, "hotset_read_pages"),
        [
            "# HELP hotset_read_pages_total Pages that buffered reads asked for, on the host",
            "# TYPE hotset_read_pages_total counter",
            "hotset_read_pages_total 105",
        ]
    );
    assert_eq!(
        about(&open, "hotset_read_pages"),
        [
            "# HELP hotset_read_pages Pages that buffered reads asked for, on the host",
            "# TYPE hotset_read_pages counter",
            "# UNIT hotset_read_pages pages",
            "hotset_read_pages_total 105",
        ]
    );
    assert_eq!(open.last().map(String::as_str), Some("# EOF"));
    assert!(!old.iter().any(|line| line == "# EOF" || line.starts_with("# UNIT")));
}

#[test]
fn who_has_no_place_is_other_and_the_sum_is_the_host() {
    let lines = lines(&Host::new(), Exposition::Prometheus);
    let read = |name| about(&lines, name)[2..].to_vec();
    assert_eq!(
        read("hotset_command_read_pages"),
        [
            "hotset_command_read_pages_total{command=\"worker-0\"} 100",
            "hotset_command_read_pages_total{command=\"other\"} 5",
        ]
    );
    assert_eq!(
        read("hotset_cgroup_read_missed_pages"),
        [
            "hotset_cgroup_read_missed_pages_total{cgroup=\"/system.slice/0.service\",container=\"in /system.slice/0.service\"} 10",
            "hotset_cgroup_read_missed_pages_total{cgroup=\"other\"} 5",
        ]
    );
    assert_eq!(
        read("hotset_mount_read_pages")[0],
        "hotset_mount_read_pages_total{device=\"8:1\",mountpoint=\"/\",fstype=\"ext4\"} 105"
    );
}

#[test]
fn a_command_that_is_called_other_is_told_from_the_rest() {
    let mut host = Host::new();
    host.counted = hotset_analysis::live::Accumulated::new(SeriesLimits {
        commands: 2,
        cgroups: 0,
        mounts: 0,
    });
    let mut work = interval(vec![reads(0, 7, 0)]);
    work.processes[0].comm = "other".into();
    host.counted.add(&work, &summarise_interval(&work));
    let lines = lines(&host, Exposition::Prometheus);
    assert_eq!(
        about(&lines, "hotset_command_read_pages")[2..],
        [
            "hotset_command_read_pages_total{command=\"other (a command)\"} 7",
            "hotset_command_read_pages_total{command=\"other\"} 0",
        ]
    );
}

#[test]
fn what_is_not_measured_is_absent_and_says_why() {
    let mut host = Host::new();
    host.not_measured.push(NotMeasured::lacking(Feature::FileFaults));
    host.memory = Observed::Missing(Reason::denied("no /proc"));
    host.mounts = false;
    let lines = lines(&host, Exposition::Prometheus);
    for name in
        ["hotset_mapped_faults", "hotset_command_mapped_faults", "hotset_memory_cached_bytes"]
    {
        assert_eq!(about(&lines, name), [""; 0]);
    }
    assert_eq!(about(&lines, "hotset_mount_read_pages"), [""; 0]);
    let gaps = about(&lines, "hotset_not_measured");
    assert!(gaps.iter().any(|line| line.contains("what=\"mmap.faults\"")), "{gaps:?}");
    assert_eq!(
        gaps[2..4],
        [
            // The count in the reason is not part of the label: each would be another series.
            "hotset_not_measured{what=\"32-bit system calls\",reason=\"calls were not decoded\"} 1",
            "hotset_not_measured{what=\"memory\",reason=\"denied: no /proc\"} 1",
        ]
    );
    assert_eq!(about(&lines, "hotset_watch_dirty_bytes"), [""; 0]);
    assert_eq!(
        about(&lines, "hotset_watch_cached_bytes")[2],
        "hotset_watch_cached_bytes{path=\"/srv/\\\"db\\\"\"} 8192"
    );
}

#[test]
fn a_path_of_which_nothing_is_known_has_no_bytes() {
    let mut host = Host::new();
    host.watched[0] =
        WatchedNumbers { files: 0, size_bytes: 0, cached_bytes: 0, ..host.watched[0].clone() };
    let lines = lines(&host, Exposition::Prometheus);
    assert_eq!(about(&lines, "hotset_watch_cached_bytes"), [""; 0]);
    assert_eq!(about(&lines, "hotset_watch_unknown_files").len(), 3);
}

#[test]
fn counters_that_stand_still_are_not_served() {
    let mut host = Host::new();
    host.state = SamplingState::Stopped("the sensor is gone".to_owned());
    let lines = lines(&host, Exposition::OpenMetrics);
    assert_eq!(about(&lines, "hotset_up").last(), Some(&"hotset_up 0"));
    for name in [
        "hotset_read_pages",
        "hotset_evicted_pages",
        "hotset_memory_cached_bytes",
        "hotset_watch_cached_bytes",
        "process_cpu_seconds",
    ] {
        assert_eq!(about(&lines, name), [""; 0]);
    }
    let page = host.measured(|measured| status_page(measured, &families(measured)));
    assert!(page.contains("Sampling has stopped: the sensor is gone"), "{page}");
}

#[test]
fn time_is_exact_to_the_nanosecond() {
    let lines = lines(&Host::new(), Exposition::Prometheus);
    let value = |name| about(&lines, name)[2];
    assert_eq!(value("process_cpu_seconds"), "process_cpu_seconds_total 0.030000000");
    assert_eq!(value("hotset_sample_interval_seconds"), "hotset_sample_interval_seconds 5");
}

#[test]
fn no_series_is_there_twice_and_names_follow_the_guide() {
    let host = Host::new();
    let all = host.measured(families);
    let mut names = BTreeSet::new();
    for family in &all {
        assert!(names.insert(&family.name), "{} is there twice", family.name);
        assert!(!family.points.is_empty() && !family.help.ends_with('.'), "{}", family.name);
        let labels: BTreeSet<_> = family.points.iter().map(|point| &point.labels).collect();
        assert_eq!(labels.len(), family.points.len(), "{}", family.name);
        if let Some(unit) = family.unit.as_str() {
            assert!(family.name.ends_with(&format!("_{unit}")), "{}", family.name);
        }
    }
}

#[test]
fn every_metric_is_documented_and_nothing_else_is() {
    let docs = include_str!("../../../../docs/metrics.md");
    let documented: BTreeSet<&str> = (docs.lines())
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .filter(|name| name.starts_with("hotset_") || name.starts_with("process_"))
        .collect();
    let exported: Vec<String> =
        Host::new().measured(families).iter().map(Family::series_name).collect();
    let mut host = Host::with_curves(false);
    host.watched[0].dirty_bytes = Some(0);
    // The same counters again, which the page has as one table.
    let again: BTreeSet<String> = ["hotset_cgroup_", "hotset_command_", "hotset_mount_"]
        .iter()
        .flat_map(|prefix| {
            LiveIo::COUNTERS.iter().map(move |one| format!("{prefix}{}_total", one.metric))
        })
        .collect();
    let exported: BTreeSet<String> = host
        .measured(families)
        .iter()
        .map(Family::series_name)
        .chain(exported)
        .filter(|name| !again.contains(name))
        .collect();
    let exported: BTreeSet<&str> = exported.iter().map(String::as_str).collect();
    assert_eq!(documented, exported);
}

#[test]
fn a_push_says_when_each_counter_was_zero() {
    let host = Host::new();
    let resource = Resource {
        host: "db1".to_owned(),
        instance: "db1:77".to_owned(),
        version: "0.1.0",
        started: epoch(1_699_999_000),
        at: epoch(1_700_000_000),
    };
    let body = host.measured(|measured| otlp_json(&families(measured), &resource));
    let body: Json = serde_json::from_slice(&body).expect("JSON");
    let metrics = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let metric = |name: &str| {
        let found =
            metrics.as_array().and_then(|all| all.iter().find(|metric| metric["name"] == name));
        found.unwrap_or_else(|| panic!("no {name}")).clone()
    };
    let pages = metric("hotset_command_read_pages");
    assert_eq!(
        (&pages["sum"]["aggregationTemporality"], &pages["unit"]),
        (&2.into(), &"{page}".into())
    );
    let point = &pages["sum"]["dataPoints"][0];
    assert_eq!(point["asInt"], "100");
    assert_eq!(point["startTimeUnixNano"], "1699999999000000000");
    assert_eq!(point["timeUnixNano"], "1700000000000000000");
    assert_eq!(pages["sum"]["dataPoints"][1]["startTimeUnixNano"], "1699999000000000000");
    assert_eq!(metric("process_cpu_seconds")["sum"]["dataPoints"][0]["asDouble"], 0.03);
    assert!(
        metric("hotset_memory_cached_bytes")["gauge"]["dataPoints"][0]
            .get("startTimeUnixNano")
            .is_none()
    );
}
