//! Rows of both runs, matched: by name, by what is left of a name, by what they are.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt as _;

use hotset_facts::{FileKind, NamedCounter, Observed};

use super::counters::{Counters, varies};
use super::difference::{
    Change, CounterChange, MatchedBy, MatchedRow, NamedRow, RowChange, RowChanges,
};
use super::effect::effect_ns;
use super::names::Normal;
use super::side::{Side, SideRow};
use super::strip::Strip;

/// What rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowsOf {
    /// Files, or paths that were looked up.
    Paths,
    /// Commands, with their words.
    Processes,
}

/// How rows are matched and what of them is compared.
pub(super) struct Rules<'a> {
    pub(super) of: RowsOf,
    pub(super) strip: &'a Strip,
    pub(super) before: &'a Side,
    pub(super) after: &'a Side,
    /// Counters that one of the runs did not measure.
    pub(super) untold: &'a HashSet<String>,
    /// Whether what only the second run has may have been in the first.
    pub(super) unclear_came: bool,
    /// Whether what only the first run has may be in the second.
    pub(super) unclear_went: bool,
}

/// A row with its names.
struct Named<'a> {
    row: &'a SideRow,
    /// Its name without directories to strip, behind what it is.
    key: Vec<u8>,
    normal: Normal,
}

/// Rows of one run that have one key.
type Group<'a> = Vec<&'a Named<'a>>;

/// How rows of the two runs are taken for one.
type Key = fn(&Named<'_>) -> Option<Vec<u8>>;

/// Compares rows.
pub(super) fn compare_rows(rules: &Rules<'_>, before: &[SideRow], after: &[SideRow]) -> RowChanges {
    let before = named(rules, rules.before, before);
    let after = named(rules, rules.after, after);
    let mut left: (Group<'_>, Group<'_>) = (before.iter().collect(), after.iter().collect());
    let mut changes = RowChanges::default();
    for (key, is_name) in [(by_name as Key, true), (by_normal, true), (by_what_it_is, false)] {
        for (before, after) in matched(&mut left, key) {
            changes.take(rules, &before, &after, is_name);
        }
    }
    for (_, group) in grouped(&left.0, by_name) {
        changes.one_sided(rules, &group, true);
    }
    for (_, group) in grouped(&left.1, by_name) {
        changes.one_sided(rules, &group, false);
    }
    changes.rows.sort_by(|a, b| {
        let order = |row: &RowChange| (row.change == Change::Unclear, Reverse(row.effect_ns));
        order(a).cmp(&order(b)).then_with(|| a.name().cmp(b.name()))
    });
    changes.matched.sort_by(|a, b| a.after.name.cmp(&b.after.name));
    changes
}

fn named<'a>(rules: &Rules<'_>, side: &Side, rows: &'a [SideRow]) -> Vec<Named<'a>> {
    let name = |row: &'a SideRow| {
        let bytes = row.name.as_bytes();
        let stripped = match rules.of {
            RowsOf::Paths => rules.strip.path(bytes).to_vec(),
            RowsOf::Processes => rules.strip.words(bytes),
        };
        let mut normal = match rules.of {
            RowsOf::Paths => Normal::of(&stripped, &side.pids),
            RowsOf::Processes => Normal::of_words(&stripped, &side.pids),
        };
        // A directory is no file, although it has a name as one.
        let mut key = kind_word(row.kind).to_vec();
        let mut whole = key.clone();
        whole.append(&mut normal.name);
        normal.name = whole;
        key.extend(stripped);
        Named { row, key, normal }
    };
    rows.iter().map(name).collect()
}

fn kind_word(kind: Option<FileKind>) -> &'static [u8] {
    match kind {
        None | Some(FileKind::Regular) => b"",
        Some(kind) => kind.as_str().as_bytes(),
    }
}

fn by_name(named: &Named<'_>) -> Option<Vec<u8>> {
    Some(named.key.clone())
}

fn by_normal(named: &Named<'_>) -> Option<Vec<u8>> {
    Some(named.normal.name.clone())
}

/// Files by their inode and its generation: without one, another file may have the number. Processes by their program.
fn by_what_it_is(named: &Named<'_>) -> Option<Vec<u8>> {
    if let Some(program) = &named.row.program {
        return Some(program.as_bytes().to_vec());
    }
    let id = named.row.id.filter(|id| id.generation.is_some_and(|generation| generation != 0))?;
    Some(format!("{id} {:?}", id.generation).into_bytes())
}

/// Takes those that both runs have by this key out of what is left.
fn matched<'a>(left: &mut (Group<'a>, Group<'a>), key: Key) -> Vec<(Group<'a>, Group<'a>)> {
    let before = grouped(&left.0, key);
    let mut after: HashMap<_, _> = grouped(&left.1, key).into_iter().collect();
    let (mut pairs, mut taken) = (Vec::new(), HashSet::new());
    for (key, group) in before {
        if let Some(other) = after.remove(&key) {
            taken.insert(key);
            pairs.push((group, other));
        }
    }
    let stays = |named: &&Named<'_>| key(named).is_none_or(|key| !taken.contains(&key));
    left.0.retain(|named| stays(named));
    left.1.retain(|named| stays(named));
    pairs
}

