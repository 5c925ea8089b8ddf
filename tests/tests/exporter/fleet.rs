//! `hotset export --parquet`: the tables of a fleet against what was done, and over a kill and an outage.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hotset_tests::exporter::Exporter;
use hotset_tests::pageflags::resident_pages;
use hotset_tests::scratch::text;
use hotset_tests::{MIB, NamedGroup, PAGE, Scratch, evict_verified, undisturbed, until};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

const FILE_BYTES: u64 = 8 * MIB;
const HOUR_SECONDS: u64 = 3600;

pub(super) type Row = BTreeMap<String, Field>;

/// Where a fleet's tables go, and the spool beside.
pub(super) struct Fleet {
    scratch: Scratch,
}

impl Fleet {
    pub(super) fn new(name: &str) -> Self {
        leave_the_end_of_the_hour();
        Self { scratch: Scratch::new(name) }
    }

    pub(super) fn root(&self) -> PathBuf {
        self.scratch.path("fleet")
    }

    pub(super) fn spool(&self) -> PathBuf {
        self.scratch.path("spool")
    }

    fn export(&self) -> Exporter {
        self.export_with(&[])
    }

    pub(super) fn export_with(&self, words: &[&str]) -> Exporter {
        let (root, spool) = (self.root(), self.spool());
        let usual = ["--parquet", text(&root), "--spool", text(&spool)];
        Exporter::start(&[&usual, words].concat())
    }

    /// All rows of a table.
    pub(super) fn rows(&self, table: &str) -> Vec<Row> {
        let files = files_below(&self.root().join(table).join("v=1"));
        files.iter().flat_map(|file| rows_of(file)).collect()
    }
}

/// Waits until the hour has a minute left, which is longer than a test takes: with the hour, tables end, and each has its own findings and
/// its own rows of idle files.
pub(super) fn leave_the_end_of_the_hour() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let left = HOUR_SECONDS - now.as_secs() % HOUR_SECONDS;
    if left < 60 {
        std::thread::sleep(Duration::from_secs(left + 1));
    }
}

pub(super) fn files_below(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

pub(super) fn rows_of(file: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(fs::File::open(file).expect("open")).expect("Parquet");
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|row| row.expect("a row").into_columns().into_iter().collect()).collect()
}

pub(super) fn number(row: &Row, name: &str) -> u64 {
    match row[name] {
        Field::Long(number) => number.try_into().expect("not negative"),
        Field::Null => 0,
        ref other => panic!("{name}: {other:?}"),
    }
}

pub(super) fn is(row: &Row, name: &str, value: &str) -> bool {
    row[name] == Field::Str(value.to_owned())
}

pub(super) fn sum(rows: &[Row], name: &str, fits: impl Fn(&Row) -> bool) -> u64 {
    rows.iter().filter(|row| fits(row)).map(|row| number(row, name)).sum()
}

#[test]
fn tables_hold_what_was_done() {
    let group = NamedGroup::new(&format!("hotset-fleet-{}", std::process::id()));
    let scratch = Scratch::new("fleet-data");
    let path = scratch.file("data", FILE_BYTES);
    let fleet = undisturbed(&[&path], || {
        let fleet = Fleet::new("fleet-counts");
        evict_verified(&path);
        let exporter = fleet.export_with(&["--host-name", "node-7"]);
        group.run(&format!("cat {} > /dev/null", text(&path)));
        assert!(exporter.stop().success());
        let files = fleet.rows("file_interval");
        let of_file = |row: &Row| is(row, "path", text(&path));
        assert_eq!(sum(&files, "read_bytes", of_file), FILE_BYTES);
        assert_eq!(sum(&files, "read_pages", of_file), FILE_BYTES / PAGE);
        assert_eq!(sum(&files, "device_read_bytes", of_file), FILE_BYTES);
        let cached = files.iter().filter(|row| of_file(row)).map(|row| number(row, "cached_pages"));
        assert_eq!(cached.max(), Some(FILE_BYTES / PAGE));
        fleet
    });
    let groups = fleet.rows("group_interval");
    let in_group = |row: &Row| is(row, "cgroup", &group.path());
    let read = sum(&groups, "read_bytes", in_group);
    assert!((FILE_BYTES..FILE_BYTES + MIB).contains(&read), "{read}: cat, and its libraries");
    let host = fleet.rows("host");
    assert!(host.iter().all(|row| is(row, "host", "node-7")));
    for counter in ["read_bytes", "read_calls", "write_pages", "faults"] {
        let all = |_: &Row| true;
        assert_eq!(sum(&host, counter, all), sum(&groups, counter, all), "{counter}");
    }
    let mut sequence: Vec<u64> = host.iter().map(|row| number(row, "sequence")).collect();
    sequence.sort_unstable();
    assert_eq!(sequence, (0..host.len() as u64).collect::<Vec<_>>());
    let curve = fleet.rows("curve");
    let references = sum(&curve, "references", in_group);
    assert!(references >= FILE_BYTES / PAGE, "{references}");
    let first = sum(&curve, "sampled_first", in_group);
    assert!(first * 10 > references * 8, "{first} of {references} were first references");
}

