use hotset_facts::{Feature, LiveIo, NotMeasured, Observed};

use super::*;
use crate::fixtures::{costs, host};
use crate::{Number, Severity};

const HOUR: u64 = 3_600_000_000_000;
const NO_MEMORY: Reason = Reason::not_measured("not in this test");

fn an_hour() -> SpanHost {
    SpanHost {
        length_ns: HOUR,
        environment: host(),
        costs: Observed::Value(costs()),
        not_measured: Vec::new(),
        lost_origins: false,
    }
}

/// A group that did this to one file, in a minute or an hour.
fn group(io: LiveIo, active_ns: u64) -> GroupSpan {
    let file = SpanFile {
        id: FileId::new(Dev { major: 8, minor: 1 }, 7),
        kind: FileKind::Regular,
        path: Observed::Value(Arc::new("/srv/data".into())),
        deleted: false,
        mounted: Dev { major: 8, minor: 1 },
        io,
    };
    GroupSpan {
        io,
        files: vec![file],
        active_ns,
        refaulted_pages: Observed::Missing(NO_MEMORY),
        memory_limit_bytes: None,
    }
}

/// Calls of 100 bytes in a row, which take so long.
fn small_reads(calls: u64, hit_ns: u64) -> LiveIo {
    LiveIo {
        read_calls: calls,
        read_bytes: calls * 100,
        read_pages: calls,
        sequential_reads: calls - 1,
        read_hit_ns: hit_ns,
        ..LiveIo::ZERO
    }
}

fn said(host: &SpanHost, group: &GroupSpan) -> Vec<(&'static str, Severity, u64)> {
    let (findings, _) = findings_of_group(host, group);
    let row = |finding: &Finding| (finding.rule, finding.severity, finding.saving.high_ns);
    findings.iter().map(row).collect()
}

fn reason(host: &SpanHost, group: &GroupSpan, rule: &str) -> Option<Reason> {
    let (_, verdicts) = findings_of_group(host, group);
    verdicts.iter().find_map(|verdict| match verdict.outcome {
        Outcome::NotEnoughData(reason) if verdict.rule == rule => Some(reason),
        _ => None,
    })
}

#[test]
fn every_rule_is_asked_or_says_why_not() {
    let ids = |rules: &[LiveRule]| rules.iter().map(|rule| rule.id).collect::<Vec<_>>();
    assert_eq!(ids(LIVE_RULES), RULES.iter().map(|rule| rule.id).collect::<Vec<_>>());
    let asked = LIVE_RULES.iter().filter(|rule| rule.answer.is_ok()).count();
    assert_eq!(asked, 6);
}

#[test]
fn a_group_that_did_nothing_has_no_finding() {
    let (findings, verdicts) = findings_of_group(&an_hour(), &group(LiveIo::ZERO, HOUR));
    assert!(findings.is_empty());
    assert_eq!(verdicts.len(), 6);
    assert!(verdicts.iter().all(|verdict| verdict.outcome == Outcome::Clear));
}

#[test]
fn small_reads_of_a_busy_group_are_told() {
    let calls = HOUR / 1_000;
    let busy = group(small_reads(calls, HOUR / 2), HOUR);
    let (findings, _) = findings_of_group(&an_hour(), &busy);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.rule, finding.severity), ("small-reads", Severity::Critical));
    assert_eq!(finding.files, [PathBuf::from("/srv/data")]);
    assert_eq!(finding.evidence[0].value, Number::Count(calls));
    assert!(finding.saving.low_ns > HOUR / 4 && finding.saving.high_ns < HOUR / 2);
}

#[test]
fn a_saving_is_a_share_of_the_active_time_and_a_part_of_the_span() {
    // Two minutes of an hour, of which small reads take half: much of the job, and 1 % of the hour.
    let two_minutes = HOUR / 30;
    let job = group(small_reads(two_minutes / 700, two_minutes / 2), two_minutes);
    assert!(matches!(said(&an_hour(), &job)[..], [("small-reads", Severity::Critical, _)]));
    // A second of the hour is nothing, whatever its share of the active time.
    let blink = HOUR / 4_000;
    let short = group(small_reads(blink / 700, blink / 2), blink);
    assert_eq!(said(&an_hour(), &short), []);
    // 2 % of a group that is always busy: less than 5 %, but 1 % of a core or more.
    let much = group(small_reads(HOUR / 20_000, HOUR / 50), HOUR);
    assert!(matches!(said(&an_hour(), &much)[..], [("small-reads", Severity::Info, _)]));
}

