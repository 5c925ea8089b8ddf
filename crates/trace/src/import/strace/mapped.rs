//! Calls about mapped files.

use std::sync::Arc;

use hotset_facts::trace::{Operation, RecordFlags};

use crate::import::batch::BatchBuilder;

use super::args;
use super::maps::Mapping;
use super::state::{Call, State, Use};
use super::transfer::advice;

impl State {
    /// mmap(2). Of anonymous memory, it only ends what was mapped there.
    pub(super) fn map(&mut self, call: &Call<'_>, operation: Operation, out: &mut BatchBuilder) {
        let length = args::size(call.arg(1)).unwrap_or(0);
        let address = call.success().map(i64::cast_unsigned);
        let descriptor = args::descriptor(call.arg(4)).filter(|descriptor| descriptor.number >= 0);
        let Some(descriptor) = descriptor else {
            if let (Some(process), Some(address)) = (self.tasks.process_mut(call.tid), address) {
                process.maps.unmap(address, length);
            }
            self.other_calls += 1;
            return;
        };
        let mut record = self.record(call, operation, out);
        let used = self.resolve(call, &descriptor, out);
        match used {
            Use::NoFile => return self.leave_out(operation),
            Use::Nothing => {}
            Use::File(id) => self.about(id, &mut record, out),
        }
        (record.offset, record.asked_bytes) = (args::size(call.arg(5)), Some(length));
        let words = [
            (2, "PROT_WRITE", RecordFlags::STORE),
            (2, "PROT_EXEC", RecordFlags::EXECUTE),
            (3, "MAP_PRIVATE", RecordFlags::PRIVATE),
            (3, "MAP_POPULATE", RecordFlags::POPULATE),
        ];
        let set = words.into_iter().filter(|(at, word, _)| args::has(call.arg(*at), word));
        record.flags = set.fold(RecordFlags::NONE, |all, (_, _, flag)| all.with(flag));
        if let (Some(address), Use::File(id)) = (address, used) {
            let file = self.open.description(id).and_then(|description| description.file.clone());
            let (file, path): (_, Option<Arc<[u8]>>) = file.unzip();
            let mapping = Mapping { length, offset: record.offset.unwrap_or(0), file, path };
            if let Some(process) = self.tasks.process_mut(call.tid) {
                process.maps.map(address, mapping);
            }
        }
        out.push(record);
    }

    /// munmap(2), msync(2) and madvise(2), of what is known to be a mapped file.
    pub(super) fn on_mapped(
        &mut self,
        call: &Call<'_>,
        operation: Operation,
        out: &mut BatchBuilder,
    ) {
        let address = args::number(call.arg(0)).map(i64::cast_unsigned);
        let length = args::size(call.arg(1));
        let mut record = self.record(call, operation, out);
        let process = self.tasks.process_mut(call.tid);
        let (Some(process), Some(address)) = (process, address) else {
            self.other_calls += 1;
            return;
        };
        let found = process.maps.at(address);
        let found = found.map(|(mapping, offset)| (mapping.file, mapping.path.clone(), offset));
        if operation == Operation::Munmap && call.result.value == Some(0) {
            process.maps.unmap(address, length.unwrap_or(0));
        }
        let Some((file, path, offset)) = found else {
            self.other_calls += 1;
            return;
        };
        record.file = file;
        record.path = path.map(|path| out.path(&path));
        (record.offset, record.asked_bytes) = (Some(offset), length);
        record.flags = advice(call.arg(2));
        out.push(record);
    }
}
