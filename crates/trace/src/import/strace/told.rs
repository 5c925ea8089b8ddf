//! What calls are told that are neither opens nor transfers: which links they follow, and modes.

use hotset_facts::trace::{Operation, RecordFlags};

use super::args;
use super::state::Call;

type Words = &'static [(&'static str, RecordFlags)];

const LOOKUPS: Words = &[("AT_SYMLINK_NOFOLLOW", RecordFlags::NOFOLLOW)];

const MODES: Words = &[
    ("FALLOC_FL_KEEP_SIZE", RecordFlags::KEEP_SIZE),
    ("FALLOC_FL_PUNCH_HOLE", RecordFlags::PUNCH_HOLE),
    ("FALLOC_FL_ZERO_RANGE", RecordFlags::ZERO_RANGE),
    ("FALLOC_FL_COLLAPSE_RANGE", RecordFlags::COLLAPSE_RANGE),
    ("FALLOC_FL_INSERT_RANGE", RecordFlags::INSERT_RANGE),
];

const RENAMES: Words =
    &[("RENAME_NOREPLACE", RecordFlags::NOREPLACE), ("RENAME_EXCHANGE", RecordFlags::EXCHANGE)];

/// The flags of a call, as a recording has them.
pub(super) fn told(operation: Operation, call: &Call<'_>) -> RecordFlags {
    let (at, words) = match operation {
        Operation::Lstat => return RecordFlags::NOFOLLOW,
        Operation::Newfstatat => (3, LOOKUPS),
        Operation::Statx => (2, LOOKUPS),
        Operation::Fallocate => (1, MODES),
        Operation::Renameat2 => (4, RENAMES),
        _ => return RecordFlags::NONE,
    };
    let set = words.iter().filter(|(word, _)| args::has(call.arg(at), word));
    set.fold(RecordFlags::NONE, |all, (_, flag)| all.with(*flag))
}
