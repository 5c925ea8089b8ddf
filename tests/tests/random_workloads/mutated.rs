//! The judge refuses what is wrong by one: counts are changed, one at a time.

use std::collections::BTreeMap;

use hotset_facts::LiveIo;
use hotset_tests::books::{Books, Counts, Line, Requests};
use hotset_tests::filesystems::Kind;
use hotset_tests::{PAGE, number};
use serde_json::{Value, json};

use crate::judge::differences;
use crate::seen::{COUNTERS, DEVICE};
use crate::watched::{judge_metrics, judge_sums};

/// One file and one process; what is said of the device's pages could be nothing else.
const COUNTED: [(&str, u64); 18] = [
    ("read_calls", 3),
    ("read_bytes", 3 * PAGE),
    ("read_pages", 3),
    ("read_zeros", 1),
    ("read_misses", 2),
    ("readahead_hits", 1),
    ("write_calls", 2),
    ("write_bytes", 2 * PAGE),
    ("write_pages", 2),
    ("write_misses", 1),
    ("fault_pages", 1),
    ("direct_read_calls", 2),
    ("direct_read_bytes", 2 * PAGE),
    ("direct_write_calls", 2),
    ("direct_write_bytes", 2 * PAGE),
    ("readahead_pages", 1),
    ("sync_calls", 1),
    ("device_read_bytes", 4 * PAGE),
];

fn books() -> Books {
    let requests = |calls, pages| Requests { calls, bytes: pages * PAGE, pages };
    let counts = Counts {
        read: requests(3, 3),
        write: requests(2, 2),
        direct_read: requests(2, 2),
        direct_write: requests(2, 2),
        syncs: 1,
        ..Counts::default()
    };
    Books {
        pid: 7,
        files: vec![Line { dev: "8:1".to_owned(), ino: 5, counts }],
        lookups: 4,
        failed_lookups: 1,
        device_read_bytes: 4 * PAGE,
        major_faults: 1,
        ..Books::default()
    }
}

fn counted(name: &str) -> u64 {
    COUNTED.iter().find(|(known, _)| *known == name).expect("a counter").1
}

fn profile() -> Value {
    let mut row = json!({ "dev": "8:1", "ino": 5, "pid": 7 });
    for (name, pointer) in COUNTERS.iter().chain([&DEVICE]) {
        let (group, key) = pointer[1..].split_once('/').expect("a group");
        row[group][key] = counted(name).into();
    }
    row["mmap"]["major_faults"] = 1.into();
    row["lookups"] = json!({ "calls": 4, "failed": 1 });
    json!({ "sensor": { "losses": { "events": 0, "tasks": 0 } }, "files": [row], "processes": [row] })
}

/// What is found where the value at a pointer is another.
fn changed(books: Books, pointer: &str, by: i64) -> Vec<String> {
    let mut profile = profile();
    let value = profile.pointer_mut(pointer).expect(pointer);
    *value = value.as_u64().expect("a count").checked_add_signed(by).expect("a count").into();
    differences(&profile, &[books], Kind::Ext4, None, PAGE)
}

#[test]
fn a_count_of_a_file_is_refused_where_it_is_wrong_by_one() {
    assert_eq!(changed(books(), "/files/0/read/calls", 0), [""; 0]);
    for (name, pointer) in COUNTERS.iter().chain([&DEVICE]) {
        for by in [-1, 1] {
            let found = changed(books(), &format!("/files/0{pointer}"), by);
            // Pages that were read ahead may be made of zeros, and the books do not know which requests found them in
            // the cache; `truth_reads` asks cachestat(2) about that.
            let is_open = matches!((*name, by), ("readahead_pages", 1) | ("readahead_hits", -1));
            assert_eq!(found.is_empty(), is_open, "{name} {by}");
        }
    }
}

