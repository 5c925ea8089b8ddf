//! What makes a number what it is: the files, processes and paths with the largest parts in it, or in its change.

use std::collections::BTreeMap;
use std::ffi::OsString;

use hotset_facts::Observed;

use super::numbers::{Number, Rows};
use super::verdict::{LimitOf, Part, PartKind};
use crate::diff::{Change, CounterChange, Difference, RowChanges, Side, SideRow, Strip, compare};

/// As many as a person reads of one limit.
const SHOWN: usize = 5;

/// A run beside its baseline.
pub(super) struct Compared<'a> {
    run: &'a Side,
    difference: Option<Difference>,
}

impl<'a> Compared<'a> {
    pub(super) fn new(before: &Side, run: &'a Side) -> Self {
        // Both are profiles.
        Self { run, difference: compare(before, run, &Strip::default()).ok() }
    }
}

/// The largest parts, and how many more there are.
pub(super) fn parts(
    run: &Side,
    compared: Option<&Compared<'_>>,
    number: Number,
    on: LimitOf,
    chosen: Option<&dyn Fn(&SideRow) -> bool>,
) -> (Vec<Part>, u64) {
    let rows = if on == LimitOf::Processes { Rows::Processes } else { number.rows() };
    let changed = compared.and_then(|compared| changes(compared, number, rows));
    let mut all = match changed {
        // What fits a pattern is known by its name of today.
        Some(parts) if chosen.is_none() => parts,
        // Each of them has the same part, and nothing tells which are too many.
        _ if number.counts_rows() => Vec::new(),
        _ => of_today(run, number, rows, chosen),
    };
    all.retain(|part| part.amount != 0);
    all.sort_by(|a, b| {
        b.amount.unsigned_abs().cmp(&a.amount.unsigned_abs()).then(a.name.cmp(&b.name))
    });
    let more = all.len().saturating_sub(SHOWN);
    all.truncate(SHOWN);
    (all, more as u64)
}

fn kind_of(rows: Rows) -> PartKind {
    match rows {
        Rows::Processes => PartKind::Process,
        Rows::FailedLookups => PartKind::FailedLookup,
        Rows::Files | Rows::None => PartKind::File,
    }
}

/// What a row has a part in a number.
type AmountOf<'a> = &'a dyn Fn(&SideRow) -> Observed<u64>;

/// Of the rows of a run.
fn of_today(
    run: &Side,
    number: Number,
    rows: Rows,
    chosen: Option<&dyn Fn(&SideRow) -> bool>,
) -> Vec<Part> {
    let (of, amount): (&[SideRow], AmountOf<'_>) = match rows {
        Rows::Files => (&run.files, &|row| number.of_row(run, row)),
        Rows::Processes => (&run.processes, &|row| number.of_row(run, row)),
        Rows::FailedLookups => (run.failed_lookups.as_value().map_or(&[], Vec::as_slice), &|row| {
            row.counters.get("calls").unwrap_or(Observed::Value(0))
        }),
        Rows::None => return Vec::new(),
    };
    let mut by_name: BTreeMap<OsString, u64> = BTreeMap::new();
    for row in of.iter().filter(|row| chosen.is_none_or(|chosen| chosen(row))) {
        *by_name.entry(row.name.clone()).or_default() += amount(row).value().unwrap_or(0);
    }
    let part = |(name, amount)| Part {
        kind: kind_of(rows),
        name,
        change: None,
        amount: i64::try_from(amount).unwrap_or(i64::MAX),
    };
    by_name.into_iter().map(part).collect()
}

/// Of the rows that changed; nothing where the number is no sum of rows, or they can't be compared.
fn changes(compared: &Compared<'_>, number: Number, rows: Rows) -> Option<Vec<Part>> {
    let difference = compared.difference.as_ref()?;
    let changes: &RowChanges = match rows {
        Rows::Files => difference.files.as_value()?,
        Rows::Processes => difference.processes.as_value()?,
        Rows::FailedLookups => difference.failed_lookups.as_value()?,
        Rows::None => return None,
    };
    let names = match rows {
        Rows::FailedLookups => vec!["calls"],
        _ => number.row_counters(),
    };
    let page_size = compared.run.page_size_bytes();
    let counts = |one: &&CounterChange| names.iter().any(|name| *name == one.name);
    let parts = changes.rows.iter().filter(|row| row.change != Change::Unclear).map(|row| {
        let mut counted = row.counters.iter().filter(counts);
        let by: i128 = if names.is_empty() || number.counts_rows() && counted.next().is_some() {
            rows_by(row.change)
        } else if number.counts_rows() {
            0
        } else {
            counted.filter_map(CounterChange::by).sum()
        };
        let by = by.saturating_mul(i128::from(number.factor(page_size)));
        Part {
            kind: kind_of(rows),
            name: row.name().to_owned(),
            change: Some(row.change),
            amount: i64::try_from(by).unwrap_or(if by > 0 { i64::MAX } else { i64::MIN }),
        }
    });
    Some(parts.collect())
}

fn rows_by(change: Change) -> i128 {
    match change {
        Change::Came => 1,
        Change::Went => -1,
        _ => 0,
    }
}
