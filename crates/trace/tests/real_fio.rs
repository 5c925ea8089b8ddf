//! Logs that fio replays, and logs that fio writes.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests run programs and read what they wrote"
)]

mod common;
mod scratch;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use hotset_facts::FileKind;
use hotset_facts::trace::{
    FileIndex, Operation, OperationClass, TraceBatch, TraceFile, TraceLists, TraceRecord,
};
use hotset_trace::export::fio::{FioLogs, export};
use scratch::Scratch;

/// Bytes read, reads, bytes written, writes, syncs, milliseconds.
type Job = [u64; 6];

/// Runs fio in a folder; what each job did.
fn fio(folder: &Path, args: &[&str]) -> BTreeMap<String, Job> {
    let output = Command::new("fio")
        .args(["--output-format=json", "--output=out.json"])
        .args(args)
        .current_dir(folder)
        .output()
        .expect("fio: install the package fio");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = std::fs::read_to_string(folder.join("out.json")).expect("its output");
    // fio writes messages before the document.
    let json = text.split_at(text.find('{').expect("a document")).1;
    assert!(!text.contains("bad iolog") && !text.contains("fio: "), "{text}");
    let document: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let jobs = document["jobs"].as_array().expect("jobs");
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    let job = |job: &serde_json::Value| {
        assert_eq!(job["error"], 0, "{job}");
        let [read, write] = [&job["read"], &job["write"]];
        let counts =
            [&read["io_bytes"], &read["total_ios"], &write["io_bytes"], &write["total_ios"]];
        let [read_bytes, reads, written_bytes, writes] = counts.map(number);
        let times = [number(&job["sync"]["total_ios"]), number(&job["job_runtime"])];
        let [syncs, ms] = times;
        let name = job["jobname"].as_str().expect("a name").to_owned();
        (name, [read_bytes, reads, written_bytes, writes, syncs, ms])
    };
    jobs.iter().map(job).collect()
}

/// 3 threads on 400 files, more than a log has open at once, and what can't be replayed between.
fn trace() -> (TraceLists, TraceBatch) {
    let file = |number: u32| TraceFile {
        path: Some(PathBuf::from(format!("/srv/a file\twith {number}"))),
        kind: FileKind::Regular,
        id: None,
        size_bytes: Some(1 << 16),
        cached_pages: None,
    };
    let lists = TraceLists { files: (0..400).map(file).collect(), ..TraceLists::default() };
    let mut records = Vec::new();
    for step in 0..1500_u32 {
        let operation = match step % 5 {
            0 | 1 => Operation::Pread,
            2 => Operation::Pwrite,
            3 => Operation::Read,
            _ => Operation::Fdatasync,
        };
        let operation = if step % 50 == 49 { Operation::Fsync } else { operation };
        let is_sync = operation.class() == OperationClass::Sync;
        let bytes = i64::from(1 + step % 9000);
        records.push(TraceRecord {
            tid: Some(step % 3),
            file: Some(FileIndex(step * 7 % 400)),
            offset: (!is_sync).then_some(u64::from(step * 31 % 70_000)),
            asked_bytes: (!is_sync).then_some(100_000),
            result: Some(if is_sync { 0 } else { bytes }),
            ..TraceRecord::new(u64::from(step) * 1_000_000, operation)
        });
    }
    let broken = records[0];
    records.push(TraceRecord { result: Some(-5), ..broken });
    records.push(TraceRecord { result: Some(0), ..broken });
    records.push(TraceRecord { offset: None, ..broken });
    records.push(TraceRecord::new(9, Operation::Newfstatat));
    (lists, TraceBatch { records, ..TraceBatch::default() })
}

/// What the records of a thread come to.
fn expected(batch: &TraceBatch, tid: Option<u32>) -> [u64; 5] {
    let mut sums = [0; 5];
    let records = batch.records.iter().take(1500);
    for record in records.filter(|record| tid.is_none() || record.tid == tid) {
        let bytes = u64::try_from(record.result.expect("a result")).expect("no error");
        match record.class {
            OperationClass::Read => (sums[0], sums[1]) = (sums[0] + bytes, sums[1] + 1),
            OperationClass::Write => (sums[2], sums[3]) = (sums[2] + bytes, sums[3] + 1),
            // fio calls fdatasync(2) for datasync, and counts fsync(2) alone.
            _ => sums[4] += u64::from(record.operation == Operation::Fsync),
        }
    }
    sums
}