#[test]
fn a_count_of_a_process_is_refused_where_it_is_wrong_by_one() {
    // The others are sums of those of files (`assert_invariants`).
    let split = ["zeros", "misses", "hits", "fault_pages", "readahead_pages"];
    let judged = COUNTERS.iter().filter(|(name, _)| !split.iter().any(|end| name.ends_with(end)));
    let pointers = judged.chain([&DEVICE]).map(|(_, pointer)| *pointer);
    for pointer in pointers.chain(["/lookups/calls", "/lookups/failed", "/mmap/major_faults"]) {
        for by in [-1, 1] {
            let found = changed(books(), &format!("/processes/0{pointer}"), by);
            assert!(!found.is_empty(), "{pointer} {by}");
        }
    }
    for loss in ["/sensor/losses/events", "/sensor/losses/tasks"] {
        assert!(!changed(books(), loss, 1).is_empty(), "{loss}");
    }
}

#[test]
fn a_range_is_as_wide_as_its_reason() {
    let of_file = |change: fn(&mut Counts), pointer: &str, by: u64| {
        let mut books = books();
        change(&mut books.files[0].counts);
        let edge = changed(books.clone(), pointer, by.cast_signed());
        assert_eq!(edge, [""; 0], "{pointer} {by}");
        assert!(!changed(books, pointer, by.cast_signed() + 1).is_empty(), "{pointer} {by}");
    };
    of_file(|counts| counts.direct_asked = PAGE, "/files/0/device/read_bytes", PAGE);
    of_file(|counts| counts.edges = 1, "/files/0/device/read_bytes", PAGE);
    // Of a file whose blocks are smaller than pages more is open only where one was cut.
    let mut seen = profile();
    seen["files"][0]["device"]["read_bytes"] =
        (number(&seen, "/files/0/device/read_bytes") + PAGE).into();
    for (edges, is_open) in [(0, false), (1, true)] {
        let mut cut = books();
        cut.files[0].counts.edges = edges;
        let found = differences(&seen, &[cut], Kind::Overlay, None, 1024);
        assert_eq!(found.is_empty(), is_open, "{edges}");
    }
    of_file(|counts| counts.cut = 2, "/files/0/read/misses", 2);
    of_file(|counts| counts.small = 1, "/files/0/mmap/pages_read", 1);
    // XFS keeps no data beside an inode.
    let mut small = books();
    small.files[0].counts.small = 1;
    let mut seen = profile();
    seen["files"][0]["mmap"]["pages_read"] = 2.into();
    assert_eq!(differences(&seen, &[small.clone()], Kind::Ext4, None, PAGE), [""; 0]);
    assert!(!differences(&seen, &[small], Kind::Xfs, None, PAGE).is_empty());
    // Of major faults those that direct I/O into a mapping may have had again.
    let again = BTreeMap::from([("read-into-a-mapping".to_owned(), 1)]);
    let into = Books { major_faults: 3, majors_by_operation: again, ..books() };
    for (by, is_open) in [(0, false), (1, true), (2, true), (3, false)] {
        let found = changed(into.clone(), "/processes/0/mmap/major_faults", by);
        assert_eq!(found.is_empty(), is_open, "{by}");
    }
    // Of a ring's direct reads: what they read of holes, and blocks that are not in the result.
    let ring = Books { ring_direct_read: 100, ring_direct_asked: 130, ..books() };
    for (by, is_open) in [(100, true), (101, false), (-30, true), (-31, false)] {
        let found = changed(ring.clone(), "/processes/0/device/read_bytes", by);
        assert_eq!(found.is_empty(), is_open, "{by}");
    }
}

/// The judge's verdict on calls, bytes and pages of one side through the cache, and calls and bytes of it past the cache.
fn judged_split(side: &str, kind: Kind, cached: [u64; 3], direct: [u64; 2]) -> bool {
    let mut profile = profile();
    for view in ["files", "processes"] {
        let row = &mut profile[view][0];
        for (key, n) in ["calls", "bytes", "pages"].into_iter().zip(cached) {
            row[side][key] = n.into();
        }
        for (key, n) in ["calls", "bytes"].into_iter().zip(direct) {
            row["direct"][format!("{side}_{key}")] = n.into();
        }
    }
    differences(&profile, &[books()], kind, None, PAGE).is_empty()
}

