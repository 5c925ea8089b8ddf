//! Threads: which of them are worth a line in a picture.

use std::collections::HashMap;

use serde::Serialize;

use hotset_facts::trace::{ProcessIndex, TraceRecord};

use super::counts::add;

/// Threads that are counted apart. A short-lived thread for each request would fill any table.
const MOST: usize = 1 << 12;

/// A thread in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceThreadNumbers {
    /// Its ID.
    pub tid: u32,
    /// The kernel's short name for the process that it belongs to; null where it is not known.
    pub comm: Option<String>,
    /// Its process's PID; null where it is not known.
    pub pid: Option<u32>,
    /// Its records.
    pub records: u64,
    /// How long they took together, in nanoseconds.
    pub time_ns: Option<u64>,
    /// Of that, requests in which it waited.
    pub waited_ns: Option<u64>,
    /// When its first record began.
    pub from_ns: u64,
    /// When its last record ended.
    pub to_ns: u64,
}

#[derive(Debug)]
pub(super) struct ThreadRow {
    pub(super) process: Option<ProcessIndex>,
    pub(super) records: u64,
    pub(super) time_ns: Option<u64>,
    pub(super) waited_ns: Option<u64>,
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
}

/// Counts them.
#[derive(Debug, Default)]
pub(super) struct Threads {
    at: HashMap<u32, usize>,
    rows: Vec<(u32, ThreadRow)>,
    /// Of the record before: most often the same.
    last: Option<(u32, usize)>,
}

impl Threads {
    pub(super) fn count(&mut self, record: &TraceRecord, end_ns: u64, waited: Option<bool>) {
        let Some(place) = record.tid.and_then(|tid| self.place(tid, record)) else { return };
        let Some((_, row)) = self.rows.get_mut(place) else { return };
        row.process = row.process.or(record.process);
        row.records += 1;
        row.from_ns = row.from_ns.min(record.start_ns);
        row.to_ns = row.to_ns.max(end_ns);
        if let Some(ns) = record.duration_ns {
            add(&mut row.time_ns, Some(ns));
            add(&mut row.waited_ns, waited.map(|waited| if waited { ns } else { 0 }));
        }
    }

    fn place(&mut self, tid: u32, record: &TraceRecord) -> Option<usize> {
        if let Some((_, place)) = self.last.filter(|(last, _)| *last == tid) {
            return Some(place);
        }
        let known = self.at.get(&tid).copied();
        let place = match known {
            Some(place) => place,
            None if self.rows.len() >= MOST => return None,
            None => {
                let row = ThreadRow {
                    process: None,
                    records: 0,
                    time_ns: None,
                    waited_ns: None,
                    from_ns: record.start_ns,
                    to_ns: record.start_ns,
                };
                self.at.insert(tid, self.rows.len());
                self.rows.push((tid, row));
                self.rows.len() - 1
            }
        };
        self.last = Some((tid, place));
        Some(place)
    }

    /// Those that waited longest first, then those whose requests took longest, then those with most records.
    pub(super) fn finish(mut self) -> Vec<(u32, ThreadRow)> {
        self.rows.sort_by_key(|(tid, row)| {
            let waited = row.waited_ns.unwrap_or(0);
            let cost = (waited, row.time_ns.unwrap_or(0), row.records);
            (std::cmp::Reverse(cost), *tid)
        });
        self.rows
    }
}
