use std::path::PathBuf;
use std::time::Duration;

use hotset_facts::{ControlTotals, Dev, FileId, Observed, Reason, Unreadable};
use serde_json::Value;

use super::*;

const OPTIONS: ControlOptions = ControlOptions { all: false, page_bytes: 4096 };

fn file(path: &str, pages: u64, after: u64, stayed: Vec<Stayed>) -> ControlledFile {
    ControlledFile {
        path: PathBuf::from(path),
        id: FileId::new(Dev { major: 8, minor: 1 }, 12),
        size_bytes: pages * 4096,
        pages,
        cached_before: Observed::Value(pages / 2),
        cached_after: Observed::Value(after),
        stayed,
        not_cached: None,
        error: None,
    }
}

fn report(verb: ControlVerb, files: Vec<ControlledFile>) -> ControlReport {
    let mut totals = ControlTotals::default();
    files.iter().for_each(|file| totals.add(verb, file));
    ControlReport {
        verb,
        files,
        files_left_out: 0,
        unreadable: Vec::new(),
        not_cacheable: 0,
        totals,
        notes: Vec::new(),
        interrupted: false,
    }
}

fn stayed(reason: Unevictable, pages: u64, holder: Option<(u32, &str)>) -> Stayed {
    let holder = holder.map(|(pid, comm)| (pid, comm.to_owned()));
    Stayed { reason, pages: Some(pages), holder }
}

/// Whatever can be wrong is.
pub(crate) fn short_of(verb: ControlVerb) -> ControlReport {
    let held = vec![
        stayed(Unevictable::Dirty, 2, None),
        Stayed { pages: None, ..stayed(Unevictable::Mapped, 1, Some((77, "db"))) },
    ];
    let unknown = ControlledFile {
        cached_after: Observed::Missing(Reason::denied("not the owner")),
        not_cached: Some(NotCached::Budget),
        error: Some("Input/output error".into()),
        ..file("/u", 10, 0, Vec::new())
    };
    ControlReport {
        files_left_out: 3,
        unreadable: vec![Unreadable { path: "/gone".into(), reason: "No such file".into() }],
        not_cacheable: 1,
        notes: vec!["something else evicts cache here".into()],
        interrupted: true,
        ..report(verb, vec![file("/b", 10, 7, held), unknown])
    }
}

#[test]
fn what_was_reached_is_one_line() {
    let mut warmed = report(ControlVerb::Warm, vec![file("/a", 256, 256, Vec::new())]);
    warmed.totals.fetched_bytes = 512 << 10;
    warmed.totals.wall_ns = 500_000_000;
    assert_eq!(
        control_text(&warmed, &OPTIONS),
        "1 file: 1.00 MiB of 1.00 MiB cached (100 %), 512 KiB before; 512 KiB fetched in 500 ms (1.00 MiB/s)\n"
    );
    assert!(warmed.is_reached());
}

#[test]
fn where_no_path_can_be_opened_nothing_reads_like_a_success() {
    let unreadable = vec![Unreadable { path: "/gone".into(), reason: "No such file".into() }];
    let nothing = ControlReport { unreadable, ..report(ControlVerb::Warm, Vec::new()) };
    assert_eq!(
        control_text(&nothing, &OPTIONS),
        "No file was warmed: 1 path cannot be opened\n  /gone: No such file\n"
    );
}

#[test]
fn what_stayed_is_named_with_its_reasons_the_largest_first() {
    let held = vec![
        stayed(Unevictable::Dirty, 2, None),
        stayed(Unevictable::Mapped, 1, Some((77, "py\x1b[31m"))),
        stayed(Unevictable::Locked, 4, Some((78, "db"))),
        stayed(Unevictable::Locked, 4, Some((79, "db"))),
    ];
    let small = file("/small", 10, 1, vec![stayed(Unevictable::Unknown, 1, None)]);
    let text =
        control_text(&report(ControlVerb::Evict, vec![small, file("/b\n", 10, 7, held)]), &OPTIONS);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "2 files: 32.0 KiB of 80.0 KiB still cached (40.0 %), 40.0 KiB before");
    assert_eq!(
        lines[1],
        "  /b\\n: 28.0 KiB stayed: 8.00 KiB dirty (--sync writes it out), 4.00 KiB mapped by py\\x1b[31m (pid 77), \
         16.0 KiB locked by db (pid 78), and 1 more"
    );
    assert_eq!(lines[2], "  /small: 4.00 KiB stayed: reason unknown");
}

#[test]
fn few_are_named_unless_all_are_asked_for() {
    let files: Vec<ControlledFile> = (0..9)
        .map(|n| ControlledFile {
            not_cached: Some(NotCached::Budget),
            ..file(&format!("/{n}"), 10, n, Vec::new())
        })
        .collect();
    let mut some = report(ControlVerb::Warm, files);
    some.files_left_out = 3;
    let few = control_text(&some, &OPTIONS);
    assert!(few.contains("  /0: ") && !few.contains("  /8: "), "{few}");
    assert!(few.contains("and 7 files; -v names more"), "{few}");
    let all = control_text(&some, &ControlOptions { all: true, ..OPTIONS });
    assert!(all.contains("  /8: ") && all.contains("and 3 files\n"), "{all}");
}

#[test]
fn nobody_knows_is_no_number() {
    let mut unknown = file("/u", 10, 0, Vec::new());
    unknown.cached_after = Observed::Missing(Reason::denied("not the owner"));
    let mut report = report(ControlVerb::Evict, vec![unknown]);
    report.unreadable.push(Unreadable { path: "/gone".into(), reason: "No such file".into() });
    let text = control_text(&report, &OPTIONS);
    assert!(text.contains("unknown for 1"), "{text}");
    assert!(text.contains("(no file's state is known)"), "{text}");
    assert!(text.contains("  /u: unknown (denied: not the owner)"), "{text}");
    assert!(text.contains("  /gone: No such file"), "{text}");
    let json: Value = serde_json::from_slice(&control_json(&report, 4096)).expect("JSON");
    assert!(json["files"][0]["cached_after"].is_null());
    assert_eq!(json["reached"], false);
    let bytes = control_json(&report, 4096);
    let refused = crate::wire::schema_tests::refused("hotset.control/1", &bytes);
    assert_eq!(refused.expect("a schema"), [""; 0]);
    let documents = crate::wire::documents(&bytes).expect("documents");
    assert_eq!(crate::wire::read_control(&documents[0]).expect("a report").report, report);
    assert_eq!(json["unreadable"][0]["path"], "/gone");
}

#[test]
fn json_says_who_holds_what() {
    let held = vec![stayed(Unevictable::Locked, 4, Some((78, "db")))];
    let json = control_json(&report(ControlVerb::Evict, vec![file("/b", 10, 4, held)]), 4096);
    let json: Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["schema"], "hotset.control/1");
    assert_eq!((&json["verb"], &json["files"][0]["dev"]), (&"evict".into(), &"8:1".into()));
    let stayed = &json["files"][0]["stayed"][0];
    assert_eq!(
        *stayed,
        serde_json::json!({"reason": "locked", "pages": 4, "pid": 78, "comm": "db"})
    );
    assert_eq!(json["totals"]["cached_after"], 4);
}

#[test]
fn progress_has_a_rate_and_the_time_left() {
    let line = progress_line(1 << 30, 4 << 30, Duration::from_secs(2));
    assert_eq!(line, "25.0 %  1.00 GiB of 4.00 GiB, 512 MiB/s, 6 s left");
    assert!(progress_line(0, 1 << 30, Duration::from_secs(1)).contains("unknown time left"));
}
