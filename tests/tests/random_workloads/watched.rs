//! A mixture that was begun before it is observed, by `top` and `export` at once: every interval adds up, and all of them
//! together are what the processes did.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use hotset_facts::LiveIo;
use hotset_tests::books::{Books, Counts};
use hotset_tests::exporter::{Exporter, value};
use hotset_tests::filesystems::Kind;
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, hotset, mix, number, until, with_default_signals};
use serde_json::Value;

use crate::begun::Begun;
use crate::judge::{Rows, among, compare, equal, judge_device, judge_files, major_faults};
use crate::seen::Seen;

/// The books, and what differs from them.
pub(crate) fn watch(
    scratch: &Scratch,
    words: &[String],
    kind: Kind,
    root: &Path,
    block: u64,
) -> (Vec<Books>, Vec<String>) {
    // A name that nobody else has, at most 15 bytes: metrics are by name, and other kinds of file system are tried at once.
    static WATCHED: AtomicU32 = AtomicU32::new(0);
    let (test, number) = (std::process::id() % 10_000_000, WATCHED.fetch_add(1, Relaxed) % 10_000);
    let name = format!("hs{test:07}-{number:04}");
    let mut begun = Begun::start(Command::new(scratch.program(&name, &mix())).args(words));
    let exporter = Exporter::start(&["--commands", "1000"]);
    let recording = scratch.path("top.jsonl");
    let mut top = record(&recording, begun.pid());
    let books = begun.books();
    exporter.settle();
    let metrics = exporter.metrics();
    begun.finish();
    assert!(top.wait().expect("top").success(), "top");
    let mut found = Vec::new();
    judge_metrics(&mut found, &metrics, &name, &books, kind);
    let text = std::fs::read_to_string(&recording).expect("a recording");
    let intervals: Vec<Value> =
        text.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    judge_intervals(&mut found, &intervals, &books, kind, root, block);
    (books, found)
}

/// `top`, once it observes.
fn record(path: &Path, pid: u32) -> Child {
    let mut command = Command::new(hotset());
    command.args(["top", "--batch", "0", "-n", "100000", "--record", text(path)]);
    command.args(["--pid", &pid.to_string(), "0.2"]);
    with_default_signals(&mut command);
    let child = command.stdout(Stdio::null()).spawn().expect("hotset");
    until("top observes", || std::fs::metadata(path).ok().filter(|file| file.len() > 0));
    child
}

fn all_of(books: &[Books]) -> Counts {
    let mut all = Counts::default();
    for of in books {
        all += of.sum();
        all.syncs += of.other_syncs;
    }
    all
}

/// What is said of the program is what its processes did, and all programs together are the host.
pub(crate) fn judge_metrics(
    found: &mut Vec<String>,
    metrics: &str,
    name: &str,
    books: &[Books],
    kind: Kind,
) {
    let counter = |name: &str| {
        let counter = LiveIo::COUNTERS.iter().find(|counter| counter.name == name);
        counter.unwrap_or_else(|| panic!("no counter {name}")).metric
    };
    let seen = Seen::by(|counted| {
        let series = format!("hotset_command_{}_total{{command=\"{name}\"}}", counter(counted));
        value(metrics, &series).unwrap_or_else(|| panic!("no {series}")) as u64
    });
    // What devices read and major faults are not compared: the parent's are in them, and not in the books.
    compare(found, "export", &seen, &all_of(books), kind);
    for (counted, _) in crate::seen::COUNTERS {
        let metric = counter(counted);
        let prefix = format!("hotset_command_{metric}_total{{");
        let sum: f64 = (metrics.lines().filter(|line| line.starts_with(&prefix)))
            .map(|line| line.rsplit(' ').next().and_then(|word| word.parse::<f64>().ok()))
            .map(|value| value.expect("a number"))
            .sum();
        let total = value(metrics, &format!("hotset_{metric}_total"));
        equal(found, &format!("export: sum of {metric}"), Some(sum), total);
    }
    // Of the whole host: who else copies on a file system that can share blocks makes calls that are not measured, and who
    // submits a request whose vector is not in memory makes one that can't be followed. `top` says what is lost of the mixture.
    let others = [r#"cause="calls""#, r#"cause="requests""#];
    let lost = metrics.lines().filter(|line| {
        line.starts_with("hotset_lost_total{") && !others.iter().any(|other| line.contains(other))
    });
    lost.filter(|line| !line.ends_with(" 0")).for_each(|line| found.push(line.to_owned()));
}

fn judge_intervals(
    found: &mut Vec<String>,
    intervals: &[Value],
    books: &[Books],
    kind: Kind,
    root: &Path,
    block: u64,
) {
    let (mut files, mut processes) = (Rows::new(), BTreeMap::<u64, Seen>::new());
    let (mut totals, mut majors, mut device) = (Seen::default(), BTreeMap::<u64, u64>::new(), None);
    for interval in intervals {
        judge_sums(found, interval);
        totals += &Seen::in_interval(&interval["totals"]);
        for row in interval["processes"].as_array().expect("processes") {
            let pid = number(row, "/pid");
            *processes.entry(pid).or_default() += &Seen::in_interval(&row["io"]);
            *majors.entry(pid).or_default() += row["io"]["major_faults"].as_u64().unwrap_or(0);
        }
        for row in interval["files"].as_array().expect("files") {
            let (Some(dev), Some(ino)) = (row["dev"].as_str(), row["ino"].as_u64()) else {
                continue;
            };
            // What was done to the file system as a whole is under the superblock's device.
            let below = |path: &str| ino != 0 && Path::new(path).starts_with(root);
            if row["path"].as_str().is_some_and(below) {
                device = Some(dev.to_owned());
            }
            *files.entry((dev.to_owned(), ino)).or_default() += &Seen::in_interval(&row["io"]);
        }
    }
    compare(found, "top", &totals, &all_of(books), kind);
    // Another device than stat(2) names: of Btrfs as its rows say, on an overlay that of the layer.
    let device = match kind {
        Kind::Overlay => Some(device_of(&root.with_file_name("lower"))),
        Kind::Btrfs | Kind::Compressed => device,
        _ => None,
    };
    judge_files(found, &files, books, kind, device.as_deref(), block);
    for of in books {
        let (what, mut counts) = (format!("top: process {}", of.pid), of.sum());
        counts.syncs += of.other_syncs;
        let seen = processes.remove(&of.pid).unwrap_or_default();
        compare(found, &what, &seen, &counts, kind);
        judge_device(found, &what, &seen, of);
        let faults = majors.remove(&of.pid).unwrap_or(0);
        among(found, &format!("{what}: major faults"), faults, major_faults(of, kind));
    }
}

fn device_of(path: &Path) -> String {
    let stat = rustix::fs::stat(path).expect("stat");
    hotset_sys::file_id(&stat).dev.to_string()
}

/// The lines of each view, and what has none, are the totals; nothing was lost.
pub(crate) fn judge_sums(found: &mut Vec<String>, interval: &Value) {
    let totals = Seen::in_interval(&interval["totals"]);
    for view in ["processes", "files"] {
        let mut sum = Seen::in_interval(&interval["unlisted"][view]["io"]);
        sum += &Seen::in_interval(&interval["others"]);
        for row in interval[view].as_array().expect("lines") {
            sum += &Seen::in_interval(&row["io"]);
        }
        equal(found, &format!("top: sum of {view}"), &sum, &totals);
    }
    for (loss, n) in interval["losses"].as_object().expect("losses") {
        equal(found, &format!("top: {loss}"), n.as_u64(), Some(0));
    }
}
