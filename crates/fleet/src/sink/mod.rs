//! The sink: whoever samples offers rows and goes on; one thread keeps and packs them, another delivers.

mod counts;
mod deliver;

use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hotset_facts::random::Random;

use self::counts::Counts;
use self::deliver::Deliverer;
use crate::place::Period;
use crate::rows::Rows;
use crate::spool::{Owner, Spool, waiting};
use crate::store::Store;

pub use self::counts::SinkNumbers;

/// Intervals that may wait for the disk of the spool. An hour of them at the longest interval that makes sense is less.
const QUEUE: usize = 64;
/// Rows that are held at most before their files are made, although their period goes on.
const MOST_ROWS: usize = 50_000;

/// Tells the user something.
pub type Say = fn(&dyn Display);

/// Changes the rows of an interval before they are kept anywhere.
pub type Complete = Box<dyn FnMut(&mut Rows) + Send>;

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
    /// Adds to the rows of an interval what may take a while to find out, such as what is cached of a file on a network, and takes away what
    /// nobody may see.
    pub complete: Complete,
    /// Where files go.
    pub store: Box<dyn Store>,
    /// Hears what goes wrong.
    pub say: Say,
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
    /// The spool.
    dir: PathBuf,
    say: Say,
}

impl Sink {
    /// Opens the spool, makes files of what an earlier session left there, and begins to deliver.
    ///
    /// # Errors
    /// Where the spool can't be used, or the system has no thread to spare.
    pub fn start(options: SinkOptions) -> io::Result<Self> {
        let SinkOptions { spool: dir, spool_limit_bytes, host_id, session, complete, store, say } =
            options;
        let seed =
            host_id.bytes().fold(session, |seed, byte| seed.rotate_left(8) ^ u64::from(byte));
        let random = Random::new(seed);
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
        let keeper = Keeper {
            spool,
            dir: dir.clone(),
            complete,
            counts: Arc::clone(&counts),
            say,
            failed: false,
        };
        let deliverer = Deliverer::new(dir.clone(), store, Arc::clone(&counts), say, random);
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
            dir,
            say,
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
        self.counts.numbers()
    }

    /// Makes files of what is there, however long that takes, and delivers them, as far as that takes no longer than `patience`; the rest
    /// waits in the spool for the next session, which is said. What became of it.
    pub fn finish(self, patience: Duration) -> SinkNumbers {
        let _ = self.work.send(Work::Finish);
        let _ = self.keeper.join();
        let _ = self.last.send(());
        // From here on: to look at thousands of files for their rows may have taken longer than that.
        let until = Instant::now() + patience;
        let is_done = || self.done.load(Ordering::Acquire);
        while !is_done() && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        if is_done() {
            let _ = self.deliverer.join();
        }
        let left = waiting(&self.dir).len() as u64;
        if left > 0 {
            let files = hotset_facts::units::plural(left, "file");
            let wait = if left == 1 { "waits" } else { "wait" };
            (self.say)(&format_args!(
                "{files} {wait} in {} for the next session",
                self.dir.display()
            ));
        }
        self.counts.numbers()
    }
}

/// Keeps rows in the journal, and makes files of them.
struct Keeper {
    spool: Spool,
    dir: PathBuf,
    complete: Complete,
    counts: Arc<Counts>,
    say: Say,
    failed: bool,
}

impl Keeper {
    fn run(mut self, work: &Receiver<Work>) {
        let mut held: Option<(Period, Rows)> = None;
        while let Ok(Work::Rows(period, mut rows)) = work.recv() {
            (self.complete)(&mut rows);
            if rows.is_empty() {
                continue;
            }
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
        self.counts.set_waiting(&waiting(&self.dir));
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
