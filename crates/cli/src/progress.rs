//! A line that says how far a command came, on a terminal and only for what lasts.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hotset_control::Progress;
use hotset_view::control::progress_line;

use crate::output::StatusLine;

/// What is over sooner needs no line.
const QUIET_FOR: Duration = Duration::from_secs(1);
/// How often the line changes.
const INTERVAL: Duration = Duration::from_millis(200);

/// Does `work`, and shows meanwhile how far it came.
pub(crate) fn shown_while<T>(quiet: bool, work: impl FnOnce(&dyn Progress) -> T) -> T {
    let status = StatusLine::new(!quiet, Duration::ZERO);
    if !status.is_seen() {
        return work(&());
    }
    let line = &Line::default();
    std::thread::scope(|scope| {
        let watcher = std::thread::Builder::new().spawn_scoped(scope, move || line.show(status));
        let answer = work(line);
        line.over.store(true, Ordering::Relaxed);
        if let Ok(watcher) = watcher {
            watcher.thread().unpark();
        }
        answer
    })
}

#[derive(Default)]
struct Line {
    /// When the work began, and how many bytes it is.
    begun: OnceLock<(Instant, u64)>,
    done_bytes: AtomicU64,
    over: AtomicBool,
}

impl Line {
    /// Shows it until the work is over.
    fn show(&self, mut status: StatusLine) {
        while !self.over.load(Ordering::Relaxed) {
            std::thread::park_timeout(INTERVAL);
            let Some((begun, total_bytes)) = self.begun.get() else { continue };
            let elapsed = begun.elapsed();
            if elapsed >= QUIET_FOR && !self.over.load(Ordering::Relaxed) {
                let done = self.done_bytes.load(Ordering::Relaxed);
                status.show(|| progress_line(done, *total_bytes, elapsed));
            }
        }
    }
}

impl Progress for Line {
    fn begin(&self, total_bytes: u64) {
        let _ = self.begun.set((Instant::now(), total_bytes));
    }

    fn advance(&self, bytes: u64) {
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}
