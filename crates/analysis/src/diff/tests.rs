//! Whole comparisons: what differs is told, and nothing else.

use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use hotset_facts::trace::{Operation, PathIndex, TraceBatch, TraceLists, TraceRecord};
use hotset_facts::{
    FileKind, FileRow, Io, LookupCounters, Lookups, Observed, ProcessRow, Profile, ReadIo, Reason,
    SensorLevel, SyncIo, WriteIo,
};

use super::*;
use crate::explain::Explainer;
use crate::testing::{
    absurd, costs, failed_lookup, file, process, read_file, run_of, with_processes, written_file,
};
use crate::trace::testing::{batches, head};
use crate::{Gate, Severity, summarise};

fn read(calls: u64, pages: u64) -> ReadIo {
    ReadIo { calls, pages, bytes: pages * 4096, ..ReadIo::default() }
}

fn files() -> Vec<FileRow> {
    vec![read_file("/srv/a", 4096, read(1, 1)), read_file("/srv/b", 8192, read(2, 2))]
}

fn between(before: Profile, after: Profile) -> Difference {
    with(before, after, &Strip::default())
}

fn with(before: Profile, mut after: Profile, strip: &Strip) -> Difference {
    after.started_at = UNIX_EPOCH + Duration::from_secs(60);
    let [before, after] = [before, after].map(|profile| Side::of_profile(&profile));
    compare(&before, &after, strip).expect("two profiles")
}

/// Counters of the whole runs that differ, without what varies.
fn differing(difference: &Difference) -> Vec<(String, i128)> {
    let exact = difference.totals.iter().filter(|one| one.differs() && !one.varies);
    exact.filter_map(|one| Some((one.name.to_string(), one.by()?))).collect()
}

/// Rows that differ: what became of them, and their name.
fn rows(rows: &Observed<RowChanges>) -> Vec<(Change, String)> {
    let rows = rows.as_value().expect("rows");
    let row = |row: &RowChange| (row.change, row.name().to_string_lossy().into_owned());
    rows.rows.iter().map(row).collect()
}

fn kinds(difference: &Difference) -> Vec<DiffCaveatKind> {
    difference.caveats.iter().map(|caveat| caveat.kind).collect()
}

#[test]
fn equal_runs_differ_in_nothing() {
    let difference = between(run_of(files()), run_of(files()));
    assert!(!difference.differs);
    assert_eq!(differing(&difference), []);
    assert_eq!(
        difference.files.as_value().map(|files| (files.rows.len(), files.same)),
        Some((0, 2))
    );
    assert_eq!(difference.caveats, []);
    let side = Side::of_profile(&run_of(files()));
    let itself = compare(&side, &side, &Strip::default()).expect("two profiles");
    assert_eq!(kinds(&itself), [DiffCaveatKind::SameRun]);
}

#[test]
fn one_more_file_is_that_and_nothing_else() {
    let mut more = files();
    more.push(read_file("/srv/new", 4096, read(1, 1)));
    let difference = between(run_of(files()), run_of(more));
    assert!(difference.differs);
    let names = ["read.calls", "read.bytes", "read.pages", "read.hits", "read.from_cache"];
    let counters = differing(&difference);
    assert!(names.iter().all(|name| counters.iter().any(|(one, _)| one == name)), "{counters:?}");
    assert!(counters.contains(&("files.rows".to_owned(), 1)));
    assert!(counters.contains(&("files.opens".to_owned(), 1)));
    assert_eq!(rows(&difference.files), [(Change::Came, "/srv/new".to_owned())]);
    assert_eq!(rows(&difference.processes), []);
    assert_eq!(rows(&difference.failed_lookups), []);
    let back = between(
        {
            let mut more = files();
            more.push(read_file("/srv/new", 4096, read(1, 1)));
            run_of(more)
        },
        run_of(files()),
    );
    assert_eq!(rows(&back.files), [(Change::Went, "/srv/new".to_owned())]);
}

