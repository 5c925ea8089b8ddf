//! Budgets beside runs.

use std::path::Path;

use hotset_facts::budget::{Budget, Check, Limit};
use hotset_facts::{
    DeviceIo, Lookups, Observed, Profile, ReadIo, Reason, SensorLevel, WantedState,
};
use serde_json::json;

use super::*;
use crate::diff::{Side, Strip, compare};
use crate::testing::{failed_lookup, file, run_of};

type TestResult = Result<(), Box<dyn std::error::Error>>;

/// A check with these keys beside its name and command.
fn check(keys: serde_json::Value) -> Result<Check, Box<dyn std::error::Error>> {
    let mut all = json!({"name": "a", "command": "true"});
    if let (Some(all), Some(keys)) = (all.as_object_mut(), keys.as_object()) {
        all.extend(keys.clone());
    }
    let budget: Budget = serde_json::from_value(json!({"check": [all]}))?;
    budget.checks.into_iter().next().ok_or_else(|| "no check".into())
}

/// A run that reads these files, in so many calls each.
fn run(files: &[(&str, u64)]) -> Profile {
    let rows = files.iter().map(|&(path, calls)| {
        let mut row = file(path, 4096);
        row.opens = Observed::Value(1);
        let read =
            ReadIo { calls, pages: calls, misses: calls, bytes: 4096 * calls, ..ReadIo::default() };
        row.io.edit(|io| io.read = Observed::Value(read));
        row
    });
    let mut profile = run_of(rows.collect());
    let mut totals = hotset_facts::Io::zero();
    profile.files.iter().for_each(|file| totals.add(&file.io()));
    profile.totals = totals;
    profile
}

fn ends_with(pattern: &str, path: &Path) -> bool {
    path.ends_with(pattern)
}

fn judge(check: &Check, run: &Profile, baseline: Option<&Profile>) -> Vec<JudgedLimit> {
    let (run, baseline) = (Side::of_profile(run), baseline.map(Side::of_profile));
    Judged { run: &run, baseline: baseline.as_ref(), matches: &ends_with }.limits(check)
}

#[test]
fn a_limit_is_held_up_to_its_number_and_broken_beyond() -> TestResult {
    let limits = json!({"limits": {
        "files.opened": "exactly 2", "read.calls": 4, "read.bytes": "at most 20 KiB", "from_device": "at least 24 KiB",
    }});
    let verdicts =
        |files: &[(&str, u64)]| -> Result<Vec<(String, LimitVerdict)>, Box<dyn std::error::Error>> {
            let judged = judge(&check(limits.clone())?, &run(files), None);
            Ok(judged.into_iter().map(|limit| (limit.number, limit.verdict)).collect())
        };
    let of = |verdicts: [LimitVerdict; 4]| {
        let names = ["files.opened", "from_device", "read.bytes", "read.calls"];
        names.map(str::to_owned).into_iter().zip(verdicts).collect::<Vec<_>>()
    };
    use LimitVerdict::{Broken, Held};
    assert_eq!(verdicts(&[("/a", 3), ("/b", 1)])?, of([Held, Broken, Held, Held]));
    assert_eq!(verdicts(&[("/a", 3), ("/b", 3)])?, of([Held, Held, Broken, Broken]));
    assert_eq!(verdicts(&[("/a", 3)])?, of([Broken, Broken, Held, Held]));
    Ok(())
}

#[test]
fn a_broken_limit_names_what_makes_the_number() -> TestResult {
    let check = check(json!({"limits": {"read.calls": 1}}))?;
    let judged = judge(&check, &run(&[("/a", 3), ("/b", 9), ("/c", 0)]), None);
    let parts: Vec<_> =
        judged[0].parts.iter().map(|part| (part.name.to_str(), part.amount)).collect();
    assert_eq!(parts, [(Some("/b"), 9), (Some("/a"), 3)]);
    let many: Vec<_> = (0..9).map(|n| (format!("/{n}"), 1 + n)).collect();
    let many: Vec<(&str, u64)> = many.iter().map(|(path, calls)| (path.as_str(), *calls)).collect();
    let judged = judge(&check, &run(&many), None);
    assert_eq!((judged[0].parts.len(), judged[0].more_parts), (5, 4));
    Ok(())
}

