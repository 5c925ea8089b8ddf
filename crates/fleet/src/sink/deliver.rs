//! The thread that brings files to where they belong.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use hotset_facts::random::Random;

use super::Say;
use super::counts::Counts;
use crate::spool::{Waiting, waiting};
use crate::store::Store;

/// How long a delivery that failed is left alone: at first, and at most.
const RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(300);
/// Each pause after a failure is shortened by up to this share, so that a fleet does not come back at one time.
const SPREAD: f64 = 0.5;

/// Brings files to where they belong.
pub(super) struct Deliverer {
    dir: PathBuf,
    store: Box<dyn Store>,
    counts: Arc<Counts>,
    say: Say,
    random: Random,
    /// Something was put there, or could have been.
    reached: bool,
    /// The failure that was said last, with no success since.
    said: Option<String>,
}

impl Deliverer {
    pub(super) fn new(
        dir: PathBuf,
        store: Box<dyn Store>,
        counts: Arc<Counts>,
        say: Say,
        random: Random,
    ) -> Self {
        Self { dir, store, counts, say, random, reached: false, said: None }
    }

    pub(super) fn run(mut self, wake: &Receiver<()>) {
        let mut longest = RETRY;
        loop {
            let before = self.counts.numbers().delivered_files;
            let pause = if self.all() {
                longest = RETRY;
                RETRY
            } else {
                // A store that takes some files is not down.
                if self.counts.numbers().delivered_files > before {
                    longest = RETRY;
                }
                longest = (longest * 2).min(LONGEST_RETRY);
                longest.mul_f64(1.0 - SPREAD * self.random.unit())
            };
            match wake.recv_timeout(pause) {
                Err(RecvTimeoutError::Timeout) => {}
                // The last time: what is not delivered then waits for the next session.
                Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                    self.all();
                    return;
                }
            }
        }
    }

    /// Whether nothing is left, and as far as is known nothing would be.
    fn all(&mut self) -> bool {
        let files = waiting(&self.dir);
        self.counts.set_waiting(&files);
        if files.is_empty() && !self.reached {
            // What is wrong is told now, not when the first file is finished.
            let probed = self.store.probe();
            return self.told(probed);
        }
        files.iter().all(|file| match self.one(file) {
            // Dropped meanwhile, to make room.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !file.file.exists() => true,
            result => self.told(result),
        })
    }

    fn one(&mut self, file: &Waiting) -> io::Result<()> {
        self.store.put(&file.path, &file.file)?;
        // Delivered again, should it still be there after a crash: under the same name.
        std::fs::remove_file(&file.file)?;
        self.counts.delivered(file.bytes);
        Ok(())
    }

    /// Says a failure once, and that it is over. Whether there was none.
    fn told(&mut self, result: io::Result<()>) -> bool {
        let store = self.store.name();
        let Err(error) = result else {
            self.reached = true;
            if self.said.take().is_some() {
                (self.say)(&format_args!("{store}: files are delivered again"));
            }
            return true;
        };
        self.counts.failed_deliveries.fetch_add(1, Ordering::Relaxed);
        let error = error.to_string();
        if self.said.as_ref() != Some(&error) {
            let dir = self.dir.display();
            (self.say)(&format_args!("{store}: {error}; files wait in {dir} until it works"));
            self.said = Some(error);
        }
        false
    }
}