#[test]
fn what_varies_makes_no_difference_and_is_told() {
    let mut after = run_of(files());
    after.command.wall_ns += 7;
    after.processes[0].minor_faults = Observed::Value(9);
    after.files[0].evicted_pages = Observed::Value(4);
    after.files[0].io.edit(|io| {
        io.read = io.read.map(|read| ReadIo { time_ns: 12, ..read });
    });
    let difference = between(run_of(files()), after);
    assert!(!difference.differs, "{:?}", differing(&difference));
    assert_eq!(difference.files.as_value().map(|files| files.rows.len()), Some(0));
    let told = difference.totals.iter().filter(|one| one.differs());
    let told: Vec<&str> = told.map(|one| one.name.as_ref()).collect();
    assert_eq!(told, ["command.wall_ns", "files.evicted_pages", "processes.minor_faults"]);
}

#[test]
fn larger_and_smaller_rows_are_told_apart_and_the_costliest_comes_first() {
    let sync = |path: &str, calls| {
        let mut row = written_file(path, WriteIo { calls: 5, ..WriteIo::default() });
        row.io.edit(|io| io.sync = Observed::Value(SyncIo { calls, time_ns: 0 }));
        row
    };
    let before = vec![
        read_file("/a", 0, read(5, 5)),
        read_file("/b", 0, read(5, 5)),
        read_file("/c", 0, read(5, 5)),
        sync("/log", 3),
    ];
    let after = vec![
        read_file("/a", 0, read(6, 5)),
        read_file("/b", 0, read(4, 5)),
        read_file("/c", 0, read(6, 4)),
        sync("/log", 4),
    ];
    let difference = between(run_of(before), run_of(after));
    let of = |change, name: &str| (change, name.to_owned());
    let found = rows(&difference.files);
    assert_eq!(found[0], of(Change::Grew, "/log"));
    assert!(found.contains(&of(Change::Grew, "/a")) && found.contains(&of(Change::Shrank, "/b")));
    assert!(found.contains(&of(Change::Changed, "/c")), "{found:?}");
    let log = &difference.files.as_value().expect("rows").rows[0].counters;
    assert_eq!(log.len(), 1, "{log:?}");
    assert_eq!((log[0].name.as_ref(), log[0].by()), ("sync.calls", Some(1)));
}

#[test]
fn versions_and_temporary_names_are_matched_and_told() {
    let of = |names: [&str; 3]| run_of(names.map(|name| read_file(name, 0, read(1, 1))).into());
    let before = of(["/tmp/tmpab12cd/x", "/lib/libz.so.1.2.13", "/lib/libc.so.6"]);
    let after = of(["/tmp/tmpzz99_k/x", "/lib/libz.so.1.3", "/lib/libc.so.6"]);
    let difference = between(before, after);
    assert!(!difference.differs);
    let files = difference.files.as_value().expect("rows");
    let matched: Vec<_> = files.matched.iter().map(|one| one.by.as_slice()).collect();
    assert_eq!(matched, [&[MatchedBy::Version][..], &[MatchedBy::Temporary]]);
    assert_eq!((files.rows.len(), files.same), (0, 3));
    // Both versions in one run are two files.
    let two = of(["/lib/libz.so.1.2.13", "/lib/libz.so.1.3", "/lib/libc.so.6"]);
    let one = of(["/lib/libz.so.1.2.13", "/x", "/lib/libc.so.6"]);
    let found = rows(&between(one, two).files);
    assert!(found.contains(&(Change::Came, "/lib/libz.so.1.3".to_owned())), "{found:?}");
}