#[test]
fn with_a_baseline_the_parts_are_what_changed() -> TestResult {
    let check = check(
        json!({"limits": {"read.calls": "at most 10 % above the baseline", "files.opened": "exactly 2"}}),
    )?;
    let before = run(&[("/a", 10), ("/b", 10)]);
    let judged = judge(&check, &run(&[("/a", 12), ("/b", 10)]), Some(&before));
    assert_eq!((judged[1].bound, judged[1].verdict), (Some(22), LimitVerdict::Held));
    let judged = judge(&check, &run(&[("/a", 12), ("/b", 10), ("/c", 1)]), Some(&before));
    assert_eq!((judged[1].baseline, judged[1].verdict), (Some(20), LimitVerdict::Broken));
    let parts: Vec<_> =
        judged[1].parts.iter().map(|part| (part.name.to_str(), part.amount)).collect();
    assert_eq!(parts, [(Some("/a"), 2), (Some("/c"), 1)]);
    let parts: Vec<_> =
        judged[0].parts.iter().map(|part| (part.name.to_str(), part.amount)).collect();
    assert_eq!(parts, [(Some("/c"), 1)]);
    let judged = judge(&check, &run(&[("/a", 1)]), None);
    assert_eq!(judged[1].verdict, LimitVerdict::NotMeasured);
    assert_eq!(judged[1].doubt.as_deref(), Some("there is no baseline"));
    Ok(())
}

#[test]
fn files_and_processes_have_limits_of_their_own() -> TestResult {
    let check = check(json!({
        "file": [{"pattern": "a", "limits": {"read.calls": 2}}],
        "process": [{"name": "nobody", "limits": {"read.calls": 0}}],
    }))?;
    let judged = judge(&check, &run(&[("/a", 3), ("/b", 9)]), None);
    assert_eq!(
        (judged[0].on, judged[0].value, judged[0].verdict),
        (LimitOf::Files, Observed::Value(3), LimitVerdict::Broken)
    );
    assert_eq!(judged[0].parts.len(), 1);
    assert_eq!((judged[1].on, judged[1].value), (LimitOf::Processes, Observed::Value(0)));
    Ok(())
}

#[test]
fn what_was_not_measured_fails_unless_the_budget_allows_it() -> TestResult {
    let check =
        check(json!({"limits": {"device.read_bytes": 0, "read.calls": "at most 9, if measured"}}))?;
    let none = Reason::unsupported("no sensor");
    let mut profile = run(&[]);
    profile.totals = hotset_facts::Io::missing(none);
    let judged = judge(&check, &profile, None);
    assert_eq!(judged[0].verdict, LimitVerdict::NotMeasured);
    assert_eq!(
        (judged[1].verdict, judged[1].value),
        (LimitVerdict::Allowed, Observed::Missing(none))
    );
    profile.totals.device = DeviceIo::default();
    assert_eq!(judge(&check, &profile, None)[0].verdict, LimitVerdict::Held);
    Ok(())
}

#[test]
fn with_losses_too_much_is_too_much_and_nothing_else_is_known() -> TestResult {
    let check = check(
        json!({"limits": {"read.calls": 5, "read.pages": "exactly 3", "opens": "at least 1"}}),
    )?;
    let mut profile = run(&[("/a", 3)]);
    profile.sensor.losses.requests = 1;
    let verdicts = |profile: &Profile| -> Vec<_> {
        judge(&check, profile, None).iter().map(|limit| limit.verdict).collect()
    };
    use LimitVerdict::{Broken, NotMeasured};
    assert_eq!(verdicts(&profile), [NotMeasured, NotMeasured, NotMeasured]);
    let mut more = run(&[("/a", 6)]);
    more.sensor.losses.requests = 1;
    assert_eq!(verdicts(&more), [NotMeasured, Broken, Broken]);
    Ok(())
}

#[test]
fn findings_are_forbidden_by_rule() -> TestResult {
    let check = check(json!({"forbid": ["fsync-per-write", "cpu-bound, if measured"]}))?;
    let mut run = Side::of_profile(&run(&[]));
    let verdicts = |run: &Side| -> Vec<_> {
        let judged = Judged { run, baseline: None, matches: &ends_with };
        judged.findings(&check).into_iter().map(|finding| finding.verdict).collect()
    };
    use LimitVerdict::{Allowed, Broken, Held, NotMeasured};
    assert_eq!(verdicts(&run), [NotMeasured, Allowed], "no rule was asked");
    run.findings = Observed::Value(Vec::new());
    assert_eq!(verdicts(&run), [Held, Held]);
    run.undecided = vec![("fsync-per-write", Reason::unsupported("no sensor"))];
    assert_eq!(verdicts(&run), [NotMeasured, Held]);
    let title = "the log is synced for each record".to_owned();
    run.findings = Observed::Value(vec![crate::diff::SideFinding {
        rule: "fsync-per-write",
        severity: crate::Severity::Info,
        title,
        saving_high_ns: 0,
    }]);
    assert_eq!(verdicts(&run), [Broken, Held]);
    Ok(())
}

