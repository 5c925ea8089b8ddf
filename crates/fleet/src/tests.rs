//! A spool and a sink on a real disk: what is kept, what is delivered, what is dropped.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use hotset_facts::Unit;
use hotset_facts::fleet::{
    Column, ColumnKind, CurveRow, FindingRow, FleetTable, GroupIntervalRow, HostRow, Meaning,
    columns_of,
};
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::spool::{Owner, Spool, waiting};
use crate::{Directory, Period, Rows, Sink, SinkOptions, Store};

type TestResult = Result<(), Box<dyn std::error::Error>>;

/// A directory that is gone with this value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir =
            std::env::temp_dir().join(format!("hotset-fleet-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir).expect("mkdir");
        Self(dir)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn hour(number: u64) -> Period {
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(3_600 * number + 1_800);
    Period::of(at, Duration::from_secs(3_600))
}

/// An interval of a host with two groups.
fn interval(sequence: u64) -> Rows {
    let mut host = HostRow::default();
    host.key.sequence = sequence;
    let group = GroupIntervalRow { key: host.key.clone(), ..GroupIntervalRow::default() };
    Rows { host: vec![host], groups: vec![group.clone(), group], ..Rows::default() }
}

/// Rows of each file below a directory, by its path.
fn files(root: &Path) -> Result<BTreeMap<String, i64>, Box<dyn std::error::Error>> {
    let mut found = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let file = SerializedFileReader::new(Bytes::from(fs::read(&path)?))?;
            let name = path.strip_prefix(root)?.to_str().ok_or("a name")?.to_owned();
            found.insert(name, file.metadata().file_metadata().num_rows());
        }
    }
    Ok(found)
}

fn options(scratch: &Scratch, store: Box<dyn Store>) -> SinkOptions {
    SinkOptions {
        spool: scratch.join("spool"),
        spool_limit_bytes: 1 << 20,
        host_id: "ab".to_owned(),
        session: 7,
        complete: Box::new(|_| ()),
        store,
        say: |_| (),
    }
}

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_period_is_a_file_a_table_and_nothing_stays_in_the_spool() -> TestResult {
    let scratch = Scratch::new();
    let root = scratch.join("root");
    let sink = Sink::start(options(&scratch, Box::new(Directory::new(&root)?)))?;
    for (period, sequence) in [(hour(23), 0), (hour(23), 1), (hour(24), 2)] {
        sink.offer(period, interval(sequence));
    }
    sink.finish(PATIENCE);
    let file =
        |table, day, sequence| format!("{table}/v=1/dt=1970-01-0{day}/ab-7-{sequence}.parquet");
    let expected = BTreeMap::from([
        (file("group_interval", 1, 0), 4),
        (file("group_interval", 2, 2), 2),
        (file("host", 1, 0), 2),
        (file("host", 2, 2), 1),
    ]);
    assert_eq!(files(&root)?, expected);
    assert_eq!(fs::read_dir(scratch.join("spool"))?.count(), 1, "the directory of what waits");
    assert!(waiting(&scratch.join("spool")).is_empty());
    Ok(())
}

#[test]
fn what_a_session_left_that_was_killed_is_made_into_files_by_the_next() -> TestResult {
    let scratch = Scratch::new();
    let dir = scratch.join("spool");
    let owner = |session| Owner { host_id: "ab".to_owned(), session };
    let killed = Spool::open(&dir, 1 << 20, owner(7))?;
    killed.keep(hour(1), &interval(0))?;
    killed.keep(hour(1), &interval(1))?;
    killed.keep(hour(2), &interval(2))?;
    let beside = Spool::open(&dir, 1 << 20, owner(8))?;
    assert!(waiting(&dir).is_empty(), "the session lives");
    drop((killed, beside));
    // A line that the kill cut off.
    let mut journal = OpenOptions::new().append(true).open(dir.join("7.journal"))?;
    journal.write_all(b"{\"period\":{\"beg")?;
    let next = Spool::open(&dir, 1 << 20, owner(9))?;
    assert_eq!(next.bad_lines, 1);
    let paths: Vec<String> = waiting(&dir).into_iter().map(|file| file.path).collect();
    let rows = files(&dir.join("ready"))?;
    assert_eq!(paths.len(), 4, "{paths:?}");
    assert_eq!(rows["group_interval/v=1/dt=1970-01-01/ab-7-0.parquet"], 4);
    assert_eq!(rows["group_interval/v=1/dt=1970-01-01/ab-7-2.parquet"], 2);
    assert!(!dir.join("7.journal").exists());
    Ok(())
}

#[test]
fn a_spool_that_is_full_drops_the_oldest_and_counts_it() -> TestResult {
    let scratch = Scratch::new();
    let dir = scratch.join("spool");
    let owner = Owner { host_id: "ab".to_owned(), session: 7 };
    let mut spool = Spool::open(&dir, u64::MAX, owner.clone())?;
    spool.finish(hour(1), interval(0))?;
    let room: u64 = fs::read_dir(dir.join("ready/host/v=1/dt=1970-01-01"))?
        .chain(fs::read_dir(dir.join("ready/group_interval/v=1/dt=1970-01-01"))?)
        .map(|entry| entry.and_then(|entry| entry.metadata()).map_or(0, |file| file.len()))
        .sum();
    drop(spool);
    let mut spool = Spool::open(&dir, room * 2 + 100, owner)?;
    for sequence in 1..5 {
        spool.finish(hour(1), interval(sequence))?;
    }
    let left: Vec<String> = waiting(&dir).into_iter().map(|file| file.path).collect();
    assert_eq!(left.len(), 4, "{left:?}");
    assert!(left.iter().all(|path| path.contains("-3.") || path.contains("-4.")), "{left:?}");
    assert_eq!(spool.dropped_files, 6);
    Ok(())
}

