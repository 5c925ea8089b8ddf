//! A mixture under `record`: of every file and of every process, the records add up to the profile of the same execution.

use std::collections::BTreeMap;

use hotset_facts::trace::Operation;
use hotset_facts::trace::OperationClass::{self, Advice, Device, Fault, Read, Sync, Write};
use hotset_tests::books::Books;
use hotset_tests::filesystems::Kind;
use hotset_tests::traced::{Recorded, Trace, Traced, record};
use hotset_tests::{Scratch, mix, number};
use serde_json::Value;

use crate::judge::equal;

/// What a record adds.
type Added = fn(&Traced) -> u64;

/// That, by where a row of a profile has the sum. Of a call with O_DIRECT that goes past the cache in part, each
/// part is a call of the profile, and one record; so bytes are those of both sides together.
const SUMS: [(&str, Added); 14] = [
    ("/read/pages", |one| of(one, &[Read], one.pages().pages)),
    ("/read/misses", |one| of(one, &[Read], one.pages().misses)),
    ("/read/readahead_hits", |one| of(one, &[Read], one.pages().ahead_hits)),
    ("/read/zeros", |one| of(one, &[Read], zeros(one))),
    ("/write/pages", |one| of(one, &[Write], one.pages().pages)),
    ("/write/new_pages", |one| of(one, &[Write], one.pages().pages - one.pages().hits)),
    ("/write/misses", |one| of(one, &[Write, Device], one.pages().misses)),
    ("/mmap/faults", |one| of(one, &[Fault], 1)),
    ("/mmap/pages_read", |one| of(one, &[Fault, Device], one.pages().pages - zeros(one))),
    ("/mmap/zeros", |one| of(one, &[Fault, Device], zeros(one))),
    ("/readahead/pages", |one| of(one, &[Read, Write, Device, Advice], one.pages().read_ahead)),
    ("/sync/calls", |one| of(one, &[Sync], 1)),
    ("/device/read_bytes", |one| one.record.device_read_bytes.unwrap_or(0)),
    ("/device/write_bytes", |one| one.record.device_write_bytes.unwrap_or(0)),
];
/// The same of what calls moved.
const MOVED: [(&str, &str, OperationClass); 2] =
    [("/read/bytes", "/direct/read_bytes", Read), ("/write/bytes", "/direct/write_bytes", Write)];

fn of(one: &Traced, classes: &[OperationClass], value: u32) -> u64 {
    if classes.contains(&one.record.class) { value.into() } else { 0 }
}

fn zeros(one: &Traced) -> u32 {
    one.pages().zeros.unwrap_or(0)
}

/// By what it is of, and where a profile has it.
type Sums<Of> = BTreeMap<(Of, &'static str), u64>;

/// The profile, the books, and where the records differ from the first.
pub(crate) fn watch(
    scratch: &Scratch,
    words: &[String],
    kind: Kind,
) -> (Value, Vec<Books>, Vec<String>) {
    let program = mix();
    let mut all = vec![hotset_tests::scratch::text(&program)];
    all.extend(words.iter().map(String::as_str));
    let recorded = record(scratch, &["-q"], &all);
    let books = serde_json::from_slice(&recorded.output.stdout).expect("books");
    let found = differences(&recorded, kind);
    (recorded.profile, books, found)
}

fn differences(recorded: &Recorded, kind: Kind) -> Vec<String> {
    let (trace, profile) = (&recorded.trace, &recorded.profile);
    let mut found = Vec::new();
    equal(&mut found, "records lost", trace.totals.lost, 0);
    let file = |one: &Traced| {
        // The profile has it with those of no file.
        if one.record.operation == Operation::Msync {
            return Some(("0:0".to_owned(), 0));
        }
        let id = trace.lists.files[one.record.file?.0 as usize].id?;
        Some((id.dev.to_string(), id.ino))
    };
    let row = |row: &Value| Some((row["dev"].as_str()?.to_owned(), row["ino"].as_u64()?));
    let (records, rows) = (summed(trace, file), counted(profile, "files", row));
    compare(&mut found, "file", fit(records, kind), fit(rows, kind));
    let process =
        |one: &Traced| Some(u64::from(trace.lists.processes[one.record.process?.0 as usize].pid));
    let row = |row: &Value| row["pid"].as_u64();
    let (records, rows) = (summed(trace, process), counted(profile, "processes", row));
    compare(&mut found, "process", fit(records, kind), fit(rows, kind));
    found
}

fn summed<Of: Ord + Clone>(trace: &Trace, key: impl Fn(&Traced) -> Option<Of>) -> Sums<Of> {
    let mut sums = Sums::new();
    for one in &trace.records {
        let Some(key) = key(one) else { continue };
        let mut add = |what, value| *sums.entry((key.clone(), what)).or_default() += value;
        SUMS.iter().for_each(|(what, value)| add(what, value(one)));
        // Blocks that are shared are not moved; such a copy has no pages.
        let is_counted = one.record.pages.is_some();
        for (what, _, class) in MOVED {
            let moves = is_counted && one.is_done(class);
            add(what, if moves { one.moved() } else { 0 });
        }
    }
    sums
}

fn counted<Of: Ord + Clone>(
    profile: &Value,
    list: &str,
    key: impl Fn(&Value) -> Option<Of>,
) -> Sums<Of> {
    let mut sums = Sums::new();
    for row in profile[list].as_array().expect("rows") {
        let Some(key) = key(row) else { continue };
        let mut add = |what, value| *sums.entry((key.clone(), what)).or_default() += value;
        SUMS.iter().for_each(|(what, _)| add(what, number(row, what)));
        MOVED
            .iter()
            .for_each(|(what, direct, _)| add(what, number(row, what) + number(row, direct)));
    }
    sums
}

/// Of compressed data nobody knows which pages of what is read are zeros (`fill_unnamed()`): a row says no more than was
/// added in all, and each record no more than was added for it. All pages together are known.
fn fit<Of: Ord>(sums: Sums<Of>, kind: Kind) -> Sums<Of> {
    if kind != Kind::Compressed {
        return sums;
    }
    let mut fit = Sums::new();
    for ((of, what), value) in sums {
        let what = if what == "/mmap/zeros" { "/mmap/pages_read" } else { what };
        *fit.entry((of, what)).or_default() += value;
    }
    fit
}

fn compare<Of: Ord + std::fmt::Debug>(
    found: &mut Vec<String>,
    what: &str,
    summed: Sums<Of>,
    counted: Sums<Of>,
) {
    let mut all: Vec<_> = summed.keys().chain(counted.keys()).collect();
    all.sort();
    all.dedup();
    for key in all {
        let n = |sums: &Sums<Of>| sums.get(key).copied().unwrap_or(0);
        let what = format!("record: {} of {what} {:?}", key.1, key.0);
        equal(found, &what, n(&summed), n(&counted));
    }
}
