//! A report for the views' tests.

use std::path::PathBuf;
use std::sync::Arc;

use hotset_analysis::check::{
    Attempt, CheckOutcome, CheckReport, CheckResult, JudgedFinding, JudgedLimit, LimitOf,
    LimitVerdict, Part, PartKind, SitePart,
};
use hotset_analysis::diff::Change;
use hotset_facts::trace::{Frame, Site, SiteState};
use hotset_facts::{ExitStatus, LearnedBy, Observed, Reason, Unit, WantedState};

use crate::testing::environment;

fn limit(number: &str, unit: Unit, value: u64, text: &str, bound: u64) -> JudgedLimit {
    JudgedLimit {
        on: LimitOf::Run,
        which: None,
        except: Vec::new(),
        rows: None,
        number: number.to_owned(),
        unit,
        limit: text.to_owned(),
        bound: Some(bound),
        value: Observed::Value(value),
        baseline: None,
        verdict: if value > bound { LimitVerdict::Broken } else { LimitVerdict::Held },
        doubt: None,
        parts: Vec::new(),
        more_parts: 0,
        sites: Vec::new(),
        more_sites: 0,
    }
}

fn part(kind: PartKind, name: &str, change: Option<Change>, amount: i64) -> Part {
    Part { kind, name: name.into(), change, amount }
}

fn site_part(function: Option<&str>, change: Option<Change>, amount: i64) -> SitePart {
    let frame = Frame {
        function: function.map(str::to_owned),
        module: Some("/opt/app".to_owned()),
        offset: 31,
        source: function.map(|_| "/src/plugin.c".to_owned()),
        line: function.map(|_| 41),
    };
    let site = Site { frames: vec![Arc::new(frame)], state: SiteState::Whole };
    SitePart { site, change, amount }
}

fn attempt(limits: Vec<JudgedLimit>) -> Attempt {
    Attempt {
        exit: ExitStatus::Code(0),
        exit_as_wanted: true,
        timed_out: false,
        wall_ns: 182_400_000,
        reached: Observed::Missing(Reason::not_measured("no state was asked for")),
        limits,
        findings: Vec::new(),
        requests_without_site: None,
        output_tail: Vec::new(),
    }
}

fn result(name: &str, attempts: Vec<Attempt>) -> CheckResult {
    let outcome = match attempts.last().map(Attempt::outcome) {
        Some(CheckOutcome::Passed) if attempts.len() > 1 => CheckOutcome::PassedOnRetry,
        Some(outcome) => outcome,
        None => CheckOutcome::NotRun,
    };
    CheckResult {
        name: name.to_owned(),
        argv: vec!["./app".into(), "--selftest".into()],
        state: WantedState::AsIs,
        learned_by: LearnedBy::Nothing,
        state_files: 0,
        outcome,
        error: attempts.is_empty().then(|| "can't run app: No such file or directory".to_owned()),
        attempts,
    }
}

fn broken() -> Vec<JudgedLimit> {
    let mut lookups = limit("lookups.failed", Unit::Count, 320, "exactly 312", 312);
    lookups.parts = vec![
        part(
            PartKind::FailedLookup,
            "/usr/lib/python3/dist-packages/yaml.so",
            Some(Change::Came),
            6,
        ),
        part(PartKind::FailedLookup, "/etc/app.conf", Some(Change::Grew), 2),
    ];
    let mut bytes = limit("read.bytes", Unit::Bytes, 41_943_040, "at most 40,959 KiB", 41_942_016);
    (bytes.on, bytes.which) = (LimitOf::Files, Some("*.py".to_owned()));
    bytes.rows = Some(12);
    bytes.except = vec!["/usr/lib/**".to_owned()];
    bytes.parts = vec![part(PartKind::File, "/srv/app/big|data.bin", None, 39 << 20)];
    bytes.more_parts = 7;
    let mut device = limit("from_device", Unit::Bytes, 0, "at most 5 % above the baseline", 0);
    device.value = Observed::Missing(Reason::unsupported("the sensor can't be loaded"));
    device.verdict = LimitVerdict::NotMeasured;
    let mut above = limit("read.calls", Unit::Count, 130, "at most 10 % above the baseline", 110);
    above.baseline = Some(100);
    lookups.sites = vec![site_part(Some("load_plugins"), Some(Change::Grew), 6)];
    bytes.sites = vec![site_part(None, None, 40 << 20)];
    bytes.more_sites = 2;
    vec![lookups, bytes, device, above, limit("sync.calls", Unit::Count, 1, "at most 1", 1)]
}

/// A check of each outcome.
pub(super) fn report() -> CheckReport {
    let good = || limit("sync.calls", Unit::Count, 3, "at most 3", 3);
    let mut failed = attempt(broken());
    failed.requests_without_site = Some(3);
    failed.findings = vec![JudgedFinding {
        rule: "fsync-per-write".to_owned(),
        verdict: LimitVerdict::Broken,
        words: Some("3 files are synced after each write".to_owned()),
    }];
    let mut code = attempt(vec![good()]);
    (code.exit, code.exit_as_wanted) = (ExitStatus::Code(3), false);
    code.output_tail = b"Traceback:\n  \x1b[31mbad <input> & more\n".to_vec();
    let mut slow = attempt(vec![good()]);
    (slow.exit, slow.exit_as_wanted, slow.timed_out) = (ExitStatus::Signal(9), false, true);
    let first = attempt(vec![limit("sync.calls", Unit::Count, 4, "at most 3", 3)]);
    CheckReport {
        path: PathBuf::from("hotset.toml"),
        environment: environment(),
        no_sensor: None,
        no_trace: None,
        interrupted: false,
        checks: vec![
            result("selftest", vec![attempt(vec![good()])]),
            result("import #1", vec![failed]),
            result("upload", vec![first, attempt(vec![good()])]),
            result("report", vec![code]),
            result("serve", vec![slow]),
            result("missing", Vec::new()),
        ],
    }
}
