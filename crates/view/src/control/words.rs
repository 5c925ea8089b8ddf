//! Single sentences, for what has no table.

use std::path::Path;
use std::time::Duration;

use super::path_bytes;
use crate::escape::escape_bytes;
use crate::units;

/// How far it came: `45.6 %  1.82 GiB of 4.00 GiB, 3.10 GiB/s, 1 s left`.
pub fn progress_line(done_bytes: u64, total_bytes: u64, elapsed: Duration) -> String {
    let rate = done_bytes as f64 / elapsed.as_secs_f64().max(1e-9);
    let left = total_bytes.saturating_sub(done_bytes) as f64 / rate;
    let left = if left.is_finite() && left < 1e9 {
        let seconds = left.ceil() as u64;
        // Fractions would only flicker.
        if seconds < 120 {
            format!("{seconds} s")
        } else {
            units::duration(seconds * 1_000_000_000)
        }
    } else {
        "unknown time".to_owned()
    };
    let share = done_bytes as f64 / total_bytes.max(1) as f64;
    format!(
        "{}  {} of {}, {}/s, {left} left",
        units::percent(share.min(1.0)),
        units::bytes(done_bytes),
        units::bytes(total_bytes),
        units::bytes(rate as u64)
    )
}

/// The files are larger than what can be cached; `limit` is the control group whose limit that is, if it is one's.
pub fn short_of_memory(needed_bytes: u64, room_bytes: u64, limit: Option<(&Path, u64)>) -> String {
    let whose = match limit {
        Some((dir, bytes)) => {
            let dir = escape_bytes(path_bytes(dir));
            format!("the control group {dir} (limit {})", units::bytes(bytes))
        }
        None => "this host".to_owned(),
    };
    format!(
        "memory: {} are wanted in the cache and {whose} has room for {}; more would evict what was just warmed",
        units::bytes(needed_bytes),
        units::bytes(room_bytes)
    )
}

/// Samples of what was warmed were looked at again in the end.
pub fn lost_again(lost_pages: u64, seen_pages: u64) -> String {
    let share = units::percent(lost_pages as f64 / seen_pages.max(1) as f64);
    format!(
        "already evicted again: {share} of what was warmed, by a sample; something on this host evicts it"
    )
}

/// What dropping all clean cache left.
pub fn dropped(before_bytes: u64, after_bytes: u64, shmem_bytes: u64, dirty_bytes: u64) -> String {
    format!(
        "Cached: {} before, {} now; of that {} shared memory (tmpfs), which can't be dropped, and {} dirty",
        units::bytes(before_bytes),
        units::bytes(after_bytes),
        units::bytes(shmem_bytes),
        units::bytes(dirty_bytes)
    )
}

/// What is held, and how to end that.
pub fn pin_line(files: usize, bytes: u64, pid: u32, background: bool) -> String {
    let end = if background { format!("kill {pid} ends it") } else { "Ctrl-C ends it".to_owned() };
    format!(
        "holding {} in {}, process {pid}; {end}",
        units::bytes(bytes),
        super::files(files as u64)
    )
}

/// What became of one file that is held.
pub fn follow_line(path: &Path, what: impl std::fmt::Display) -> String {
    format!("{}: {what}", escape_bytes(path_bytes(path)))
}
