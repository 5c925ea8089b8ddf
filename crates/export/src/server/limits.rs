//! What one client may take.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::AbortHandle;

use crate::shared::lock;

/// Connections at one time; then one that waits makes room for a new one.
pub(super) const MAX_CONNECTIONS: usize = 128;
/// For the request's line and headers, and between two requests: longer than the usual 15 s between scrapes.
pub(super) const HEADER_TIME: Duration = Duration::from_secs(30);
/// For the handshake of TLS.
pub(super) const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// For taking an answer, whole.
pub(super) const WRITE_TIME: Duration = Duration::from_secs(30);
/// Of the request's line and headers: what is read before it is refused with 431.
pub(super) const HEADER_BYTES: usize = 16 * 1024;

/// The connections that are open, the oldest first.
#[derive(Clone, Default)]
pub(super) struct Connections {
    open: Arc<Mutex<VecDeque<Open>>>,
    serial: Arc<AtomicU64>,
}

struct Open {
    serial: u64,
    task: AbortHandle,
    busy: Busy,
}

/// Whether a request is being answered.
#[derive(Clone, Default)]
pub(super) struct Busy(Arc<AtomicBool>);

impl Busy {
    /// Until the answer is dropped.
    pub(super) fn begin(&self) -> Answering {
        self.0.store(true, Ordering::Relaxed);
        Answering(self.clone())
    }
}

/// Somebody is being answered.
pub(super) struct Answering(Busy);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Relaxed);
    }
}

impl Connections {
    /// Makes room for one more where there is none: the oldest ends that is not being answered. True where one had to end.
    /// Whoever holds connections without asking anything shuts nobody out.
    pub(super) fn make_room(&self) -> bool {
        let full = lock(&self.open).len() >= MAX_CONNECTIONS;
        full && self.end_one()
    }

    /// Ends the oldest that is not being answered, else the oldest; false where there is none.
    pub(super) fn end_one(&self) -> bool {
        let mut open = lock(&self.open);
        let waiting = open.iter().position(|one| !one.busy.0.load(Ordering::Relaxed)).unwrap_or(0);
        let gone = open.remove(waiting);
        if let Some(gone) = &gone {
            gone.task.abort();
        }
        gone.is_some()
    }

    /// A number that no other connection has.
    pub(super) fn next_serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds one.
    pub(super) fn add(&self, serial: u64, task: AbortHandle, busy: Busy) {
        lock(&self.open).push_back(Open { serial, task, busy });
    }

    /// Takes away one that has ended.
    pub(super) fn remove(&self, serial: u64) {
        lock(&self.open).retain(|one| one.serial != serial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_being_answered_goes_last() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let connections = Connections::default();
        assert!(!connections.end_one(), "nobody is there");
        let mut tasks = Vec::new();
        let busy = Busy::default();
        let _answering = busy.begin();
        for which in [busy, Busy::default(), Busy::default()] {
            let task = runtime.spawn(std::future::pending::<()>());
            connections.add(connections.next_serial(), task.abort_handle(), which);
            tasks.push(task);
        }
        // There is room; without descriptors one has to go all the same.
        assert!(!connections.make_room());
        let left = || lock(&connections.open).iter().map(|one| one.serial).collect::<Vec<_>>();
        assert!(connections.end_one());
        assert_eq!(left(), [0, 2]);
        assert!(connections.end_one() && connections.end_one());
        assert!(left().is_empty() && !connections.end_one());
        for task in tasks {
            assert!(runtime.block_on(task).is_err_and(|error| error.is_cancelled()));
        }
    }
}
