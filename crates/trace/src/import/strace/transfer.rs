//! Reads and writes, and what else is done by a descriptor.

use hotset_facts::trace::{Operation, OperationClass, RecordFlags, TraceRecord};

use crate::import::batch::BatchBuilder;

use super::args;
use super::calls::At;
use super::state::{Call, State, Use};
use super::told::told;

/// What the buffers of a list hold together; none where strace did not write them all.
pub(super) fn vector_bytes(text: &[u8]) -> Option<u64> {
    let lengths =
        args::list(text)?.into_iter().map(|vector| args::size(args::field(vector, "iov_len")?));
    lengths.sum()
}

/// The offset behind a pointer, as in `[5]` or `[5] => [9]`; none of NULL.
fn pointed(text: &[u8]) -> Option<u64> {
    let end = memchr::memchr(b']', text)?;
    args::size(text.get(..end)?.strip_prefix(b"[")?)
}

/// Of preadv2(2) and pwritev2(2), include/uapi/linux/fs.h.
const REQUEST_FLAGS: [(&str, RecordFlags); 5] = [
    ("RWF_APPEND", RecordFlags::APPEND),
    ("RWF_SYNC", RecordFlags::SYNC),
    ("RWF_DSYNC", RecordFlags::SYNC),
    ("RWF_NOWAIT", RecordFlags::NOWAIT),
    ("RWF_DONTCACHE", RecordFlags::DONTCACHE),
];

const ADVICE: [(&str, RecordFlags); 12] = [
    ("POSIX_FADV_WILLNEED", RecordFlags::WILLNEED),
    ("POSIX_FADV_DONTNEED", RecordFlags::DONTNEED),
    ("POSIX_FADV_SEQUENTIAL", RecordFlags::SEQUENTIAL),
    ("POSIX_FADV_RANDOM", RecordFlags::RANDOM),
    ("POSIX_FADV_NOREUSE", RecordFlags::NOREUSE),
    ("MADV_WILLNEED", RecordFlags::WILLNEED),
    ("MADV_DONTNEED", RecordFlags::DONTNEED),
    ("MADV_SEQUENTIAL", RecordFlags::SEQUENTIAL),
    ("MADV_RANDOM", RecordFlags::RANDOM),
    ("MADV_COLD", RecordFlags::NOREUSE),
    ("MADV_PAGEOUT", RecordFlags::PAGEOUT),
    ("MADV_POPULATE_", RecordFlags::POPULATE),
];

/// The flag of an advice.
pub(super) fn advice(text: &[u8]) -> RecordFlags {
    let word = ADVICE.iter().find(|(word, _)| text.starts_with(word.as_bytes()));
    word.map_or(RecordFlags::NONE, |(_, flag)| *flag)
}

impl State {
    /// A read or write of one file.
    pub(super) fn transfer(
        &mut self,
        call: &Call<'_>,
        operation: Operation,
        at: At,
        size: Option<u64>,
        out: &mut BatchBuilder,
    ) {
        let mut record = self.record(call, operation, out);
        record.asked_bytes = size;
        if let At::Argument(offset) = at {
            let set =
                REQUEST_FLAGS.iter().filter(|(word, _)| args::has(call.arg(offset + 1), word));
            record.flags = set.fold(record.flags, |all, (_, flag)| all.with(*flag));
        }
        let given = match at {
            // At the position, for these two alone.
            At::Argument(offset)
                if call.arg(offset) == b"-1"
                    && matches!(operation, Operation::Preadv2 | Operation::Pwritev2) =>
            {
                None
            }
            At::Argument(offset) => Some(args::size(call.arg(offset))),
            At::Position => None,
        };
        if self.side(call, 0, given, &mut record, out) {
            out.push(record);
        }
    }

