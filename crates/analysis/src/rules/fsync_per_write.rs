//! An fsync for every little write.

use super::culprits::{culprits, worst};
use super::input::ratio;
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};
use hotset_facts::{Dev, FileKind, FileRow, Io, units};

pub(super) const ID: &str = "fsync-per-write";

/// Bytes written per sync, below which syncs are the cost and not the data (rule R20 of the catalogue).
const MAX_BYTES_PER_SYNC: f64 = 65536.0;
/// Share of the wall time in sync calls (R20).
const MIN_SHARE_OF_WALL: f64 = 0.10;
/// What one commit can take: SQLite's with a rollback journal syncs the journal twice, the database, and the directory. That
/// many are a program that makes its result durable once.
const ONE_COMMIT: u64 = 4;
/// What a group commit saves at least: one sync for ten records.
const SMALL_GROUP: u64 = 10;
/// And at most: one for fifty, the case that was replayed for R20 (predicted and measured 6.7 times faster).
const LARGE_GROUP: u64 = 50;

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    let sync = input.sync()?;
    let write = input.write()?;
    let bytes = synced_bytes(input);
    let bytes_per_sync = ratio(bytes, sync.calls as f64);
    let sync_ns = sync.time_ns as f64;
    let of_wall = input.saving(sync_ns, sync_ns).low_of_wall.unwrap_or(0.0);
    let few = sync.calls <= ONE_COMMIT;
    if few || bytes_per_sync >= MAX_BYTES_PER_SYNC || of_wall < MIN_SHARE_OF_WALL {
        return Ok(None);
    }
    let spared = |left: u64| sync_ns * (1.0 - ratio(left as f64, sync.calls as f64));
    let low = spared(sync.calls.div_ceil(SMALL_GROUP).max(ONE_COMMIT));
    let saving = input.saving(low, spared(sync.calls.div_ceil(LARGE_GROUP)));
    if !input.worth(&saving) {
        return Ok(None);
    }
    let title = match bytes_per_sync as u64 {
        0 => format!("{} syncs with almost no bytes written", sync.calls),
        bytes => format!("One fsync per {} written", units::bytes(bytes)),
    };
    let advice = "Group commits: sync once per 10 to 50 records (in SQL, one transaction). A crash then loses a group \
                  instead of a record.";
    let evidence = vec![
        Evidence::count("sync_calls", sync.calls),
        Evidence::count("write_calls", write.calls),
        Evidence::real("written_per_sync_bytes", bytes_per_sync),
        Evidence::count("sync_ns", sync.time_ns),
        Evidence::real("mean_sync_ns", ratio(sync_ns, sync.calls as f64)),
    ];
    let found = culprits(input.profile, |_, io| {
        let sync = io.sync.value().filter(|sync| sync.calls > 0)?;
        Some(((), 0.0, sync.time_ns as f64))
    });
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst(&found))))
}

/// Bytes that the syncs made durable: what was written to the files that were synced, to all files of a file system that was
/// (syncfs), or to all files, where a sync names none (sync, msync) or the rows don't tell.
fn synced_bytes(input: &RuleInput<'_>) -> f64 {
    let page_bytes = input.page_bytes();
    let synced = |file: &&FileRow| file.io().sync.value().is_some_and(|sync| sync.calls > 0);
    let files = &input.profile.files;
    let names_none =
        |file: &FileRow| matches!(file.kind, FileKind::AllFileSystems | FileKind::Others);
    if !files.iter().any(|file| synced(&file)) || files.iter().filter(synced).any(names_none) {
        return written(&input.profile.totals, page_bytes);
    }
    let whole = |file: &FileRow| {
        let systems = files.iter().filter(synced).filter(|row| row.kind == FileKind::FileSystem);
        systems.into_iter().any(|system| is_on(input, file.id.dev, system.id.dev))
    };
    let counted = files.iter().filter(|file| synced(file) || whole(file));
    counted.map(|file| written(&file.io(), page_bytes)).sum()
}

/// Whether two devices are of one file system: subvolumes of btrfs have one each.
fn is_on(input: &RuleInput<'_>, dev: Dev, system: Dev) -> bool {
    let known = &input.profile.environment.filesystems;
    let mount = |dev: Dev| known.iter().find(|known| known.dev == dev).map(|known| &known.mount);
    dev == system || mount(dev).is_some_and(|place| mount(system) == Some(place))
}

