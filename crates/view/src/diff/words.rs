//! Differences in words.

use hotset_analysis::diff::{
    Change, ComparedKind, CounterChange, Difference, FindingChange, MatchedBy, NamedRow,
    NotCompared, RowChange, RowChanges, SideAbout, Which,
};
use hotset_facts::{FileKind, Observed, Unit};

use crate::report::header::command_title;
use crate::sites::Escape;
use crate::units::{bytes, count, duration, exact_bytes, percent, plural};

/// Counters that a reader looks for first, in their order; the others are shown where all are asked for.
const FIRST: [&str; 22] = [
    "read.calls",
    "read.bytes",
    "read.pages",
    "read.from_device",
    "write.calls",
    "write.bytes",
    "write.pages",
    "write.dirtied_pages",
    "direct.read_calls",
    "direct.read_bytes",
    "direct.write_calls",
    "direct.write_bytes",
    "mmap.major_faults",
    "mmap.pages_read",
    "device.read_bytes",
    "device.write_bytes",
    "sync.calls",
    "lookups.calls",
    "lookups.failed",
    "files.opens",
    "files.rows",
    "processes.rows",
];

/// Counters of a row that follow from others, or split them: they are shown where all are asked for.
const FOLLOW: [&str; 7] = [
    "read.from_cache",
    "read.hits",
    "read.random_calls",
    "read.sequential_calls",
    "size_histogram",
    "write.new_pages",
    "write.sequential_calls",
];

/// The counters that differ and do not vary by themselves, those that a reader looks for first.
pub(super) fn differing(difference: &Difference) -> Vec<&CounterChange> {
    let exact = |one: &&CounterChange| one.differs() && !one.varies;
    let mut all: Vec<&CounterChange> = difference.totals.iter().filter(exact).collect();
    all.sort_by_key(|one| place(one).unwrap_or(usize::MAX));
    all
}

/// The place of a counter among those that a reader looks for first; what a recording did comes after these.
pub(super) fn place(counter: &CounterChange) -> Option<usize> {
    let operation = || counter.name.starts_with("operations.").then_some(FIRST.len());
    FIRST.iter().position(|first| *first == counter.name).or_else(operation)
}

/// The counters that differ, and would differ between runs of the same program.
pub(super) fn varying(difference: &Difference) -> Vec<&CounterChange> {
    difference.totals.iter().filter(|one| one.differs() && one.varies).collect()
}

/// `before.json`, or the words for a file without a name.
pub(super) fn file(about: &SideAbout, which: Which, escape: Escape<'_>) -> String {
    match &about.path {
        Some(path) => escape(path.as_os_str().as_encoded_bytes()),
        None => match which {
            Which::Before => "the first run".to_owned(),
            Which::After => "the second run".to_owned(),
        },
    }
}

/// `Difference of before.json and after.json`.
pub(super) fn title(difference: &Difference, escape: Escape<'_>) -> String {
    let before = file(&difference.before, Which::Before, escape);
    format!("Difference of {before} and {}", file(&difference.after, Which::After, escape))
}

/// What ran, as both say it.
pub(super) fn extent(difference: &Difference, escape: Escape<'_>) -> String {
    let what = match difference.compared {
        ComparedKind::Profiles => "two profiles",
        ComparedKind::Recordings => "two recordings",
    };
    let of = |about: &SideAbout| {
        about.command.as_ref().map(|command| command_title(command, escape)).unwrap_or_default()
    };
    let (before, after) = (of(&difference.before), of(&difference.after));
    match (before.is_empty(), before == after) {
        (true, _) => what.to_owned(),
        (false, true) => format!("{what} of {before}"),
        (false, false) => format!("{what}: {before}, then {after}"),
    }
}

/// What there is, in a line: `Files: 2 came, 1 grew`.
pub(super) fn sum(difference: &Difference) -> Vec<String> {
    let counters = differing(difference).len() as u64;
    let mut all = match counters {
        0 => Vec::new(),
        number => vec![format!("{} {}", plural(number, "counter"), verb(number, "differs"))],
    };
    let rows = [
        ("file", &difference.files),
        ("process", &difference.processes),
        ("failed path", &difference.failed_lookups),
        ("found path", &difference.found_lookups),
    ];
    for (noun, rows) in rows {
        let Some(rows) = rows.as_value().filter(|rows| !rows.rows.is_empty()) else { continue };
        all.push(format!("{}: {}", plural_noun(noun), changes(rows)));
    }
    if let Some(findings) = difference.findings.as_value().filter(|all| !all.is_empty()) {
        all.push(format!("findings: {}", counted(findings.iter().map(|one| one.change))));
    }
    if all.is_empty() {
        all.push("no difference".to_owned());
    }
    all
}