/// Fails so many times, then works.
struct Fails(Arc<Mutex<(u32, Vec<String>)>>);

impl Store for Fails {
    fn put(&mut self, path: &str, _: &Path) -> io::Result<()> {
        let mut state = self.0.lock().expect("lock");
        if state.0 > 0 {
            state.0 -= 1;
            return Err(io::Error::other("no route to host"));
        }
        state.1.push(path.to_owned());
        Ok(())
    }

    fn name(&self) -> String {
        "a bucket".to_owned()
    }
}

/// What was said in the only test that listens.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn patience_is_for_delivery_and_what_is_left_is_told() -> TestResult {
    const BRIEF: Duration = Duration::from_millis(500);
    let scratch = Scratch::new();
    let root = scratch.join("root");
    let slow = SinkOptions {
        complete: Box::new(|_| std::thread::sleep(2 * BRIEF)),
        ..options(&scratch, Box::new(Directory::new(&root)?))
    };
    let sink = Sink::start(slow)?;
    sink.offer(hour(1), interval(0));
    sink.finish(BRIEF);
    assert_eq!(files(&root)?.len(), 2, "files that took longer to make are delivered all the same");
    let store = Box::new(Fails(Arc::new(Mutex::new((u32::MAX, Vec::new())))));
    let listened = SinkOptions {
        session: 8,
        say: |what| SAID.lock().expect("lock").push(what.to_string()),
        ..options(&scratch, store)
    };
    let sink = Sink::start(listened)?;
    sink.offer(hour(2), interval(1));
    sink.finish(PATIENCE);
    let said = SAID.lock().expect("lock").join("\n");
    let dir = scratch.join("spool").display().to_string();
    assert!(said.contains(&format!("2 files wait in {dir} for the next session")), "{said}");
    Ok(())
}

#[test]
fn what_can_not_be_delivered_waits() -> TestResult {
    let scratch = Scratch::new();
    let state = Arc::new(Mutex::new((u32::MAX, Vec::new())));
    let sink = Sink::start(options(&scratch, Box::new(Fails(Arc::clone(&state)))))?;
    sink.offer(hour(1), interval(0));
    sink.offer(hour(2), interval(1));
    sink.finish(PATIENCE);
    assert_eq!(waiting(&scratch.join("spool")).len(), 4);
    state.lock().expect("lock").0 = 1;
    let mut again = options(&scratch, Box::new(Fails(Arc::clone(&state))));
    again.session = 8;
    let sink = Sink::start(again)?;
    while sink.numbers().delivered_files < 4 {
        std::thread::sleep(Duration::from_millis(10));
    }
    sink.finish(PATIENCE);
    assert!(waiting(&scratch.join("spool")).is_empty());
    let mut delivered = state.lock().expect("lock").1.clone();
    delivered.sort();
    delivered.dedup();
    assert_eq!(delivered.len(), 4, "{delivered:?}");
    Ok(())
}

/// The tables of docs/fleet-format.md are made from the declarations: `UPDATE_DOCS=1 cargo test -p hotset-fleet` writes them.
#[test]
fn the_documentation_has_every_column() -> TestResult {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleet-format.md");
    let text = fs::read_to_string(&path)?;
    let (head, rest) = text.split_once("<!-- columns -->\n").ok_or("a mark")?;
    let (_, tail) = rest.split_once("<!-- end -->").ok_or("another mark")?;
    let tables: String = FleetTable::ALL.into_iter().map(documented).collect();
    let expected = format!("{head}<!-- columns -->\n{tables}<!-- end -->{tail}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &expected)?;
    }
    assert!(
        text == expected,
        "docs/fleet-format.md is not of these columns: UPDATE_DOCS=1 cargo test -p hotset-fleet"
    );
    Ok(())
}

fn documented(table: FleetTable) -> String {
    let mut text =
        format!("### {}\n\n| column | type | what it is |\n|---|---|---|\n", table.as_str());
    for Column { name, kind, may_be_null, meaning, unit, help } in columns_of(table) {
        let kind = match kind {
            ColumnKind::Number => "number",
            ColumnKind::Time => "time",
            ColumnKind::Flag => "true or false",
            ColumnKind::Text => "text",
        };
        let what = match (meaning, unit) {
            (Meaning::Key, _) => String::new(),
            (Meaning::Counter, unit) => format!(", counter{}", in_unit(unit)),
            (Meaning::Gauge, unit) => format!(", gauge{}", in_unit(unit)),
        };
        let null = if may_be_null { ", or null" } else { "" };
        text.push_str(&format!("| `{name}` | {kind}{what}{null} | {help} |\n"));
    }
    text.push('\n');
    text
}

fn in_unit(unit: Option<Unit>) -> &'static str {
    match unit {
        Some(Unit::Bytes) => ", bytes",
        Some(Unit::Pages) => ", pages",
        Some(Unit::Nanoseconds) => ", ns",
        Some(Unit::Count) | None => "",
    }
}

/// The curves and findings of a period whose other rows are in a file already have a name of their own.
#[test]
fn rows_of_a_span_alone_are_named_by_their_interval() {
    let mut curve = CurveRow::default();
    curve.key.sequence = 5;
    let rows = Rows { curves: vec![curve], ..Rows::default() };
    assert_eq!(rows.first_sequence(), 5);
    let mut finding = FindingRow::default();
    finding.key.sequence = 6;
    let rows = Rows { findings: vec![finding], ..Rows::default() };
    assert_eq!(rows.first_sequence(), 6);
}
