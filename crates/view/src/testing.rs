//! Synthetic runs for tests.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use hotset_analysis::fixtures::{costs, host};
use hotset_analysis::{Gate, Summary, summarise};
use hotset_facts::trace::{Frame, OperationClass, Site, SiteState};
use hotset_facts::{
    CallSites, Command, Dev, DeviceIo, DirectIo, Environment, ExitStatus, FailedLookup, Feature,
    FileId, FileKind, FileRow, Filesystem, Io, LookupCounters, Lookups, MmapIo, NotMeasured,
    Observed, ProcessRow, Profile, ReadIo, ReadaheadIo, Reason, Sensor, SensorLevel, SensorLosses,
    SiteContexts, SiteIo, SiteRow, SizeHistogram, SyncIo, Target, TimeIo, WriteIo,
};

const MS: u64 = 1_000_000;

const NO_SENSOR: Reason = Feature::Sensor.reason();
pub(crate) const DENIED: Reason = Reason::denied("needs root, or CAP_BPF and CAP_PERFMON");

/// With this host's prices and the usual gate.
pub(crate) fn summary(profile: Profile) -> Summary {
    summarise(profile, Observed::Value(costs()), Gate::default())
}

/// Without prices.
pub(crate) fn summary_without_costs(profile: Profile) -> Summary {
    let none = Observed::Missing(Reason::not_measured("no cost table"));
    summarise(profile, none, Gate::default())
}

pub(crate) fn environment() -> Environment {
    Environment {
        kernel: "6.18.44".to_owned(),
        memory_bytes: 24 << 30,
        filesystems: vec![Filesystem {
            mount: PathBuf::from("/"),
            fs_type: "ext4".to_owned(),
            device: "/dev/vda".to_owned(),
            dev: Dev { major: 253, minor: 0 },
            options: "rw,relatime".to_owned(),
            read_ahead_kb: Observed::Value(128),
        }],
        ..host()
    }
}

fn command(words: &[&str], wall_ms: u64) -> Command {
    Command {
        target: Target::Command,
        argv: words.iter().map(OsString::from).collect(),
        exit: Observed::Value(ExitStatus::Code(0)),
        wall_ns: wall_ms * MS,
        user_ns: Observed::Value(wall_ms * MS * 30 / 100),
        system_ns: Observed::Value(wall_ms * MS * 14 / 100),
        max_rss_bytes: Observed::Value(212 << 20),
        still_running: 0,
    }
}

fn sensor() -> Sensor {
    Sensor {
        name: "bpf",
        level: SensorLevel::Full,
        losses: SensorLosses::default(),
        not_measured: Vec::new(),
    }
}

pub(crate) fn process(pid: u32, words: &[&str], io: Io) -> ProcessRow {
    ProcessRow {
        pid,
        ppid: 1000,
        comm: words.first().map_or(String::new(), |word| (*word).to_owned()),
        argv: words.iter().map(OsString::from).collect(),
        exit: Observed::Value(ExitStatus::Code(0)),
        minor_faults: Observed::Value(5_120),
        major_faults: Observed::Value(12),
        lookups: Observed::Value(LookupCounters::default()),
        io,
    }
}

