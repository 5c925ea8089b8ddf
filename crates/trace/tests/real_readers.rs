//! Perfetto, pprof, libCacheSim and pandas read exports, and find what was put in.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests run programs and read what they wrote"
)]

mod scratch;

use std::collections::HashMap;
use std::convert::Infallible;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use std::sync::Arc;

use hotset_facts::FileKind;
use hotset_facts::random::Random;
use hotset_facts::trace::{
    FileIndex, Frame, Gap, Operation, PathIndex, ProcessIndex, RecordFlags, RecordPages, Site,
    SiteIndex, SiteState, TraceBatch, TraceFile, TraceHead, TraceLists, TraceProcess, TraceRecord,
    TraceSource,
};
use hotset_trace::export::{self, perfetto::Slices};

use scratch::Scratch;

fn head() -> TraceHead {
    TraceHead {
        hotset: "1".to_owned(),
        source: TraceSource::Recorded,
        started_at: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)),
        environment: None,
        command: None,
        cost: None,
        memory: None,
        memory_steps: Vec::new(),
        reclaim: None,
        not_measured: Vec::new(),
        lacks: Vec::new(),
    }
}

fn frame(function: Option<&str>, line: Option<u32>) -> Frame {
    Frame {
        function: function.map(str::to_owned),
        module: Some("/usr/bin/app".to_owned()),
        offset: 0x1234,
        source: line.map(|_| "app.c".to_owned()),
        line,
    }
}

fn lists() -> TraceLists {
    let file = |path: &str| TraceFile {
        path: Some(PathBuf::from(path)),
        kind: FileKind::Regular,
        id: None,
        size_bytes: None,
        cached_pages: None,
    };
    let app = TraceProcess {
        pid: 70,
        ppid: None,
        comm: "app".to_owned(),
        argv: vec!["app".into(), "-x".into()],
    };
    let whole = [frame(Some("load"), Some(7)), frame(None, None), frame(Some("main"), Some(90))];
    let whole = whole.map(Arc::new).to_vec();
    TraceLists {
        processes: vec![app],
        files: ["/srv/é, \"a\"", "/srv/b"].map(file).to_vec(),
        sites: vec![
            Site { frames: whole, state: SiteState::Whole },
            Site { frames: vec![Arc::new(frame(Some("load"), Some(8)))], state: SiteState::Cut },
        ],
        gaps: vec![Gap { tid: Some(71), from_ns: 5, to_ns: 9, records: 3 }],
    }
}

/// 20,000 reads of 2 threads, with a fault inside of every tenth, and requests of io_uring that
/// overlap.
fn trace() -> TraceBatch {
    let mut random = Random::new(7);
    let mut records = Vec::new();
    for step in 0..20_000_u64 {
        let start_ns = step * 40_000;
        let page = random.below(1000).min(random.below(1000));
        let missed = u32::from(random.below(4) == 0);
        let pages =
            RecordPages { pages: 1, hits: 1 - missed, misses: missed, ..RecordPages::default() };
        let read = TraceRecord {
            duration_ns: Some(if missed > 0 { 60_000 } else { 900 }),
            process: Some(ProcessIndex(0)),
            tid: Some(70 + u32::from(step % 2 == 1)),
            file: Some(FileIndex(u32::from(step % 3 == 0))),
            path: Some(PathIndex(u32::from(step % 3 == 0))),
            offset: Some(page * 4096),
            asked_bytes: Some(4096),
            result: Some(4096),
            flags: if missed > 0 { RecordFlags::WAITED } else { RecordFlags::NONE },
            pages: Some(pages),
            device_read_bytes: Some(u64::from(missed) * 4096),
            site: [Some(SiteIndex(0)), Some(SiteIndex(1)), None]
                [usize::try_from(step % 3).expect("small")],
            ..TraceRecord::new(start_ns, Operation::Pread)
        };
        records.push(read);
        if step % 10 == 0 {
            let fault = TraceRecord {
                duration_ns: Some(300),
                pages: None,
                device_read_bytes: None,
                ..read
            };
            records.push(TraceRecord {
                start_ns: start_ns + 100,
                operation: Operation::MajorFault,
                class: Operation::MajorFault.class(),
                ..fault
            });
        }
        if step % 100 == 0 {
            for late in 0..3 {
                let request = TraceRecord {
                    operation: Operation::UringRead,
                    duration_ns: Some(70_000 + late),
                    ..read
                };
                records.push(TraceRecord { start_ns: start_ns + late * 10, ..request });
            }
        }
    }
    TraceBatch {
        records,
        paths: vec!["/srv/é, \"a\"".as_bytes().to_vec(), b"/srv/b".to_vec()],
        added: TraceLists::default(),
    }
}

