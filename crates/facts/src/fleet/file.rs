//! A row an interval and file.

use super::{CountedIo, FleetRow, FleetTable, IntervalKey, Workload};

crate::fleet_columns! {
    /// What a control group did to a file in an interval, of the busiest files; and, of a span, large cached files that nothing used: all their
    /// counters are 0.
    pub struct FileIntervalRow {
        /// The interval
        key: part IntervalKey;
        /// Whose work it was
        who: part Workload;
        /// A path that leads to it, as some process used it; null where none is known. Redacted, each component is a hash
        path: maybe_text Key;
        /// The device of its file system, major:minor
        device: text Key;
        /// Its inode number
        inode: number Key;
        /// Its name was gone
        deleted: flag Key;
        /// What was counted
        io: part CountedIo;
        /// Bytes of the file; null where it can't be opened
        size_bytes: maybe_number Gauge Bytes;
        /// Pages of it that were cached, whoever used them; null where the kernel does not tell
        cached_pages: maybe_number Gauge Pages;
    }
}

impl FleetRow for FileIntervalRow {
    const TABLE: FleetTable = FleetTable::FileInterval;

    fn sort_key(&self) -> (&str, i64) {
        (self.path.as_deref().unwrap_or_default(), self.key.ts)
    }
}