/// A file of `pages` pages, read once in order with 128 KiB calls; `device_percent` of it came from the device.
pub(crate) fn read_file(path: &[u8], ino: u64, pages: u64, device_percent: u64) -> FileRow {
    let from_device = pages * device_percent / 100;
    let misses = from_device / 32;
    let calls = pages / 32 + 1;
    let mut size_histogram = SizeHistogram::default();
    size_histogram.0[7] = calls;
    let read = ReadIo {
        calls,
        bytes: pages * 4096,
        pages,
        misses,
        readahead_hits: from_device - misses,
        sequential_calls: Observed::Value(calls - 1),
        time_ns: pages * 20_000,
        size_histogram,
        ..ReadIo::default()
    };
    let mut io = Io::zero();
    io.read = Observed::Value(read);
    io.readahead = Observed::Value(ReadaheadIo { pages: from_device, wasted_pages: 0 });
    io.device.read_bytes = Observed::Value(from_device * 4096);
    io.time = Observed::Value(TimeIo {
        hit_ns: (pages - from_device) * 1_000,
        wait_ns: from_device * 4_000,
        miss_ns: misses * 400_000,
        ..TimeIo::default()
    });
    let id = FileId::new(Dev { major: 253, minor: 0 }, ino);
    let path = PathBuf::from(OsString::from_vec(path.to_vec()));
    FileRow {
        path: Observed::Value(path),
        size_bytes: Observed::Value(pages * 4096),
        cached_before: Observed::Value(pages - from_device),
        cached_after: Observed::Value(pages),
        opens: Observed::Value(1),
        evicted_pages: Observed::Value(0),
        processes: 1,
        io: io.into(),
        ..FileRow::new(id, DENIED)
    }
}

/// A run of one process whose totals are the sum of its files.
pub(crate) fn run(words: &[&str], wall_ms: u64, files: Vec<FileRow>) -> Profile {
    let mut totals = Io::zero();
    for file in &files {
        totals.add(&file.io());
    }
    Profile {
        started_at: UNIX_EPOCH + Duration::from_millis(1_785_000_000_123),
        environment: environment(),
        command: command(words, wall_ms),
        sensor: sensor(),
        processes: vec![process(4242, words, totals)],
        totals,
        files,
        lookups: Observed::Value(Lookups::default()),
        sites: None,
    }
}

/// A common program: a cold model, some libraries, a few failed lookups.
pub(crate) fn three_files() -> Profile {
    let files = vec![
        read_file(b"/data/models/resnet/train-00001.bin", 12, 98_304, 75),
        read_file(
            b"/usr/lib/python3.13/site-packages/numpy/core/_multiarray_umath.so",
            13,
            2_048,
            100,
        ),
        read_file(b"/etc/app.json", 14, 2, 0),
    ];
    let mut profile = run(&["python3", "train.py", "--epochs", "1"], 4_210, files);
    profile.totals.mmap = MmapIo {
        faults: Observed::Value(1_204),
        minor_faults: Observed::Value(1_192),
        major_faults: Observed::Value(12),
        pages_read: Observed::Value(810),
        zeros: Observed::Value(0),
    };
    if let Observed::Value(time) = &mut profile.totals.time {
        time.fault_ns = Observed::Value(9 * MS);
        time.lookup_ns = 3 * MS;
    }
    profile.lookups = lookups(1_243, 4_010, MS);
    profile
}

/// The same with the code that asked.
pub(crate) fn with_sites() -> Profile {
    let frame = |function: Option<&str>, module: &str, line: Option<u32>| {
        Arc::new(Frame {
            function: function.map(str::to_owned),
            module: Some(module.to_owned()),
            offset: 31,
            source: line.map(|_| "/src/loader.c".to_owned()),
            line,
        })
    };
    let (libc, app) = ("/usr/lib/x86_64-linux-gnu/libc.so.6", "/opt/app/loader.so");
    let chain = |line| {
        vec![
            frame(Some("__read"), libc, None),
            frame(Some("load_batch"), app, Some(line)),
            frame(Some("next_batch"), app, Some(12)),
        ]
    };
    let sites = vec![
        Site { frames: chain(88), state: SiteState::Cut },
        Site { frames: vec![frame(None, app, None)], state: SiteState::Lost },
    ];
    let row = |site, path: Option<&str>, calls, time_ns| SiteRow {
        site,
        class: OperationClass::Read,
        path: path.map(Into::into),
        io: SiteIo { calls, time_ns, missed_pages: calls, ..SiteIo::default() },
    };
    let train = Some("/data/models/resnet/train-00001.bin");
    let rows =
        vec![row(0, train, 3_000, 900 * MS), row(1, train, 200, 100 * MS), row(1, None, 7, MS)];
    let contexts = SiteContexts { whole: 0, cut: 1, lost: 1, refused: 0 };
    let sites = CallSites {
        sites,
        rows,
        contexts,
        unknown_requests: 12,
        lost_requests: 0,
        other_requests: 0,
    };
    Profile { sites: Some(sites), ..three_files() }
}

