//! Rows of all tables, together.

use hotset_facts::fleet::{
    CurveRow, FileIntervalRow, FindingRow, FleetRow, FleetTable, GroupIntervalRow, HostRow,
};
use parquet::errors::ParquetError;
use serde::{Deserialize, Serialize};

use crate::encode::encode;

/// Rows of one or more intervals.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Rows {
    /// A row an interval.
    pub host: Vec<HostRow>,
    /// A row an interval and control group.
    pub groups: Vec<GroupIntervalRow>,
    /// A row an interval and file.
    pub files: Vec<FileIntervalRow>,
    /// A row a span, control group and limit.
    pub curves: Vec<CurveRow>,
    /// A row a span, control group and rule.
    pub findings: Vec<FindingRow>,
}

impl Rows {
    /// How many there are.
    pub fn len(&self) -> usize {
        let Self { host, groups, files, curves, findings } = self;
        host.len() + groups.len() + files.len() + curves.len() + findings.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds those of another interval.
    pub fn append(&mut self, mut more: Self) {
        self.host.append(&mut more.host);
        self.groups.append(&mut more.groups);
        self.files.append(&mut more.files);
        self.curves.append(&mut more.curves);
        self.findings.append(&mut more.findings);
    }

    /// The number of the first interval: with the host and the session, no other rows begin with it.
    pub(crate) fn first_sequence(&self) -> u64 {
        let host = self.host.iter().map(|row| row.key.sequence);
        let groups = self.groups.iter().map(|row| row.key.sequence);
        let curves = self.curves.iter().map(|row| row.key.sequence);
        let findings = self.findings.iter().map(|row| row.key.sequence);
        host.chain(groups).chain(curves).chain(findings).min().unwrap_or(0)
    }

    /// The tables that have rows, each as a file.
    pub(crate) fn into_files(self) -> Result<Vec<(FleetTable, Vec<u8>)>, ParquetError> {
        let mut files = Vec::new();
        add(&mut files, self.groups)?;
        add(&mut files, self.files)?;
        add(&mut files, self.curves)?;
        add(&mut files, self.findings)?;
        // Last, so that an interval that is told to be there is.
        add(&mut files, self.host)?;
        Ok(files)
    }
}

fn add<R: FleetRow>(
    files: &mut Vec<(FleetTable, Vec<u8>)>,
    rows: Vec<R>,
) -> Result<(), ParquetError> {
    if !rows.is_empty() {
        files.push((R::TABLE, encode(rows)?));
    }
    Ok(())
}
