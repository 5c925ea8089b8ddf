//! Syncs of what is no file, and such as fail, against what the workload called and how long it took.

use std::path::Path;

use hotset_tests::filesystems::{FileSystem, Kind, kinds};
use hotset_tests::scratch::text;
use hotset_tests::{Cache, Scratch, number, observe, row_at, run_hotset, until_ok};
use serde_json::Value;

const COUNT: u64 = 5;

fn the_row_of<'a>(profile: &'a Value, kind: &str) -> &'a Value {
    let files = profile["files"].as_array().expect("files");
    let rows: Vec<&Value> = files.iter().filter(|row| row["kind"] == kind).collect();
    assert_eq!(rows.len(), 1, "{kind}: {rows:?}");
    rows[0]
}

/// The sensor's clock runs inside of the workload's: never longer, and most of it, unless the workload waits for a CPU between the
/// two. Then it is to be tried again.
fn are_syncs(row: &Value, calls: u64, truth_ns: u64) -> Result<(), String> {
    assert_eq!(number(row, "/sync/calls"), calls, "{row}");
    let seen = number(row, "/sync/time_ns");
    assert!(seen <= truth_ns, "{seen} of {truth_ns}: {row}");
    if seen > truth_ns / 2 { Ok(()) } else { Err(format!("{seen} of {truth_ns}: {row}")) }
}

#[test]
fn a_directory_a_file_system_and_all_of_them_are_synced() {
    let scratch = Scratch::new("syncs");
    let dir = scratch.path("dir");
    std::fs::create_dir(&dir).expect("mkdir");
    until_ok("the time of the syncs", || all_are_counted(&scratch, &dir));
}

fn all_are_counted(scratch: &Scratch, dir: &Path) -> Result<(), String> {
    let run = run_hotset(scratch, &[], &["syncs", "--file", text(dir), "--count", "5"]);
    let truth = |key: &str| number(&run.truth["syncs"], key);
    let directory = row_at(&run.profile, dir);
    assert_eq!((&directory["kind"], &directory["path"]), (&"directory".into(), &text(dir).into()));
    are_syncs(directory, COUNT, truth("/directory_ns"))?;

    let file_system = the_row_of(&run.profile, "file_system");
    assert_eq!(file_system["dev"], directory["dev"]);
    let mounted = file_system["path"].as_str().expect("where it is mounted");
    assert!(dir.starts_with(mounted), "{mounted}");
    are_syncs(file_system, COUNT, truth("/file_system_ns"))?;

    let all = the_row_of(&run.profile, "all_file_systems");
    assert!(all["path"].is_null(), "{all}");
    assert_eq!(number(&run.profile, "/totals/sync/calls"), 2 * COUNT + 1);
    are_syncs(all, 1, truth("/all_ns"))
}

/// By whatever call: a sync that fails has been waited for, and is often the one that matters.
#[test]
fn syncs_that_fail_are_counted_by_io_uring_and_aio_too() {
    let scratch = Scratch::new("failed-syncs");
    for kind in [Kind::Ext4, Kind::Xfs].into_iter().filter(|kind| kinds().contains(kind)) {
        let fs = FileSystem::new(kind);
        let path = fs.file();
        let run = observe(&scratch, &path, Cache::Once, &["syncs-that-fail"]);
        run.assert_same(&[("/sync/calls", "/sync_calls")]);
        assert!(run.seen("/sync/time_ns") > 0, "{}", run.both());
    }
}