fn verb(number: u64, verb: &str) -> String {
    if number == 1 { verb.to_owned() } else { verb.trim_end_matches('s').to_owned() }
}

fn plural_noun(noun: &str) -> String {
    if noun.ends_with('s') { format!("{noun}es") } else { format!("{noun}s") }
}

/// `2 came, 1 went`.
pub(super) fn changes(rows: &RowChanges) -> String {
    counted(rows.rows.iter().map(|row| row.change))
}

fn counted(all: impl Iterator<Item = Change>) -> String {
    let all: Vec<Change> = all.collect();
    let kinds = [
        Change::Came,
        Change::Went,
        Change::Grew,
        Change::Shrank,
        Change::Changed,
        Change::Unclear,
    ];
    let words = kinds.into_iter().filter_map(|kind| {
        let number = all.iter().filter(|one| **one == kind).count();
        (number > 0).then(|| format!("{} {}", count(number as u64), kind.as_str()))
    });
    words.collect::<Vec<_>>().join(", ")
}

/// How many are the same: `440 the same`.
pub(super) fn same(rows: &RowChanges) -> Option<String> {
    (rows.same > 0).then(|| format!("{} the same", count(rows.same)))
}

/// A value with its unit.
pub(super) fn value(value: Observed<u64>, unit: Unit) -> String {
    value.value().map_or_else(|| "not measured".to_owned(), |value| amount(value, unit))
}

fn amount(value: u64, unit: Unit) -> String {
    match unit {
        Unit::Bytes => bytes(value),
        Unit::Nanoseconds => duration(value),
        Unit::Count | Unit::Pages => count(value),
    }
}

/// A change of so many bytes is told to the byte.
const EXACT_BELOW: u64 = 1 << 20;

/// By how much it changed, to the byte where that is little: `+1`, `-64 KiB`.
pub(super) fn by(change: &CounterChange) -> String {
    let Some(by) = change.by() else { return "not measured".to_owned() };
    let size = u64::try_from(by.unsigned_abs()).unwrap_or(u64::MAX);
    let size = match change.unit {
        Unit::Bytes if size.is_multiple_of(1024) => exact_bytes(size),
        Unit::Bytes if size < EXACT_BELOW => format!("{} B", count(size)),
        unit => amount(size, unit),
    };
    match by {
        0 => "0".to_owned(),
        1.. => format!("+{size}"),
        _ => format!("-{size}"),
    }
}

/// By which share it changed: `+3.2 %`; empty where it was 0 or is not known.
pub(super) fn share(change: &CounterChange) -> String {
    let Some(share) = change.share() else { return String::new() };
    let size = percent(share.abs());
    match size.starts_with(['<', '>']) {
        true => size,
        false if share < 0.0 => format!("-{size}"),
        false => format!("+{size}"),
    }
}

/// `opens +1, read.calls +2`; without what follows from others unless `all` is asked for.
pub(super) fn counters(row: &RowChange, all: bool) -> Vec<String> {
    let follows = |one: &&CounterChange| FOLLOW.iter().any(|follow| one.name.contains(follow));
    let shown = row.counters.iter().filter(|one| all || (!one.varies && !follows(one)));
    let mut words: Vec<String> = shown.map(|one| format!("{} {}", one.name, by(one))).collect();
    if let (Some(before), Some(after)) = (&row.before, &row.after)
        && before.rows != after.rows
    {
        words.insert(0, format!("{} instead of {}", count(after.rows), count(before.rows)));
    }
    words
}

