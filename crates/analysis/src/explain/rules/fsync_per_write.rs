//! A sync after each little write: an append with a sync each, or a transaction for each record.
//!
//! What it does: counts syncs of a file before which less than 64 KiB were written to it since its last sync.
//! Why: a sync waits for the device, 92 to 137 µs on a fast one and milliseconds on others, however little is written.
//! Advice: one sync for a group of records.
//! False positives: each record must be durable before the program goes on; a program that commits once.

use std::collections::HashMap;

use hotset_facts::trace::OperationClass;
use hotset_facts::units;

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// Bytes written per sync, below which syncs are the cost and not the data (R20).
const SMALL_BYTES: u64 = 64 << 10;
/// Share of the wall time in syncs (R20).
const MIN_SHARE_OF_WALL: f64 = 0.10;
/// What one commit can take: SQLite's with a rollback journal syncs the journal twice, the database, and the directory.
const ONE_COMMIT: u64 = 4;
/// What a group commit saves at least: one sync for ten records.
const SMALL_GROUP: u64 = 10;
/// And at most: one for fifty, the case that was replayed for R20 (predicted and measured 6.7 times faster).
const LARGE_GROUP: u64 = 50;
/// Files that are written and told apart.
const MOST_FILES: usize = 1 << 14;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "fsync-per-write",
    classes: &[OperationClass::Write, OperationClass::Sync],
    watch: || Box::new(FsyncPerWrite::default()),
};

#[derive(Default)]
struct FsyncPerWrite {
    /// Bytes that were written to a file since its last sync.
    unsynced: HashMap<u32, u64>,
    blame: Blame,
    bytes: u64,
    without_writes: u64,
}

impl Watch for FsyncPerWrite {
    fn see(&mut self, seen: &Seen<'_>) {
        let Some(file) = seen.record.file else { return };
        if seen.record.class == OperationClass::Write {
            if self.unsynced.len() < MOST_FILES || self.unsynced.contains_key(&file.0) {
                let bytes = self.unsynced.entry(file.0).or_default();
                *bytes = bytes.saturating_add(seen.bytes);
            }
            return;
        }
        let bytes = self.unsynced.remove(&file.0).unwrap_or(0);
        if seen.record.result.is_none_or(|result| result >= 0) && bytes < SMALL_BYTES {
            self.blame.count(seen.record, seen.ns);
            self.bytes = self.bytes.saturating_add(bytes);
            self.without_writes += u64::from(bytes == 0);
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.times()?;
        let (syncs, ns) = (self.blame.records, self.blame.time_ns);
        let of_wall = end.saving(ns, ns).low_of_wall.unwrap_or(0.0);
        if syncs <= ONE_COMMIT || of_wall < MIN_SHARE_OF_WALL {
            return Ok(None);
        }
        let spared = |left: u64| (ns as f64 * (1.0 - left as f64 / syncs as f64)).max(0.0) as u64;
        let per_sync = self.bytes / syncs;
        let title = match per_sync {
            0 => format!("{} syncs with almost no bytes written", units::count(syncs)),
            bytes => format!("One fsync per {} written", units::bytes(bytes)),
        };
        let evidence = vec![
            Evidence::count("small_sync_calls", syncs),
            Evidence::count("sync_calls_without_writes", self.without_writes),
            Evidence::count("written_per_sync_bytes", per_sync),
            Evidence::count("small_sync_ns", ns),
            Evidence::real("mean_sync_ns", ns as f64 / syncs as f64),
        ];
        let is_many = syncs >= 2 * LARGE_GROUP;
        Ok(Some(Draft {
            title,
            low_ns: spared(syncs.div_ceil(SMALL_GROUP).max(ONE_COMMIT)),
            high_ns: spared(syncs.div_ceil(LARGE_GROUP)),
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::Replay(if is_many { &["sync-every=50"] } else { &["sync-every=10"] }),
            way: Way::SyncLess,
            advice: "Group commits: sync once per 10 to 50 records (in SQL, one transaction)."
                .into(),
            risks: Some("A crash of the system then loses a group of records instead of one."),
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::testing::{MS, SECOND, Script, US};
    use hotset_facts::trace::Operation;

    fn appends(records: u64, bytes: u64) -> Script {
        let mut script = Script::new();
        for at in 0..records {
            script.write(2, at * bytes, bytes, 2 * US);
            script.call(Operation::Fsync, 2, MS);
            script.own(100 * US);
        }
        script
    }

    #[test]
    fn an_append_with_a_sync_each_is_found() {
        let finding = appends(1_200, 2_990).finding("fsync-per-write");
        assert_eq!(finding.title, "One fsync per 2.92 KiB written");
        assert_eq!(finding.changes, ["sync-every=50"]);
        assert_eq!((finding.saving.low_ns, finding.saving.high_ns), (1_080 * MS, 1_176 * MS));
        assert!(finding.how[0].1.contains("sqlite3") && finding.risks.is_some());
        assert_eq!(appends(60, 100).finding("fsync-per-write").changes, ["sync-every=10"]);
    }

    #[test]
    fn large_groups_and_one_commit_are_as_they_should_be() {
        appends(1_200, 65_536).clear("fsync-per-write");
        appends(4, 100).clear("fsync-per-write");
        let mut seldom = appends(50, 100);
        seldom.own(10 * SECOND);
        seldom.read(0, 0, 1, 1);
        seldom.clear("fsync-per-write");
    }

    /// Writes to another file are not what a sync waits for.
    #[test]
    fn bytes_belong_to_the_file_that_is_synced() {
        let mut script = Script::new();
        for at in 0..200 {
            script.write(1, at * 100_000, 100_000, 2 * US);
            script.write(2, at * 10, 10, US);
            script.call(Operation::Fsync, 2, MS);
        }
        assert_eq!(script.finding("fsync-per-write").title, "One fsync per 10 B written");
    }
}
