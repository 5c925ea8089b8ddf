//! What the rules say of control groups over a span, as rows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use hotset_analysis::live::{GroupSpan, SpanFile, SpanHost, findings_of_group};
use hotset_analysis::{Finding, Number, Outcome};
use hotset_facts::fleet::{FindingRow, GroupIntervalRow, IntervalKey, Workload};
use hotset_facts::{CostTable, Interval, LiveIo, NotMeasured, Observed, Reason};

/// Files of a group that are told apart: a finding names five, and what the others did is summed up.
const MOST_FILES: usize = 32;
/// Groups of a span: as many as have rows in an interval. When there are more, those that spent least time on files are let go.
const MOST_GROUPS: usize = 500;
/// What stands in the place of a severity where a rule could not be asked.
const UNKNOWN: &str = "unknown";
const NOT_ACCOUNTED: Reason =
    Reason::not_measured("the kernel does not account the memory of its control group");

/// A group so far.
struct Sum {
    who: Workload,
    span: GroupSpan,
}

/// What groups did in the span under way.
pub(super) struct SpanFindings {
    costs: Observed<CostTable>,
    groups: HashMap<Arc<str>, Sum>,
    length_ns: u64,
    /// Losses of this kind, which count from when the session began.
    origins: u64,
    origins_before: u64,
    gaps: Vec<NotMeasured>,
}

impl SpanFindings {
    /// `costs` are the prices of operations on this host.
    pub(super) fn new(costs: Observed<CostTable>) -> Self {
        Self {
            costs,
            groups: HashMap::new(),
            length_ns: 0,
            origins: 0,
            origins_before: 0,
            gaps: Vec::new(),
        }
    }

    /// Adds an interval, of which `rows` are the rows of groups.
    pub(super) fn add(
        &mut self,
        rows: &[GroupIntervalRow],
        interval: &Interval,
        gaps: &[NotMeasured],
    ) {
        self.length_ns = self.length_ns.saturating_add(interval.length_ns);
        self.origins = interval.losses.origins;
        self.gaps = gaps.to_vec();
        for row in rows.iter().filter(|row| is_told(row)) {
            self.add_group(row, interval.length_ns);
        }
        self.add_files(interval);
        if self.groups.len() > MOST_GROUPS {
            let mut times: Vec<u64> =
                self.groups.values().map(|sum| time_ns(&sum.span.io)).collect();
            times.sort_unstable_by_key(|time| Reverse(*time));
            let least = times.get(MOST_GROUPS).copied().unwrap_or(0);
            self.groups.retain(|_, sum| time_ns(&sum.span.io) > least);
        }
    }

    fn add_group(&mut self, row: &GroupIntervalRow, length_ns: u64) {
        let sum = self.groups.entry(Arc::clone(&row.who.cgroup)).or_insert_with(|| Sum {
            who: Workload::default(),
            span: GroupSpan {
                io: LiveIo::ZERO,
                files: Vec::new(),
                active_ns: 0,
                refaulted_pages: Observed::Missing(NOT_ACCOUNTED),
                memory_limit_bytes: None,
            },
        });
        // A container may have been named meanwhile.
        sum.who = row.who.clone();
        let span = &mut sum.span;
        span.io.add(&row.io.io);
        span.active_ns = span.active_ns.saturating_add(length_ns);
        span.memory_limit_bytes = row.memory.limit_bytes;
        if let Some(more) = row.memory.refaulted_pages {
            let before = span.refaulted_pages.value().unwrap_or(0);
            span.refaulted_pages = Observed::Value(before.saturating_add(more));
        }
    }

    /// Adds the files that most time was spent on. Rows are sorted by their numbers, so that no more than a group's files are
    /// held as sums at once.
    fn add_files(&mut self, interval: &Interval) {
        let mut numbers: HashMap<&Arc<str>, u32> = HashMap::new();
        let of_process: Vec<Option<u32>> = interval
            .processes
            .iter()
            .map(|process| {
                let group =
                    process.cgroup.as_value().filter(|group| self.groups.contains_key(*group))?;
                let next = numbers.len() as u32;
                Some(*numbers.entry(group).or_insert(next))
            })
            .collect();
        let mut order: Vec<(u32, u32, usize)> = interval
            .rows
            .iter()
            .enumerate()
            .filter_map(|(place, row)| {
                let group = *of_process.get(row.process as usize)?;
                Some((group?, row.file, place))
            })
            .collect();
        order.sort_unstable();
        let names: HashMap<u32, &Arc<str>> =
            numbers.into_iter().map(|(name, number)| (number, name)).collect();
        for rows in order.chunk_by(|a, b| a.0 == b.0) {
            let name = rows.first().and_then(|(group, ..)| names.get(group));
            let Some(sum) = name.and_then(|name| self.groups.get_mut(*name)) else { continue };
            let files = rows.chunk_by(|a, b| a.1 == b.1);
            let mut found: Vec<SpanFile> =
                files.filter_map(|rows| file_of(interval, rows)).collect();
            keep_most(&mut found);
            merge(&mut sum.span.files, found);
        }
    }

