//! The sink: whoever samples offers rows and goes on; one thread keeps and packs them, another delivers.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TrySendError, channel, sync_channel,
};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::place::Period;
use crate::rows::Rows;
use crate::spool::{Owner, Spool, waiting};
use crate::store::Store;

/// Intervals that may wait for the disk of the spool. An hour of them at the longest interval that makes sense is less.
const QUEUE: usize = 64;
/// Rows that are held at most before their files are made, although their period goes on.
const MOST_ROWS: usize = 50_000;
/// How long a delivery that failed is left alone: at first, and at most.
const RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(300);

/// Tells the user something.
pub type Say = fn(&dyn Display);

/// What a sink is made of.
pub struct SinkOptions {
    /// The spool's directory.
    pub spool: PathBuf,
    /// Bytes of finished files that may wait there.
    pub spool_limit_bytes: u64,
    /// The host's identity, of letters and digits.
    pub host_id: String,
    /// When this session began, in microseconds since 1970: it tells its files from those of others.
    pub session: u64,
    /// Adds to the rows of an interval what may take a while to find out, such as what is cached of a file on a network.
    pub complete: fn(&mut Rows),
    /// Where files go.
    pub store: Box<dyn Store>,
    /// Hears what goes wrong.
    pub say: Say,
}

/// What became of rows.
#[derive(Debug, Default)]
struct Counts {
    delivered_files: AtomicU64,
    dropped_files: AtomicU64,
    dropped_intervals: AtomicU64,
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
}

enum Work {
    Rows(Period, Box<Rows>),
    Finish,
}

/// Takes rows.
pub struct Sink {
    work: SyncSender<Work>,
    keeper: JoinHandle<()>,
    deliverer: JoinHandle<()>,
    /// Tells the deliverer to try once more, and end.
    last: mpsc::Sender<()>,
    done: Arc<AtomicBool>,
    counts: Arc<Counts>,
}

impl Sink {
    /// Opens the spool, makes files of what an earlier session left there, and begins to deliver.
    ///
    /// # Errors
    /// Where the spool can't be used, or the system has no thread to spare.
    pub fn start(options: SinkOptions) -> io::Result<Self> {
        let SinkOptions { spool: dir, spool_limit_bytes, host_id, session, complete, store, say } =
            options;
        let spool = Spool::open(&dir, spool_limit_bytes, Owner { host_id, session })?;
        if spool.bad_lines > 0 {
            say(&format_args!(
                "{}: {} of an earlier session could not be read",
                dir.display(),
                hotset_facts::units::plural(spool.bad_lines, "interval")
            ));
        }
        let counts = Arc::new(Counts::default());
        let (work, to_keep) = sync_channel(QUEUE);
        let (last, wake) = channel();
        let done = Arc::new(AtomicBool::new(false));
        let keeper = Keeper { spool, complete, counts: Arc::clone(&counts), say, failed: false };
        let deliverer = Deliverer { dir, store, counts: Arc::clone(&counts), say, failed: false };
        let ended = Arc::clone(&done);
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        Ok(Self {
            work,
            keeper: named("fleet-keep").spawn(move || keeper.run(&to_keep))?,
            deliverer: named("fleet-deliver").spawn(move || {
                deliverer.run(&wake);
                ended.store(true, Ordering::Release);
            })?,
            last,
            done,
            counts,
        })
    }

    /// Hands over the rows of an interval. Never waits.
    pub fn offer(&self, period: Period, rows: Rows) {
        if let Err(TrySendError::Full(_)) = self.work.try_send(Work::Rows(period, Box::new(rows))) {
            self.counts.dropped_intervals.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What became of rows so far.
    pub fn numbers(&self) -> SinkNumbers {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SinkNumbers {
            delivered_files: of(&self.counts.delivered_files),
            dropped_files: of(&self.counts.dropped_files),
            dropped_intervals: of(&self.counts.dropped_intervals),
        }
    }

    /// Makes files of what is there and delivers them, as far as that takes no longer than `patience`; the rest waits in the spool for
    /// the next session.
    pub fn finish(self, patience: Duration) {
        let until = Instant::now() + patience;
        let _ = self.work.send(Work::Finish);
        let _ = self.keeper.join();
        let _ = self.last.send(());
        while !self.done.load(Ordering::Acquire) {
            if Instant::now() >= until {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.deliverer.join();
    }
}

/// Keeps rows in the journal, and makes files of them.
struct Keeper {
    spool: Spool,
    complete: fn(&mut Rows),
    counts: Arc<Counts>,
    say: Say,
    failed: bool,
}

impl Keeper {
    fn run(mut self, work: &Receiver<Work>) {
        let mut held: Option<(Period, Rows)> = None;
        while let Ok(Work::Rows(period, mut rows)) = work.recv() {
            (self.complete)(&mut rows);
            if let Some((before, all)) = held.take_if(|(before, _)| *before != period) {
                self.finish(before, all);
            }
            let kept = self.spool.keep(period, &rows);
            self.told("rows can't be kept over a crash", kept);
            let (_, all) = held.get_or_insert_with(|| (period, Rows::default()));
            all.append(*rows);
            if let Some((period, all)) = held.take_if(|(_, all)| all.len() >= MOST_ROWS) {
                self.finish(period, all);
            }
        }
        if let Some((period, all)) = held {
            self.finish(period, all);
        }
    }

    fn finish(&mut self, period: Period, rows: Rows) {
        let written = self.spool.finish(period, rows);
        if written.is_err() {
            self.counts.dropped_files.fetch_add(1, Ordering::Relaxed);
        }
        self.told("rows are lost", written);
        let dropped = std::mem::take(&mut self.spool.dropped_files);
        self.counts.dropped_files.fetch_add(dropped, Ordering::Relaxed);
    }

    /// Says the first of several failures.
    fn told(&mut self, what: &str, result: io::Result<()>) {
        match result {
            Ok(()) => self.failed = false,
            Err(error) if !self.failed => {
                self.failed = true;
                (self.say)(&format_args!("{what}: {error}"));
            }
            Err(_) => {}
        }
    }
}

/// Brings files to where they belong.
struct Deliverer {
    dir: PathBuf,
    store: Box<dyn Store>,
    counts: Arc<Counts>,
    say: Say,
    failed: bool,
}

impl Deliverer {
    fn run(mut self, wake: &Receiver<()>) {
        let mut pause = RETRY;
        loop {
            let delivered = self.all();
            pause = if delivered { RETRY } else { (pause * 2).min(LONGEST_RETRY) };
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

    /// Whether nothing is left.
    fn all(&mut self) -> bool {
        for file in waiting(&self.dir) {
            match self.one(&file.path, &file.file) {
                // Dropped meanwhile, to make room.
                Err(error) if error.kind() == io::ErrorKind::NotFound && !file.file.exists() => {}
                Err(error) => {
                    if !self.failed {
                        self.failed = true;
                        (self.say)(&format_args!(
                            "{}: {error}; files wait in {} until it works",
                            self.store.name(),
                            self.dir.display()
                        ));
                    }
                    return false;
                }
                Ok(()) => {
                    if std::mem::take(&mut self.failed) {
                        (self.say)(&format_args!(
                            "{}: files are delivered again",
                            self.store.name()
                        ));
                    }
                }
            }
        }
        true
    }

    fn one(&mut self, path: &str, file: &Path) -> io::Result<()> {
        self.store.put(path, file)?;
        // Delivered again, should it still be there after a crash: under the same name.
        std::fs::remove_file(file)?;
        self.counts.delivered_files.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}