#[test]
fn threads_that_wait_at_once_have_more_time_than_the_clock() {
    let sync = LiveIo {
        write_calls: 1_000_000,
        write_bytes: 100_000_000,
        sync_calls: 1_000_000,
        ..LiveIo::ZERO
    };
    let eight = group(LiveIo { sync_ns: 8 * HOUR, ..sync }, HOUR);
    let found = said(&an_hour(), &eight);
    let [("fsync-per-write", Severity::Critical, saving)] = found[..] else { panic!("{found:?}") };
    assert!((7 * HOUR..8 * HOUR).contains(&saving), "time of threads: {saving}");
}

#[test]
fn refaults_are_those_that_were_certainly_of_reads() {
    let io = LiveIo {
        read_calls: 100_000,
        read_pages: 100_000,
        read_misses: 100_000,
        fault_pages: 30_000,
        read_wait_ns: HOUR / 4,
        ..LiveIo::ZERO
    };
    let thrash =
        |refaulted| GroupSpan { refaulted_pages: Observed::Value(refaulted), ..group(io, HOUR) };
    let found = said(&an_hour(), &thrash(80_000));
    let [("cache-thrash", _, saving)] = found[..] else { panic!("{found:?}") };
    assert!((HOUR / 9..=HOUR / 8).contains(&saving), "half of the waits: {saving}");
    assert_eq!(said(&an_hour(), &thrash(30_000)), [], "all of them may be of faults");
    assert_eq!(reason(&an_hour(), &group(io, HOUR), "cache-thrash"), Some(NO_MEMORY));
    assert_eq!(said(&an_hour(), &thrash(200_000)), [], "pages that nobody saw being read");
    assert_eq!(reason(&an_hour(), &thrash(200_000), "cache-thrash"), Some(UNSEEN));
    assert_eq!(reason(&an_hour(), &thrash(140_000), "cache-thrash"), None, "read a moment later");
}

#[test]
fn read_ahead_is_wasted_where_the_sensor_knows_what_was_read_ahead() {
    let io = LiveIo {
        read_calls: 10_000,
        read_pages: 10_000,
        read_misses: 10_000,
        readahead_pages: 300_000,
        readahead_hits: 1_000,
        read_wait_ns: HOUR / 4,
        ..LiveIo::ZERO
    };
    assert!(matches!(said(&an_hour(), &group(io, HOUR))[..], [("readahead-wasted", _, _)]));
    let forgot = SpanHost { lost_origins: true, ..an_hour() };
    assert_eq!(said(&forgot, &group(io, HOUR)), []);
    assert!(reason(&forgot, &group(io, HOUR), "readahead-wasted").is_some());
    // Pages of a mapping are used without being requested.
    let mapped = group(LiveIo { faults: 1, ..io }, HOUR);
    assert_eq!(said(&an_hour(), &mapped), []);
}

#[test]
fn what_a_host_can_not_count_is_no_answer() {
    let busy = group(small_reads(HOUR / 1_000, HOUR / 2), HOUR);
    let reduced =
        SpanHost { not_measured: vec![NotMeasured::lacking(Feature::CallOrder)], ..an_hour() };
    assert_eq!(said(&reduced, &busy), []);
    assert_eq!(reason(&reduced, &busy, "small-reads"), Some(Feature::CallOrder.reason()));
    let unpriced = SpanHost { costs: Observed::Missing(NO_MEMORY), ..an_hour() };
    assert_eq!(said(&unpriced, &busy), []);
    assert_eq!(reason(&unpriced, &busy, "small-reads"), Some(NO_MEMORY));
}

#[test]
fn files_that_are_not_told_apart_do_not_count() {
    let io = small_reads(HOUR / 1_000, HOUR / 2);
    let rest = GroupSpan { files: Vec::new(), ..group(io, HOUR) };
    assert_eq!(said(&an_hour(), &rest), [], "a rule of files has none");
    let absurd = LiveIo::ZERO.zip_with(&LiveIo::ZERO, |_, _| u64::MAX);
    let (findings, verdicts) = findings_of_group(&an_hour(), &group(absurd, u64::MAX));
    assert_eq!(findings.len() + verdicts.len(), 6);
}
