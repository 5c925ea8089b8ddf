//! What no run of the table had.

/// What was the case in no run of [`super::ROWS`]: where one of these is, their errors say nothing. They are the caller's to find out. Programs with
/// some of them were compared apart (docs/sizing.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Anonymous memory of the group grows and shrinks.
    AnonymousMemory,
    /// Programs of several groups use the same files.
    SharedFiles,
    /// Several threads or processes ask at the same time.
    Concurrency,
    /// The file system caches folios of more than a page.
    LargeFolios,
    /// There is swap, so that pages of files are not all that reclaim can choose.
    Swap,
    /// The whole host is short of memory, not the group.
    HostPressure,
    /// Read-ahead brings pages that nobody asks for.
    ReadAhead,
    /// Something else evicts pages of files: DAMON, `drop_caches`, `memory.reclaim`.
    OtherEviction,
}

impl Condition {
    /// All conditions.
    pub const ALL: [Self; 8] = [
        Self::AnonymousMemory,
        Self::SharedFiles,
        Self::Concurrency,
        Self::LargeFolios,
        Self::Swap,
        Self::HostPressure,
        Self::ReadAhead,
        Self::OtherEviction,
    ];

    /// A sentence for a reader of a prediction.
    pub fn text(self) -> &'static str {
        match self {
            Self::AnonymousMemory => "anonymous memory varies, and counts against the same limit",
            Self::SharedFiles => {
                "control groups share files; a page counts only for the group that used it first"
            }
            Self::Concurrency => "several threads or processes use files at the same time",
            Self::LargeFolios => {
                "the file system caches folios of more than a page, which are evicted as a whole"
            }
            Self::Swap => "swap is enabled; reclaim then also takes anonymous pages",
            Self::HostPressure => "the host is short of memory, not only the control group",
            Self::ReadAhead => "read-ahead fetches pages that the program never requests",
            Self::OtherEviction => "DAMON, drop_caches or memory.reclaim evicts pages too",
        }
    }
}