    /// The rows of the span, which begins anew; `key` is of its last interval.
    pub(super) fn take(&mut self, key: &IntervalKey) -> Vec<FindingRow> {
        let length_ns = std::mem::take(&mut self.length_ns);
        let lost_origins = self.origins > self.origins_before;
        self.origins_before = self.origins;
        let host = SpanHost {
            length_ns,
            environment: hotset_sys::environment(&[], &[]),
            costs: self.costs,
            not_measured: std::mem::take(&mut self.gaps),
            lost_origins,
        };
        let key = IntervalKey { length_ns, ..key.clone() };
        let mut rows = Vec::new();
        let mut unknown: BTreeMap<&'static str, (Reason, u64)> = BTreeMap::new();
        for sum in std::mem::take(&mut self.groups).into_values() {
            let (findings, verdicts) = findings_of_group(&host, &sum.span);
            rows.extend(findings.iter().map(|finding| row(&key, &sum, finding)));
            for verdict in verdicts {
                if let Outcome::NotEnoughData(reason) = verdict.outcome {
                    unknown.entry(verdict.rule).or_insert((reason, 0)).1 += 1;
                }
            }
        }
        rows.extend(unknown.into_iter().map(|(rule, (reason, groups))| FindingRow {
            rule: rule.into(),
            severity: UNKNOWN.into(),
            title: reason.to_string().into(),
            evidence: serde_json::json!({ "groups": groups }).to_string().into(),
            other_paths: "[]".into(),
            key: key.clone(),
            ..FindingRow::default()
        }));
        rows
    }
}

/// Whether a row is of one group, which did something.
fn is_told(row: &GroupIntervalRow) -> bool {
    !row.who.cgroup.is_empty() && &*row.who.workload_kind != "other" && !row.io.io.is_idle()
}

/// Time in calls.
fn time_ns(io: &LiveIo) -> u64 {
    let times = [io.read_hit_ns, io.read_wait_ns, io.direct_ns, io.write_ns, io.sync_ns];
    times.into_iter().fold(0, u64::saturating_add)
}

/// The sum of rows of one file.
fn file_of(interval: &Interval, rows: &[(u32, u32, usize)]) -> Option<SpanFile> {
    let file = interval.files.get(rows.first()?.1 as usize)?;
    let mut io = LiveIo::ZERO;
    for row in rows.iter().filter_map(|(.., place)| interval.rows.get(*place)) {
        io.add(&row.io.unpack());
    }
    Some(SpanFile {
        id: file.id,
        kind: file.kind,
        path: file.path.clone(),
        deleted: file.deleted,
        mounted: file.mounted,
        io,
    })
}

fn keep_most(files: &mut Vec<SpanFile>) {
    files.sort_by_key(|file| Reverse(time_ns(&file.io)));
    files.truncate(MOST_FILES);
}

fn merge(kept: &mut Vec<SpanFile>, more: Vec<SpanFile>) {
    for mut file in more {
        match kept.iter_mut().find(|known| known.id == file.id) {
            Some(known) => {
                file.io.add(&known.io);
                *known = file;
            }
            None => kept.push(file),
        }
    }
    keep_most(kept);
}

fn row(key: &IntervalKey, sum: &Sum, finding: &Finding) -> FindingRow {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut paths = finding.files.iter().map(|path| text(path));
    let path = paths.next().map(Into::into);
    FindingRow {
        key: key.clone(),
        who: sum.who.clone(),
        rule: finding.rule.into(),
        severity: finding.severity.as_str().into(),
        title: finding.title.as_str().into(),
        advice: finding.advice.as_str().into(),
        active_ns: sum.span.active_ns,
        saving_low_ns: Some(finding.saving.low_ns),
        saving_high_ns: Some(finding.saving.high_ns),
        evidence: evidence(finding).into(),
        path,
        other_paths: list(paths.collect()).into(),
    }
}

/// A JSON list of paths.
pub(super) fn list(paths: Vec<String>) -> String {
    serde_json::Value::from(paths).to_string()
}

/// A JSON object of the numbers; savings have columns.
fn evidence(finding: &Finding) -> String {
    let told = finding.evidence.iter().filter(|one| !one.name.starts_with("saving_ns_"));
    let numbers: serde_json::Map<String, serde_json::Value> = told
        .map(|one| match one.value {
            Number::Count(count) => (one.name.to_owned(), count.into()),
            // More digits would say more than is known, and make each row another text.
            Number::Real(real) => (one.name.to_owned(), ((real * 100.0).round() / 100.0).into()),
        })
        .collect();
    serde_json::Value::from(numbers).to_string()
}

#[cfg(test)]
mod tests {
    use hotset_analysis::live::LIVE_RULES;
    use hotset_analysis::live::testing::{Doing, interval};
    use hotset_facts::fleet::CountedIo;

    use super::*;

    const HOUR: u64 = 3_600_000_000_000;

