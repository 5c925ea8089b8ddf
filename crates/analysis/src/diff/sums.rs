//! What is summed up of the records of a trace, under the names that a profile has.

use hotset_facts::trace::{Operation, OperationClass, RecordFlags, TraceRecord};
use hotset_facts::{NamedCounter, Unit};

use crate::trace::RequestKind;

macro_rules! sums {
    ($($Name:ident $name:literal $unit:ident,)*) => {
        /// A sum.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Sum {
            $($Name,)*
        }

        const NAMES: &[(&str, Unit)] = &[$(($name, Unit::$unit),)*];
    };
}

sums! {
    ReadCalls "read.calls" Count,
    ReadBytes "read.bytes" Bytes,
    ReadPages "read.pages" Pages,
    ReadZeros "read.zeros" Pages,
    ReadMisses "read.misses" Pages,
    ReadAheadHits "read.readahead_hits" Pages,
    ReadFromDevice "read.from_device" Pages,
    ReadTime "read.time_ns" Nanoseconds,
    WriteCalls "write.calls" Count,
    WriteBytes "write.bytes" Bytes,
    WritePages "write.pages" Pages,
    WriteNewPages "write.new_pages" Pages,
    WriteMisses "write.misses" Pages,
    WriteTime "write.time_ns" Nanoseconds,
    Faults "mmap.faults" Count,
    MinorFaults "mmap.minor_faults" Count,
    MajorFaults "mmap.major_faults" Count,
    FaultPages "mmap.pages_read" Pages,
    FaultTime "time.fault_ns" Nanoseconds,
    DirectReadCalls "direct.read_calls" Count,
    DirectReadBytes "direct.read_bytes" Bytes,
    DirectWriteCalls "direct.write_calls" Count,
    DirectWriteBytes "direct.write_bytes" Bytes,
    DirectTime "direct.time_ns" Nanoseconds,
    ReadAheadPages "readahead.pages" Pages,
    SyncCalls "sync.calls" Count,
    SyncTime "sync.time_ns" Nanoseconds,
    DeviceReadBytes "device.read_bytes" Bytes,
    DeviceWriteBytes "device.write_bytes" Bytes,
    LookupCalls "lookups.calls" Count,
    LookupFailed "lookups.failed" Count,
    LookupTime "lookups.time_ns" Nanoseconds,
    Opens "files.opens" Count,
}

impl Sum {
    /// Whether a counter tells where the pages of reads were.
    pub(super) fn is_of_pages(name: &str) -> bool {
        let of_pages = [
            Self::ReadPages,
            Self::ReadZeros,
            Self::ReadMisses,
            Self::ReadAheadHits,
            Self::ReadFromDevice,
            Self::ReadAheadPages,
        ];
        of_pages.into_iter().any(|sum| NAMES.get(sum as usize).is_some_and(|(of, _)| *of == name))
    }
}

/// The sums of the records of a file, a process or a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sums([u64; NAMES.len()]);

impl Default for Sums {
    fn default() -> Self {
        Self([0; NAMES.len()])
    }
}

