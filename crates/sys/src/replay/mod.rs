//! The steps of a replay, done as fast as they go.
//!
//! [`Replay::new`] makes all ready that no step does: paths as the kernel wants them, descriptions and mappings that nobody was seen to
//! make, memory to read into. [`Replay::run`] starts a thread for each of the plan and has them begin together. A thread does its steps
//! in their order and waits where the plan says so; the time that it waits is not counted. What each call returns is compared with the
//! recording.
//!
//! Of an original file nothing is asked that could change it: it is opened for reading alone, and a step that would do more is
//! refused with EROFS. Names of copies are looked up below a directory of their own, and nothing leads out of it: no `..`, and no
//! symbolic link that a step makes. Whoever prepares the copies makes none that does.

mod descriptors;
mod maps;
mod names;
mod pace;
mod protect;
mod ring;
mod step;
mod tables;
mod thread;
mod transfer;

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use hotset_facts::replay::ReplayPlan;

use crate::child::own_usage;
use descriptors::Descriptors;
use maps::Maps;
use names::Names;
use pace::Pace;
pub use protect::protect;
use thread::Ended;
pub use thread::ThreadRun;

/// Where the files of a replay are.
#[derive(Debug, Clone, Copy)]
pub struct Roots<'a> {
    /// Below it originals are; none for those of the host.
    pub originals: Option<BorrowedFd<'a>>,
    /// Below it copies are.
    pub copies: BorrowedFd<'a>,
    /// Whether all files may be opened without their time of access changing (O_NOATIME), as root may; else this user's own are.
    pub no_atime: bool,
}

/// Why a replay can't begin.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A path has a byte 0 in it.
    #[error("{}: a path with a byte 0", String::from_utf8_lossy(path))]
    Path {
        /// The path.
        path: Vec<u8>,
    },
    /// What was open or mapped when the recording began can't be opened: there are no descriptors, or no memory.
    #[error("{}: {error}", String::from_utf8_lossy(path))]
    File {
        /// The path.
        path: Vec<u8>,
        /// What the system says.
        error: io::Error,
    },
    /// There is no memory to read into, no ring, or no thread to be had.
    #[error("{what}: {error}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// What the system says.
        error: io::Error,
    },
}

/// A replay that is ready to run.
pub struct Replay<'a> {
    engine: Engine<'a>,
    /// Of each thread.
    memories: Vec<thread::Memory>,
}

/// What all threads use.
struct Engine<'a> {
    plan: &'a ReplayPlan,
    names: Names<'a>,
    descriptors: Descriptors,
    maps: Maps,
    pace: Pace,
    /// Whether each thread gets a table of descriptors of its own.
    is_parted: Vec<bool>,
}

/// What a replay came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplayRun {
    /// From the beginning of the first thread to the end of the last, waits included.
    pub wall_ns: u64,
    /// Each thread of the plan, in its order.
    pub threads: Vec<ThreadRun>,
    /// Bytes that this process had read from a device meanwhile.
    pub device_read_bytes: u64,
    /// Bytes that it had written to a device, or made dirty in the cache.
    pub device_write_bytes: u64,
}

impl<'a> Replay<'a> {
    /// Makes a plan ready.
    ///
    /// # Errors
    /// Where there are no descriptors for what is open before the first step, no memory to read into, or no ring of io_uring.
    pub fn new(plan: &'a ReplayPlan, roots: Roots<'a>) -> Result<Self, ReplayError> {
        let names = Names::new(plan, roots)?;
        descriptors::allow_as_many_as_possible();
        let is_parted = match plan.threads.len() {
            // On the thread that runs it.
            0 | 1 => vec![false; plan.threads.len()],
            _ => tables::alone(plan),
        };
        let descriptors = Descriptors::new(plan, &names, &is_parted)?;
        let maps = Maps::new(plan, &names)?;
        let threads = 0..plan.threads.len();
        let memories = threads.map(|at| thread::Memory::of(plan, at)).collect::<Result<_, _>>()?;
        let pace = Pace::new(plan);
        let engine = Engine { plan, names, descriptors, maps, pace, is_parted };
        Ok(Self { engine, memories })
    }

    /// Does all steps, once.
    ///
    /// # Errors
    /// Where there is no thread to be had.
    pub fn run(self) -> Result<ReplayRun, ReplayError> {
        let before = own_usage(libc::RUSAGE_SELF);
        let ended = if self.memories.len() == 1 { self.run_here() } else { self.run_threads()? };
        let after = own_usage(libc::RUSAGE_SELF);
        let first = ended.iter().map(|thread| thread.begun).min();
        let last = ended.iter().map(|thread| thread.ended).max();
        let wall = first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first);
        Ok(ReplayRun {
            wall_ns: wall.as_nanos() as u64,
            threads: ended.into_iter().map(|thread| thread.run).collect(),
            device_read_bytes: after.device_read_bytes - before.device_read_bytes,
            device_write_bytes: after.device_write_bytes - before.device_write_bytes,
        })
    }

    /// The only thread of a plan, on the calling one: a process of one thread, as the program was.
    fn run_here(self) -> Vec<Ended> {
        let start = Start::default();
        start.give(true);
        let memories = self.memories.into_iter();
        memories.filter_map(|memory| thread::run(&self.engine, 0, memory, &start)).collect()
    }

    fn run_threads(self) -> Result<Vec<Ended>, ReplayError> {
        let Self { engine, memories } = self;
        let (engine, start) = (&engine, &Start::default());
        std::thread::scope(|scope| {
            let mut running = Vec::with_capacity(memories.len());
            let mut failed = None;
            for (at, memory) in memories.into_iter().enumerate() {
                let work = move || thread::run(engine, at, memory, start);
                match std::thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(thread) => running.push(thread),
                    Err(error) => failed = Some(ReplayError::System { what: "a thread", error }),
                }
            }
            start.give(failed.is_none());
            let ended = running.into_iter().filter_map(|thread| thread.join().ok().flatten());
            let ended = ended.collect();
            failed.map_or(Ok(ended), Err)
        })
    }
}

/// The moment at which all threads begin, or are told not to.
#[derive(Default)]
pub(crate) struct Start {
    /// Nothing yet; whether to begin.
    given: Mutex<Option<bool>>,
    change: Condvar,
}

impl Start {
    fn give(&self, begins: bool) {
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) = Some(begins);
        self.change.notify_all();
    }

    /// Waits for it: whether to begin.
    pub(crate) fn wait(&self) -> bool {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *given {
                Some(begins) => return begins,
                None => given = self.change.wait(given).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

#[cfg(test)]
mod tests;
