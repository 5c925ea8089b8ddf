//! What became of rows and files, counted by the threads of a sink.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::place::micros;
use crate::spool::Waiting;

/// What became of rows.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) delivered_files: AtomicU64,
    pub(super) dropped_files: AtomicU64,
    pub(super) dropped_intervals: AtomicU64,
    pub(super) failed_deliveries: AtomicU64,
    waiting_files: AtomicU64,
    waiting_bytes: AtomicU64,
    /// In microseconds since 1970; 0 where there was none.
    last_delivery: AtomicU64,
}

impl Counts {
    pub(super) fn set_waiting(&self, files: &[Waiting]) {
        self.waiting_files.store(files.len() as u64, Ordering::Relaxed);
        let bytes = files.iter().map(|file| file.bytes).sum();
        self.waiting_bytes.store(bytes, Ordering::Relaxed);
    }

    pub(super) fn delivered(&self, bytes: u64) {
        let less = |counter: &AtomicU64, by: u64| {
            let _ = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |value| {
                Some(value.saturating_sub(by))
            });
        };
        less(&self.waiting_files, 1);
        less(&self.waiting_bytes, bytes);
        self.delivered_files.fetch_add(1, Ordering::Relaxed);
        let now = u64::try_from(micros(SystemTime::now())).unwrap_or(0);
        self.last_delivery.store(now, Ordering::Relaxed);
    }

    pub(super) fn numbers(&self) -> SinkNumbers {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let last = Some(of(&self.last_delivery)).filter(|&micros| micros > 0);
        SinkNumbers {
            delivered_files: of(&self.delivered_files),
            dropped_files: of(&self.dropped_files),
            dropped_intervals: of(&self.dropped_intervals),
            failed_deliveries: of(&self.failed_deliveries),
            waiting_files: of(&self.waiting_files),
            waiting_bytes: of(&self.waiting_bytes),
            last_delivery: last
                .map(|micros| SystemTime::UNIX_EPOCH + Duration::from_micros(micros)),
        }
    }
}

/// The same as numbers, since the sink was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SinkNumbers {
    /// Files that are where they belong.
    pub delivered_files: u64,
    /// Files that had to make room for newer ones, or could not be written.
    pub dropped_files: u64,
    /// Intervals that nobody could take, because the disk of the spool hung.
    pub dropped_intervals: u64,
    /// Attempts to deliver that failed.
    pub failed_deliveries: u64,
    /// Finished files that are not delivered yet.
    pub waiting_files: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// When the last file was delivered.
    pub last_delivery: Option<SystemTime>,
}