#[test]
fn a_session_that_is_killed_loses_no_interval_that_had_ended() {
    let fleet = Fleet::new("fleet-killed");
    let exporter = fleet.export();
    let journal = until("a journal", || {
        let files = fs::read_dir(fleet.spool()).ok()?.flatten().map(|entry| entry.path());
        files.into_iter().find(|path| path.extension().is_some_and(|name| name == "journal"))
    });
    let lines = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    // The first line says whose it is.
    until("three intervals", || (lines() >= 4).then_some(()));
    let pid = rustix::process::Pid::from_raw(exporter.pid() as i32).expect("a PID");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
    drop(exporter);
    let whole = fs::read_to_string(&journal).expect("the journal");
    let intervals = whole.lines().skip(1).filter(|line| line.ends_with('}')).count();
    assert!(fleet.rows("host").is_empty(), "nothing was finished");
    assert!(fleet.export().stop().success());
    let of_first = |rows: &[Row]| {
        let sessions = rows.iter().map(|row| number(row, "session"));
        let first = sessions.min().expect("rows");
        rows.iter().filter(|row| number(row, "session") == first).count()
    };
    assert_eq!(of_first(&fleet.rows("host")), intervals);
    assert!(!journal.exists());
}

#[test]
fn an_outage_is_told_and_waited_out() {
    let fleet = Fleet::new("fleet-outage");
    let exporter = fleet.export();
    fs::remove_dir(fleet.root()).expect("empty");
    fs::write(fleet.root(), "in the way").expect("a file");
    let spool = fleet.spool();
    exporter.settle();
    let (status, said) = exporter.stop_with_words();
    assert!(status.success() && said.contains("files wait in"), "{said}");
    assert!(!files_below(&spool.join("ready")).is_empty());
    fs::remove_file(fleet.root()).expect("the obstacle");
    assert!(fleet.export().stop().success());
    assert!(files_below(&spool.join("ready")).is_empty());
    let sessions: std::collections::BTreeSet<u64> =
        fleet.rows("host").iter().map(|row| number(row, "session")).collect();
    assert_eq!(sessions.len(), 2);
}

#[test]
fn names_of_files_are_hashed_before_they_are_kept() {
    const SECRET: &str = "kunde-müller 🚢";
    let (fleet, scratch) = (Fleet::new("fleet-redacted"), Scratch::new(SECRET));
    let path = scratch.file("orders", MIB);
    let key = fleet.scratch.path("key");
    fs::write(&key, "0123456789abcdef0123456789abcdef\n").expect("a key");
    let exporter = fleet.export_with(&["--redact-key", text(&key), "--parquet-files", "1000"]);
    let held = fs::File::open(&path).expect("open");
    let has = |bytes: &[u8], word: &str| {
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    };
    // The file is written and read here, so that it is in every interval until it is seen in the journal.
    let inode = std::os::unix::fs::MetadataExt::ino(&held.metadata().expect("metadata"));
    let mark = format!("\"inode\":{inode},");
    let journal = until("the file in the journal", || {
        fs::read(&path).expect("read");
        let files = files_below(&fleet.spool());
        let all: Vec<u8> =
            files.iter().flat_map(|file| fs::read(file).unwrap_or_default()).collect();
        has(&all, &mark).then_some(all)
    });
    assert!(!has(&journal, "orders") && !has(&journal, "kunde-m"));
    let (status, said) = exporter.stop_with_words();
    assert!(status.success() && !said.contains("kunde-m"), "{said}");
    for file in files_below(&fleet.root()) {
        assert!(!has(&fs::read(&file).expect("a file"), "kunde-m"));
    }
    let rows = fleet.rows("file_interval");
    let seen: Vec<&Row> = rows.iter().filter(|row| number(row, "inode") == inode).collect();
    assert!(!seen.is_empty());
    for row in seen {
        let Field::Str(hashed) = &row["path"] else { panic!("no path: {row:?}") };
        let parts: Vec<&str> = hashed.split('/').skip(1).collect();
        assert_eq!(parts.len(), path.components().count() - 1, "{hashed}");
        assert!(parts.iter().all(|part| part.len() == 16), "{hashed}");
        assert_eq!(number(row, "size_bytes"), MIB, "it was found by its name before");
    }
}

