//! A line that says how far it came, on a terminal and only for what lasts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hotset_view::control::progress_line;

use crate::output;

/// What is over sooner needs no line.
const PATIENCE: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(200);

/// Does `work`, and shows meanwhile how many of `total_bytes` are done.
pub(crate) fn during<T>(
    quiet: bool,
    total_bytes: u64,
    done_bytes: &(dyn Fn() -> u64 + Sync),
    work: impl FnOnce() -> T,
) -> T {
    if quiet || !output::stderr_is_terminal() {
        return work();
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = std::thread::Builder::new().spawn_scoped(scope, || {
            let begun = Instant::now();
            std::thread::park_timeout(PATIENCE);
            while !over.load(Ordering::Relaxed) {
                let elapsed = begun.elapsed();
                output::progress(&progress_line(done_bytes(), total_bytes, elapsed));
                std::thread::park_timeout(INTERVAL);
            }
            if begun.elapsed() > PATIENCE {
                output::progress("");
            }
        });
        let answer = work();
        over.store(true, Ordering::Relaxed);
        if let Ok(watcher) = watcher {
            watcher.thread().unpark();
        }
        answer
    })
}
