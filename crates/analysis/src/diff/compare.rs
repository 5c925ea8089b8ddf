//! Both sides, compared.

use std::collections::HashSet;

use hotset_facts::{NamedCounter, Observed, Reason};

use super::caveats::{caveats, has_others};
use super::counters::{Counters, varies};
use super::difference::{
    ComparedKind, CounterChange, Difference, FindingChange, NotCompared, RowChanges, Stripped,
    Which,
};
use super::findings::compare_findings;
use super::rows::{RowsOf, Rules, compare_rows};
use super::side::{Side, SideRow};
use super::strip::Strip;

/// Rows of a run without the sensor are what its processes had open or mapped when it was looked.
const NO_SENSOR: Reason = Reason::not_measured(
    "one run was made without the sensor, which alone counts by file and process",
);

/// What two runs differ in, of which both were made of profiles or both of recordings.
///
/// # Errors
/// Where one is a profile and the other a recording: what they count differs.
pub fn compare(before: &Side, after: &Side, strip: &Strip) -> Result<Difference, KindsDiffer> {
    if before.kind != after.kind {
        return Err(KindsDiffer);
    }
    let totals = totals(&before.totals, &after.totals);
    let rows = AllRows::of(before, after, strip, &untold(&totals));
    let findings: Observed<Vec<FindingChange>> =
        both(&before.findings, &after.findings, |one, other| {
            compare_findings((before, one), (after, other))
        });
    let differs = totals.iter().any(|one| one.differs() && !one.varies) || rows.differ();
    let AllRows { files, processes, failed_lookups, found_lookups } = rows;
    let stripped = |directory: &std::path::PathBuf| Stripped { path: directory.clone() };
    Ok(Difference {
        compared: before.kind,
        before: before.about.clone(),
        after: after.about.clone(),
        strip: strip.directories().iter().map(stripped).collect(),
        differs,
        totals,
        files,
        processes,
        failed_lookups,
        found_lookups,
        findings,
        not_measured: not_measured(before, after),
        caveats: caveats(before, after),
    })
}

/// Rows of each kind that differ.
struct AllRows {
    files: Observed<RowChanges>,
    processes: Observed<RowChanges>,
    failed_lookups: Observed<RowChanges>,
    found_lookups: Observed<RowChanges>,
}

impl AllRows {
    fn of(before: &Side, after: &Side, strip: &Strip, untold: &HashSet<String>) -> Self {
        // What a run has lost, or has no name for, may be what the other one has.
        let rules = |of, may: fn(&Side) -> bool| {
            let [unclear_came, unclear_went] =
                [before, after].map(|side| may(side) || side.doubts.lost > 0);
            Rules { of, strip, before, after, untold, unclear_came, unclear_went }
        };
        let is_counted = before.rows_by() == after.rows_by();
        let counted = |rules: &Rules<'_>, of: fn(&Side) -> &Vec<SideRow>| match is_counted {
            true => Observed::Value(compare_rows(rules, of(before), of(after))),
            false => Observed::Missing(NO_SENSOR),
        };
        let looked_up = |rules: &Rules<'_>, of: fn(&Side) -> &Observed<Vec<SideRow>>| {
            both(of(before), of(after), |before, after| compare_rows(rules, before, after))
        };
        let unnamed_failed = |side: &Side| side.doubts.unnamed_lookups > 0;
        let unnamed_found = |side: &Side| side.doubts.unnamed_found > 0;
        Self {
            files: counted(&rules(RowsOf::Paths, has_others), |side| &side.files),
            processes: counted(&rules(RowsOf::Processes, |_| false), |side| &side.processes),
            failed_lookups: looked_up(&rules(RowsOf::Paths, unnamed_failed), |side| {
                &side.failed_lookups
            }),
            found_lookups: looked_up(&rules(RowsOf::Paths, unnamed_found), |side| {
                &side.found_lookups
            }),
        }
    }

    /// Whether a row differs for sure.
    fn differ(&self) -> bool {
        let all = [&self.files, &self.processes, &self.failed_lookups, &self.found_lookups];
        all.into_iter().filter_map(|rows| rows.as_value()).any(RowChanges::differs)
    }
}

/// One run is a profile and the other a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindsDiffer;

fn both<T, U>(
    before: &Observed<Vec<T>>,
    after: &Observed<Vec<T>>,
    compare: impl FnOnce(&[T], &[T]) -> U,
) -> Observed<U> {
    match (before, after) {
        (Observed::Value(before), Observed::Value(after)) => {
            Observed::Value(compare(before, after))
        }
        (Observed::Missing(reason), _) | (_, Observed::Missing(reason)) => {
            Observed::Missing(*reason)
        }
    }
}

/// Every counter that one of both has. Both have the same, unless another version wrote one of them.
fn totals(before: &Counters, after: &Counters) -> Vec<CounterChange> {
    const UNKNOWN: Reason =
        Reason::not_measured("the version of hotset that wrote it does not count it");
    let only_after = after.iter().filter(|one| before.get(one.name).is_none());
    let change = |one: &NamedCounter| CounterChange {
        name: one.name.into(),
        unit: one.unit,
        before: before.get(one.name).unwrap_or(Observed::Missing(UNKNOWN)),
        after: after.get(one.name).unwrap_or(Observed::Missing(UNKNOWN)),
        varies: varies(one.name, one.unit),
    };
    before.iter().chain(only_after).map(change).collect()
}

/// Names of counters that one of the runs did not measure, as totals and as rows have them.
fn untold(totals: &[CounterChange]) -> HashSet<String> {
    let missing = totals.iter().filter(|one| one.by().is_none());
    let names = missing.flat_map(|one| {
        let of_rows = ["files.", "processes."].iter().filter_map(|of| one.name.strip_prefix(of));
        of_rows.chain([one.name.as_ref()]).map(str::to_owned).collect::<Vec<_>>()
    });
    names.collect()
}

fn is_recorded(side: &Side) -> bool {
    side.kind == ComparedKind::Recordings
}

/// What a run did not measure, by reason: counters, then what has none.
fn not_measured(before: &Side, after: &Side) -> Vec<NotCompared> {
    let mut all: Vec<NotCompared> = Vec::new();
    for (which, side) in [(Which::Before, before), (Which::After, after)] {
        let counters = side.totals.iter().filter_map(|one| {
            let reason = one.value.reason()?;
            Some((one.name.to_owned(), reason.to_string()))
        });
        let rows = [
            ("paths of failed lookups", side.failed_lookups.reason()),
            // No profile has them, and that is nothing about these.
            ("paths of found lookups", side.found_lookups.reason().filter(|_| is_recorded(side))),
            ("findings", side.findings.reason()),
        ];
        let rows = rows
            .into_iter()
            .filter_map(|(what, reason)| Some((what.to_owned(), reason?.to_string())));
        let rest = side.gaps.iter().cloned();
        for (what, reason) in counters.chain(rows).chain(rest) {
            let known = |one: &&mut NotCompared| one.which == which && one.reason == reason;
            match all.iter_mut().find(known) {
                Some(known) => known.what.push(what),
                None => all.push(NotCompared { which, what: vec![what], reason }),
            }
        }
    }
    all
}