#[test]
fn files_that_are_cached_and_not_used_have_a_row_of_zeros() {
    let scratch = Scratch::new("fleet-idle-data");
    // Of holes: their pages are cached like others, and nothing is read from the device. Few files of a host have more.
    const LARGE_BYTES: u64 = 256 * MIB;
    let [idle, used, mapped] = ["idle", "used", "mapped"].map(|name| {
        let path = scratch.path(name);
        fs::File::create(&path).and_then(|file| file.set_len(LARGE_BYTES)).expect("a file");
        path
    });
    let read = |path: &Path| {
        let mut file = fs::File::open(path).expect("open");
        std::io::copy(&mut file, &mut std::io::sink()).expect("read");
    };
    undisturbed(&[&idle], || {
        let fleet = Fleet::new("fleet-idle");
        [&idle, &used, &mapped].into_iter().for_each(|path| read(path));
        let mut holder = holder_of(&mapped);
        let exporter = fleet.export();
        read(&used);
        exporter.settle();
        let (status, said) = exporter.stop_with_words();
        assert!(status.success(), "{said}");
        let cached = resident_pages(&idle).into_iter().filter(|resident| *resident).count();
        holder.kill().expect("killed");
        holder.wait().expect("its end");
        let rows = fleet.rows("file_interval");
        let of = |path: &Path| -> Vec<&Row> {
            rows.iter().filter(|row| is(row, "path", text(path))).collect()
        };
        // Whatever else a number says, it counts something.
        let others = ["length_ns", "session", "sequence", "inode", "size_bytes", "cached_pages"];
        let is_idle = |row: &&Row| {
            let counters = row.iter().filter(|(name, _)| !others.contains(&name.as_str()));
            counters.map(|(_, value)| value).all(|value| match value {
                Field::Long(count) => *count == 0,
                _ => true,
            })
        };
        assert!(!of(&used).iter().any(is_idle), "it was used in the span");
        assert!(!of(&mapped).iter().any(is_idle), "it is mapped");
        let [row] = of(&idle)[..] else { panic!("{:?}", of(&idle)) };
        assert!(is_idle(&row), "{row:?}");
        assert_eq!(number(row, "cached_pages"), cached as u64);
        assert_eq!(number(row, "size_bytes"), LARGE_BYTES);
        assert!(is(row, "cgroup", ""));
        // It is of the span, under the number of its last interval.
        let hosts = fleet.rows("host");
        let last = hosts.iter().map(|row| number(row, "sequence")).max();
        assert_eq!(Some(number(row, "sequence")), last);
        assert_eq!(number(row, "length_ns"), sum(&hosts, "length_ns", |_| true));
        let spans = rows.iter().filter(|row| is_idle(row)).count();
        assert!((1..=20).contains(&spans), "{spans}");
    });
}

/// A process that has the file mapped, and has touched its pages.
fn holder_of(path: &Path) -> std::process::Child {
    const SCRIPT: &str = "import mmap, sys\n\
        file = open(sys.argv[1], 'rb')\n\
        view = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n\
        sum(view[::4096])\n\
        print('ready', flush=True)\n\
        input()\n";
    let mut holder = std::process::Command::new("python3")
        .args(["-c", SCRIPT, text(path)])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("python3");
    let mut ready = [0; 6];
    let out = holder.stdout.as_mut().expect("its output");
    std::io::Read::read_exact(out, &mut ready).expect("ready");
    holder
}

#[test]
fn a_root_that_can_not_be_is_refused_at_once() {
    let scratch = Scratch::new("fleet-refused");
    fs::write(scratch.path("file"), "x").expect("a file");
    let root = scratch.path("file/below");
    let mut command = std::process::Command::new(hotset_tests::hotset());
    command.args(["export", "--listen", "127.0.0.1:0", "--parquet", text(&root)]);
    let output = command.args(["--spool", text(&scratch.path("spool"))]).output().expect("hotset");
    assert_eq!(hotset_tests::code(&output), 1);
    let said = hotset_tests::stderr(&output);
    assert!(said.contains(text(&root)) && said.contains("Not a directory"), "{said}");
}
