//! What a record was, by what it costs: where its pages were, and whether its thread waited.

use hotset_facts::trace::{Operation, OperationClass, RecordFlags, TraceRecord};

macro_rules! kinds {
    ($($(#[$doc:meta])* $Variant:ident = $word:literal,)*) => {
        hotset_facts::words! {
            /// What a request was, by what it costs.
            pub enum RequestKind {
                $($(#[$doc])* $Variant = $word,)*
            }
        }

        impl RequestKind {
            /// All of them, in the order in which they are shown.
            pub const ALL: &[Self] = &[$(Self::$Variant,)*];
        }
    };
}

kinds! {
    /// A read that missed at least one page.
    ReadMissed = "read_missed",
    /// A read that missed none, but has pages that were cached only because the kernel had read ahead.
    ReadAhead = "read_ahead",
    /// A read of which all pages were cached.
    ReadCached = "read_cached",
    /// A read of which it is not known where its pages were.
    ReadUnknown = "read_unknown",
    /// Direct I/O, read or written.
    Direct = "direct",
    /// A write to the page cache.
    Write = "write",
    /// Written data is brought to the device.
    Sync = "sync",
    /// A fault that had to read.
    MajorFault = "major_fault",
    /// A fault on a cached page.
    MinorFault = "minor_fault",
    /// A file was opened, or an open failed otherwise than a lookup does.
    Open = "open",
    /// A path was looked up and found.
    Lookup = "lookup",
    /// A path was looked up or opened that is not there (ENOENT, ENOTDIR).
    FailedLookup = "failed_lookup",
    /// Device I/O, or pages that enter or leave the page cache, outside of any request.
    Kernel = "kernel",
    /// Any other operation: close, mmap, rename and so on.
    Other = "other",
}

/// How many kinds there are.
pub(super) const KINDS: usize = RequestKind::ALL.len();

const ENOENT: i64 = 2;
const ENOTDIR: i64 = 20;

impl RequestKind {
    /// The kind of a record.
    pub fn of(record: &TraceRecord) -> Self {
        match record.class {
            OperationClass::Read | OperationClass::Write
                if record.flags.has(RecordFlags::DIRECT) =>
            {
                Self::Direct
            }
            OperationClass::Read => match record.pages {
                None => Self::ReadUnknown,
                Some(pages) if pages.misses > 0 => Self::ReadMissed,
                Some(pages) if pages.ahead_hits > 0 => Self::ReadAhead,
                Some(_) => Self::ReadCached,
            },
            OperationClass::Write => Self::Write,
            OperationClass::Sync => Self::Sync,
            OperationClass::Fault => match record.operation {
                Operation::MajorFault => Self::MajorFault,
                _ => Self::MinorFault,
            },
            OperationClass::Open | OperationClass::Lookup | OperationClass::Exec => {
                match record.result {
                    Some(error) if error == -ENOENT || error == -ENOTDIR => Self::FailedLookup,
                    _ if record.class == OperationClass::Open => Self::Open,
                    _ if record.class == OperationClass::Lookup => Self::Lookup,
                    _ => Self::Other,
                }
            }
            OperationClass::Device | OperationClass::Cache => Self::Kernel,
            _ => Self::Other,
        }
    }

    /// Whether its thread waits for the device in it, also where the record does not say that it slept.
    pub(super) const fn waits(self) -> bool {
        matches!(self, Self::ReadMissed | Self::Direct | Self::MajorFault | Self::Sync)
    }

    /// Whether it is a request of a thread, and not what the kernel did by itself.
    pub const fn is_request(self) -> bool {
        !matches!(self, Self::Kernel)
    }

    pub(super) const fn at(self) -> usize {
        self as usize
    }
}

/// Whether the thread of a record waited in it.
pub(crate) fn waited(record: &TraceRecord, kind: RequestKind) -> bool {
    kind.waits() || record.flags.has(RecordFlags::WAITED)
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::RecordPages;

    use super::*;

    fn kind(operation: Operation, change: impl FnOnce(&mut TraceRecord)) -> RequestKind {
        let mut record = TraceRecord::new(0, operation);
        change(&mut record);
        RequestKind::of(&record)
    }

    #[test]
    fn a_read_is_what_its_costliest_page_was() {
        let pages = |hits, ahead_hits, misses| {
            let pages = hits + misses;
            Some(RecordPages { pages, hits, ahead_hits, misses, ..RecordPages::default() })
        };
        let read = |pages| kind(Operation::Pread, |record| record.pages = pages);
        assert_eq!(read(None), RequestKind::ReadUnknown);
        assert_eq!(read(pages(4, 0, 0)), RequestKind::ReadCached);
        assert_eq!(read(pages(4, 1, 0)), RequestKind::ReadAhead);
        assert_eq!(read(pages(4, 1, 1)), RequestKind::ReadMissed);
        let direct = |record: &mut TraceRecord| record.flags = RecordFlags::DIRECT;
        assert_eq!(kind(Operation::Pread, direct), RequestKind::Direct);
        assert_eq!(kind(Operation::Pwrite, direct), RequestKind::Direct);
    }

    #[test]
    fn only_a_path_that_is_not_there_is_a_failed_lookup() {
        let result = |operation, result| kind(operation, |record| record.result = Some(result));
        assert_eq!(result(Operation::Openat, -2), RequestKind::FailedLookup);
        assert_eq!(result(Operation::Newfstatat, -20), RequestKind::FailedLookup);
        assert_eq!(result(Operation::Openat, -13), RequestKind::Open);
        assert_eq!(result(Operation::Newfstatat, 0), RequestKind::Lookup);
        assert_eq!(result(Operation::Unlink, -2), RequestKind::Other);
        assert_eq!(result(Operation::Execve, 0), RequestKind::Other);
    }

    #[test]
    fn a_place_is_the_place_in_the_list() {
        for (at, kind) in RequestKind::ALL.iter().enumerate() {
            assert_eq!(kind.at(), at);
        }
    }
}
