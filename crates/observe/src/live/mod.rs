//! A session that lasts for days: what each process did to each file, one interval after the other.
//!
//! Programs in the kernel count as in [`crate::Session`]: a *row* holds what one process did to one file, in counters that
//! only grow. Nothing is ever reset under a program's feet: a sample is the difference to what was shown before, which
//! `RowState` remembers of each row. What is added here is that no table fills up for good.
//!
//! # The life of a row
//!
//! ```text
//!                   a program takes the slot         its process is known
//!       free ─────────────────────────────► orphan ─────────────────────► in use ◄──┐ each sample shows
//!        ▲                                     (one sample at most)        │  │     │ what was added
//!        │                                                                 │  └─────┘
//!        │                                       its process ended, or it  │
//!        │                                       is idle in a full table   ▼
//!  slot in the ring ◄── zeroed ◄── read once more, at the next sample ◄── released: marked NO_OWNER,
//!   of free rows                   (what came late is shown)              then out of the index
//! ```
//!
//! A program finds a row through the index, or through the slot that its task remembers; either way it compares the owner in
//! the row with its own. So a row is marked first: a task that remembers the slot sees that it is no longer its own. It leaves
//! the index second: until then everybody finds this one row, and no second one is made. A program that found it before both
//! may still add to it; programs run with preemption off, and by the next sample, `SETTLING` later at least, each of
//! them is done. Only then is the row read for the last time, zeroed, and its slot handed to the programs.
//!
//! A process goes the same way: it ends, is shown once with `ended`, its last row is freed, and then its entry. Its
//! *owner* is the entry's slot and how often the slot was used, so a PID that is reused is another owner.
//!
//! The compat build has a hash of rows in place of slots (`hashed`): what is released is read, deleted and shown in one go.
//!
//! # One sample
//!
//! 1. [`LiveSession::drain`] takes names from the ring, and sweeps chunks of page bits where their table is filling up.
//! 2. `Store::register_processes` reads the table of processes into `Processes`; some that should run are checked
//!    in /proc, because an end can be missed.
//! 3. `Store::scan_rows` reads each row once and hands it to the `Assembly`, which adds what grew to the sample and says
//!    whether the row is kept or released.
//! 4. Who did that is asked again: a process may have executed another program since it was registered, and a row tells what
//!    both did.
//! 5. `Store::free_processes` frees the entries of processes that ended and have no row left.
//!
//! `store` tells the two builds apart, `slots` and `hashed` are their rows, `window` maps parts of arrays, `free` is a ring
//! of free slots, `counters` takes differences, `files` keeps names, `cgroups` names control groups, `chunks` sweeps,
//! `references` are those to pages that are in a sample, `lookups` those of paths. `who` asks who is who, before and after the rows.

mod assembly;
mod cgroups;
mod chunks;
pub(crate) mod counters;
mod files;
mod free;
mod hashed;
mod lookups;
#[cfg(test)]
mod memory_tests;
mod processes;
mod references;
mod slots;
mod store;
mod who;
mod window;

use std::cell::RefCell;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use hotset_facts::{
    FileId, LiveFile, LiveIo, LiveLookups, LiveLosses, LiveProcess, LiveRow, NotMeasured, Observed,
    Pid, SizeHistogram,
};
use hotset_sys::proc::mountinfo;
use libbpf_rs::{MapCore, RingBuffer};

use self::assembly::{Assembly, idle_limit};
use self::cgroups::{Cgroups, has_memory, hierarchy};
use self::chunks::Sweeper;
use self::files::Files;
use self::lookups::OtherLookups;
use self::processes::Processes;
use self::references::References;
pub use self::references::{PageReference, ProcessReferences, ReferenceKind};
use self::store::Store;
use self::window::Window;
use crate::ObserveError;
use crate::batch;
use crate::configure::Setup;
use crate::load::{self, Loaded};
use crate::observation::Scope;
use crate::record::{Globals, read, zeroed};
use crate::scope::{self, Taker, in_initial_pid_namespace, open_rings};
use crate::select::Build;
use crate::sensor;
use crate::tables::Tables;

/// Programs run with preemption off: one that found a row is done with it long before this has passed.
const SETTLING: Duration = Duration::from_millis(20);

/// How to observe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveOptions {
    /// The processes that are observed: none with [`Scope::Children`], which is for runs.
    pub scope: Scope,
    /// Rows (a process and a file) that are told apart at one time; see [`crate::DEFAULT_MAX_ROWS`].
    pub max_rows: u32,
    /// Whether files are told apart, with their paths. If not, what a process did to the files of a file system is one row, and
    /// memory doesn't grow with the files.
    pub names: bool,
    /// Use the build for kernels before 6.2, also where the full one would load.
    pub compat: bool,
    /// Sends references to one in 2^this pages ([`LiveSession::take_references`]). Without it the sensor has no code for that.
    pub sample_exponent: Option<u32>,
    /// Whether path lookups are counted: open, stat, access and the like. Costs about 0.1 µs a call; without it the sensor does not see them.
    pub lookups: bool,
}

