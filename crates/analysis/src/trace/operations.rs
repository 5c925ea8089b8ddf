//! What each operation came to: calls, errors, bytes, how long they took.

use serde::Serialize;

use hotset_facts::trace::{Operation, OperationClass, TraceRecord};

use super::counts::TraceCounts;
use super::latency::{Latencies, LatencyNumbers};

/// Error numbers that are counted apart, by operation.
const MAX_ERRORS: usize = 64;
/// Two rows for each operation: one for its usual class, one for the other file of a call with two.
const ROWS: usize = 2 * Operation::ALL.len();

/// An operation in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationNumbers {
    /// The operation.
    pub operation: Operation,
    /// What it did to the files that are counted here: a call with two files is counted for each.
    pub class: OperationClass,
    /// What was counted.
    #[serde(flatten)]
    pub counts: TraceCounts,
    /// How long the calls took; null where none was timed.
    pub latency: Option<LatencyNumbers>,
    /// Errors, the most frequent first.
    pub errors: Vec<OperationErrors>,
}

/// Calls that ended in an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationErrors {
    /// The error number; null for all that found no place of their own.
    pub errno: Option<u32>,
    /// Calls that ended in it.
    pub calls: u64,
}

impl OperationNumbers {
    /// Calls that ended in any error.
    pub fn failed(&self) -> u64 {
        self.errors.iter().map(|one| one.calls).sum()
    }
}

#[derive(Debug, Default)]
struct Row {
    counts: TraceCounts,
    latencies: Latencies,
    errors: Vec<(u32, u64)>,
    other_errors: u64,
}

impl Row {
    fn count_error(&mut self, errno: u32) {
        if let Some((_, calls)) = self.errors.iter_mut().find(|(known, _)| *known == errno) {
            *calls += 1;
        } else if self.errors.len() < MAX_ERRORS {
            self.errors.push((errno, 1));
        } else {
            self.other_errors += 1;
        }
    }

    fn errors(&self) -> Vec<OperationErrors> {
        let known = self.errors.iter();
        let known = known.map(|&(errno, calls)| OperationErrors { errno: Some(errno), calls });
        let others = OperationErrors { errno: None, calls: self.other_errors };
        let mut all: Vec<_> = known.chain((others.calls > 0).then_some(others)).collect();
        all.sort_by_key(|one| (std::cmp::Reverse(one.calls), one.errno));
        all
    }
}

/// Counts them.
#[derive(Debug)]
pub(super) struct Operations {
    /// By operation and whether its class is the usual one.
    rows: Vec<Option<Box<(OperationClass, Row)>>>,
}

impl Operations {
    pub(super) fn new() -> Self {
        Self { rows: std::iter::repeat_with(|| None).take(ROWS).collect() }
    }

    /// Counts a record; `count` counts it in its sums.
    pub(super) fn count(&mut self, record: &TraceRecord, count: impl FnOnce(&mut TraceCounts)) {
        let other = usize::from(record.class != record.operation.class());
        let place = 2 * record.operation as usize + other;
        let Some(row) = self.rows.get_mut(place) else { return };
        let (_, row) = &mut **row.get_or_insert_with(|| Box::new((record.class, Row::default())));
        count(&mut row.counts);
        if let Some(ns) = record.duration_ns {
            row.latencies.count(ns);
        }
        if let Some(error) = record.result.filter(|&result| result < 0) {
            row.count_error(u32::try_from(error.unsigned_abs()).unwrap_or(u32::MAX));
        }
    }

    /// The sums of all records: each has one operation.
    pub(super) fn totals(&self) -> TraceCounts {
        let mut all = TraceCounts::default();
        self.rows.iter().flatten().for_each(|row| all.add(&row.1.counts));
        all
    }

    /// The operations that there are records of, the costliest first.
    pub(super) fn finish(self) -> Vec<OperationNumbers> {
        let rows = Operation::ALL.iter().flat_map(|operation| [operation; 2]).zip(self.rows);
        let mut all: Vec<_> = rows
            .filter_map(|(&operation, row)| {
                let (class, row) = *row?;
                let (latency, errors) = (row.latencies.numbers(), row.errors());
                Some(OperationNumbers { operation, class, counts: row.counts, latency, errors })
            })
            .collect();
        all.sort_by_key(|one| {
            let (time_ns, ..) = one.counts.cost();
            (std::cmp::Reverse(time_ns), std::cmp::Reverse(one.counts.records))
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_by_number_and_the_rest_together() {
        let mut row = Row::default();
        for errno in (1..=MAX_ERRORS as u32 + 3).chain([2, 2, 1]) {
            row.count_error(errno);
        }
        let errors = row.errors();
        let first: Vec<_> = errors.iter().take(4).map(|one| (one.errno, one.calls)).collect();
        assert_eq!(first, [(None, 3), (Some(2), 3), (Some(1), 2), (Some(3), 1)]);
    }

    #[test]
    fn both_files_of_a_call_have_rows() {
        let mut all = Operations::new();
        let source = TraceRecord::new(0, Operation::Sendfile);
        let target = TraceRecord { class: OperationClass::Write, ..source };
        for record in [source, target, target] {
            all.count(&record, |counts| counts.records += 1);
        }
        let totals = all.totals();
        let found: Vec<_> =
            all.finish().iter().map(|row| (row.class, row.counts.records, row.latency)).collect();
        assert_eq!(found, [(OperationClass::Write, 2, None), (OperationClass::Read, 1, None)]);
        assert_eq!(totals.records, 3);
    }
}