/// Makes the files that a replay needs, as files.tsv says.
fn make_files(folder: &Path) {
    let table = std::fs::read_to_string(folder.join("files.tsv")).expect("a table");
    for row in table.lines().skip(1) {
        let mut fields = row.split('\t');
        let (name, bytes) = (fields.next().expect("a name"), fields.next().expect("a size"));
        let file = File::create(folder.join(name)).expect("a file");
        file.set_len(bytes.parse().expect("a number")).expect("its size");
        assert!(fields.next().expect("a path").starts_with("/srv/a file\\twith "));
    }
}

#[test]
fn fio_replays_what_was_recorded() {
    let (lists, batch) = trace();
    for logs in [FioLogs::PerThread, FioLogs::One] {
        let scratch = Scratch::new(&format!("{logs:?}"));
        let batches = [Ok::<_, std::convert::Infallible>(batch.clone())];
        let told = export(batches, &lists, logs, |name| File::create(scratch.0.join(name)));
        let told = told.expect("written");
        assert_eq!((told.records, told.written), (1504, 1500));
        let lost: Vec<_> = told.losses.iter().map(|loss| loss.records).collect();
        assert_eq!(lost, [1, 1, 1, 1], "{:?}", told.losses);
        make_files(&scratch.0);
        let jobs = fio(&scratch.0, &["replay.fio"]);
        let names: Vec<_> = match logs {
            FioLogs::One => vec![("trace".to_owned(), None)],
            FioLogs::PerThread => (0..3).map(|tid| (format!("thread-{tid}"), Some(tid))).collect(),
        };
        assert_eq!(jobs.len(), names.len());
        for (name, tid) in names {
            let [counts @ .., ms] = jobs[&name];
            assert_eq!(counts, expected(&batch, tid), "{name}");
            // 1,499 ms from the first record to the last: in microseconds, not in another unit. fio makes up for delays, on a busy host
            // also for those before it begins to count.
            assert!((150..15_000).contains(&ms), "{name}: {ms} ms");
        }
    }
}

#[test]
fn what_fio_wrote_is_read() {
    let scratch = Scratch::new("write");
    let args = [
        "--name=job",
        "--ioengine=psync",
        "--rw=randrw",
        "--bs=512-8k",
        "--size=1m",
        "--nrfiles=3",
        "--fsync=20",
        "--write_iolog=job.iolog",
    ];
    let [read_bytes, reads, written_bytes, writes, ..] = fio(&scratch.0, &args)["job"];
    let log = std::fs::read(scratch.0.join("job.iolog")).expect("a log");
    let imported = common::import("fio", &log).expect("read");
    assert_eq!((imported.summary.refused, imported.lists.files.len()), (0, 3));
    let mut sums = [0; 4];
    for (record, _) in imported.records() {
        match (record.class, record.asked_bytes) {
            (OperationClass::Read, Some(bytes)) => {
                (sums[0], sums[1]) = (sums[0] + bytes, sums[1] + 1)
            }
            (OperationClass::Write, Some(bytes)) => {
                (sums[2], sums[3]) = (sums[2] + bytes, sums[3] + 1)
            }
            _ => {}
        }
    }
    assert_eq!(sums, [read_bytes, reads, written_bytes, writes]);
    assert!(imported.records().any(|(record, _)| record.operation == Operation::Fsync));
}

/// That a wait of version 2 is in milliseconds since the start, fio itself shows.
#[test]
fn fio_waits_as_the_import_says() {
    let scratch = Scratch::new("wait");
    let log = "fio version 2 iolog\nf0 add\nf0 open\nf0 read 0 4096\n\
               f0 wait 400 0\nf0 read 0 4096\nf0 wait 800 0\n\
               f0 read 0 4096\nf0 close\n";
    std::fs::write(scratch.0.join("job.iolog"), log).expect("written");
    std::fs::write(scratch.0.join("f0"), [0; 4096]).expect("written");
    let imported = common::import("fio", log.as_bytes()).expect("read");
    let last = imported.records().filter(|(record, _)| record.operation == Operation::Read).last();
    assert_eq!(last.map(|(record, _)| record.start_ns), Some(800_000_000));
    let [_, reads, .., ms] = fio(&scratch.0, &["--name=job", "--read_iolog=job.iolog"])["job"];
    assert_eq!(reads, 3);
    assert!((300..1150).contains(&ms), "{ms} ms: neither 1,200, as waits after each other, nor 1");
}
