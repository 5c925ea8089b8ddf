//! Mapped files: code, which stays in use, data, and what the kernel reads around both.

use std::collections::{HashMap, HashSet};

use hotset_facts::PageRange;
use hotset_facts::trace::{FileIndex, Operation, OperationClass, RecordFlags, TraceRecord};
use hotset_sizing::PAGE_BYTES;

/// What mappings need, by file.
#[derive(Debug, Default)]
pub(super) struct Mapped {
    /// Files that code is run from.
    code: HashSet<u32>,
    /// Pages of files that others hold.
    held: HashMap<u32, Vec<PageRange>>,
    /// Pages that were touched.
    asked: HashMap<u32, HashSet<u64>>,
    /// Pages that were read while no request was under way.
    beside: u64,
}

impl Mapped {
    /// Learns which files code is run from.
    pub(super) fn map(&mut self, record: &TraceRecord) {
        let Some(FileIndex(file)) = record.file else { return };
        let runs = match record.class {
            OperationClass::Exec => true,
            _ => record.operation == Operation::Mmap && record.flags.has(RecordFlags::EXECUTE),
        };
        if runs {
            self.code.insert(file);
        }
    }

    /// Leaves out pages of a file that others hold.
    pub(super) fn hold(&mut self, file: u32, ranges: &[PageRange]) {
        self.held.insert(file, ranges.to_vec());
    }

    /// Counts a fault, and says whether it is one of code.
    pub(super) fn fault(&mut self, file: u32, page: u64) -> bool {
        self.asked.entry(file).or_default().insert(page);
        self.code.contains(&file)
    }

    /// Counts what was read without a request, such as the first page of a program.
    pub(super) fn device(&mut self, record: &TraceRecord) {
        let pages = record.device_read_bytes.unwrap_or(0) / PAGE_BYTES;
        self.beside = self.beside.saturating_add(pages);
    }

    /// Bytes of code whose pages were touched by faults, and that others do not hold.
    pub(super) fn code_bytes(&self) -> u64 {
        let pages = self.code.iter().map(|file| {
            let held = self.held.get(file).map_or(&[][..], Vec::as_slice);
            let is_held =
                |page| held.iter().any(|range| (range.first..range.end()).contains(&page));
            let asked = self.asked.get(file).into_iter().flatten();
            asked.filter(|&&page| !is_held(page)).count() as u64
        });
        pages.sum::<u64>().saturating_mul(PAGE_BYTES)
    }

    /// Pages that were read while no request was under way.
    pub(super) fn beside_pages(&self) -> u64 {
        self.beside
    }
}