fn with_lookups(mut profile: Profile, failed: u64) -> Side {
    let mut lookups =
        Lookups { failed_paths: vec![failed_lookup("/x", failed)], ..Lookups::default() };
    (lookups.counters.calls, lookups.counters.failed) = (10 + failed, failed);
    profile.lookups = Observed::Value(lookups);
    Side::of_profile(&profile)
}

fn limit_of(proposed: &[Proposed], name: &str) -> Option<String> {
    let found = proposed.iter().find(|one| one.number == name)?;
    let remark = found.remark.as_ref().map(|remark| format!(" ({remark})")).unwrap_or_default();
    Some(format!("{}{remark}", found.limit))
}

#[test]
fn a_new_budget_has_room_only_where_runs_do_not_agree() {
    let runs = [(100, 50), (104, 50), (101, 50)];
    let runs = runs.map(|(calls, failed)| with_lookups(run(&[("/a", calls)]), failed));
    let Proposal { limits, left_out, .. } = propose(&runs, WantedState::AsIs);
    let of = |name| limit_of(&limits, name);
    assert_eq!(of("lookups.failed").as_deref(), Some("at most 50"));
    assert_eq!(of("sync.calls").as_deref(), Some("at most 0"));
    assert_eq!(of("direct.read_bytes"), None, "0, and rarely used");
    assert_eq!(of("read.calls").as_deref(), Some("at most 110 (100 to 104 in 3 runs)"));
    assert_eq!(of("read.bytes").as_deref(), Some("at most 437 KiB (400 KiB to 416 KiB in 3 runs)"));
    assert_eq!(left_out.len(), 1);
    assert_eq!(left_out[0].number, "from_device");
    let cold = propose(&runs[..1], WantedState::Cold).limits;
    let device = limit_of(&cold, "from_device");
    assert_eq!(
        device.as_deref(),
        Some("at most 432 KiB (400 KiB in 1 runs; room for what the host does meanwhile)")
    );
}

#[test]
fn what_can_not_be_a_test_is_left_out_with_its_reason() {
    let runs = [with_lookups(run(&[("/a", 1)]), 3), with_lookups(run(&[("/a", 9)]), 3)];
    let Proposal { limits, left_out, .. } = propose(&runs, WantedState::Warm);
    assert_eq!(limit_of(&limits, "read.calls"), None);
    let why =
        left_out.iter().find(|left| left.number == "read.calls").map(|left| left.why.as_str());
    assert_eq!(why, Some("it varies too much to be a test: 1 to 9 in 2 runs"));
    let mut lost = run(&[("/a", 1)]);
    lost.sensor.losses.tasks = 1;
    let Proposal { limits, left_out, .. } = propose(&[Side::of_profile(&lost)], WantedState::AsIs);
    assert!(limits.is_empty() && left_out.len() > 5, "{limits:?}");
}

/// Cold runs, one of which finds pages of a library that another program has mapped.
#[test]
fn what_other_programs_have_cached_is_not_in_a_cold_limit() {
    let cold = |cached: u64| {
        let mut profile = run(&[("/app", 100), ("/lib/x", 50 - cached)]);
        profile.files.iter_mut().for_each(|file| file.cached_before = Observed::Value(0));
        profile.files[1].cached_before = Observed::Value(cached);
        with_lookups(profile, 0)
    };
    let proposal = propose(&[cold(0), cold(0)], WantedState::Cold);
    assert!(limit_of(&proposal.limits, "from_device").is_some());
    assert_eq!(proposal.without_shared, None);
    let proposal = propose(&[cold(20), cold(0)], WantedState::Cold);
    assert_eq!(limit_of(&proposal.limits, "from_device"), None);
    let own = proposal.without_shared.expect("a limit without it");
    assert_eq!(own.shared, ["/lib/x"]);
    assert_eq!(own.limit.limit.to_string(), "at most 432 KiB", "100 pages, and room");
    let warm = propose(&[cold(20), cold(0)], WantedState::Warm);
    assert_eq!(warm.without_shared, None);
}

