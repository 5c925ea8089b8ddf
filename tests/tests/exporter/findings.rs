//! What the rules say of control groups, in the tables of a fleet.

use std::process::Command;

use hotset_tests::exporter::Exporter;
use hotset_tests::scratch::text;
use hotset_tests::{MIB, NamedGroup, Scratch, undisturbed, warm_verified};
use parquet::record::Field;

use super::fleet::{Fleet, Row, files_below, is, number, rows_of};

const SMALL_READS: u64 = 32 * MIB;

fn group(what: &str) -> NamedGroup {
    NamedGroup::new(&format!("hotset-finds-{what}-{}", std::process::id()))
}

fn of<'a>(rows: &'a [Row], group: &NamedGroup) -> Vec<&'a Row> {
    rows.iter().filter(|row| is(row, "cgroup", &group.path())).collect()
}

fn string<'a>(row: &'a Row, name: &str) -> &'a str {
    match &row[name] {
        Field::Str(text) => text,
        other => panic!("{name}: {other:?}"),
    }
}

/// Writes 100 bytes and syncs them, for a second and a half.
fn commits(path: &str) -> String {
    format!(
        "python3 -S -c \"import os, time\nfile = os.open('{path}', os.O_WRONLY | os.O_CREAT)\nend = time.monotonic() + 1.5\n\
         while time.monotonic() < end: os.write(file, b'x' * 100); os.fsync(file)\""
    )
}

#[test]
fn programs_that_do_what_a_rule_is_about_have_its_finding_and_others_none() {
    let (reads, syncs, quiet) = (group("reads"), group("syncs"), group("quiet"));
    let scratch = Scratch::new("findings");
    let data = scratch.file("data", SMALL_READS);
    let journal = scratch.path("journal");
    // What others evict of it is read from the device, and can be a finding of its own.
    undisturbed(&[&data], || {
        warm_verified(&data);
        let fleet = Fleet::new("fleet-findings");
        let exporter = fleet.export_with(&[]);
        reads.run(&format!("dd if={} of=/dev/null bs=100 2> /dev/null", text(&data)));
        syncs.run(&commits(text(&journal)));
        quiet.run(&format!("cat {} > /dev/null", text(&data)));
        assert!(exporter.stop().success());
        let rows = fleet.rows("finding");
        let found = of(&rows, &reads);
        let [row] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(string(row, "rule"), "small-reads");
        assert_eq!(string(row, "path"), text(&data));
        let evidence = string(row, "evidence");
        // The last one finds the end.
        let calls = SMALL_READS.div_ceil(100) + 1;
        assert!(evidence.contains(&format!("\"read_calls\":{calls},")), "{evidence}, of {calls}");
        let (low, high) = (number(row, "saving_low_ns"), number(row, "saving_high_ns"));
        let (active, length) = (number(row, "active_ns"), number(row, "length_ns"));
        assert!(0 < low && low <= high && high < active && active < length, "{row:?}");
        let found = of(&rows, &syncs);
        let [row] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(string(row, "rule"), "fsync-per-write");
        assert_eq!((string(row, "path"), string(row, "other_paths")), (text(&journal), "[]"));
        assert!(of(&rows, &quiet).is_empty(), "{rows:?}");
        // A host can lack what a rule needs, and then says so: for no group.
        for row in rows.iter().filter(|row| is(row, "severity", "unknown")) {
            assert!(is(row, "cgroup", "") && row["saving_high_ns"] == Field::Null, "{row:?}");
        }
    });
}

#[test]
fn no_table_tells_a_name_where_names_are_hashed() {
    const SECRET: &str = "kunde-mueller";
    let group = group("secret");
    let scratch = Scratch::new(SECRET);
    let data = scratch.file("orders", SMALL_READS);
    let fleet = undisturbed(&[&data], || {
        warm_verified(&data);
        let fleet = Fleet::new("fleet-findings-redacted");
        let mut command = Command::new(hotset_tests::hotset());
        command.args(["export", "--listen", "127.0.0.1:0", "--interval", "0.2", "--redact"]);
        command.arg("--parquet").arg(fleet.root()).arg("--spool").arg(fleet.spool());
        // As in a container whose root is read-only: what operations cost is then measured in the spool.
        command.env("XDG_CACHE_HOME", "/proc/none").env("TMPDIR", "/proc/none");
        let exporter = Exporter::start_command(command);
        group.run(&format!("dd if={} of=/dev/null bs=100 2> /dev/null", text(&data)));
        assert!(exporter.stop().success());
        let rows = fleet.rows("finding");
        assert_eq!(of(&rows, &group).len(), 1, "{rows:?}");
        fleet
    });
    let rows = fleet.rows("finding");
    let found = of(&rows, &group);
    let [row] = found.as_slice() else { panic!("{found:?}") };
    let hashed: Vec<&str> = string(row, "path").split('/').skip(1).collect();
    assert_eq!(hashed.len(), data.components().count() - 1, "{row:?}");
    assert!(hashed.iter().all(|part| part.len() == 16), "{row:?}");
    // The same name has the same hash in all tables.
    let files = fleet.rows("file_interval");
    assert!(files.iter().any(|other| is(other, "path", string(row, "path"))));
    for file in files_below(&fleet.root()) {
        for row in rows_of(&file) {
            let told = format!("{row:?}");
            assert!(!told.contains(SECRET) && !told.contains("orders"), "{told}");
        }
    }
}
