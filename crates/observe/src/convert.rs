//! One row of the sensor's table as counters.

use hotset_facts::{
    DeviceIo, DirectIo, Feature, Io, MmapIo, Observed, ReadIo, ReadaheadIo, SizeHistogram, SyncIo,
    TimeIo, WriteIo,
};

use crate::record::Row;

/// The sum of some fields of a row.
macro_rules! sum {
    ($row:ident []) => { 0_u64 };
    ($row:ident [$first:ident $(+ $field:ident)*]) => { $row.$first $(+ $row.$field)* };
}

macro_rules! groups_of_row {
    ($(
        $(#[$group_doc:meta])*
        $group:ident: $kind:ident $Name:ident $((histogram $histogram:ident $counts:ident $($written:literal)?))? {
            $($(#[$doc:meta])* $field:ident: $unit:ident $rows:tt $needs:ident $(live $live:tt)?;)*
        }
    )*) => {
        fn groups_of(row: &Row) -> Io {
            Io {
                $($group: $Name {
                    $($field: sum!(row $rows).into(),)*
                    $($histogram: SizeHistogram(row.$counts.map(u64::from)),)?
                }.into(),)*
            }
        }
    };
}

hotset_facts::counters!(groups_of_row);

/// The counters of a row; what the kernel lacks these features for is missing.
pub(crate) fn io_of(row: &Row, missing: &[Feature]) -> Io {
    let mut io = groups_of(row);
    io.mmap.minor_faults = Observed::Value(row.faults.saturating_sub(row.major_faults));
    // A page of a file system with small blocks can be read by two requests.
    let filled = row.fault_filled.min(row.fault_pages);
    io.mmap.pages_read = Observed::Value(filled);
    io.mmap.zeros = Observed::Value(row.fault_pages - filled);
    io.without(missing)
}

/// The same of a row that stands for many files: where the call before on the same file ended is known for none of them.
pub(crate) fn io_of_many(row: &Row, missing: &[Feature]) -> Io {
    let unknown = Observed::Missing(Feature::CallOrder.reason());
    let mut io = io_of(row, missing);
    if let Some(read) = io.read.as_value_mut().filter(|read| read.calls > 0) {
        read.sequential_calls = unknown;
    }
    if let Some(write) = io.write.as_value_mut().filter(|write| write.calls > 0) {
        write.sequential_calls = unknown;
    }
    io
}
