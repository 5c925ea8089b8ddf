//! Measures importers and exporters: `measure_formats import FORMAT FILE` or `measure_formats export FORMAT RECORDS
//! FILE`. Prints records a second, bytes a record, and the most memory that the process had.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a program that measures"
)]

use std::convert::Infallible;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::time::Instant;

use hotset_facts::FileKind;
use hotset_facts::random::Random;
use hotset_facts::trace::{
    FileIndex, Operation, PathIndex, ProcessIndex, RecordPages, TraceBatch, TraceFile, TraceHead,
    TraceLists, TraceProcess, TraceRecord, TraceSource,
};
use hotset_trace::{export, import};

type Anything<T> = Result<T, Box<dyn Error>>;

fn main() -> Anything<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let started = Instant::now();
    let (records, bytes) = match words.as_slice() {
        ["import", format, file] => import_all(format, file)?,
        ["export", format, records, file] => export_all(format, records.parse()?, file)?,
        _ => {
            return Err(
                "usage: measure_formats import FORMAT FILE | export FORMAT RECORDS FILE".into()
            );
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let most = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "figures to read")]
    let (rate, size) = (records as f64 / seconds, bytes as f64 / records as f64);
    println!("{records} records, {rate:.0} a second, {size:.1} bytes each, {most}");
    Ok(())
}

fn import_all(format: &str, file: &str) -> Anything<(u64, u64)> {
    let known = import::FORMATS.iter().find(|known| known.name == format);
    let input = BufReader::new(File::open(file)?);
    let mut importer = import::open(known.ok_or("no such format")?, input)?;
    while importer.next_batch()?.is_some() {}
    Ok((importer.summary().records, std::fs::metadata(file)?.len()))
}

/// Reads of 4 KiB of a file of 4 GiB by 4 threads, a tenth of them missed.
fn batches(records: u64) -> impl Iterator<Item = Result<TraceBatch, Infallible>> {
    let mut random = Random::new(1);
    (0..records.div_ceil(100_000)).map(move |part| {
        let numbers = part * 100_000..records.min((part + 1) * 100_000);
        let record = |number: u64| {
            let missed = u32::from(random.below(10) == 0);
            let pages = RecordPages {
                pages: 1,
                hits: 1 - missed,
                misses: missed,
                ..RecordPages::default()
            };
            TraceRecord {
                duration_ns: Some(500 + u64::from(missed) * 80_000 + random.below(300)),
                process: Some(ProcessIndex(0)),
                tid: Some(u32::try_from(number % 4).unwrap_or(0)),
                file: Some(FileIndex(0)),
                path: Some(PathIndex(0)),
                offset: Some(random.below(1 << 20) * 4096),
                asked_bytes: Some(4096),
                result: Some(4096),
                pages: Some(pages),
                device_read_bytes: Some(u64::from(missed) * 4096),
                ..TraceRecord::new(number * 25_000, Operation::Pread)
            }
        };
        let records = numbers.map(record).collect();
        Ok(TraceBatch { records, paths: vec![b"/srv/data".to_vec()], ..TraceBatch::default() })
    })
}

fn lists() -> TraceLists {
    let process = TraceProcess { pid: 1, ppid: None, comm: "app".to_owned(), argv: Vec::new() };
    let file = TraceFile {
        path: Some("/srv/data".into()),
        kind: FileKind::Regular,
        id: None,
        size_bytes: None,
        cached_pages: None,
    };
    TraceLists { processes: vec![process], files: vec![file], ..TraceLists::default() }
}

/// Counts what logs of several files hold.
struct Counted<'a>(&'a std::cell::Cell<u64>);

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.set(self.0.get() + bytes.len() as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn export_all(format: &str, records: u64, file: &str) -> Anything<(u64, u64)> {
    let head = TraceHead {
        hotset: "0".to_owned(),
        source: TraceSource::Recorded,
        started_at: None,
        environment: None,
        command: None,
        cost: None,
        memory: None,
        memory_steps: Vec::new(),
        reclaim: None,
        not_measured: Vec::new(),
        lacks: Vec::new(),
    };
    let (lists, batches) = (lists(), batches(records));
    let total = std::cell::Cell::new(0);
    let out = || File::create(file).map(BufWriter::new);
    let exported = match format {
        "csv" => export::csv::export(batches, &lists, out()?)?,
        "oracle" => export::oracle::export(batches, out()?)?,
        "pprof" => export::pprof::export(batches, &head, &lists, out()?)?,
        "perfetto" => {
            export::perfetto::export(batches, &head, &lists, export::perfetto::Slices::All, out()?)?
        }
        "fio" => {
            let logs = export::fio::FioLogs::PerThread;
            export::fio::export(batches, &lists, logs, |_| Ok(BufWriter::new(Counted(&total))))?
        }
        other => return Err(format!("no such format: {other}").into()),
    };
    let bytes = if format == "fio" { total.get() } else { std::fs::metadata(file)?.len() };
    Ok((exported.records, bytes))
}