#[test]
fn files_can_be_left_out_of_a_limit() -> TestResult {
    let check = check(json!({"file": [
        {"pattern": "b", "except": ["a/b"], "limits": {"read.calls": 4}},
        {"pattern": "nothing", "limits": {"read.calls": 4}},
    ]}))?;
    let judged = judge(&check, &run(&[("/a/b", 9), ("/c/b", 5)]), None);
    assert_eq!((judged[0].value, judged[0].rows), (Observed::Value(5), Some(1)));
    assert_eq!((judged[1].value, judged[1].rows), (Observed::Value(0), Some(0)));
    Ok(())
}

/// A run whose calls were counted by tracing: its rows have opens, and its totals what rusage says.
fn traced() -> Profile {
    let mut profile = run(&[("/a", 1), ("/b", 1)]);
    profile.sensor.level = SensorLevel::Traced;
    profile.totals = hotset_facts::Io::missing(Reason::denied("no sensor"));
    profile.totals.device.read_bytes = Observed::Value(8192);
    profile.totals.device.write_bytes = Observed::Value(4096);
    for row in &mut profile.files {
        row.cached_after = Observed::Value(3);
    }
    let mut lookups = Lookups::default();
    lookups.counters.calls = 7;
    lookups.counters.time_ns = Observed::Missing(Reason::not_measured("traced"));
    profile.lookups = Observed::Value(lookups);
    profile
}

#[test]
fn by_tracing_lookups_opens_processes_and_residency_are_limited() -> TestResult {
    let run = traced();
    let limits = json!({"limits": {
        "lookups.calls": "exactly 7", "files.opened": "exactly 2", "opens": "exactly 2", "cached_after": "exactly 6",
        "read.calls": 1, "files.rows": 1, "lookups.time_ns": "at most 1 h",
    }});
    let judged = judge(&check(limits)?, &run, None);
    let of = |verdict| judged.iter().filter(|one| one.verdict == verdict).count();
    assert_eq!((of(LimitVerdict::Held), of(LimitVerdict::NotMeasured)), (4, 3), "{judged:?}");
    let Proposal { limits: cold, left_out, .. } =
        propose(&[Side::of_profile(&run)], WantedState::Cold);
    let of = |name| limit_of(&cold, name);
    assert_eq!(of("processes").as_deref(), Some("at most 1"));
    let room = "room for what the host does meanwhile)";
    assert_eq!(of("cached_after"), Some(format!("at most 14 (6 in 1 runs; {room}")));
    assert_eq!(
        of("device.read_bytes"),
        Some(format!("at most 40 KiB (8.00 KiB in 1 runs; {room}"))
    );
    for (number, why) in [("from_device", "denied"), ("device.write_bytes", "last wrote them back")]
    {
        let is_told = |left: &LeftOut| left.number == number && left.why.contains(why);
        assert!(left_out.iter().any(is_told) && of(number).is_none(), "{number}: {left_out:?}");
    }
    let Proposal { limits: as_is, left_out, .. } =
        propose(&[Side::of_profile(&run)], WantedState::AsIs);
    assert_eq!(limit_of(&as_is, "cached_after"), None);
    assert!(left_out.iter().any(|left| left.number == "cached_after"), "{left_out:?}");
    Ok(())
}

#[test]
fn files_of_two_traced_runs_are_compared_and_with_those_of_the_sensor_not() -> TestResult {
    let (traced, sensor) = (Side::of_profile(&traced()), Side::of_profile(&run(&[("/a", 1)])));
    for (before, is_known) in [(&traced, true), (&sensor, false)] {
        let difference = compare(before, &traced, &Strip::default()).map_err(|_| "two kinds")?;
        assert_eq!(difference.files.as_value().is_some(), is_known);
    }
    Ok(())
}

#[test]
fn a_proposed_limit_reads_back() {
    let runs = [with_lookups(run(&[("/a", 100)]), 3), with_lookups(run(&[("/a", 120)]), 3)];
    for proposed in propose(&runs, WantedState::Cold).limits {
        let text = proposed.limit.to_string();
        let read: Limit = text.parse().expect(&text);
        assert_eq!(read.to_string(), text);
    }
}