/// Bytes of the writes; of stores to mappings, which no call counts, the pages that they dirtied.
fn written(io: &Io, page_bytes: f64) -> f64 {
    let write = io.write.value().unwrap_or_default();
    match write.calls {
        0 => write.dirtied_pages.value().unwrap_or(0) as f64 * page_bytes,
        _ => write.bytes as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, run_of, second, written_file};
    use hotset_facts::{Observed, Reason, SyncIo, WriteIo};

    fn synced(calls: u64, bytes: u64, time_ns: u64) -> Run {
        let writes = if bytes == 0 { 0 } else { calls };
        let write = WriteIo { calls: writes, bytes, ..WriteIo::default() };
        let mut row = written_file("/db/wal", write);
        row.io.edit(|io| io.sync = Observed::Value(SyncIo { calls, time_ns }));
        Run::new(run_of(vec![row]))
    }

    #[test]
    fn hit_a_sync_for_every_record() {
        let finding = synced(1_000, 128_000, second(1) / 2).finding(check);
        assert_eq!(finding.title, "One fsync per 128 B written");
        assert_eq!(finding.saving.low_ns, 450_000_000);
        assert_eq!(finding.saving.high_ns, 490_000_000);
    }

    #[test]
    fn hit_nine_syncs_that_are_nearly_half_of_the_run() {
        // SQLite in DELETE mode, three inserts: 9 syncs, 45 % of 20 ms.
        let mut run = synced(6, 37_000, 6_000_000);
        let mut dir = written_file("/db", WriteIo::default());
        dir.kind = FileKind::Directory;
        dir.io.edit(|io| io.sync = Observed::Value(SyncIo { calls: 3, time_ns: 3_000_000 }));
        run.profile.totals.add(&dir.io());
        run.profile.files.push(dir);
        run.profile.command.wall_ns = 20_000_000;
        let finding = run.finding(check);
        assert_eq!(finding.title, "One fsync per 4.01 KiB written");
        assert_eq!(finding.saving.low_ns, 5_000_000, "one commit of four syncs remains");
        assert_eq!(finding.saving.high_ns, 8_000_000, "one sync remains");
        assert_eq!(finding.files.len(), 2, "{finding:?}");
        // A journal that is made and deleted for each transaction: another file, the same name.
        let again = run.profile.files[0].clone();
        run.profile.files.push(again);
        assert_eq!(run.finding(check).files.len(), 2, "a name once");
    }

    #[test]
    fn a_sync_of_everything_covers_all_that_was_written() {
        for kind in [FileKind::FileSystem, FileKind::AllFileSystems] {
            let mut run = synced(100, 0, second(1) / 2);
            run.profile.files[0].kind = kind;
            assert_eq!(run.finding(check).title, "100 syncs with almost no bytes written");
            let write = WriteIo { calls: 1, bytes: 1 << 30, ..WriteIo::default() };
            run.profile.files.push(written_file("/tmp/export", write));
            run.profile.totals.write.as_value_mut().expect("written").add(&write);
            assert_eq!(run.ask(check), Ok(None), "{kind:?}: 10 MiB a sync");
        }
    }

    #[test]
    fn what_was_stored_to_a_mapping_counts() {
        let mut run = synced(100, 0, second(1) / 2);
        run.profile.files[0].kind = FileKind::Others; // msync names no file
        let dirtied =
            |pages| WriteIo { dirtied_pages: Observed::Value(pages), ..WriteIo::default() };
        run.profile.totals.write = Observed::Value(dirtied(100));
        assert_eq!(run.finding(check).title, "One fsync per 4.00 KiB written");
        run.profile.totals.write = Observed::Value(dirtied(10_000));
        assert_eq!(run.ask(check), Ok(None), "400 KiB a sync");
    }

    #[test]
    fn bytes_for_other_files_do_not_count() {
        let mut run = synced(1_000, 128_000, second(1) / 2);
        let write = WriteIo { calls: 1, bytes: 1 << 30, ..WriteIo::default() };
        run.profile.files.push(written_file("/tmp/export", write));
        run.profile.totals.write.as_value_mut().expect("written").add(&write);
        assert_eq!(run.finding(check).title, "One fsync per 128 B written");
    }

    #[test]
    fn near_misses() {
        assert_eq!(synced(4, 9, second(1)).ask(check), Ok(None), "one commit");
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
