//! Frames and screens for tests.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use hotset_analysis::top::{GroupMemory, Kind, Names, TopFrame};
use hotset_facts::{
    Dev, Feature, FileId, FileKind, HostMemory, Interval, LiveFile, LiveIo, LiveLosses,
    LiveProcess, LiveRow, MemInfo, NotMeasured, Observed, Pressure, Reason,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::{App, Input, Key, Look, Setup, draw};

const MIB: u64 = 1 << 20;
pub(super) const LOOK: Look = Look { color: true, ascii: false };

/// Names as a host would give them.
pub(crate) struct Known;

impl Names for Known {
    fn user(&mut self, uid: u32) -> Option<Arc<str>> {
        match uid {
            0 => Some(Arc::from("root")),
            33 => Some(Arc::from("www-data")),
            _ => None,
        }
    }

    fn group(&mut self, path: &Arc<str>) -> Option<Arc<str>> {
        path.contains("docker").then(|| Arc::from("docker web-1"))
    }

    fn memory(&mut self, path: &Arc<str>) -> GroupMemory {
        if !path.contains("docker") {
            return GroupMemory::default();
        }
        GroupMemory {
            cache_bytes: Some(200 * MIB),
            limit_bytes: Some(256 * MIB),
            refaulted_pages: Some(4_321),
            need_bytes: Some(300 * MIB),
        }
    }
}

fn process(id: u32, pid: u32, ppid: u32, uid: u32, comm: &str, cgroup: &str) -> LiveProcess {
    LiveProcess {
        id,
        pid,
        ppid: Observed::Value(ppid),
        uid: Observed::Value(uid),
        comm: Arc::from(comm),
        cgroup: Observed::Value(Arc::from(cgroup)),
        ended: false,
    }
}

fn file(ino: u64, path: Option<&str>) -> LiveFile {
    let missing = Observed::Missing(Reason::lost("the name did not fit into the ring"));
    LiveFile {
        id: FileId::new(Dev { major: 254, minor: 0 }, ino),
        kind: FileKind::Regular,
        path: path.map_or(missing, |path| Observed::Value(Arc::new(path.into()))),
        deleted: false,
        // As one that was read from a recording.
        mounted: Dev::default(),
    }
}

/// Reads of so many pages, of which so many were missed and so many read ahead.
pub(super) fn reads(pages: u64, misses: u64, ahead: u64) -> LiveIo {
    LiveIo {
        read_calls: pages,
        read_bytes: pages * 4096,
        read_pages: pages,
        read_misses: misses,
        readahead_hits: ahead,
        readahead_pages: ahead,
        device_read_bytes: (misses + ahead) * 4096,
        read_wait_ns: misses * 80_000,
        ..LiveIo::default()
    }
}

/// The host: 24 GiB, a part of them cached.
pub(super) fn host(n: u64) -> HostMemory {
    let ms = |ms: u64| Observed::Value(ms * 1_000_000);
    HostMemory {
        memory: Observed::Value(MemInfo {
            total_bytes: 24_064 * MIB,
            free_bytes: 9_000 * MIB,
            cached_bytes: (12_000 + n * 10) * MIB,
            buffers_bytes: 220 * MIB,
            shmem_bytes: 100 * MIB,
            swap_cached_bytes: 0,
            dirty_bytes: (3 + n % 7) * MIB,
            writeback_bytes: 0,
            mapped_bytes: 800 * MIB,
            unevictable_bytes: 0,
        }),
        refaulted_pages: Observed::Value(n * 3),
        reclaimed_pages: Observed::Value(0),
        written_back_pages: Observed::Value(n * 40),
        pressure: Pressure {
            memory_some_ns: ms(0),
            memory_full_ns: ms(0),
            io_some_ns: ms(20 + n * 11),
            io_full_ns: ms(5),
            cpu_some_ns: ms(30),
        },
    }
}

/// The interval number `n`, a second long, of a small host at work.
pub(crate) fn interval(n: u64) -> Interval {
    let row = |process, file, io: LiveIo| LiveRow { process, file, io: io.into() };
    let writes = LiveIo {
        write_calls: 40,
        write_bytes: 40 * 8192,
        write_pages: 80,
        new_pages: 20,
        dirtied_pages: 64,
        sync_calls: 4,
        device_write_bytes: 64 * 4096,
        ..LiveIo::default()
    };
    let direct = LiveIo {
        direct_read_calls: 12,
        direct_read_bytes: 12 * MIB,
        device_read_bytes: 12 * MIB,
        direct_ns: 9_000_000,
        ..LiveIo::default()
    };
    let faults = LiveIo { faults: 512, major_faults: 3, fault_pages: 24, ..LiveIo::default() };
    Interval {
        at: UNIX_EPOCH + Duration::from_secs(1_795_270_000 + n),
        ended_after_ns: n * 1_000_000_000,
        length_ns: 1_000_000_000,
        processes: vec![
            process(1, 1201, 1, 33, "nginx", "/docker/0123abcd"),
            process(2, 1202, 1201, 33, "nginx: worker process", "/docker/0123abcd"),
            process(3, 40_312, 900, 0, "sqlite3", "/user.slice/user-0.slice"),
            process(4, 40_500, 900, 1000, "日本語バックアップ", "/user.slice/user-0.slice/backup"),
            process(5, 77, 1, 0, "bad\u{1b}[31m\nname", "/"),
        ],
        files: vec![
            file(11, Some("/var/www/html/index.html")),
            file(12, Some("/srv/data/warehouse/2026/11/orders-of-the-day.sqlite")),
            file(13, None),
            file(14, Some("/srv/日本語/バックアップ.tar")),
            file(15, Some("/tmp/new\nline\u{202e}")),
        ],
        rows: vec![
            row(0, 0, reads(40 + n, 0, 0)),
            row(1, 0, reads(18_000 + 100 * n, 12, 30)),
            row(2, 1, reads(2_048, 31, 2_017 - 50 * (n % 40))),
            row(2, 4, writes),
            row(3, 3, direct),
            row(4, 2, faults),
        ],
        active_rows: 0,
        others: LiveIo::default(),
        evicted_pages: Observed::Value(n * 2),
        host: host(n),
        losses: LiveLosses::default(),
        curves: None,
        lookups: None,
    }
}

/// The frame of an interval.
pub(super) fn frame(n: u64) -> TopFrame {
    TopFrame::of(interval(n), &mut Known)
}

/// How a screen of this size starts.
pub(super) fn setup(width: u16, height: u16) -> Setup {
    Setup {
        look: LOOK,
        size: (width, height),
        host: "db-7".to_owned(),
        interval_ns: 1_000_000_000,
        kind: Kind::Processes,
        order: None,
        filter: String::new(),
        scope: None,
        not_measured: Vec::new(),
        recording: None,
    }
}

/// A screen that has seen thirty intervals.
pub(super) fn app(width: u16, height: u16) -> App {
    started(setup(width, height))
}

/// A screen that starts so and has seen thirty intervals.
pub(super) fn started(setup: Setup) -> App {
    let mut app = App::new(setup);
    for n in 1..=30 {
        app.update(frame(n));
    }
    app
}

/// What this kernel can't tell.
pub(crate) fn gaps() -> Vec<NotMeasured> {
    [Feature::FileFaults, Feature::BlockLayer].map(NotMeasured::lacking).into()
}

/// Types keys.
pub(super) fn keys(app: &mut App, keys: &[Key]) {
    for key in keys {
        app.input(&Input::Key(*key));
    }
}

/// Types text.
pub(super) fn text(app: &mut App, text: &str) {
    for c in text.chars() {
        app.input(&Input::Key(Key::Char(c)));
    }
}

/// The screen as it is drawn.
pub(super) fn buffer(app: &App) -> Buffer {
    let (width, height) = app.setup.size;
    let mut terminal =
        Terminal::new(TestBackend::new(width, height)).expect("a test backend has no errors");
    terminal.draw(|frame| draw(frame, app)).expect("nor has drawing on it");
    terminal.backend().buffer().clone()
}

/// The screen as text; lines end where they end.
pub(super) fn screen(app: &App) -> String {
    let buffer = buffer(app);
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut skip = 0;
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                line.push_str(symbol);
            }
            skip = crate::escape::columns(symbol).max(skip).saturating_sub(1);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
