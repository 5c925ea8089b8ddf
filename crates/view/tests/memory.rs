//! A run over a hundred thousand files ends in 30,000 rows: reporting it must not need much beside them.

#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "measures this process"
)]

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use hotset_analysis::{Gate, fixtures, summarise};
use hotset_facts::{
    Dev, FileId, FileKind, FileRow, Io, Observed, Profile, ReadIo, Reason, SizeHistogram, TimeIo,
};

const ROWS: u64 = 30_000;
/// For the rows, their paths, the interpretation, the report and the JSON together. The binary around them needs less
/// than half of the 64 MiB that a process may take.
const MAX_MIB: u64 = 32;

fn row(i: u64) -> FileRow {
    let mut size_histogram = SizeHistogram::default();
    size_histogram.0[0] = 1;
    size_histogram.0[5] = 1;
    let mut io = Io::zero();
    io.read = Observed::Value(ReadIo {
        calls: 2,
        bytes: 9_000 + i,
        pages: 3,
        misses: 1,
        readahead_hits: 2,
        sequential_calls: Observed::Value(1),
        time_ns: 90_000,
        size_histogram,
        ..ReadIo::default()
    });
    io.device.read_bytes = Observed::Value(12_288);
    io.time = Observed::Value(TimeIo { hit_ns: 800, miss_ns: 89_200, ..TimeIo::default() });
    let id = FileId::new(Dev { major: 253, minor: 0 }, i);
    let path = format!("/srv/monorepo/node_modules/package-{}/dist/generated/file{i}.js", i % 997);
    FileRow {
        path: Observed::Value(PathBuf::from(path)),
        size_bytes: Observed::Value(9_000 + i),
        cached_before: Observed::Value(0),
        cached_after: Observed::Value(3),
        opens: Observed::Value(1),
        evicted_pages: Observed::Value(0),
        processes: 1,
        io: io.into(),
        ..FileRow::new(id, Reason::lost("not in this test"))
    }
}

fn profile() -> Profile {
    let mut files: Vec<FileRow> = (1..=ROWS).map(row).collect();
    files.push(FileRow { kind: FileKind::Others, ..row(0) });
    let mut totals = Io::zero();
    files.iter().for_each(|file| totals.add(&file.io()));
    Profile { totals, files, processes: Vec::new(), ..fixtures::profile() }
}

/// The largest resident set so far, in bytes.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Counts what would be written.
struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn thirty_thousand_rows_stay_small() -> io::Result<()> {
    let at_start = peak_bytes();
    let profile = profile();
    let rows = peak_bytes() - at_start;
    let begun = Instant::now();
    let summary = summarise(profile, Observed::Value(fixtures::costs()), Gate::default());
    let summarised = begun.elapsed();
    let report = hotset_view::render(&summary, &hotset_view::Options::default());
    let mut out = io::BufWriter::new(Count(0));
    let begun = Instant::now();
    hotset_view::write_profile_json(&summary, &mut out)?;
    let written = begun.elapsed();
    let json = out.into_inner().map_err(io::IntoInnerError::into_error)?.0;
    let used = peak_bytes() - at_start;
    writeln!(
        io::stderr(),
        "rows {} KiB, all {} KiB; summary {summarised:?}, JSON of {} KiB in {written:?}",
        rows >> 10,
        used >> 10,
        json >> 10
    )?;
    assert!(report.contains("more files") && json > ROWS * 1_000);
    assert!(used < MAX_MIB << 20, "{} KiB", used >> 10);
    Ok(())
}
