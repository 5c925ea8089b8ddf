//! Single sentences, for what has no table.

use std::path::Path;
use std::time::Duration;

use hotset_facts::{ControlNote, Followed};

use crate::escape::escape_path;
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

/// A sentence beside what a report says of the files.
pub fn note(note: &ControlNote) -> String {
    match note {
        ControlNote::ShortOfMemory { needed_bytes, room_bytes, group } => {
            let whose = match group {
                Some((dir, limit)) => {
                    let dir = escape_path(dir);
                    format!("the control group {dir} (limit {})", units::bytes(*limit))
                }
                None => "this host".to_owned(),
            };
            format!(
                "memory: {} are wanted in the cache and {whose} has room for {}; more would evict what was just warmed",
                units::bytes(*needed_bytes),
                units::bytes(*room_bytes)
            )
        }
        ControlNote::EvictedAgain { lost_pages, seen_pages } => {
            let share = units::percent(*lost_pages as f64 / (*seen_pages).max(1) as f64);
            format!(
                "already evicted again: {share} of what was warmed, by a sample; something on this host evicts it"
            )
        }
        ControlNote::Dropped { before, after } => format!(
            "Cached: {} before, {} now; of that {} shared memory (tmpfs), which can't be dropped, and {} dirty",
            units::bytes(before.cached_bytes),
            units::bytes(after.cached_bytes),
            units::bytes(after.shmem_bytes),
            units::bytes(after.dirty_bytes)
        ),
    }
}

/// What is held, and how to end that.
pub fn pin_line(files: usize, bytes: u64, pid: u32, background: bool) -> String {
    let end = if background { format!("kill {pid} ends it") } else { "Ctrl-C ends it".to_owned() };
    format!(
        "holding {} in {}, process {pid}; {end}",
        units::bytes(bytes),
        units::plural(files as u64, "file")
    )
}

/// What became of one file that is held, or why it could not be followed.
pub fn follow_line(path: &Path, followed: &Result<Followed, String>) -> String {
    let what = match followed {
        Ok(Followed::Same) => "unchanged".to_owned(),
        Ok(Followed::Resized { from, to }) => {
            format!("{} instead of {} held", units::bytes(*to), units::bytes(*from))
        }
        Ok(Followed::Replaced { size_bytes }) => {
            format!("replaced; {} held of the new file", units::bytes(*size_bytes))
        }
        Ok(Followed::Gone) => "gone; nothing held of it".to_owned(),
        Err(why) => format!("not followed: {why}"),
    };
    format!("{}: {what}", escape_path(path))
}