/// A row's name with a mark of what is no regular file; how many it stands for, where these are several: `cc1 (3x)`.
pub(super) fn named(row: &NamedRow, escape: Escape<'_>) -> String {
    let name = escape(row.name.as_encoded_bytes());
    let name = match row.kind {
        Some(FileKind::Others) => "(all other files)".to_owned(),
        Some(FileKind::AllFileSystems) => "(all file systems)".to_owned(),
        Some(FileKind::FileSystem) => format!("{name} (file system)"),
        Some(FileKind::BlockDevice) => format!("{name} (device)"),
        Some(FileKind::Directory) => format!("{name}/"),
        Some(FileKind::Regular) | None => name,
    };
    match row.rows {
        1 => name,
        rows => format!("{name} ({}x)", count(rows)),
    }
}

/// A row's name in the run that has it, and what it was before where that is another.
pub(super) fn name(row: &RowChange, escape: Escape<'_>) -> String {
    let one = row.after.as_ref().or(row.before.as_ref());
    one.map_or_else(String::new, |one| named(one, escape))
}

/// What names differ in: `temporary name, version`.
pub(super) fn matched_by(by: &[MatchedBy]) -> String {
    by.iter().map(|by| matched_word(*by)).collect::<Vec<_>>().join(", ")
}

fn matched_word(by: MatchedBy) -> &'static str {
    match by {
        MatchedBy::Strip => "stripped directory",
        MatchedBy::Temporary => "temporary name",
        MatchedBy::Hash => "hash",
        MatchedBy::Version => "version",
        MatchedBy::Pid => "PID",
        MatchedBy::Date => "date",
        MatchedBy::Inode => "renamed, same inode",
        MatchedBy::Program => "arguments",
    }
}

/// A finding that came, went or changed, and why it is unclear.
pub(super) fn finding(change: &FindingChange) -> (String, Vec<String>) {
    let brief = change.after.as_ref().or(change.before.as_ref());
    let title = brief.map_or_else(String::new, |brief| brief.title.clone());
    let saving = brief.filter(|brief| brief.saving_high_ns > 0);
    let saving = saving.map(|brief| format!("saving up to {}", duration(brief.saving_high_ns)));
    let severity = match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            format!("{} instead of {}", after.severity.as_str(), before.severity.as_str())
        }
        _ => brief.map_or_else(String::new, |brief| brief.severity.as_str().to_owned()),
    };
    let why = change.undecided.as_ref().map(|why| format!("the other run can't tell: {why}"));
    let lines = [Some(change.rule.to_string()), Some(severity), saving, why];
    (title, lines.into_iter().flatten().collect())
}

/// The kind of a reason that stands below these words anyway.
const UNMEASURED: &str = "not measured: ";

/// Missing of any small program, and a number that no question of files is about.
const SELDOM_THERE: [&str; 1] = ["command.max_rss_bytes"];

/// What a run did not measure: `before.json: read.pages, read.misses (denied: …)`; without what is seldom there unless `all` is asked for.
pub(super) fn not_compared(difference: &Difference, all: bool, escape: Escape<'_>) -> Vec<String> {
    let mut merged: Vec<(Vec<Which>, &NotCompared)> = Vec::new();
    let shown = difference.not_measured.iter().filter(|one| all || one.what != SELDOM_THERE);
    for one in shown {
        let same = |(_, known): &&mut (Vec<Which>, &NotCompared)| {
            known.what == one.what && known.reason == one.reason
        };
        match merged.iter_mut().find(same) {
            Some((both, _)) => both.push(one.which),
            None => merged.push((vec![one.which], one)),
        }
    }
    let words = |(which, one): &(Vec<Which>, &NotCompared)| {
        let side = match which.as_slice() {
            [Which::Before] => format!("{}: ", file(&difference.before, Which::Before, escape)),
            [Which::After] => format!("{}: ", file(&difference.after, Which::After, escape)),
            _ => String::new(),
        };
        let reason = one.reason.strip_prefix(UNMEASURED).unwrap_or(&one.reason);
        format!("{side}{} ({reason})", shortened(&one.what))
    };
    merged.iter().map(words).collect()
}

/// Groups of counters instead of each of them: `read, write`.
fn shortened(what: &[String]) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in what {
        let group = one.split('.').next().unwrap_or(one);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, all)) => all.push(one),
            None => groups.push((group, vec![one])),
        }
    }
    /// More of a group than these are named by it.
    const FEW: usize = 3;
    let words = groups.into_iter().map(|(group, all)| match all.len() > FEW {
        true => format!("{group} ({} counters)", all.len()),
        false => all.join(", "),
    });
    words.collect::<Vec<_>>().join(", ")
}