impl Default for LiveOptions {
    /// Everybody, files by name.
    fn default() -> Self {
        Self {
            scope: Scope::System,
            max_rows: crate::DEFAULT_MAX_ROWS,
            names: true,
            compat: false,
            sample_exponent: None,
            lookups: false,
        }
    }
}

/// What happened between two calls of [`LiveSession::sample`]. A process and a file stand together in one row at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSample {
    /// Who did something, or ended.
    pub processes: Vec<LiveProcess>,
    /// What was used; without names, the file systems of what was used.
    pub files: Vec<LiveFile>,
    /// Who did what to which; indices into the two lists.
    pub rows: Vec<LiveRow>,
    /// Pairs of process and file that did something.
    pub active_rows: u64,
    /// What was counted for nobody: beyond the tables, or after its process had ended.
    pub others: LiveIo,
    /// Pages of any file that left the cache, but for truncation and unlinking.
    pub evicted_pages: Observed<u64>,
    /// Losses since the session began.
    pub losses: LiveLosses,
    /// With [`LiveOptions::sample_exponent`]: processes with references that no row tells, or that were lost.
    pub references: Vec<ProcessReferences>,
    /// With [`LiveOptions::lookups`]: path lookups by control group; without a group also those of nobody.
    pub lookups: Option<Vec<LiveLookups>>,
}

/// A running observation. Dropping it detaches the sensor.
pub struct LiveSession {
    loaded: Loaded,
    ring: RingBuffer<'static>,
    files: Rc<RefCell<Files>>,
    processes: Processes,
    cgroups: Cgroups,
    store: Store,
    sweeper: Sweeper,
    hints: Window,
    references: Option<References>,
    lookups: Option<OtherLookups>,
    /// The number of the last sample.
    now: u64,
    sampled: Instant,
    evicted_before: u64,
    /// Page ranges that were forgotten to make room.
    forgotten: u64,
    _cgroup: Option<OwnedFd>,
}

impl LiveSession {
    /// Loads and attaches the sensor. The first interval begins now.
    ///
    /// # Errors
    /// Where the kernel lacks something essential or refuses; nothing stays attached then.
    pub fn start(options: LiveOptions) -> Result<Self, ObserveError> {
        if !in_initial_pid_namespace()? {
            return Err(ObserveError::PidNamespace { what: "who is to be observed" });
        }
        let mounts = mountinfo::own().unwrap_or_default();
        let hierarchy = hierarchy(&mounts, has_memory);
        let setup = Setup {
            scope: scope::number(&options.scope),
            max_rows: options.max_rows.max(2),
            live: true,
            names: options.names,
            cgroup_v1: hierarchy.as_ref().is_some_and(|hierarchy| hierarchy.old),
            record: None,
            sampling: options.sample_exponent.is_some(),
            lookups: options.lookups,
        };
        let mut loaded = load::load(&setup, options.compat)?;
        let cgroup = scope::admit(&loaded, &options.scope)?;
        let files = Rc::new(RefCell::new(Files::new(options.names)));
        let sink = Rc::clone(&files);
        let names: Taker = Box::new(move |bytes| sink.borrow_mut().take(bytes));
        let references = options.sample_exponent.map(|first| References::open(&loaded, first));
        let references = references.transpose()?;
        let sampled = references.as_ref().map(|references| ("samples", references.taker()));
        let ring = open_rings(&loaded, [("events", names)].into_iter().chain(sampled).collect())?;
        let store = Store::open(&loaded)?;
        let sweeper = Sweeper::new(chunks::limit(&loaded.map("chunks")?));
        let hints = map_whole(&loaded, ".bss.hints")?;
        loaded.attach()?;
        Ok(Self {
            loaded,
            ring,
            files,
            processes: Processes::default(),
            cgroups: Cgroups::new(hierarchy),
            store,
            sweeper,
            hints,
            references,
            lookups: options.lookups.then(OtherLookups::default),
            now: 0,
            sampled: Instant::now(),
            evicted_before: 0,
            forgotten: 0,
            _cgroup: cgroup,
        })
    }

    /// Adds processes to a session that observes [`Scope::Processes`].
    ///
    /// # Errors
    /// Where the table is full.
    pub fn add_processes(&mut self, pids: &[Pid]) -> Result<(), ObserveError> {
        scope::admit_processes(&self.loaded, pids)
    }

