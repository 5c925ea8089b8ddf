//! Threads over time: whether they waited for the device, for a sync, were in another request, or in none.

use hotset_facts::trace::{OperationClass, TraceRecord};

use crate::trace::kind::RequestKind;
use crate::trace::threads::TraceThreadNumbers;

use super::Steps;

/// What a thread did over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadPicture {
    /// The thread in numbers.
    pub thread: TraceThreadNumbers,
    /// When the first column begins, in nanoseconds since the recording began.
    pub from_ns: u64,
    /// How long a column is.
    pub column_ns: u64,
    /// The columns.
    pub columns: Vec<LaneCell>,
}

/// A thread in a stretch of time, in nanoseconds. The parts do not overlap: a fault inside of a read is counted as the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaneCell {
    /// Waiting for the device: reads that missed or slept, direct I/O, major faults.
    pub device_ns: u64,
    /// In a sync.
    pub sync_ns: u64,
    /// In another request.
    pub request_ns: u64,
    /// Between its first and its last record, in no request: it computed, or waited for something else than files.
    pub outside_ns: u64,
}

#[derive(Debug)]
struct Lane {
    thread: TraceThreadNumbers,
    cells: Vec<LaneCell>,
}

/// The lines of all threads in the making.
#[derive(Debug)]
pub(super) struct Lanes {
    time: Steps,
    lanes: Vec<Lane>,
}

impl Lanes {
    pub(super) fn new<'a>(
        threads: impl Iterator<Item = &'a TraceThreadNumbers>,
        time: Steps,
    ) -> Self {
        let lanes = threads
            .map(|thread| Lane {
                thread: thread.clone(),
                cells: vec![LaneCell::default(); time.count],
            })
            .collect();
        Self { time, lanes }
    }

    pub(super) fn draw(&mut self, record: &TraceRecord, kind: RequestKind, waited: bool) {
        let (Some(tid), Some(ns)) = (record.tid, record.duration_ns) else { return };
        if !kind.is_request() {
            return;
        }
        let lane = self.lanes.iter_mut().find(|lane| lane.thread.tid == tid);
        let Some(lane) = lane else { return };
        let is_data = matches!(record.class, OperationClass::Read | OperationClass::Fault)
            || kind == RequestKind::Direct;
        let part = |cell: &mut LaneCell, ns: u64| {
            let part = match kind {
                RequestKind::Sync => &mut cell.sync_ns,
                _ if waited && is_data => &mut cell.device_ns,
                _ => &mut cell.request_ns,
            };
            *part = part.saturating_add(ns);
        };
        let end = record.start_ns.saturating_add(ns);
        for column in self.time.at(record.start_ns)..=self.time.at(end) {
            let (from, to) = bounds(&self.time, column);
            let inside = end.min(to).saturating_sub(record.start_ns.max(from));
            if let Some(cell) = lane.cells.get_mut(column).filter(|_| inside > 0) {
                part(cell, inside);
            }
        }
    }

    pub(super) fn finish(self) -> Vec<ThreadPicture> {
        let Self { time, lanes } = self;
        let picture = |mut lane: Lane| {
            for (column, cell) in lane.cells.iter_mut().enumerate() {
                let (from, to) = bounds(&time, column);
                let (begin, end) = (lane.thread.from_ns.max(from), lane.thread.to_ns.min(to));
                *cell = apart(*cell, end.saturating_sub(begin));
            }
            let Lane { thread, cells } = lane;
            ThreadPicture { thread, from_ns: time.from, column_ns: time.step, columns: cells }
        };
        lanes.into_iter().map(picture).collect()
    }
}

/// When a column begins and ends.
fn bounds(time: &Steps, column: usize) -> (u64, u64) {
    let from = time.from.saturating_add(time.step.saturating_mul(column as u64));
    (from, from.saturating_add(time.step))
}

/// Parts that together take no longer than there was: requests inside of others are not counted twice.
fn apart(cell: LaneCell, length_ns: u64) -> LaneCell {
    let device_ns = cell.device_ns.min(length_ns);
    let sync_ns = cell.sync_ns.min(length_ns - device_ns);
    let request_ns = cell.request_ns.min(length_ns - device_ns - sync_ns);
    let outside_ns = length_ns - device_ns - sync_ns - request_ns;
    LaneCell { device_ns, sync_ns, request_ns, outside_ns }
}