    /// One file of a call that reads or writes: at a given offset, or at its position. False of
    /// what is on no file.
    fn side(
        &mut self,
        call: &Call<'_>,
        descriptor: usize,
        given: Option<Option<u64>>,
        record: &mut TraceRecord,
        out: &mut BatchBuilder,
    ) -> bool {
        let descriptor = args::descriptor(call.arg(descriptor));
        let used = descriptor.map_or(Use::Nothing, |used| self.resolve(call, &used, out));
        let id = match used {
            Use::File(id) => id,
            Use::Nothing => return true,
            Use::NoFile => {
                self.leave_out(record.operation);
                return false;
            }
        };
        self.about(id, record, out);
        let is_append =
            record.flags.has(RecordFlags::APPEND) && record.class == OperationClass::Write;
        if record.class != OperationClass::Write {
            // How it was opened says nothing of a read.
            record.flags.0 &= !(RecordFlags::APPEND.0 | RecordFlags::SYNC.0);
        }
        match given {
            // pwrite(2) of a file that was opened with O_APPEND appends all the same (pwrite(2),
            // BUGS).
            Some(offset) => record.offset = offset.filter(|_| !is_append),
            None => self.at_position(id, is_append, record),
        }
        true
    }

    fn at_position(&mut self, id: u64, is_append: bool, record: &mut TraceRecord) {
        record.flags = record.flags.with(RecordFlags::POSITION);
        let Some(description) = self.open.description_mut(id) else { return };
        if is_append {
            // Behind the end of the file, which nothing tells.
            description.position = None;
            return;
        }
        if self.tasks.has_strangers {
            description.position = None;
        }
        record.offset = description.position;
        description.position = match (description.position, record.result) {
            (Some(position), Some(moved)) => {
                Some(position.saturating_add(u64::try_from(moved).unwrap_or(0)))
            }
            _ => None,
        };
    }

    /// sendfile(2), splice(2) and copy_file_range(2): a record for each side that is a file.
    pub(super) fn copy(
        &mut self,
        call: &Call<'_>,
        operation: Operation,
        sides: [(usize, Option<usize>); 2],
        size: usize,
        out: &mut BatchBuilder,
    ) {
        let mut made = 0;
        let classes = [OperationClass::Read, OperationClass::Write];
        for ((descriptor, offset), class) in sides.into_iter().zip(classes) {
            let mut record = self.record(call, operation, out);
            record.class = class;
            record.asked_bytes = args::size(call.arg(size));
            if made > 0 {
                // The time stands with the first, so that sums count it once.
                record.duration_ns = None;
            }
            let given = offset.and_then(|offset| pointed(call.arg(offset))).map(Some);
            let before = self.on_no_file.get(operation.as_str()).copied();
            if self.side(call, descriptor, given, &mut record, out) {
                out.push(record);
                made += 1;
            } else if let Some(count) = self.on_no_file.get_mut(operation.as_str()) {
                *count = before.unwrap_or(0);
            }
        }
        if made == 0 {
            self.leave_out(operation);
        }
    }

    /// What is asked of one open file, without data.
    pub(super) fn on_descriptor(
        &mut self,
        call: &Call<'_>,
        operation: Operation,
        [offset, length, advised]: [Option<usize>; 3],
        out: &mut BatchBuilder,
    ) {
        let mut record = self.record(call, operation, out);
        let size = |at: Option<usize>| at.and_then(|at| args::size(call.arg(at)));
        (record.offset, record.asked_bytes) = (size(offset), size(length));
        record.flags = advised.map_or_else(|| told(operation, call), |at| advice(call.arg(at)));
        let descriptor = args::descriptor(call.arg(0));
        match descriptor.map_or(Use::Nothing, |used| self.resolve(call, &used, out)) {
            Use::NoFile => self.leave_out(operation),
            Use::Nothing => out.push(record),
            Use::File(id) => {
                let flags = record.flags;
                self.about(id, &mut record, out);
                record.flags = flags;
                out.push(record);
            }
        }
    }

    pub(super) fn close(&mut self, call: &Call<'_>, out: &mut BatchBuilder) {
        let mut record = self.record(call, Operation::Close, out);
        let descriptor = args::descriptor(call.arg(0));
        let number = descriptor.as_ref().map(|descriptor| descriptor.number);
        match descriptor.map_or(Use::Nothing, |used| self.resolve(call, &used, out)) {
            Use::NoFile => self.leave_out(Operation::Close),
            Use::Nothing => out.push(record),
            Use::File(id) => {
                self.about(id, &mut record, out);
                record.flags = RecordFlags::NONE;
                out.push(record);
            }
        }
        // The descriptor is free even where close(2) fails, but for EBADF (close(2), NOTES).
        if let Some(number) = number {
            self.open.close(self.table(call.tid), number);
        }
    }
}