/// Of a side with so many pages through the cache, a call each, and two past it.
fn assert_split(side: &str, kind: Kind, n: u64) {
    let judged = |calls: u64, bytes: u64, pages: u64, direct| {
        judged_split(side, kind, [n + calls, n * PAGE + bytes, n + pages], direct)
    };
    let least = 2 * PAGE - 1024;
    // None; one of two moved over; or half of each; or all but a sector of each, and a byte of each.
    assert!(judged(0, 0, 0, [2, 2 * PAGE]));
    assert!(judged(1, PAGE, 1, [1, PAGE]));
    assert!(judged(2, PAGE, 1, [2, PAGE]));
    assert!(judged(2, least, 2, [2, 1024]));
    assert!(judged(2, 2, 2, [2, 2 * PAGE - 2]));
    for (calls, bytes, pages, direct) in [
        (1, PAGE + 1, 1, [1, PAGE]),
        (1, PAGE, 1, [1, PAGE - 1]),
        (0, PAGE, 1, [1, PAGE]),
        (3, PAGE, 1, [1, PAGE]),
        (1, PAGE, 1, [0, PAGE]),
        (1, PAGE, 1, [3, PAGE]),
        (1, PAGE, 0, [1, PAGE]),
        (1, PAGE, 4, [1, PAGE]),
        (2, least + 1, 2, [2, 1023]),
        (2, 1, 1, [2, 2 * PAGE - 1]),
        (3, PAGE, 1, [2, PAGE]),
        (2, PAGE, 1, [3, PAGE]),
        (1, 0, 0, [2, 2 * PAGE]),
        (0, 0, 1, [2, 2 * PAGE]),
        (0, 0, 0, [3, 2 * PAGE]),
    ] {
        assert!(!judged(calls, bytes, pages, direct), "{side}: {calls} {bytes} {pages} {direct:?}");
    }
}

#[test]
fn direct_calls_that_went_through_the_cache_are_found_there() {
    assert_split("write", Kind::Ext4, 2);
    assert_split("write", Kind::Btrfs, 2);
}

#[test]
fn direct_reads_go_through_the_cache_on_btrfs_alone() {
    assert_split("read", Kind::Btrfs, 3);
    let halves = |kind| judged_split("read", kind, [5, 4 * PAGE, 4], [2, PAGE]);
    assert_eq!(Kind::ALL.map(halves), Kind::ALL.map(|kind| kind == Kind::Btrfs));
}

#[test]
fn an_interval_that_does_not_add_up_is_refused() {
    let mut all = json!({});
    COUNTED.iter().for_each(|(name, n)| all[name] = (*n).into());
    let none = json!({ "items": 0, "io": {} });
    let interval = json!({
        "totals": all,
        "others": {},
        "processes": [{ "io": all }],
        "files": [{ "io": all }],
        "unlisted": { "processes": none, "files": none },
        "losses": { "events": 0 },
    });
    let judged = |change: &dyn Fn(&mut Value)| {
        let (mut changed, mut found) = (interval.clone(), Vec::new());
        change(&mut changed);
        judge_sums(&mut found, &changed);
        found.is_empty()
    };
    assert!(judged(&|_| ()));
    assert!(!judged(&|interval| interval["losses"]["events"] = 1.into()));
    for (name, n) in COUNTED {
        assert!(!judged(&|interval| interval["totals"][name] = (n + 1).into()), "{name}");
        assert!(!judged(&|interval| interval["files"][0]["io"][name] = (n - 1).into()), "{name}");
    }
}

#[test]
fn metrics_that_do_not_add_up_are_refused() {
    let judged = |series: &str, wrong: &str| {
        let (mut text, mut found) = (String::new(), Vec::new());
        for (name, n) in COUNTED {
            let counter = LiveIo::COUNTERS.iter().find(|counter| counter.name == name);
            let metric = counter.expect("a counter").metric;
            let more = |this: &str| u64::from(name == wrong && series == this);
            text += &format!("hotset_{metric}_total {}\n", n + 5 + more("host"));
            let command = format!("hotset_command_{metric}_total");
            text += &format!("{command}{{command=\"mix\"}} {}\n", n + more("command"));
            text += &format!("{command}{{command=\"other\"}} {}\n", 5);
        }
        judge_metrics(&mut found, &text, "mix", &[books()], Kind::Ext4);
        found.is_empty()
    };
    assert!(judged("", ""));
    for (name, _) in COUNTERS {
        assert!(!judged("host", name), "{name}");
        assert!(!judged("command", name), "{name}");
    }
}
