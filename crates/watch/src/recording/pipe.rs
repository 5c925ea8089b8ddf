//! Records on their way to the thread that keeps them, so that whoever takes them from the sensor waits for nobody.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use hotset_facts::trace::TraceBatch;

use crate::sites::Taken;

/// Batches that wait for the thread. What comes then stays in the sensor's rings.
const WAITING_BATCHES: usize = 1_024;

/// What waits with them in all, by [`Taken::weight`]: some 25 MiB; one batch more can be all that the rings hold.
const MOST_WAITING: usize = 1 << 17;

/// A thread that keeps records, and the way to it.
pub(crate) struct Pipe<R> {
    sender: Option<SyncSender<Taken>>,
    thread: JoinHandle<R>,
    waiting: Option<Taken>,
    /// What was handed over and not kept yet.
    weight: Arc<AtomicUsize>,
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
        let (sender, receiver) = sync_channel(WAITING_BATCHES);
        let thread =
            std::thread::Builder::new().name(name.to_owned()).spawn(move || keep(receiver))?;
        let weight = Arc::default();
        Ok(Self { sender: Some(sender), thread, waiting: None, weight, told: 0, unkept: 0 })
    }

    /// Whether a batch would be taken now: else the records are better off in the sensor's rings.
    pub(crate) fn has_room(&mut self) -> bool {
        let has_room = match self.waiting.take() {
            Some(batch) => self.push(batch),
            None => true,
        };
        has_room && self.weight.load(Ordering::Relaxed) < MOST_WAITING
    }

    /// Hands over a batch; false where it has to wait for the next call.
    pub(crate) fn push(&mut self, mut taken: Taken) -> bool {
        let records = taken.batch.trace.records.len();
        let Some(sender) = &self.sender else {
            self.unkept += records as u64;
            return true;
        };
        let weight = taken.weight();
        taken.waiting.get_or_insert_with(|| Waiting::new(&self.weight, weight));
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

/// A batch that waits: until this is dropped.
#[derive(Debug)]
pub(crate) struct Waiting {
    all: Arc<AtomicUsize>,
    weight: usize,
}

impl Waiting {
    fn new(all: &Arc<AtomicUsize>, weight: usize) -> Self {
        all.fetch_add(weight, Ordering::Relaxed);
        Self { all: Arc::clone(all), weight }
    }

    /// The same batch, once a part of it is let go of.
    pub(crate) fn lighten(&mut self, weight: usize) {
        let less = self.weight.saturating_sub(weight);
        self.all.fetch_sub(less, Ordering::Relaxed);
        self.weight -= less;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.all.fetch_sub(self.weight, Ordering::Relaxed);
    }
}

fn lost_of(batch: &TraceBatch) -> u64 {
    batch.added.gaps.iter().map(|gap| gap.records).sum()
}