    /// A descriptor that turns readable when the ring fills up; call [`LiveSession::drain`] then, and every
    /// [`crate::DRAIN_INTERVAL`].
    pub fn readable(&self) -> BorrowedFd<'_> {
        // SAFETY: the ring owns this descriptor and lives as long as the borrow of `self`.
        unsafe { BorrowedFd::borrow_raw(self.ring.epoll_fd()) }
    }

    /// Takes what the ring holds, and keeps the tables from filling up.
    ///
    /// # Errors
    /// Where a table can't be read.
    pub fn drain(&mut self) -> Result<(), ObserveError> {
        self.ring.consume().map_err(|error| ObserveError::table("events", error))?;
        let globals = self.globals()?;
        let chunks = self.loaded.map("chunks")?;
        self.forgotten +=
            self.sweeper.run(&chunks, &self.hints, globals.chunks, globals.chunks_lost)?;
        Ok(())
    }

    /// What happened since the last sample, or since the start. One pass over the tables, whatever is shown of it.
    ///
    /// # Errors
    /// Where a table can't be read. What was looked at by then is lost to the next sample.
    pub fn sample(&mut self) -> Result<LiveSample, ObserveError> {
        self.drain()?;
        self.now += 1;
        // Samples that follow at once on each other are for tests, and for a host that can't keep up.
        std::thread::sleep(SETTLING.saturating_sub(self.sampled.elapsed()));
        self.register_processes()?;
        self.check_processes()?;
        // Read after the processes: every row of one that ended is within what is scanned.
        let globals = self.globals()?;
        let mut files = self.files.borrow_mut();
        files.begin(self.now);
        let (used, room) = self.store.occupancy();
        let limit = idle_limit(used, room);
        let mut assembly = Assembly::new(self.now, limit, &mut self.processes, &mut files);
        self.store.scan_rows(&self.loaded, &globals, &mut assembly)?;
        assembly.close();
        let Assembly { mut processes, files: mut shown, rows, active_rows, others, .. } = assembly;
        drop(files);
        self.name_again(&mut processes, &mut shown)?;
        if self.files.borrow_mut().end() {
            self.forget_directories()?;
        }
        let lookups = self.lookups.as_mut().map(|other| other.join(&mut self.processes, &globals));
        self.store.free_processes(&self.loaded, &self.processes.remove_ended(self.now))?;
        self.sampled = Instant::now();
        let evicted = globals.evicted.wrapping_sub(self.evicted_before);
        self.evicted_before = globals.evicted;
        let losses = self.losses(&globals);
        let evicted_pages = Observed::Value(evicted);
        let references = self.processes.take_references();
        Ok(LiveSample {
            processes,
            files: shown,
            rows,
            active_rows,
            others,
            evicted_pages,
            losses,
            references,
            lookups,
        })
    }

    /// Calls by size of one process, all its files together, since each of its rows began: reads, writes. `None` where it has
    /// no row, or one with more calls of a size than the sensor can count (2^32).
    pub fn histogram_of_process(&self, id: u32) -> Option<(SizeHistogram, SizeHistogram)> {
        self.store.histogram(&self.loaded, |row| row.owner() == id && id != 0)
    }

    /// Calls by size on one file, all processes together, as [`LiveSession::histogram_of_process`].
    pub fn histogram_of_file(&self, id: FileId) -> Option<(SizeHistogram, SizeHistogram)> {
        let file = self.files.borrow().find(id)?;
        self.store.histogram(&self.loaded, |row| row.file() == Some(file))
    }

    /// What this kernel does not let the sensor count, and what it could not decode so far.
    pub fn not_measured(&self) -> Vec<NotMeasured> {
        let globals = self.globals().unwrap_or_else(|_| zeroed());
        sensor::not_measured(&self.loaded.selection, &globals, self.loaded.limited.as_ref())
    }

    fn globals(&self) -> Result<Globals, ObserveError> {
        Tables::new(&self.loaded.object, self.loaded.selection.build).globals()
    }

    /// The sensor sends every directory again, for those that no file needed were dropped here.
    fn forget_directories(&self) -> Result<(), ObserveError> {
        let nodes = self.loaded.map("nodes")?;
        let mut known: Vec<u64> = Vec::new();
        batch::for_each(&nodes, |key, _| known.extend(read::<u64>(key)))
            .and_then(|()| batch::delete(&nodes, &known))
            .map_err(|error| ObserveError::table("nodes", error))
    }

    fn losses(&self, globals: &Globals) -> LiveLosses {
        // In the full build what has no process is among the rows lost.
        let nobody = match self.loaded.selection.build {
            Build::Full => 0,
            Build::Compat => globals.processes_lost,
        };
        LiveLosses {
            unattributed: globals.rows_lost + nobody,
            events: globals.events_lost + self.files.borrow().lost,
            origins: globals.chunks_lost + self.forgotten,
            tasks: globals.tasks_lost,
            requests: globals.requests_lost
                + globals.uring_unknown
                + globals.uring_silent
                + globals.aio_unseen,
            skipped_programs: self.loaded.skipped(globals),
            calls: globals.compat_calls + globals.shared_copies,
        }
    }
}

/// Maps all of an array.
fn map_whole(loaded: &Loaded, name: &'static str) -> Result<Window, ObserveError> {
    let map = loaded.map(name)?;
    let length = map.max_entries() as usize * map.value_size().next_multiple_of(8) as usize;
    Window::open(&map, 0, length).map_err(|error| ObserveError::table(name, error))
}