/// Rows by their keys, in the order in which the keys come first.
fn grouped<'a>(rows: &Group<'a>, key: Key) -> Vec<(Vec<u8>, Group<'a>)> {
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut groups: Vec<(Vec<u8>, Group<'a>)> = Vec::new();
    for named in rows {
        let Some(key) = key(named) else { continue };
        match places.get(&key).and_then(|&at| groups.get_mut(at)) {
            Some((_, group)) => group.push(named),
            None => {
                places.insert(key.clone(), groups.len());
                groups.push((key, vec![named]));
            }
        }
    }
    groups
}

impl RowChanges {
    /// Rows that are in both runs.
    fn take(&mut self, rules: &Rules<'_>, before: &Group<'_>, after: &Group<'_>, is_name: bool) {
        let (Some(first), Some(second)) = (before.first(), after.first()) else { return };
        let by = match is_name {
            true => differs_by(first, second),
            false if first.row.program.is_some() => vec![MatchedBy::Program],
            false => vec![MatchedBy::Inode],
        };
        let names = [before, after].map(named_row);
        let [Some(before_name), Some(after_name)] = names else { return };
        if !by.is_empty() {
            let (before, after, by) = (before_name.clone(), after_name.clone(), by.clone());
            self.matched.push(MatchedRow { before, after, by });
        }
        let counters = changes(rules, &sum(before), &sum(after));
        let rows = i128::from(after_name.rows) - i128::from(before_name.rows);
        let Some(change) = change_of(&counters, rows) else {
            self.same += 1;
            return;
        };
        // Which files are in that row is another in every run.
        let are_others = first.row.kind == Some(FileKind::Others);
        let change = if are_others { Change::Unclear } else { change };
        self.rows.push(RowChange {
            change,
            before: Some(before_name),
            after: Some(after_name),
            by,
            effect_ns: effect_of(&counters),
            counters,
        });
    }

    /// Rows that are in one run.
    fn one_sided(&mut self, rules: &Rules<'_>, group: &Group<'_>, is_before: bool) {
        let Some(name) = named_row(group) else { return };
        let (sum, none) = (sum(group), Counters::default());
        let (before, after) = if is_before { (&sum, &none) } else { (&none, &sum) };
        let counters = changes(rules, before, after);
        let change = match is_before {
            true if rules.unclear_went => Change::Unclear,
            true => Change::Went,
            false if rules.unclear_came => Change::Unclear,
            false => Change::Came,
        };
        let (before, after) = if is_before { (Some(name), None) } else { (None, Some(name)) };
        let effect_ns = effect_of(&counters);
        self.rows.push(RowChange { change, before, after, by: Vec::new(), counters, effect_ns });
    }
}

fn differs_by(before: &Named<'_>, after: &Named<'_>) -> Vec<MatchedBy> {
    if before.row.name == after.row.name {
        return Vec::new();
    }
    let mut by = before.normal.differs_by(&after.normal);
    // Where no part differs, or one of both names was stripped of more.
    let stripped = |named: &Named<'_>| {
        let kind = kind_word(named.row.kind).len();
        named.row.name.len().checked_sub(named.key.len() - kind)
    };
    if by.is_empty() || stripped(before) != stripped(after) {
        by.insert(0, MatchedBy::Strip);
    }
    by
}

fn named_row(group: &Group<'_>) -> Option<NamedRow> {
    let first = group.first()?;
    let (name, kind) = (first.row.name.clone(), first.row.kind);
    Some(NamedRow { name, kind, rows: group.len() as u64 })
}

fn sum(group: &Group<'_>) -> Counters {
    let mut sum = Counters::default();
    group.iter().for_each(|named| sum.add(&named.row.counters));
    sum
}

/// The counters that differ and that both runs measured, the largest effect first; then those that vary.
fn changes(rules: &Rules<'_>, before: &Counters, after: &Counters) -> Vec<CounterChange> {
    let zero = Observed::Value(0);
    let of_before = before.iter().map(|one| (one, one.value, after.get(one.name).unwrap_or(zero)));
    let only_after = after.iter().filter(|one| before.get(one.name).is_none());
    let all = of_before.chain(only_after.map(|one| (one, zero, one.value)));
    let change = |(one, before, after): (&NamedCounter, _, _)| CounterChange {
        name: one.name.into(),
        unit: one.unit,
        before,
        after,
        varies: varies(one.name, one.unit),
    };
    let mut changes: Vec<CounterChange> = all
        .filter(|(one, ..)| !rules.untold.contains(one.name))
        .map(change)
        .filter(CounterChange::differs)
        .collect();
    changes.sort_by_cached_key(|one| (one.varies, Reverse(effect_ns(one)), one.name.clone()));
    changes
}

/// What became of rows that are in both runs; nothing where they do not differ.
fn change_of(counters: &[CounterChange], rows: i128) -> Option<Change> {
    let exact = counters.iter().filter(|one| !one.varies).filter_map(CounterChange::by);
    let all: Vec<i128> = exact.chain([rows]).filter(|&by| by != 0).collect();
    match all.as_slice() {
        [] => None,
        all if all.iter().all(|&by| by > 0) => Some(Change::Grew),
        all if all.iter().all(|&by| by < 0) => Some(Change::Shrank),
        _ => Some(Change::Changed),
    }
}

fn effect_of(counters: &[CounterChange]) -> u64 {
    counters.iter().map(effect_ns).fold(0, u64::saturating_add)
}
