//! What applies to which record: the only place that says so.

use hotset_facts::trace::{Operation, OperationClass};

/// Which numbers of pages a record has. The others are null in a file, and 0 in
/// [`hotset_facts::trace::RecordPages`], where they mean nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageNumbers(u8);

impl PageNumbers {
    /// None: it moves no pages.
    pub const NONE: Self = Self(0);
    /// How many there are.
    pub const PAGES: Self = Self(1);
    /// Those that were cached before.
    pub const HITS: Self = Self(2);
    /// Those that were cached by read-ahead alone.
    pub const AHEAD_HITS: Self = Self(4);
    /// Those that had to be brought in.
    pub const MISSES: Self = Self(8);
    /// Those that were read ahead beside.
    pub const READ_AHEAD: Self = Self(16);
    /// Those that nothing was read for, where that is measured.
    pub const ZEROS: Self = Self(32);

    /// Whether all of `other` are among these.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These without `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Which numbers of pages a record of this class has.
pub const fn page_numbers(class: OperationClass) -> PageNumbers {
    use PageNumbers as P;
    let pages = P::PAGES.with(P::ZEROS);
    match class {
        // Each page was asked for, and was there or was not.
        OperationClass::Read | OperationClass::Write => {
            pages.with(P::HITS).with(P::AHEAD_HITS).with(P::MISSES).with(P::READ_AHEAD)
        }
        OperationClass::Fault => pages,
        OperationClass::Device => pages.with(P::MISSES).with(P::READ_AHEAD),
        OperationClass::Advice => P::PAGES.with(P::READ_AHEAD),
        OperationClass::Cache => P::PAGES,
        OperationClass::Sync
        | OperationClass::Open
        | OperationClass::Close
        | OperationClass::Lookup
        | OperationClass::Exec
        | OperationClass::Map
        | OperationClass::Size
        | OperationClass::Name => P::NONE,
    }
}

/// Whether an operation takes time. What the kernel tells of a moment has none.
pub const fn takes_time(operation: Operation) -> bool {
    !matches!(operation, Operation::MinorFault | Operation::PageIn | Operation::PageOut)
}