pub(crate) fn lookups(failed: u64, calls: u64, failed_time_ns: u64) -> Observed<Lookups> {
    const MODULES: [&str; 4] = ["numpy", "scipy", "pandas", "torch"];
    let lacks = |directory: &str, calls: u64| {
        MODULES.map(|module| {
            let first = if module == MODULES[0] { calls % MODULES.len() as u64 } else { 0 };
            let path = PathBuf::from(directory).join(module);
            FailedLookup { path, calls: calls / MODULES.len() as u64 + first }
        })
    };
    Observed::Value(Lookups {
        counters: LookupCounters {
            calls,
            failed,
            time_ns: (3 * failed_time_ns).into(),
            failed_time_ns: failed_time_ns.into(),
        },
        failed_paths: [
            lacks("/usr/lib/python313.zip", failed / 2),
            lacks("/home/u/.local/lib/python3.13/site-packages", failed / 4),
            lacks("/usr/lib/python3.13", failed - failed / 2 - failed / 4),
        ]
        .concat(),
        failed_unnamed: 0,
    })
}

/// A build: processes side by side, many files, writes, syncs, direct I/O.
pub(crate) fn many_files(count: u64) -> Profile {
    let file = |i: u64| {
        let path = format!("/srv/build/third_party/component-{}/src/generated/file{i}.rs", i % 97);
        read_file(
            path.as_bytes(),
            i,
            1 + (i * 7_919) % 61,
            if i.is_multiple_of(3) { 100 } else { 0 },
        )
    };
    let mut profile = run(&["make", "-j4", "all"], 6_500, (0..count).map(file).collect());
    profile.totals.write = Observed::Value(WriteIo {
        calls: 500_000,
        bytes: 16_000_000,
        pages: 503_900,
        new_pages: 3_906,
        misses: Observed::Value(12),
        dirtied_pages: Observed::Value(3_918),
        sequential_calls: Observed::Value(499_000),
        time_ns: 250 * MS,
        ..WriteIo::default()
    });
    profile.totals.direct = Observed::Value(DirectIo {
        read_calls: 1_024,
        read_bytes: 64 << 20,
        reread_bytes: 48 << 20,
        write_calls: 16,
        write_bytes: 1 << 20,
        time_ns: 180 * MS,
        reread_time_ns: 132 * MS,
    });
    profile.totals.sync = Observed::Value(SyncIo { calls: 100, time_ns: 1_200 * MS });
    profile.totals.device.write_bytes = Observed::Value(17 << 20);
    if let Observed::Value(time) = &mut profile.totals.time {
        time.write_ns = 250 * MS;
        time.direct_ns = 180 * MS;
        time.sync_ns = 1_200 * MS;
        time.lookup_ns = 900 * MS;
    }
    let quarter = |part: u64| read_file(b"/x", part, part * 40_000, 30).io();
    profile.processes = (1..=8)
        .map(|i| process(4_200 + i, &["cc1", "-quiet", "-O2", "src/a.c"], quarter(u64::from(i))))
        .collect();
    profile.command.still_running = 1;
    profile.lookups = lookups(310_000, 400_000, 230 * MS);
    profile
}

/// The full run with what was lost.
pub(crate) fn lossy() -> Profile {
    let mut profile = three_files();
    profile.sensor.losses = SensorLosses {
        events: 37,
        origins: 12_000,
        skipped_programs: 4,
        ..SensorLosses::default()
    };
    if let Observed::Value(lookups) = &mut profile.lookups {
        lookups.failed_unnamed = 37;
    }
    profile.sensor.level = SensorLevel::Reduced;
    let missing = [Feature::FileFaults, Feature::IoUring];
    profile.sensor.not_measured = missing.map(NotMeasured::lacking).into();
    profile.totals = profile.totals.without(&missing);
    profile
}

