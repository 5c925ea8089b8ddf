//! Where a request stands among those before it in the same open file.

use hotset_facts::trace::{OperationClass, TraceRecord};

use super::PAGE;
use crate::trace::open_files::{OpenFileKey, OpenFiles};

const READS: u8 = 0;
const WRITES: u8 = 1;
const FAULTS: u8 = 2;

/// A thread's requests of one kind in one open file, up to a record and with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::explain) struct Run {
    /// Where the requests in order, each from where the one before ended, began.
    pub(in crate::explain) from: u64,
    /// How many these are, and 1 where this one follows none.
    pub(in crate::explain) calls: u64,
    /// How far this one's beginning is from that of the one before; 0 where there is none.
    pub(in crate::explain) step: i64,
    /// How many in a row had this step.
    pub(in crate::explain) steps: u64,
    /// Whether it is known what came before it in this open file.
    pub(in crate::explain) is_known: bool,
    offset: u64,
    end: u64,
}

impl Run {
    /// Whether it goes on where the one before ended.
    pub(in crate::explain) fn follows(&self) -> bool {
        self.calls > 1
    }

    /// Bytes of the requests in order.
    pub(in crate::explain) fn bytes(&self) -> u64 {
        self.end.saturating_sub(self.from)
    }

    fn go_on(&mut self, offset: u64, end: u64, is_known: bool) {
        // A cut run has no calls: nothing follows it.
        let follows = is_known && self.calls > 0 && offset == self.end;
        let step = if is_known { offset.wrapping_sub(self.offset).cast_signed() } else { 0 };
        self.steps = if is_known && step == self.step { self.steps + 1 } else { 1 };
        (self.step, self.is_known) = (step, is_known);
        (self.from, self.calls) = if follows { (self.from, self.calls + 1) } else { (offset, 1) };
        (self.offset, self.end) = (offset, end);
    }
}

/// Runs by thread, open file and kind of request.
#[derive(Debug)]
pub(super) struct Runs(OpenFiles<Run>);

impl Runs {
    pub(super) fn new() -> Self {
        Self(OpenFiles::new())
    }

    /// Where a read, write or fault stands. A sync ends the writes in order: what is behind it may not be joined with what is
    /// before.
    pub(super) fn follow(&mut self, record: &TraceRecord, bytes: u64) -> Option<Run> {
        let (what, bytes) = match record.class {
            OperationClass::Read => (READS, bytes),
            OperationClass::Write => (WRITES, bytes),
            OperationClass::Fault => (FAULTS, PAGE),
            OperationClass::Sync => {
                if let Some((run, _)) =
                    OpenFileKey::of(record, WRITES).and_then(|key| self.0.row(key))
                {
                    run.calls = 0;
                }
                return None;
            }
            _ => return None,
        };
        let offset = record.offset.filter(|_| bytes > 0)?;
        let (run, is_known) = self.0.row(OpenFileKey::of(record, what)?)?;
        run.go_on(offset, offset.saturating_add(bytes), is_known);
        Some(*run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotset_facts::trace::Operation;

    fn at(operation: Operation, offset: u64) -> TraceRecord {
        TraceRecord {
            description: Some(9),
            tid: Some(1),
            offset: Some(offset),
            ..TraceRecord::new(0, operation)
        }
    }

    #[test]
    fn a_sync_ends_the_writes_in_order_and_not_the_reads() {
        let mut runs = Runs::new();
        let mut follow = |operation, offset| runs.follow(&at(operation, offset), 10);
        for offset in [0, 10] {
            follow(Operation::Write, offset);
            follow(Operation::Read, offset);
        }
        assert_eq!(follow(Operation::Fsync, 0), None);
        assert_eq!(follow(Operation::Write, 20).map(|run| run.calls), Some(1));
        assert_eq!(follow(Operation::Write, 30).map(|run| (run.calls, run.from)), Some((2, 20)));
        assert_eq!(follow(Operation::Read, 20).map(|run| (run.calls, run.bytes())), Some((3, 30)));
    }

    #[test]
    fn steps_are_counted_backwards_too() {
        let mut runs = Runs::new();
        let mut read = |offset| runs.follow(&at(Operation::Pread, offset), 10);
        let first = read(100);
        assert_eq!(first.map(|run| (run.is_known, run.step, run.steps)), Some((false, 0, 1)));
        read(90);
        let third = read(80);
        assert_eq!(third.map(|run| (run.step, run.steps, run.follows())), Some((-10, 2, false)));
        let far = read(u64::MAX);
        assert_eq!(far.map(|run| run.steps), Some(1));
    }
}
