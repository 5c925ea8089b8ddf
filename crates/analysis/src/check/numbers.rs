//! The numbers that a budget can limit: every counter of a profile by its name in JSON, and a few that people ask for by shorter
//! names.

use hotset_facts::{FileKind, Io, Observed, Reason, Unit};

use super::verdict::LimitOf;
use crate::diff::{Counters, Side, SideRow};

/// Totals that are in no group of counters, by their names in JSON.
const OF_RUN: [(&str, Unit); 17] = [
    ("lookups.calls", Unit::Count),
    ("lookups.failed", Unit::Count),
    ("lookups.time_ns", Unit::Nanoseconds),
    ("lookups.failed_time_ns", Unit::Nanoseconds),
    ("command.wall_ns", Unit::Nanoseconds),
    ("command.user_ns", Unit::Nanoseconds),
    ("command.system_ns", Unit::Nanoseconds),
    ("command.max_rss_bytes", Unit::Bytes),
    ("command.still_running", Unit::Count),
    ("files.rows", Unit::Count),
    ("files.opens", Unit::Count),
    ("files.evicted_pages", Unit::Pages),
    ("files.dropped_pages", Unit::Pages),
    ("files.dropped_by_run_pages", Unit::Pages),
    ("processes.rows", Unit::Count),
    ("processes.minor_faults", Unit::Count),
    ("processes.major_faults", Unit::Count),
];

/// Short names, in the order of the documentation: the name, its unit, and how it is made.
const SHORT: [(&str, Unit, Made); 10] = [
    ("from_device", Unit::Bytes, Made::FromDevice),
    ("files.opened", Unit::Count, Made::RowsWith(&["opens"])),
    ("files.read", Unit::Count, Made::RowsWith(&["read.calls", "direct.read_calls"])),
    ("files.written", Unit::Count, Made::RowsWith(&["write.calls", "direct.write_calls"])),
    ("opens", Unit::Count, Made::Counter("files.opens")),
    ("processes", Unit::Count, Made::Counter("processes.rows")),
    ("major_faults", Unit::Count, Made::Counter("processes.major_faults")),
    ("peak_rss", Unit::Bytes, Made::Counter("command.max_rss_bytes")),
    ("cached_before", Unit::Pages, Made::SumOfFiles("cached_before")),
    ("cached_after", Unit::Pages, Made::SumOfFiles("cached_after")),
];

/// How a number is made of counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    /// It is one.
    Counter(&'static str),
    /// Pages that reads and faults had read from the device, in bytes.
    FromDevice,
    /// Rows of files in which one of these is not 0.
    RowsWith(&'static [&'static str]),
    /// The sum of a counter that rows of files have, and that has no total.
    SumOfFiles(&'static str),
}

/// A number that can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// Its name in a budget.
    pub name: &'static str,
    /// In what it counts.
    pub unit: Unit,
    made: Made,
}

impl Number {
    /// The number of this name; with `totals.` before it too, as in the JSON of a profile.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.strip_prefix("totals.").unwrap_or(name);
        Self::all().into_iter().find(|number| number.name == name)
    }

    /// All that there are, the short names first.
    pub fn all() -> Vec<Self> {
        let short = SHORT.iter().map(|&(name, unit, made)| Self { name, unit, made });
        let run = OF_RUN.iter().map(|&(name, unit)| Self { name, unit, made: Made::Counter(name) });
        let counted = Io::zero().named().into_iter();
        let counted = counted.map(|one| Self {
            name: one.name,
            unit: one.unit,
            made: Made::Counter(one.name),
        });
        short.chain(run).chain(counted).collect()
    }

    /// Whether it is known of some files or some processes alone.
    pub fn is_of(self, on: LimitOf) -> bool {
        let Made::Counter(name) = self.made else {
            return self.made == Made::FromDevice || on != LimitOf::Processes;
        };
        match on {
            LimitOf::Run => true,
            LimitOf::Files => {
                !name.starts_with("command.")
                    && !name.starts_with("lookups.")
                    && !name.starts_with("processes.")
            }
            LimitOf::Processes => !name.starts_with("command.") && !name.starts_with("files."),
        }
    }

    /// Its value of a whole run.
    pub(super) fn of_run(self, run: &Side) -> Observed<u64> {
        match self.made {
            Made::Counter(name) => run.totals.get(name).unwrap_or(Observed::Missing(UNKNOWN)),
            Made::FromDevice => {
                from_device(&run.totals, run.page_size_bytes(), Observed::Missing(UNKNOWN))
            }
            Made::RowsWith(_) | Made::SumOfFiles(_) => self.of_rows(run, run.files.iter()),
        }
    }

    /// Its value of some rows together.
    pub(super) fn of_rows<'a>(
        self,
        run: &Side,
        rows: impl Iterator<Item = &'a SideRow>,
    ) -> Observed<u64> {
        rows.map(|row| self.of_row(run, row))
            .fold(Observed::Value(0), |sum, one| sum.zip_with(one, u64::saturating_add))
    }

    /// Its value of chosen files together. Of those that are one row, nobody knows which are chosen.
    pub(super) fn of_files(self, run: &Side, chosen: impl Fn(&SideRow) -> bool) -> Observed<u64> {
        let is_one_row = |row: &&SideRow| row.kind == Some(FileKind::Others);
        let others = self.of_rows(run, run.files.iter().filter(is_one_row));
        match others {
            Observed::Value(0) => self.of_rows(run, run.files.iter().filter(|row| chosen(row))),
            Observed::Value(_) => Observed::Missing(MANY_FILES),
            missing @ Observed::Missing(_) => missing,
        }
    }

    /// What a row has a part in it.
    pub(super) fn of_row(self, run: &Side, row: &SideRow) -> Observed<u64> {
        match self.made {
            Made::Counter(_) => self.counted_as().map_or(Observed::Value(1), |name| {
                row.counters.get(name).unwrap_or(Observed::Value(0))
            }),
            Made::FromDevice => {
                from_device(&row.counters, run.page_size_bytes(), Observed::Value(0))
            }
            Made::RowsWith(_) | Made::SumOfFiles(_) if row.kind == Some(FileKind::Others) => {
                Observed::Missing(MANY_FILES)
            }
            Made::SumOfFiles(name) => row.counters.get(name).unwrap_or(Observed::Value(0)),
            Made::RowsWith(names) => rows_with(names, &row.counters),
        }
    }

    /// The counter of rows that its total is made of; none where each row counts.
    fn counted_as(self) -> Option<&'static str> {
        let Made::Counter(name) = self.made else { return None };
        let of_rows = name.strip_prefix("files.").or_else(|| name.strip_prefix("processes."));
        Some(of_rows.unwrap_or(name)).filter(|name| *name != "rows")
    }

    /// Counters of rows whose change is a change of it.
    pub(super) fn row_counters(self) -> Vec<&'static str> {
        match self.made {
            Made::Counter(_) => self.counted_as().into_iter().collect(),
            Made::FromDevice => vec!["read.from_device", "mmap.pages_read"],
            Made::RowsWith(names) => names.to_vec(),
            Made::SumOfFiles(name) => vec![name],
        }
    }

    /// Whether a row has a part of 1 in it or none.
    pub(super) fn counts_rows(self) -> bool {
        matches!(self.made, Made::RowsWith(_))
    }

    /// Bytes that one of its counters stands for, where that counts pages and this is in bytes.
    pub(super) fn factor(self, page_size_bytes: u64) -> u64 {
        if self.made == Made::FromDevice { page_size_bytes } else { 1 }
    }

    /// Which rows it is a sum of: paths of lookups, processes, or files.
    pub(super) fn rows(self) -> Rows {
        match self.made {
            Made::Counter("lookups.failed") => Rows::FailedLookups,
            // Of paths that are found, a profile knows no names.
            Made::Counter(name) if name.starts_with("lookups.") => Rows::None,
            Made::Counter(name) if name.starts_with("processes.") => Rows::Processes,
            Made::Counter(name) if name.starts_with("command.") => Rows::None,
            _ => Rows::Files,
        }
    }
}

