//! The tables of a fleet: what every host writes of each interval, so that one query answers for all of them.
//!
//! A table is a struct of this room; its columns, their types and what they mean are declared with it and nowhere else. Numbers are
//! whole, times are UTC, and counters count what happened in the interval, so that they add up over hosts and time.

mod answers;
mod columns;
mod curve;
mod file;
mod finding;
mod group;
mod host;
mod key;

pub use answers::{
    FleetAnalysis, FleetAnswers, FleetAxis, FleetCell, FleetChart, FleetChartKind, FleetColumn,
    FleetCondition, FleetHeadline, FleetSeries, FleetUnit, FleetWarning,
};
pub use columns::{Cells, Column, ColumnKind, Columns, CountedIo, Meaning};
pub use curve::CurveRow;
pub use file::FileIntervalRow;
pub use finding::FindingRow;
pub use group::{GroupIntervalRow, GroupMemory};
pub use host::HostRow;
pub use key::{IntervalKey, Workload};

use serde::{Deserialize, Serialize};

/// The version of the layout and of all tables: a number that is counted otherwise, or a column that goes, makes another. Columns may
/// be added.
pub const FLEET_VERSION: u32 = 1;

crate::words! {
    /// A table.
    #[derive(PartialOrd, Ord)]
    pub enum FleetTable {
        /// A row an interval: the host, what it counted in all, its memory, what was lost.
        Host = "host",
        /// A row an interval and control group.
        GroupInterval = "group_interval",
        /// A row an interval and file, of the busiest.
        FileInterval = "file_interval",
        /// A row a span, control group and limit: what caches of many sizes would have had.
        Curve = "curve",
        /// A row a span, control group and rule that has something to say.
        Finding = "finding",
    }
}

impl FleetTable {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Host, Self::GroupInterval, Self::FileInterval, Self::Curve, Self::Finding];
}

/// A row of a table.
pub trait FleetRow: Columns + Serialize + for<'de> Deserialize<'de> {
    /// The table that it is of.
    const TABLE: FleetTable;

    /// What rows of a file are sorted by, so that equal values stand together: the control group or the file, then the time.
    fn sort_key(&self) -> (&str, i64);
}

/// Columns of a table, in their order.
pub fn columns_of(table: FleetTable) -> Vec<Column> {
    let mut columns = Vec::new();
    match table {
        FleetTable::Host => HostRow::columns(&mut columns),
        FleetTable::GroupInterval => GroupIntervalRow::columns(&mut columns),
        FleetTable::FileInterval => FileIntervalRow::columns(&mut columns),
        FleetTable::Curve => CurveRow::columns(&mut columns),
        FleetTable::Finding => FindingRow::columns(&mut columns),
    }
    columns
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own_and_a_meaning() {
        for table in FleetTable::ALL {
            let columns = columns_of(table);
            let names: HashSet<_> = columns.iter().map(|column| column.name).collect();
            assert_eq!(names.len(), columns.len(), "{}", table.as_str());
            for column in columns {
                assert!(column.help.len() > 8, "{} has no meaning", column.name);
            }
        }
    }

    #[test]
    fn cells_come_in_the_order_of_columns() {
        #[derive(Default)]
        struct Kinds(Vec<ColumnKind>);
        impl Cells for Kinds {
            fn number(&mut self, _: Option<u64>) {
                self.0.push(ColumnKind::Number);
            }
            fn time(&mut self, _: i64) {
                self.0.push(ColumnKind::Time);
            }
            fn flag(&mut self, _: bool) {
                self.0.push(ColumnKind::Flag);
            }
            fn text(&mut self, _: Option<&str>) {
                self.0.push(ColumnKind::Text);
            }
        }
        fn same<R: FleetRow + Default>() {
            let mut kinds = Kinds::default();
            R::default().cells(&mut kinds);
            let columns: Vec<_> = columns_of(R::TABLE).iter().map(|column| column.kind).collect();
            assert_eq!(kinds.0, columns, "{}", R::TABLE.as_str());
        }
        same::<HostRow>();
        same::<GroupIntervalRow>();
        same::<FileIntervalRow>();
        same::<CurveRow>();
        same::<FindingRow>();
    }
}