/// The records in three batches, as a trace has row groups.
fn batches(batch: &TraceBatch) -> Vec<Result<TraceBatch, Infallible>> {
    let parts = batch.records.chunks(9000);
    parts.map(|part| Ok(TraceBatch { records: part.to_vec(), ..batch.clone() })).collect()
}

/// What pprof says of one of the values.
fn top(profile: &Path, value: &str) -> String {
    let index = format!("-sample_index={value}");
    let output = Command::new("go")
        .args(["tool", "pprof", "-top", "-nodecount=0", "-unit=ns", &index])
        .arg(profile)
        .output()
        .expect("go: install Go, of which pprof is a tool");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The flat and the cumulative number of a function.
fn of(text: &str, function: &str) -> (u64, u64) {
    let line = text.lines().find(|line| line.contains(function));
    let mut numbers = line.unwrap_or_else(|| panic!("{function}: {text}")).split_whitespace();
    let number = |text: &str| {
        let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        digits.parse::<u64>().expect("a number")
    };
    let flat = numbers.next().map(number);
    (flat.expect("a column"), numbers.nth(2).map(number).expect("a column"))
}

#[test]
fn pprof_shows_call_sites() {
    let scratch = Scratch::new("pprof");
    let (batch, path) = (trace(), scratch.0.join("trace.pb.gz"));
    let out = File::create(&path).expect("a file");
    let told = export::pprof::export(batches(&batch), &head(), &lists(), out).expect("written");
    assert_eq!(told.records, batch.records.len() as u64);
    let sums = |count: &dyn Fn(&TraceRecord) -> u64| {
        let mut by_site = HashMap::<Option<u32>, u64>::new();
        for record in &batch.records {
            *by_site.entry(record.site.map(|site| site.0)).or_default() += count(record);
        }
        [Some(0), Some(1), None].map(|site| by_site.get(&site).copied().unwrap_or(0))
    };
    let records = top(&path, "records");
    let [whole, cut, none] = sums(&|_| 1);
    assert_eq!(of(&records, " load"), (whole + cut, whole + cut));
    assert_eq!(of(&records, " main"), (0, whole));
    assert_eq!(of(&records, "[app+0x1234]"), (0, whole));
    assert_eq!(of(&records, "[callers not recorded]"), (0, cut));
    assert_eq!(of(&records, "[no call site recorded]"), (none, none));
    let waited = |record: &TraceRecord| {
        record.duration_ns.filter(|_| record.flags.has(RecordFlags::WAITED)).unwrap_or(0)
    };
    let [whole, cut, none] = sums(&waited);
    let times = top(&path, "time");
    assert_eq!(
        (of(&times, " load").0, of(&times, "[no call site recorded]").0),
        (whole + cut, none)
    );
    let missed = sums(&|record| record.pages.map_or(0, |pages| u64::from(pages.misses)));
    assert_eq!(of(&top(&path, "pages_missed"), " main").1, missed[0]);
}

/// Misses of a cache that evicts what was used longest ago, by a list in the order of use.
fn lru_misses(objects: &[u64], size: usize) -> usize {
    let (mut cached, mut misses) = (Vec::<u64>::new(), 0);
    for object in objects {
        match cached.iter().position(|cached| cached == object) {
            Some(at) => drop(cached.remove(at)),
            None => {
                misses += 1;
                if cached.len() == size {
                    cached.remove(0);
                }
            }
        }
        cached.push(*object);
    }
    misses
}

fn write_all(folder: &Path, batch: &TraceBatch) {
    let create =
        |name: &str| File::create(folder.join(name)).map(std::io::BufWriter::new).expect("a file");
    let timeline = create("timeline.pftrace");
    let told = export::perfetto::export(batches(batch), &head(), &lists(), Slices::All, timeline)
        .expect("written");
    assert_eq!((told.written, told.losses.len()), (batch.records.len() as u64, 0));
    let small = create("slow.pftrace");
    let told = export::perfetto::export(batches(batch), &head(), &lists(), Slices::Slow, small)
        .expect("written");
    assert!(told.written < batch.records.len() as u64 / 2);
    export::csv::export(batches(batch), &lists(), create("rows.csv")).expect("written");
    export::oracle::export(batches(batch), create("pages.oracle")).expect("written");
}

#[test]
#[ignore = "needs HOTSET_READERS_PYTHON, a Python with perfetto, pandas and libcachesim"]
fn perfetto_pandas_and_libcachesim_find_the_same() {
    let python = std::env::var("HOTSET_READERS_PYTHON")
        .expect("HOTSET_READERS_PYTHON: a Python with perfetto, pandas and libcachesim");
    let scratch = Scratch::new("python");
    let batch = trace();
    write_all(&scratch.0, &batch);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers.py");
    let output = Command::new(python)
        .arg(script)
        .arg(&scratch.0)
        .arg(export::csv::LIBCACHESIM)
        .output()
        .expect("python");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let found: serde_json::Value =
        serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
    check_perfetto(&found["perfetto"], &batch);
    check_pandas(&found["pandas"], &batch);
    check_libcachesim(&found["libcachesim"], &batch);
}

fn sum(batch: &TraceBatch, number: &dyn Fn(&TraceRecord) -> Option<u64>) -> u64 {
    batch.records.iter().filter_map(number).sum()
}

fn check_perfetto(perfetto: &serde_json::Value, batch: &TraceBatch) {
    assert_eq!(
        (&perfetto["slices"], &perfetto["instants"]),
        (&batch.records.len().into(), &0.into())
    );
    assert_eq!(perfetto["sums"]["offset"], sum(batch, &|record| record.offset));
    assert_eq!(
        perfetto["sums"]["device read bytes"],
        sum(batch, &|record| record.device_read_bytes)
    );
    assert_eq!(perfetto["sums"]["misses"], sum(batch, &|record| Some(record.pages?.misses.into())));
    assert_eq!(perfetto["threads"], serde_json::json!([[70, 70, "app"], [70, 71, "app"]]));
    let lost = serde_json::json!([[5, "3 records of thread 71 lost"], [9, ""]]);
    assert_eq!(perfetto["lost"], lost);
    // Slices that do not nest would end each other.
    let mut lasted = HashMap::<String, u64>::new();
    for duration_ns in batch.records.iter().filter_map(|record| record.duration_ns) {
        *lasted.entry(duration_ns.to_string()).or_default() += 1;
    }
    assert_eq!(perfetto["lasted"], serde_json::json!(lasted));
    let counted =
        perfetto["counters"]["device I/O, bytes per second"].as_array().expect("a counter");
    // Intervals of 100 ms.
    let bytes: u64 = counted.iter().filter_map(|point| point[1].as_u64()).sum::<u64>() / 10;
    assert_eq!(bytes, sum(batch, &|record| record.device_read_bytes));
}

fn check_pandas(pandas: &serde_json::Value, batch: &TraceBatch) {
    assert_eq!(pandas["rows"], batch.records.len());
    assert_eq!(pandas["columns"].as_array().map(Vec::len), Some(28));
    assert_eq!(pandas["sums"]["start_ns"], sum(batch, &|record| Some(record.start_ns)));
    assert_eq!(pandas["sums"]["misses"], sum(batch, &|record| Some(record.pages?.misses.into())));
    let without = batch.records.iter().filter(|record| record.pages.is_none()).count();
    assert_eq!(pandas["missing"]["misses"], without);
    assert_eq!(pandas["paths"], serde_json::json!(["/srv/b", "/srv/é, \"a\""]));
}

fn check_libcachesim(found: &serde_json::Value, batch: &TraceBatch) {
    let objects: Vec<u64> = batch
        .records
        .iter()
        .map(|record| {
            let (file, offset) = (record.file.expect("a file"), record.offset.expect("an offset"));
            (u64::from(file.0) << 40) | (offset / 4096)
        })
        .collect();
    for size in [1, 4, 16, 64, 256, 1024] {
        let ratio = found["misses"][size.to_string()].as_f64().expect("a ratio");
        let misses = lru_misses(&objects, size);
        #[expect(clippy::cast_precision_loss, reason = "a ratio of small numbers")]
        let expected = misses as f64 / objects.len() as f64;
        assert!((ratio - expected).abs() < 1e-9, "{size} pages: {ratio}, expected {expected}");
        if size == 64 {
            // Belady's needs the numbers of next accesses: wrong ones would make it worse than it
            // can be.
            assert!(found["belady"].as_f64().expect("a ratio") < expected);
        }
    }
    let requests = found["requests"].as_array().expect("requests");
    assert_eq!(requests.len(), batch.records.len());
    for (request, record) in requests.iter().zip(&batch.records) {
        let expected = [record.start_ns, u64::from(record.file.expect("a file").0), 4096];
        assert_eq!(*request, serde_json::json!(expected));
    }
}