/// The rows that make a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    Files,
    Processes,
    FailedLookups,
    None,
}

const UNKNOWN: Reason = Reason::not_measured("this run did not count it");
const MANY_FILES: Reason =
    Reason::lost("more files than a report names are one row; which of them is not known");

fn from_device(counters: &Counters, page_size_bytes: u64, none: Observed<u64>) -> Observed<u64> {
    let of = |name| counters.get(name).unwrap_or(none);
    of("read.from_device").zip_with(of("mmap.pages_read"), |read, mapped| {
        read.saturating_add(mapped).saturating_mul(page_size_bytes)
    })
}

/// 1 where one of these counters is not 0.
fn rows_with(names: &[&str], counters: &Counters) -> Observed<u64> {
    let mut unknown = None;
    for name in names {
        match counters.get(name) {
            Some(Observed::Value(1..)) => return Observed::Value(1),
            Some(Observed::Missing(reason)) => unknown = Some(reason),
            Some(Observed::Value(0)) | None => {}
        }
    }
    unknown.map_or(Observed::Value(0), Observed::Missing)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::testing::{file, run_of};

    #[test]
    fn every_name_is_there_once_and_a_profile_has_every_counter() {
        let all = Number::all();
        let names: HashSet<_> = all.iter().map(|number| number.name).collect();
        assert_eq!(names.len(), all.len());
        let run = Side::of_profile(&run_of(Vec::new()));
        for number in &all {
            if let Made::Counter(name) = number.made {
                let found = run.totals.iter().find(|one| one.name == name);
                assert_eq!(found.map(|one| one.unit), Some(number.unit), "{name}");
            }
        }
        for one in run.totals.iter().filter(|one| one.name != "lookups.failed_unnamed") {
            assert!(Number::named(one.name).is_some(), "{}", one.name);
        }
    }

    #[test]
    fn numbers_are_found_by_their_place_in_json_too() {
        assert_eq!(Number::named("totals.read.calls"), Number::named("read.calls"));
        assert_eq!(Number::named("read.call"), None);
        assert_eq!(Number::named("from_device").map(|number| number.unit), Some(Unit::Bytes));
    }

    #[test]
    fn rows_are_counted_by_what_was_done_to_them() {
        let mut read = file("/a", 1);
        read.opens = Observed::Value(3);
        read.io.edit(|io| {
            if let Some(read) = io.read.as_value_mut() {
                read.calls = 2;
            }
        });
        let mut unopened = file("/b", 2);
        unopened.opens = Observed::Value(0);
        let run = Side::of_profile(&run_of(vec![read, unopened]));
        let of = |name| Number::named(name).map(|number| number.of_run(&run));
        assert_eq!(of("files.opened"), Some(Observed::Value(1)));
        assert_eq!(of("files.read"), Some(Observed::Value(1)));
        assert_eq!(of("files.written"), Some(Observed::Value(0)));
        assert_eq!(of("opens"), Some(Observed::Value(3)));
        assert_eq!(of("files.rows"), Some(Observed::Value(2)));
    }
}
