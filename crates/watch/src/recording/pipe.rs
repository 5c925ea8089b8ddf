//! Records on their way to the thread that keeps them, so that whoever takes them from the sensor waits for nobody.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use hotset_facts::trace::TraceBatch;

use crate::sites::Taken;

/// Batches that wait for the thread. What comes then stays in the sensor's rings.
const WAITING: usize = 16;

/// Records that wait with them, of some 200 bytes each; one batch more can be all that the rings hold.
const WAITING_RECORDS: usize = 1 << 17;

/// A thread that keeps records, and the way to it.
pub(crate) struct Pipe<R> {
    sender: Option<SyncSender<Taken>>,
    thread: JoinHandle<R>,
    waiting: Option<Taken>,
    /// Records that were handed over and not kept yet.
    records: Arc<AtomicUsize>,
    /// Lost records that the gaps of what was handed over tell of.
    told: u64,
    /// Records that came when the thread had ended.
    unkept: u64,
}

/// What the thread leaves.
pub(crate) struct Kept<R> {
    /// What it returned; nothing where it panicked.
    pub(crate) result: Option<R>,
    /// Records that it was not given, because it had ended.
    pub(crate) unkept: u64,
}

impl<R: Send + 'static> Pipe<R> {
    /// Starts the thread.
    ///
    /// # Errors
    /// Where the system has none to spare.
    pub(crate) fn start(
        name: &str,
        keep: impl FnOnce(Receiver<Taken>) -> R + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(WAITING);
        let thread =
            std::thread::Builder::new().name(name.to_owned()).spawn(move || keep(receiver))?;
        let records = Arc::default();
        Ok(Self { sender: Some(sender), thread, waiting: None, records, told: 0, unkept: 0 })
    }

    /// Whether a batch would be taken now: else the records are better off in the sensor's rings.
    pub(crate) fn has_room(&mut self) -> bool {
        let has_room = match self.waiting.take() {
            Some(batch) => self.push(batch),
            None => true,
        };
        has_room && self.records.load(Ordering::Relaxed) < WAITING_RECORDS
    }

    /// Hands over a batch; false where it has to wait for the next call.
    pub(crate) fn push(&mut self, mut taken: Taken) -> bool {
        let records = taken.batch.trace.records.len();
        let Some(sender) = &self.sender else {
            self.unkept += records as u64;
            return true;
        };
        taken.waiting.get_or_insert_with(|| Waiting::new(&self.records, records));
        let told = lost_of(&taken.batch.trace);
        match sender.try_send(taken) {
            Ok(()) => {
                self.told += told;
                true
            }
            Err(TrySendError::Full(taken)) => {
                self.waiting = Some(taken);
                false
            }
            // The thread ended, and says why when it is asked.
            Err(TrySendError::Disconnected(_)) => {
                self.sender = None;
                self.unkept += records as u64;
                true
            }
        }
    }

    /// Whether the thread ended before the recording did.
    pub(crate) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Lost records that gaps tell of, when `last` is told too.
    pub(crate) fn told_with(&self, last: &TraceBatch) -> u64 {
        let waiting = self.waiting.as_ref().map_or(0, |taken| lost_of(&taken.batch.trace));
        self.told + waiting + lost_of(last)
    }

    /// Hands over the last batch, and waits for the thread.
    pub(crate) fn finish(mut self, last: Taken) -> Kept<R> {
        let mut unkept = self.unkept;
        for taken in self.waiting.take().into_iter().chain([last]) {
            let records = taken.batch.trace.records.len() as u64;
            // Now there is time to wait.
            let kept = self.sender.as_ref().is_some_and(|sender| sender.send(taken).is_ok());
            unkept += if kept { 0 } else { records };
        }
        drop(self.sender.take());
        Kept { result: self.thread.join().ok(), unkept }
    }
}

/// Records that wait: until this is dropped.
#[derive(Debug)]
pub(crate) struct Waiting {
    all: Arc<AtomicUsize>,
    records: usize,
}

impl Waiting {
    fn new(all: &Arc<AtomicUsize>, records: usize) -> Self {
        all.fetch_add(records, Ordering::Relaxed);
        Self { all: Arc::clone(all), records }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.all.fetch_sub(self.records, Ordering::Relaxed);
    }
}

fn lost_of(batch: &TraceBatch) -> u64 {
    batch.added.gaps.iter().map(|gap| gap.records).sum()
}