/// Names that would break a terminal, a table or a parser.
pub(crate) fn nasty_names() -> Profile {
    let mut files = vec![
        read_file(b"/tmp/two\nlines\tand\x1b[31mred\x07", 1, 900, 50),
        read_file(b"/tmp/bad-\xff\xfe-utf8", 2, 800, 50),
        read_file(
            "/tmp/日本語のファイル名がここにあります/とても長いディレクトリ名".as_bytes(),
            3,
            700,
            50,
        ),
        read_file("/tmp/\u{202e}gnp.exe".as_bytes(), 4, 600, 50),
        read_file(&[b"/tmp/".as_slice(), &[b'x'; 255]].concat(), 5, 500, 50),
        read_file(b"/tmp/back\\slash 'quote\"", 6, 400, 50),
    ];
    files[5].deleted = true;
    let mut unnamed = read_file(b"", 77, 300, 50);
    unnamed.path = Observed::Missing(Reason::lost("the ring was full"));
    files.push(unnamed);
    let mut device = read_file(b"/dev/vda", 78, 200, 50);
    device.kind = FileKind::BlockDevice;
    files.push(device);
    let mut others = read_file(b"", 0, 100, 50);
    others.kind = FileKind::Others;
    files.push(others);
    let mut profile = run(&["cat", "a b", "", "x\ny"], 60, files);
    profile.command.argv.push(OsString::from_vec(b"\xff\xfe".to_vec()));
    profile.command.exit = Observed::Value(ExitStatus::Signal(11));
    profile.lookups = Observed::Value(Lookups {
        counters: LookupCounters {
            calls: 50,
            failed: 40,
            time_ns: MS.into(),
            failed_time_ns: (MS / 2).into(),
        },
        failed_paths: vec![FailedLookup {
            path: PathBuf::from(OsString::from_vec(b"/tmp/no\xffthing\n/x".to_vec())),
            calls: 40,
        }],
        failed_unnamed: 0,
    });
    profile
}

/// Without privileges: rusage, faults of processes, what cachestat says.
pub(crate) fn unprivileged() -> Profile {
    let mut profile = three_files();
    profile.sensor.name = "proc";
    profile.sensor.level = SensorLevel::Unprivileged;
    let (feature, reason) = (Feature::Sensor, DENIED.detail.to_owned());
    profile.sensor.not_measured = vec![NotMeasured { feature, reason }];
    let missing = Io {
        device: DeviceIo {
            read_bytes: Observed::Value(290 << 20),
            write_bytes: Observed::Value(0),
        },
        ..Io::missing(NO_SENSOR)
    };
    profile.totals = missing;
    profile.processes[0].io = missing;
    profile.files.truncate(2);
    for file in &mut profile.files {
        file.io = Io::missing(NO_SENSOR).into();
        file.cached_before = Observed::Missing(NO_SENSOR);
    }
    profile.lookups = Observed::Missing(NO_SENSOR);
    profile
}

/// Nothing but an identity.
pub(crate) fn everything_missing() -> Profile {
    let mut profile = run(&[], 0, Vec::new());
    profile.command.target = Target::System;
    profile.command.exit = Observed::Missing(DENIED);
    profile.command.user_ns = Observed::Missing(DENIED);
    profile.command.system_ns = Observed::Missing(DENIED);
    profile.command.max_rss_bytes = Observed::Missing(DENIED);
    profile.totals = Io::missing(DENIED);
    profile.files = vec![FileRow::new(FileId::default(), DENIED)];
    profile.processes[0].io = Io::missing(DENIED);
    profile.processes[0].lookups = Observed::Missing(DENIED);
    profile.processes[0].exit = Observed::Missing(DENIED);
    profile.environment.filesystems[0].read_ahead_kb = Observed::Missing(DENIED);
    profile.lookups = Observed::Missing(DENIED);
    profile
}
