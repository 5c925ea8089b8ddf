//! Path lookups in the tables of a fleet.

use hotset_tests::NamedGroup;

use super::fleet::{Fleet, Row, is, sum};

/// Looks so many times for a file that is not there, and does nothing else. By a shell that begins in the group: hotset asks in which
/// group a process is at its exec.
fn looks_in_vain(times: u64) -> String {
    let script = "i=0; while [ $i -lt $0 ]; do [ -e /hotset/is-not-here ]; i=$((i+1)); done";
    format!("exec sh -c '{script}' {times}")
}

#[test]
fn lookups_are_in_the_rows_of_their_group_and_of_the_host() {
    let group =
        |what: &str| NamedGroup::new(&format!("hotset-looks-{what}-{}", std::process::id()));
    let (few, many) = (group("few"), group("many"));
    let fleet = Fleet::new("fleet-lookups");
    let exporter = fleet.export_with(&[]);
    few.run(&looks_in_vain(50));
    many.run(&looks_in_vain(750));
    assert!(exporter.stop().success());
    let groups = fleet.rows("group_interval");
    let of = |group: &NamedGroup, column: &str| {
        sum(&groups, column, |row| is(row, "cgroup", &group.path()))
    };
    // Starting the shell makes others, the same each time.
    assert_eq!(of(&many, "failed_lookups") - of(&few, "failed_lookups"), 700);
    assert_eq!(of(&many, "lookups") - of(&few, "lookups"), 700);
    assert!(
        of(&few, "lookups") > of(&few, "failed_lookups"),
        "the libraries of the shell are there"
    );
    let host = fleet.rows("host");
    let all = |_: &Row| true;
    for column in ["lookups", "failed_lookups"] {
        assert_eq!(sum(&host, column, all), sum(&groups, column, all), "{column}");
    }
}