#[test]
fn several_temporary_files_are_one_row_that_says_how_many() {
    let temporary =
        |names: &[&str]| run_of(names.iter().map(|name| read_file(name, 0, read(1, 1))).collect());
    let difference = between(
        temporary(&["/tmp/tmpab12cdef", "/tmp/tmpxx12cdef"]),
        temporary(&["/tmp/tmp11ab22cd", "/tmp/tmp33ab22cd", "/tmp/tmp55ab22cd"]),
    );
    let files = difference.files.as_value().expect("rows");
    let [row] = files.rows.as_slice() else { panic!("{:?}", files.rows) };
    let number = |row: &Option<NamedRow>| row.as_ref().map(|row| row.rows);
    assert_eq!((number(&row.before), number(&row.after)), (Some(2), Some(3)));
    assert_eq!((row.change, row.by.as_slice()), (Change::Grew, &[MatchedBy::Temporary][..]));
}

#[test]
fn directories_of_builds_are_stripped() {
    let of = |directory: &str| {
        let mut profile = run_of(vec![read_file(&format!("{directory}/x.o"), 0, read(1, 1))]);
        profile.processes[0].argv = vec!["cc".into(), format!("{directory}/x.c").into()];
        profile
    };
    let strip = Strip::of(["/build/a", "/build/b"].map(PathBuf::from));
    let difference = with(of("/build/a"), of("/build/b"), &strip);
    assert!(!difference.differs, "{difference:#?}");
    let files = difference.files.as_value().expect("rows");
    assert_eq!(files.matched[0].by, [MatchedBy::Strip]);
    assert!(between(of("/build/a"), of("/build/b")).differs);
}

#[test]
fn a_renamed_file_is_known_by_its_inode_and_generation() {
    let of = |path: &str, generation| {
        let mut row = read_file(path, 0, read(1, 1));
        (row.id.ino, row.id.generation) = (77, generation);
        run_of(vec![row])
    };
    let difference = between(of("/srv/old", Some(5)), of("/srv/current", Some(5)));
    assert!(!difference.differs);
    let files = difference.files.as_value().expect("rows");
    assert_eq!(files.matched[0].by, [MatchedBy::Inode]);
    for (one, other) in [(Some(5), Some(6)), (None, None), (Some(0), Some(0))] {
        assert!(between(of("/srv/old", one), of("/srv/current", other)).differs);
    }
}

#[test]
fn processes_are_counted_by_command_and_then_by_program() {
    let of = |commands: &[&[&str]]| {
        let row = |words: &&[&str]| ProcessRow {
            argv: words.iter().map(Into::into).collect(),
            ..process(7)
        };
        Profile { processes: commands.iter().map(row).collect(), ..with_processes(1) }
    };
    let before = of(&[&["make"], &["cc1", "a.c"], &["cc1", "a.c"], &["ls", "-l"]]);
    let after = of(&[&["make"], &["cc1", "a.c"], &["cc1", "a.c"], &["cc1", "a.c"], &["ls", "-a"]]);
    let difference = between(before, after);
    let processes = difference.processes.as_value().expect("rows");
    let [row] = processes.rows.as_slice() else { panic!("{:?}", processes.rows) };
    assert_eq!((row.change, row.name().to_string_lossy().as_ref()), (Change::Grew, "cc1 a.c"));
    assert_eq!(processes.matched[0].by, [MatchedBy::Program]);
    assert_eq!(differing(&difference), [("processes.rows".to_owned(), 1)]);
}

#[test]
fn what_one_run_did_not_measure_is_no_difference() {
    let denied = Reason::denied("needs root");
    let mut before = run_of(files());
    before.totals.read = Observed::Missing(denied);
    before.lookups = Observed::Missing(denied);
    let mut more = files();
    more.push(read_file("/srv/new", 4096, read(1, 1)));
    let difference = between(before, run_of(more));
    let counters = differing(&difference);
    assert!(counters.iter().all(|(name, _)| !name.starts_with("read.")), "{counters:?}");
    let new = &difference.files.as_value().expect("rows").rows[0];
    assert!(new.counters.iter().all(|one| !one.name.starts_with("read.")), "{new:?}");
    assert_eq!(difference.failed_lookups.reason(), Some(denied));
    let said = difference.not_measured.iter().find(|one| one.reason == denied.to_string());
    let said = said.expect("a reason");
    assert_eq!(said.which, Which::Before);
    assert!(said.what.contains(&"read.calls".to_owned()), "{said:?}");
    assert!(said.what.contains(&"paths of failed lookups".to_owned()), "{said:?}");
}