impl Sums {
    /// All of them.
    pub(super) fn named(&self) -> impl Iterator<Item = NamedCounter> + '_ {
        let all = NAMES.iter().zip(self.0);
        all.map(|((name, unit), value)| NamedCounter::new(name, *unit, value))
    }

    /// Those of a row of a file or a process, under the names of such rows.
    pub(super) fn of_row(&self) -> impl Iterator<Item = NamedCounter> + '_ {
        self.named().map(|one| NamedCounter {
            name: one.name.strip_prefix("files.").unwrap_or(one.name),
            ..one
        })
    }

    fn add(&mut self, sum: Sum, by: u64) {
        if let Some(value) = self.0.get_mut(sum as usize) {
            *value = value.saturating_add(by);
        }
    }

    /// Counts a record by what a profile counts it as: calls that failed are lookups alone, but for pages that they read before.
    pub(super) fn count(&mut self, record: &TraceRecord) {
        self.add(Sum::DeviceReadBytes, record.device_read_bytes.unwrap_or(0));
        self.add(Sum::DeviceWriteBytes, record.device_write_bytes.unwrap_or(0));
        let read_ahead = record.pages.map_or(0, |pages| pages.read_ahead.into());
        self.add(Sum::ReadAheadPages, read_ahead);
        let time_ns = record.duration_ns.unwrap_or(0);
        let moved = record.result.and_then(|result| u64::try_from(result).ok());
        match record.class {
            OperationClass::Read => self.read(record, moved),
            OperationClass::Write => self.write(record, moved),
            OperationClass::Fault => self.fault(record),
            // Exec reads as a fault does, and requests that are under way write pages that they have to read first.
            OperationClass::Device => {
                self.pages_of_faults(record);
                let misses = record.pages.map_or(0, |pages| pages.misses.into());
                self.add(Sum::WriteMisses, misses);
            }
            OperationClass::Sync => {
                self.add_all([(Sum::SyncCalls, 1), (Sum::SyncTime, time_ns)]);
            }
            OperationClass::Open | OperationClass::Lookup => {
                self.add_all([(Sum::LookupCalls, 1), (Sum::LookupTime, time_ns)]);
                let failed = RequestKind::of(record) == RequestKind::FailedLookup;
                self.add(Sum::LookupFailed, u64::from(failed));
                // Directories and devices have no file.
                let is_open = record.class == OperationClass::Open && record.file.is_some();
                let opened = is_open && moved.is_some();
                self.add(Sum::Opens, u64::from(opened));
            }
            _ => {}
        }
    }

    fn read(&mut self, record: &TraceRecord, moved: Option<u64>) {
        self.read_pages(record);
        let Some(bytes) = moved else { return };
        let time_ns = record.duration_ns.unwrap_or(0);
        if record.flags.has(RecordFlags::DIRECT) {
            self.add_all([(Sum::DirectReadCalls, 1), (Sum::DirectReadBytes, bytes)]);
            self.add(Sum::DirectTime, time_ns);
        } else {
            self.add_all([(Sum::ReadCalls, 1), (Sum::ReadBytes, bytes), (Sum::ReadTime, time_ns)]);
        }
    }

    fn write(&mut self, record: &TraceRecord, moved: Option<u64>) {
        self.written_pages(record);
        let Some(bytes) = moved else { return };
        let time_ns = record.duration_ns.unwrap_or(0);
        if record.flags.has(RecordFlags::DIRECT) {
            self.add_all([(Sum::DirectWriteCalls, 1), (Sum::DirectWriteBytes, bytes)]);
            self.add(Sum::DirectTime, time_ns);
        } else {
            self.add_all([(Sum::WriteCalls, 1), (Sum::WriteBytes, bytes)]);
            self.add(Sum::WriteTime, time_ns);
        }
    }

    fn add_all<const N: usize>(&mut self, sums: [(Sum, u64); N]) {
        sums.into_iter().for_each(|(sum, by)| self.add(sum, by));
    }

    fn read_pages(&mut self, record: &TraceRecord) {
        let Some(pages) = record.pages else { return };
        let zeros = pages.zeros.map_or(0, u64::from);
        let read = u64::from(pages.misses).saturating_add(pages.ahead_hits.into());
        self.add_all([
            (Sum::ReadPages, pages.pages.into()),
            (Sum::ReadZeros, zeros),
            (Sum::ReadMisses, pages.misses.into()),
            (Sum::ReadAheadHits, pages.ahead_hits.into()),
            (Sum::ReadFromDevice, read.saturating_sub(zeros)),
        ]);
    }

    fn written_pages(&mut self, record: &TraceRecord) {
        let Some(pages) = record.pages else { return };
        self.add_all([
            (Sum::WritePages, pages.pages.into()),
            (Sum::WriteNewPages, pages.pages.saturating_sub(pages.hits).into()),
            (Sum::WriteMisses, pages.misses.into()),
        ]);
    }

    fn fault(&mut self, record: &TraceRecord) {
        let is_major = record.operation == Operation::MajorFault;
        self.add_all([
            (Sum::Faults, 1),
            (if is_major { Sum::MajorFaults } else { Sum::MinorFaults }, 1),
        ]);
        self.pages_of_faults(record);
        if is_major {
            self.add(Sum::FaultTime, record.duration_ns.unwrap_or(0));
        }
    }

    fn pages_of_faults(&mut self, record: &TraceRecord) {
        let Some(pages) = record.pages else { return };
        let zeros = pages.zeros.map_or(0, u64::from);
        self.add(Sum::FaultPages, u64::from(pages.pages).saturating_sub(zeros));
    }
}
