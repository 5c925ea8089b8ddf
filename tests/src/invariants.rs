//! What holds for every profile of the full sensor, whatever was observed.

use serde_json::Value;

use crate::json::{lost_counts, number};

/// The groups that totals, files and processes share.
const GROUPS: [&str; 8] =
    ["read", "write", "mmap", "direct", "readahead", "sync", "device", "time"];

/// Counters that are not known of files beyond the table of rows.
const ORDER: [&str; 2] = ["sequential_calls", "random_calls"];

/// Panics where rows contradict themselves, or don't add up to the totals.
pub fn assert_invariants(profile: &Value) {
    let totals = &profile["totals"];
    let (files, processes) = (rows(profile, "files"), rows(profile, "processes"));
    for row in files.iter().chain(processes).chain([totals]) {
        assert_row(row, &profile["sensor"]["not_measured"]);
    }
    assert_sums("files", files, totals);
    // Past the bound of the table the kernel side keeps no process.
    if lost_counts(profile) == 0 {
        assert_sums("processes", processes, totals);
    }
    assert_lookups(profile, processes);
}

fn rows<'a>(profile: &'a Value, key: &str) -> &'a [Value] {
    profile[key].as_array().unwrap_or_else(|| panic!("no {key} in {profile}"))
}

/// A count that is missing is told with what the sensor says it has not measured.
fn assert_row(row: &Value, not_measured: &Value) {
    let n = |pointer: &str| {
        let count = row.pointer(pointer).and_then(Value::as_u64);
        count.unwrap_or_else(|| panic!("{pointer} is no count: {not_measured}: {row}"))
    };
    let equal = |left: u64, right: u64, what: &str| assert_eq!(left, right, "{what}: {row}");
    equal(n("/read/hits") + n("/read/misses"), n("/read/pages"), "hits + misses = pages");
    equal(
        n("/read/from_cache") + n("/read/from_device") + n("/read/zeros"),
        n("/read/pages"),
        "from cache + from device + zeros = pages",
    );
    equal(
        n("/read/misses") + n("/read/readahead_hits"),
        n("/read/from_device") + n("/read/zeros"),
        "misses + read-ahead hits = from device + zeros",
    );
    let [sequential, random] =
        ["sequential_calls", "random_calls"].map(|key| row["read"][key].as_u64());
    // Of files beyond the table it is not known: then nothing is said.
    let known = sequential.map(|calls| calls + random.expect("where one is known, both are"));
    equal(known.unwrap_or(n("/read/calls")), n("/read/calls"), "sequential + random = calls");
    assert_eq!(sequential.is_some(), random.is_some(), "{row}");
    equal(
        n("/time/hit_ns") + n("/time/wait_ns") + n("/time/miss_ns"),
        n("/read/time_ns"),
        "hit + wait + miss = time of reads",
    );
    equal(
        n("/mmap/minor_faults") + n("/mmap/major_faults"),
        n("/mmap/faults"),
        "minor + major = faults",
    );
    equal(histogram(row, "read"), n("/read/calls"), "read histogram = calls");
    equal(histogram(row, "write"), n("/write/calls"), "write histogram = calls");
    assert!(n("/readahead/wasted_pages") <= n("/readahead/pages"), "{row}");
    assert!(n("/direct/reread_bytes") <= n("/direct/read_bytes"), "{row}");
    assert!(n("/direct/reread_time_ns") <= n("/direct/time_ns"), "{row}");
    // A write creates no page that it does not write to.
    assert!(n("/write/new_pages") <= n("/write/pages"), "{row}");
    // Besides these it may have to read the page of the old end.
    let calls = n("/write/calls") + n("/direct/write_calls");
    assert!(n("/write/misses") <= n("/write/pages") + calls, "{row}");
}

fn histogram(row: &Value, group: &str) -> u64 {
    let buckets = row[group]["size_histogram"].as_array().expect("a histogram");
    buckets.iter().map(|bucket| number(bucket, "/calls")).sum()
}

/// Every counter of the totals is the sum over the rows.
fn assert_sums(what: &str, rows: &[Value], totals: &Value) {
    for group in GROUPS {
        for (key, total) in totals[group].as_object().expect("a group of counters") {
            // Lookups belong to processes, not to files.
            if key == "size_histogram" || (what == "files" && key == "lookup_ns") {
                continue;
            }
            if ORDER.contains(&key.as_str()) && rows.iter().any(|row| row[group][key].is_null()) {
                assert!(total.is_null(), "{group}.{key}: what a part of is not known");
                let others = rows.iter().filter(|row| row[group][key].is_null());
                let calls: u64 = others.map(|row| number(row, &format!("/{group}/calls"))).sum();
                assert!(calls > 0, "{group}.{key}: where there are calls beyond the table");
                continue;
            }
            let sum: u64 = rows.iter().map(|row| number(row, &format!("/{group}/{key}"))).sum();
            assert_eq!(total.as_u64(), Some(sum), "{group}.{key} summed over {what}");
        }
    }
}

fn assert_lookups(profile: &Value, processes: &[Value]) {
    for key in ["calls", "failed", "time_ns", "failed_time_ns"] {
        let sum: u64 = processes.iter().map(|row| number(row, &format!("/lookups/{key}"))).sum();
        assert_eq!(number(profile, &format!("/lookups/{key}")), sum, "lookups.{key}");
    }
    let paths = profile["lookups"]["failed_paths"].as_array().expect("failed paths");
    let named: u64 = paths.iter().map(|path| number(path, "/calls")).sum();
    assert_eq!(
        named + number(profile, "/lookups/failed_unnamed"),
        number(profile, "/lookups/failed"),
        "named + unnamed = failed"
    );
}
