//! A run over a hundred thousand files ends in 30,000 rows: reporting it must not need much beside them.

#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "measures this process"
)]

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Instant, UNIX_EPOCH};

use hotset_analysis::{Gate, summarise};
use hotset_facts::{
    Command, CostTable, Dev, Environment, ExitStatus, FileId, FileKind, FileRow, Io, Lookups,
    Observed, Profile, ReadIo, Reason, Sensor, SensorLevel, SizeHistogram, Target, TimeIo,
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
        sequential_calls: 1,
        time_ns: 90_000,
        size_histogram,
        ..ReadIo::default()
    });
    io.device.read_bytes = Observed::Value(12_288);
    io.time = Observed::Value(TimeIo { hit_ns: 800, miss_ns: 89_200, ..TimeIo::default() });
    let id = FileId { dev: Dev { major: 253, minor: 0 }, ino: i };
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
    files.iter().for_each(|file| totals.add(&file.io.unpack()));
    Profile {
        started_at: UNIX_EPOCH,
        environment: Environment {
            kernel: "6.18.0".to_owned(),
            page_size_bytes: 4096,
            cpus: 2,
            memory_bytes: 8 << 30,
            memory_limit_bytes: None,
            filesystems: Vec::new(),
            evicts_idle_cache: false,
        },
        command: Command {
            target: Target::Command,
            argv: vec!["node".into()],
            exit: Observed::Value(ExitStatus::Code(0)),
            wall_ns: 9_000_000_000,
            user_ns: Observed::Value(1_000_000_000),
            system_ns: Observed::Value(1_000_000_000),
            max_rss_bytes: Observed::Value(1 << 20),
            still_running: 0,
        },
        sensor: Sensor {
            name: "bpf",
            level: SensorLevel::Full,
            events_lost: 0,
            entries_lost: 0,
            not_measured: Vec::new(),
        },
        totals,
        files,
        processes: Vec::new(),
        lookups: Observed::Value(Lookups::default()),
    }
}

fn costs() -> Observed<CostTable> {
    Observed::Value(CostTable {
        syscall_ns: 108.0,
        read_4b_ns: 286.0,
        read_4k_ns: 335.0,
        read_64k_ns: 1600.0,
        write_4b_ns: 461.0,
        write_4k_ns: 700.0,
        write_64k_ns: 9000.0,
        stat_ns: 755.0,
        stat_enoent_ns: 484.0,
        open_close_ns: 1490.0,
    })
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
    let summary = summarise(profile, costs(), Gate::default());
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