    fn small(process: u32, file: u32, calls: u64) -> Doing {
        let io = LiveIo {
            read_calls: calls,
            read_bytes: calls * 100,
            read_pages: calls,
            sequential_reads: calls,
            read_hit_ns: calls * 1_000,
            ..LiveIo::ZERO
        };
        Doing { process, file, io }
    }

    /// The rows of groups of an interval, as their maker makes them.
    fn groups(interval: &Interval) -> Vec<GroupIntervalRow> {
        let sums = hotset_analysis::live::summarise_interval(interval).cgroups;
        let rows = sums.into_iter().filter_map(|(cgroup, io)| {
            let who = Workload { cgroup: cgroup?, ..Workload::default() };
            let io = CountedIo { io, lacks: Vec::new() };
            Some(GroupIntervalRow { who, io, ..GroupIntervalRow::default() })
        });
        rows.collect()
    }

    fn add(findings: &mut SpanFindings, doing: Vec<Doing>) {
        let mut interval = interval(doing);
        interval.length_ns = HOUR / 60;
        for (number, file) in interval.files.iter_mut().enumerate() {
            file.path = Observed::Value(Arc::new(format!("/srv/{number}").into()));
        }
        findings.add(&groups(&interval), &interval, &[]);
    }

    fn a_span() -> SpanFindings {
        SpanFindings::new(Observed::Value(hotset_analysis::fixtures::costs()))
    }

    fn take(findings: &mut SpanFindings) -> Vec<FindingRow> {
        let mut rows = findings.take(&IntervalKey::default());
        rows.sort_by(|a, b| (&a.who.cgroup, &a.rule).cmp(&(&b.who.cgroup, &b.rule)));
        rows
    }

    #[test]
    fn a_span_adds_up_by_group_and_file() {
        let mut findings = a_span();
        for _ in 0..60 {
            // The second group does next to nothing.
            let doing = [small(0, 0, 10_000_000), small(0, 1, 20_000_000), small(1, 0, 10)];
            add(&mut findings, doing.to_vec());
        }
        let rows = take(&mut findings);
        let [row] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!((&*row.rule, &*row.severity), ("small-reads", "warning"));
        assert_eq!(&*row.who.cgroup, "/system.slice/0.service");
        assert_eq!((row.active_ns, row.key.length_ns), (HOUR, HOUR));
        assert_eq!((row.path.as_deref(), &*row.other_paths), (Some("/srv/1"), "[\"/srv/0\"]"));
        assert!(row.evidence.contains("\"read_calls\":1800000000,"), "{}", row.evidence);
        assert!(!row.evidence.contains("saving") && !row.title.contains("/srv"));
        assert!(take(&mut findings).is_empty(), "the next span begins anew");
    }

    #[test]
    fn files_and_groups_are_bounded_and_the_busiest_stay() {
        let mut findings = a_span();
        for from in 0..4 {
            let files = (0..100).map(|file| small(0, from * 100 + file, 1 + u64::from(file)));
            add(&mut findings, files.chain([small(0, 5_000, 1_000_000)]).collect());
        }
        let of_group =
            |findings: &SpanFindings| findings.groups["/system.slice/0.service"].span.files.len();
        assert_eq!(of_group(&findings), MOST_FILES);
        add(&mut findings, (0..700).map(|process| small(process, 0, 5)).collect());
        assert!(findings.groups.len() <= MOST_GROUPS);
        let busiest = &findings.groups["/system.slice/0.service"].span;
        assert_eq!(busiest.files[0].io.read_calls, 4_000_000);
    }

    #[test]
    fn the_documentation_says_of_every_rule_whether_it_is_asked() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleet-format.md");
        let docs = std::fs::read_to_string(docs).expect("docs/fleet-format.md");
        let rows: Vec<&str> = docs.lines().filter(|line| line.starts_with("| `")).collect();
        for rule in LIVE_RULES {
            let names = |row: &&&str| row.contains(&format!("`{}`", rule.id));
            let row = rows.iter().find(names).unwrap_or_else(|| panic!("no row of {}", rule.id));
            let answer = match rule.answer {
                Ok(_) => "| answered".to_owned(),
                Err(reason) => format!("| not answered | {} |", reason.detail),
            };
            assert!(row.contains(&answer), "{row}: expected {answer}");
        }
    }

    #[test]
    fn a_rule_that_can_not_be_asked_says_so_once() {
        let mut findings = SpanFindings::new(Observed::Missing(Reason::not_measured("no prices")));
        add(&mut findings, vec![small(0, 0, 10_000), small(1, 0, 10_000)]);
        let rows = take(&mut findings);
        let said: Vec<_> = rows.iter().map(|row| (&*row.rule, &*row.title)).collect();
        let why = "not measured: no prices";
        assert_eq!(said, [("misaligned-buffer", why), ("small-reads", why)]);
        let row = &rows[0];
        assert_eq!(
            (&*row.severity, &*row.evidence, row.saving_high_ns),
            ("unknown", "{\"groups\":2}", None)
        );
        assert_eq!(&*row.who.cgroup, "");
    }
}