#[test]
fn without_the_sensor_on_one_side_rows_are_not_compared() {
    let mut before = run_of(files());
    before.sensor.level = SensorLevel::Unprivileged;
    before.totals = Io::missing(Reason::denied("needs root"));
    let difference = between(before, run_of(Vec::new()));
    assert!(difference.files.as_value().is_none() && difference.processes.as_value().is_none());
    assert!(kinds(&difference).contains(&DiffCaveatKind::Instrument));
}

#[test]
fn what_may_be_among_the_others_is_unclear() {
    let mut others = file("", 0);
    others.kind = FileKind::Others;
    others.path = Observed::Missing(Reason::not_measured("beyond the bound"));
    let more = FileRow { opens: Observed::Value(2), ..others.clone() };
    let mut before = files();
    before.push(more);
    let mut after = files();
    after.extend([others, read_file("/srv/new", 0, read(1, 1))]);
    let difference = between(run_of(before), run_of(after));
    let of = |name: &str| (Change::Unclear, name.to_owned());
    assert_eq!(rows(&difference.files), [of("/srv/new"), of("")]);
    assert!(kinds(&difference).contains(&DiffCaveatKind::OtherFiles));
}

#[test]
fn one_more_failed_lookup_is_told_with_its_path() {
    let of = |paths: &[(&str, u64)]| {
        let failed: u64 = paths.iter().map(|(_, calls)| calls).sum();
        let counters = LookupCounters { calls: 100 + failed, failed, ..LookupCounters::default() };
        let failed_paths = paths.iter().map(|(path, calls)| failed_lookup(path, *calls)).collect();
        let lookups = Lookups { counters, failed_paths, failed_unnamed: 0 };
        Profile { lookups: Observed::Value(lookups), ..run_of(files()) }
    };
    let difference = between(of(&[("/a", 2)]), of(&[("/a", 2), ("/b", 1)]));
    let counters = [("lookups.calls".to_owned(), 1), ("lookups.failed".to_owned(), 1)];
    assert_eq!(differing(&difference), counters);
    assert_eq!(rows(&difference.failed_lookups), [(Change::Came, "/b".to_owned())]);
    assert!(difference.found_lookups.as_value().is_none());
}

#[test]
fn hosts_commands_and_states_that_differ_are_told() {
    let mut after = run_of(files());
    after.environment.kernel = "6.1.0".to_owned();
    after.environment.cpus = 64;
    after.environment.memory_limit_bytes = Some(1 << 30);
    after.command.argv = vec!["false".into()];
    after.command.exit = Observed::Value(hotset_facts::ExitStatus::Code(1));
    let mut before = run_of(files());
    for (profile, cached) in [(&mut before, 0), (&mut after, 1)] {
        for row in &mut profile.files {
            row.cached_before = Observed::Value(cached);
        }
    }
    before.totals.mmap.pages_read = Observed::Value(2);
    use DiffCaveatKind::{CacheState, Command, Cpus, Exit, Kernel, MemoryLimit};
    let difference = between(before, after);
    assert_eq!(kinds(&difference), [Command, Exit, Kernel, Cpus, MemoryLimit, CacheState]);
    let state = difference.caveats.last().and_then(|caveat| caveat.after.as_deref());
    assert_eq!(state, Some("2 of 3 pages (66.7 %)"));
}

