//! How long a refresh takes. It says so and judges nothing: run it by itself, in a release build.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use hotset_analysis::top::TopFrame;
use hotset_facts::{Interval, LiveFile, LiveProcess, LiveRow, Observed};

use crate::tui::testing::{Known, buffer, interval, keys, reads, setup, text};
use crate::tui::{App, Key};
use crate::wire::top::interval_line;

/// 10,000 processes and 100,000 files, each with a row.
fn busy(n: u64) -> Interval {
    let small = interval(n);
    let processes = (0..10_000_u32).map(|n| LiveProcess {
        id: n,
        pid: 1000 + n,
        comm: Arc::from(format!("worker-{n}")),
        cgroup: Observed::Value(Arc::from(format!("/system.slice/app-{}.service", n % 300))),
        ..small.processes[0].clone()
    });
    let files = (0..100_000_u64).map(|n| LiveFile {
        id: hotset_facts::FileId { ino: n, ..small.files[0].id },
        path: Observed::Value(Arc::new(format!("/srv/data/{:03}/part-{n:06}.bin", n % 997).into())),
        ..small.files[0].clone()
    });
    let row = |file: u32| LiveRow {
        process: file % 10_000,
        file,
        io: reads(u64::from(file.wrapping_mul(2_654_435_761) % 5_000) + n, u64::from(file % 7), 0)
            .into(),
    };
    let rows = (0..100_000).map(row).collect();
    Interval { processes: processes.collect(), files: files.collect(), rows, ..small }
}

/// A view, and the keys that lead to it.
type View = (&'static str, fn(&mut App));

#[test]
#[ignore = "a measurement: cargo test --release -p hotset-view tui::tests::speed -- --ignored --nocapture"]
#[allow(
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement reads the clock and says what it found"
)]
fn how_long_a_refresh_takes() {
    let mut app = App::new(setup(200, 60));
    let views: [View; 6] = [
        ("processes", |app| text(app, "1")),
        ("files", |app| text(app, "2")),
        ("files, the 90,000th selected", |app| keys(app, &[Key::End])),
        ("files, filtered", |app| {
            keys(app, &[Key::Esc]);
            text(app, "/999");
        }),
        ("processes as a tree", |app| {
            keys(app, &[Key::Enter]);
            text(app, "1t");
        }),
        ("a process expanded", |app| keys(app, &[Key::Enter])),
    ];
    for (name, go) in views {
        go(&mut app);
        let mut times: Vec<[Duration; 3]> = (0..7)
            .map(|n| {
                let interval = busy(n);
                let begun = std::time::Instant::now();
                let frame = TopFrame::of(interval, &mut Known);
                let summed = begun.elapsed();
                let line = interval_line(&frame.bounded(50));
                let recorded = begun.elapsed();
                app.update(frame);
                black_box(buffer(&app));
                black_box(line.len());
                [summed, recorded - summed, begun.elapsed() - recorded]
            })
            .collect();
        times.sort_by_key(|times| times.iter().sum::<Duration>());
        let [summed, recorded, shown] = times[times.len() / 2];
        eprintln!("{name}: summarise {summed:?}, record {recorded:?}, arrange and draw {shown:?}");
    }
}
