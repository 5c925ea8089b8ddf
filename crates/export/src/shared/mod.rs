//! What threads share: the snapshot that the sampling thread hands to whoever serves or pushes it, and how a mutex is locked.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use hotset_view::metrics::{
    Exposition, Family, Measured, SamplingState, exposition, families, status_page,
};
use hyper::body::Bytes;

/// Intervals after which a sample that does not come is missed.
const MISSED_INTERVALS: u32 = 3;
/// But not before this: a busy host may be late.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What was known at one moment. Each text is made when it is first asked for, and then for everybody.
pub(super) struct Snapshot {
    /// What a push sends.
    pub(super) families: Vec<Family>,
    /// When the values were true.
    pub(super) at: SystemTime,
    taken: Instant,
    state: SamplingState,
    page: String,
    texts: [OnceLock<Bytes>; 2],
    /// What is served once the sample is too old.
    stopped: Vec<Family>,
    stopped_page: String,
}

impl Snapshot {
    /// Takes what is known now.
    pub(super) fn new(measured: &Measured<'_>, at: SystemTime) -> Self {
        let all = families(measured);
        let state = SamplingState::Stopped("the last sample is too old".to_owned());
        let stale = Measured { state: &state, ..*measured };
        let stopped = families(&stale);
        Self {
            page: status_page(measured, &all),
            stopped_page: status_page(&stale, &stopped),
            stopped,
            families: all,
            at,
            taken: Instant::now(),
            state: measured.state.clone(),
            texts: [OnceLock::new(), OnceLock::new()],
        }
    }

    fn text(&self, format: Exposition) -> Bytes {
        let place = match format {
            Exposition::Prometheus => &self.texts[0],
            Exposition::OpenMetrics => &self.texts[1],
        };
        place.get_or_init(|| exposition(&self.families, format).into()).clone()
    }
}

/// The last snapshot, and what its readers count.
pub(super) struct Shared {
    latest: Mutex<Arc<Snapshot>>,
    limit: Duration,
    responses: Mutex<BTreeMap<u16, u64>>,
    refused_connections: AtomicU64,
}

impl Shared {
    /// Begins with a snapshot without a sample.
    pub(super) fn new(first: Snapshot, interval: Duration) -> Self {
        Self {
            latest: Mutex::new(Arc::new(first)),
            limit: interval.saturating_mul(MISSED_INTERVALS).max(interval.saturating_add(TIMEOUT)),
            responses: Mutex::default(),
            refused_connections: AtomicU64::new(0),
        }
    }

    /// Puts a new one in the place of the last.
    pub(super) fn publish(&self, snapshot: Snapshot) -> Arc<Snapshot> {
        let snapshot = Arc::new(snapshot);
        let before = std::mem::replace(&mut *lock(&self.latest), Arc::clone(&snapshot));
        // Freed without the lock.
        drop(before);
        snapshot
    }

    fn latest(&self) -> Arc<Snapshot> {
        Arc::clone(&lock(&self.latest))
    }

    /// The metrics as text. Never samples.
    pub(super) fn scrape(&self, format: Exposition) -> Bytes {
        let latest = self.latest();
        match self.health_of(&latest) {
            Ok(()) => latest.text(format),
            // Counters that stand still would say that nothing happens.
            Err(_) => exposition(&latest.stopped, format).into(),
        }
    }

    /// Whether samples still come, and why not.
    pub(super) fn health(&self) -> Result<(), String> {
        self.health_of(&self.latest())
    }

    fn health_of(&self, latest: &Snapshot) -> Result<(), String> {
        if let SamplingState::Stopped(reason) = &latest.state {
            return Err(format!("sampling has stopped: {reason}"));
        }
        let age = latest.taken.elapsed();
        if age <= self.limit {
            return Ok(());
        }
        let (age, limit) = (age.as_secs(), self.limit.as_secs_f64());
        Err(format!("the last sample is {age} s old; at most {limit} s are expected"))
    }

    /// The page for people.
    pub(super) fn page(&self) -> String {
        let latest = self.latest();
        // One that stopped for a reason of its own has that on its page.
        let told = matches!(latest.state, SamplingState::Stopped(_));
        if told || self.health_of(&latest).is_ok() {
            latest.page.clone()
        } else {
            latest.stopped_page.clone()
        }
    }

    /// Counts an answer.
    pub(super) fn answered(&self, status: u16) {
        *lock(&self.responses).entry(status).or_default() += 1;
    }

    /// Answers by status.
    pub(super) fn responses(&self) -> Vec<(u16, u64)> {
        lock(&self.responses).iter().map(|(&status, &count)| (status, count)).collect()
    }

    /// Counts a connection that was closed for another.
    pub(super) fn refused(&self) {
        self.refused_connections.fetch_add(1, Ordering::Relaxed);
    }

    /// Connections that were closed for others.
    pub(super) fn refused_connections(&self) -> u64 {
        self.refused_connections.load(Ordering::Relaxed)
    }
}

/// Locks a mutex. A panic of another thread leaves whole values behind.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
