//! An fsync for every little write.

use super::culprits::{culprits, total, worst};
use super::input::ratio;
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};
use hotset_facts::units;

pub(super) const ID: &str = "fsync-per-write";

/// Bytes written per sync, below which syncs are the cost and not the data (rule R20 of the catalogue).
const MAX_BYTES_PER_SYNC: f64 = 65536.0;
/// Share of the wall time in sync calls (R20).
const MIN_SHARE_OF_WALL: f64 = 0.10;
/// Fewer syncs are a program that makes its result durable once.
const MIN_CALLS: u64 = 10;
/// What a group commit saves at least: one sync for ten records.
const SMALL_GROUP: f64 = 10.0;
/// And at most: one for fifty, the case that was replayed for R20 (predicted and measured 6.7 times faster).
const LARGE_GROUP: f64 = 50.0;

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    let sync = input.sync()?;
    let write = input.write()?;
    let found = culprits(input.profile, |_, io| {
        let sync = io.sync.value().filter(|sync| sync.calls > 0)?;
        Some((io.write.value()?, 0.0, sync.time_ns as f64))
    });
    // What was written to other files needed no sync. Without rows (the table of files overflowed) the totals tell.
    let (write_calls, bytes) = match found.is_empty() {
        true => (write.calls, write.bytes),
        false => (total(&found, |write| write.calls), total(&found, |write| write.bytes)),
    };
    let bytes_per_sync = ratio(bytes as f64, sync.calls as f64);
    let sync_ns = sync.time_ns as f64;
    let of_wall = input.saving(sync_ns, sync_ns).low_of_wall.unwrap_or(0.0);
    if sync.calls < MIN_CALLS || bytes_per_sync >= MAX_BYTES_PER_SYNC || of_wall < MIN_SHARE_OF_WALL
    {
        return Ok(None);
    }
    let saving =
        input.saving(sync_ns * (1.0 - 1.0 / SMALL_GROUP), sync_ns * (1.0 - 1.0 / LARGE_GROUP));
    if !input.worth(&saving) {
        return Ok(None);
    }
    let title = format!("One fsync for every {} written", units::bytes(bytes_per_sync as u64));
    let advice = "Commit in groups: one sync for 10 to 50 records (in SQL: one transaction around them). A crash then \
                  loses a group, not a record.";
    let evidence = vec![
        Evidence::count("sync_calls", sync.calls),
        Evidence::count("write_calls", write_calls),
        Evidence::real("written_per_sync_bytes", bytes_per_sync),
        Evidence::count("sync_ns", sync.time_ns),
        Evidence::real("mean_sync_ns", ratio(sync_ns, sync.calls as f64)),
    ];
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst(&found))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, run_of, second, written_file};
    use hotset_facts::{Observed, Reason, SyncIo, WriteIo};

    fn synced(calls: u64, bytes: u64, time_ns: u64) -> Run {
        let mut row = written_file("/db/wal", WriteIo { calls, bytes, ..WriteIo::default() });
        row.io.edit(|io| io.sync = Observed::Value(SyncIo { calls, time_ns }));
        Run::new(run_of(vec![row]))
    }

    #[test]
    fn hit_a_sync_for_every_record() {
        let finding = synced(1_000, 128_000, second(1) / 2).finding(check);
        assert_eq!(finding.title, "One fsync for every 128 B written");
        assert_eq!(finding.saving.low_ns, 450_000_000);
        assert_eq!(finding.saving.high_ns, 490_000_000);
    }

    #[test]
    fn bytes_for_other_files_do_not_count() {
        let mut run = synced(1_000, 128_000, second(1) / 2);
        let write = WriteIo { calls: 1, bytes: 1 << 30, ..WriteIo::default() };
        run.profile.files.push(written_file("/tmp/export", write));
        run.profile.totals.write.as_value_mut().expect("written").add(&write);
        assert_eq!(run.finding(check).title, "One fsync for every 128 B written");
    }

    #[test]
    fn near_misses() {
        assert_eq!(synced(9, 9, second(1)).ask(check), Ok(None), "few");
        assert_eq!(synced(1_000, 66_000_000, second(1)).ask(check), Ok(None), "large");
        assert_eq!(synced(1_000, 128_000, 90_000_000).ask(check), Ok(None), "9 % of wall");
    }

    #[test]
    fn no_data() {
        let mut run = synced(1_000, 128_000, second(1));
        run.profile.totals.sync = Observed::Missing(Reason::denied("needs root"));
        assert!(run.ask(check).is_err());
    }
}