#[test]
fn findings_come_and_go_by_rule() {
    let summary = |calls| {
        let mut row =
            written_file("/log", WriteIo { calls, bytes: 100 * calls, ..WriteIo::default() });
        row.io.edit(|io| {
            io.sync = Observed::Value(SyncIo { calls, time_ns: calls * 2_000_000 });
        });
        summarise(run_of(vec![row]), Observed::Value(costs()), Gate::default())
    };
    let [none, some] = [0, 300].map(|calls| Side::of_summary(&summary(calls)));
    let of = |before: &Side, after: &Side| {
        let difference = compare(before, after, &Strip::default()).expect("two profiles");
        let findings = difference.findings.as_value().expect("findings").clone();
        findings.into_iter().find(|one| one.rule == "fsync-per-write").expect("the finding")
    };
    let came = of(&none, &some);
    assert_eq!(came.change, Change::Came);
    assert!(came.after.is_some_and(|brief| brief.severity >= Severity::Warning));
    assert_eq!(of(&some, &none).change, Change::Went);
    let undecided = Side {
        undecided: vec![("fsync-per-write", Reason::not_measured("no cost table"))],
        ..none
    };
    let unclear = of(&undecided, &some);
    assert_eq!(unclear.change, Change::Unclear);
    assert!(unclear.undecided.is_some_and(|why| why.contains("no cost table")));
}

fn recorded(batches: &[TraceBatch]) -> Side {
    let mut lists = TraceLists::default();
    batches.iter().for_each(|batch| lists.append(batch.added.clone()));
    let head = head();
    let mut explainer = Explainer::new(&head, &lists, None);
    let mut side = TraceSide::new(&head, &lists);
    for batch in batches {
        explainer.add(batch);
        side.add(batch);
    }
    side.finish(&explainer.finish())
}

#[test]
fn a_record_more_in_a_recording_is_that_and_nothing_else() {
    let before = batches(500);
    let mut after = before.clone();
    let last = after.last_mut().expect("a batch");
    let mut sync =
        *last.records.iter().find(|one| one.operation == Operation::Fdatasync).expect("a sync");
    sync.duration_ns = Some(1);
    (sync.device_read_bytes, sync.device_write_bytes) = (None, None);
    last.records.push(sync);
    let [one, other] = [&before, &after].map(|batches| recorded(batches));
    let same = compare(&one, &one, &Strip::default()).expect("two recordings");
    assert!(!same.differs && same.compared == ComparedKind::Recordings);
    let difference = compare(&one, &other, &Strip::default()).expect("two recordings");
    let names: Vec<(String, i128)> = differing(&difference);
    let of = |name: &str| (name.to_owned(), 1);
    assert_eq!(names, [of("sync.calls"), of("operations.fdatasync")]);
    assert_eq!(rows(&difference.files).len(), 1);
    assert!(kinds(&difference).contains(&DiffCaveatKind::Lost), "the fixture lost records");
    let profile = Side::of_profile(&run_of(files()));
    assert_eq!(compare(&one, &profile, &Strip::default()), Err(KindsDiffer));
}

#[test]
fn a_path_that_a_recording_found_is_told() {
    let look = |paths: &[&str]| {
        let record = |at| TraceRecord {
            path: Some(PathIndex(at as u32)),
            result: Some(0),
            ..TraceRecord::new(0, Operation::Newfstatat)
        };
        recorded(&[TraceBatch {
            records: (0..paths.len()).map(record).collect(),
            paths: paths.iter().map(|path| path.as_bytes().to_vec()).collect(),
            added: TraceLists::default(),
        }])
    };
    let [one, two] = [&["/a"][..], &["/a", "/b"]].map(look);
    let difference = compare(&one, &two, &Strip::default()).expect("two recordings");
    assert_eq!(rows(&difference.found_lookups), [(Change::Came, "/b".to_owned())]);
}

#[test]
fn the_largest_numbers_are_no_panic() {
    let difference = between(absurd(), run_of(files()));
    assert!(difference.differs);
    assert!(between(run_of(files()), absurd()).differs);
}
