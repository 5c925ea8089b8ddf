//! The words that recordings have for advice, and the kernel's numbers: of several for one word, the one to give first.

use hotset_facts::trace::RecordFlags;

/// Numbers and their words.
pub type Advice = &'static [(i32, RecordFlags)];

/// Those of posix_fadvise(2).
pub const FADVICE: Advice = &[
    (libc::POSIX_FADV_RANDOM, RecordFlags::RANDOM),
    (libc::POSIX_FADV_SEQUENTIAL, RecordFlags::SEQUENTIAL),
    (libc::POSIX_FADV_WILLNEED, RecordFlags::WILLNEED),
    (libc::POSIX_FADV_DONTNEED, RecordFlags::DONTNEED),
    (libc::POSIX_FADV_NOREUSE, RecordFlags::NOREUSE),
];

/// Those of madvise(2).
pub const MADVICE: Advice = &[
    (libc::MADV_RANDOM, RecordFlags::RANDOM),
    (libc::MADV_SEQUENTIAL, RecordFlags::SEQUENTIAL),
    (libc::MADV_WILLNEED, RecordFlags::WILLNEED),
    (libc::MADV_DONTNEED, RecordFlags::DONTNEED),
    (libc::MADV_COLD, RecordFlags::NOREUSE),
    (libc::MADV_PAGEOUT, RecordFlags::PAGEOUT),
    (libc::MADV_POPULATE_READ, RecordFlags::POPULATE),
    (libc::MADV_POPULATE_WRITE, RecordFlags::POPULATE),
];
