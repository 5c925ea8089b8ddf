//! The rules: each one file, one question, three answers.
//!
//! Thresholds are named constants with their source; numbers like R01 are rules of the catalogue that hotset was built from. A
//! rule says what could be spared in nanoseconds; whether that is worth a finding, the gate decides for all.

mod cold_start;
mod direct_reread;
mod failed_lookups;
mod fsync_per_write;
mod inode_lock;
mod many_small_files;
mod mapped_random_access;
mod misaligned_buffer;
mod open_per_call;
mod overwrite;
mod read_at_start;
mod read_back;
mod readahead_wasted;
mod reread_file;
mod scan_evicts;
mod serial_reads;
mod small_calls;
mod stat_before_open;
mod strided_scan;

use hotset_facts::Reason;
use hotset_facts::trace::OperationClass;

use super::end::{Draft, End};
use super::seen::Seen;

/// What a rule answers: what it has to say, nothing, or why the recording does not tell.
pub(super) type Answer<'a> = Result<Option<Draft<'a>>, Reason>;

/// A rule at work.
pub(super) trait Watch {
    /// Looks at a record of one of its classes.
    fn see(&mut self, seen: &Seen<'_>);

    /// Says what came of it.
    ///
    /// # Errors
    /// Where the recording does not tell: the reason.
    fn finish(&self, end: &End<'_>) -> Answer<'_>;
}

/// A rule of recordings.
pub struct ExplainRule {
    /// Its stable id. A rule that asks what a rule of `run` asks has its id.
    pub id: &'static str,
    /// The records that it looks at.
    pub classes: &'static [OperationClass],
    pub(super) watch: fn() -> Box<dyn Watch>,
}

impl std::fmt::Debug for ExplainRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExplainRule").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Every class of operations that threads ask for.
const ALL: &[OperationClass] = &[
    OperationClass::Read,
    OperationClass::Write,
    OperationClass::Sync,
    OperationClass::Open,
    OperationClass::Close,
    OperationClass::Lookup,
    OperationClass::Exec,
    OperationClass::Advice,
    OperationClass::Map,
    OperationClass::Size,
    OperationClass::Name,
];

/// All rules.
pub const EXPLAIN_RULES: &[ExplainRule] = &[
    small_calls::READS,
    small_calls::WRITES,
    fsync_per_write::RULE,
    direct_reread::RULE,
    failed_lookups::RULE,
    reread_file::RULE,
    serial_reads::RULE,
    cold_start::RULE,
    mapped_random_access::RULE,
    readahead_wasted::RULE,
    many_small_files::RULE,
    open_per_call::RULE,
    stat_before_open::RULE,
    strided_scan::RULE,
    scan_evicts::RULE,
    read_at_start::RULE,
    read_back::RULE,
    inode_lock::RULE,
    overwrite::RULE,
    misaligned_buffer::RULE,
];
