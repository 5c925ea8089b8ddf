//! measure KIND RECORDS FILE [DATA]: what a trace costs. Writes RECORDS records of KIND (sequential, random, mixed) to FILE,
//! with the times that reads of DATA, a file of at least 64 MiB, take here; reads them back, and prints records by second of CPU time and bytes a record, written and read.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement has a file and an answer"
)]

mod workload;

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use hotset_facts::random::Random;
use hotset_trace::{Column, Columns, Reader, Writer};
use workload::{Kind, Timing, Workload, head};

/// Records of a batch, about what a ring holds every 50 ms.
const BATCH: usize = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let kind = Kind::parse(&words.next().unwrap_or_default())
        .ok_or("usage: measure sequential|random|mixed RECORDS [FILE]")?;
    let records: u64 = words.next().ok_or("expected a number of records")?.parse()?;
    let path = words.next().ok_or("expected a file to write")?;
    let timings = words.next().map(|data| timings(&data, kind)).transpose()?.unwrap_or_default();
    let mut file =
        File::options().read(true).write(true).create(true).truncate(true).open(&path)?;

    let mut workload = Workload::new(kind, timings);
    let mut made = Duration::ZERO;
    let begun = cpu()?;
    let mut writer = Writer::new(&mut file, &head(), None)?;
    while writer.rows() < records {
        let making = cpu()?;
        let rest = usize::try_from(records - writer.rows())?;
        let batch = workload.batch(rest.min(BATCH));
        made += cpu()? - making;
        writer.write(&batch)?;
    }
    let finished = writer.finish(0, true)?;
    let took = cpu()? - begun - made;
    println!(
        "written: {:.2} million records/s, {:.2} bytes/record ({} bytes), peak {} KiB",
        records as f64 / took.as_secs_f64() / 1e6,
        finished.bytes as f64 / records as f64,
        finished.bytes,
        peak_kib()?,
    );
    file.flush()?;
    file.rewind()?;
    for (name, columns) in [
        ("all columns", Columns::ALL),
        ("of trace info", Columns::of(&[Column::DurationNs, Column::Pages, Column::Misses])),
    ] {
        let begun = cpu()?;
        let reader = Reader::new(file.try_clone()?)?;
        let (mut rows, mut pages) = (0_u64, 0_u64);
        for batch in reader.batches(columns) {
            for record in batch?.records {
                rows += 1;
                pages += record.pages.map_or(0, |pages| u64::from(pages.pages));
            }
        }
        let took = (cpu()? - begun).as_secs_f64();
        println!(
            "read, {name}: {:.2} million records/s, {took:.2} s, {rows} records, {pages} pages, peak {} KiB",
            rows as f64 / took / 1e6,
            peak_kib()?,
        );
    }
    Ok(())
}

/// Times of a million reads of a file, from its beginning or at random.
fn timings(data: &str, kind: Kind) -> Result<Vec<Timing>, Box<dyn std::error::Error>> {
    let file = File::open(data)?;
    let mut buffer = vec![0; if kind == Kind::Sequential { 64 << 10 } else { 4 << 10 }];
    let size = buffer.len() as u64;
    let places = file.metadata()?.len() / size;
    let mut random = Random::new(1);
    let mut ended = Instant::now();
    let mut timings: Vec<Timing> = Vec::with_capacity(1_000_000);
    for number in 0..1_000_000 {
        let place = if kind == Kind::Sequential { number % places } else { random.below(places) };
        let begun = Instant::now();
        if let Some(last) = timings.last_mut() {
            last.pause_ns = u64::try_from((begun - ended).as_nanos())?;
        }
        file.read_exact_at(&mut buffer, place * size)?;
        ended = Instant::now();
        let duration_ns = u64::try_from((ended - begun).as_nanos())?;
        timings.push(Timing { duration_ns, pause_ns: 0 });
    }
    Ok(timings)
}

/// CPU time of this thread: other work on the machine is not counted.
fn cpu() -> Result<Duration, Box<dyn std::error::Error>> {
    let mut text = String::new();
    File::open("/proc/thread-self/schedstat")?.read_to_string(&mut text)?;
    Ok(Duration::from_nanos(text.split(' ').next().ok_or("no time")?.parse()?))
}

/// The most memory that the process had.
fn peak_kib() -> Result<u64, Box<dyn std::error::Error>> {
    let mut status = String::new();
    File::open("/proc/self/status")?.read_to_string(&mut status)?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
