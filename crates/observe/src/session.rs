//! One observation, from attaching to the facts.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::rc::Rc;

use hotset_facts::{NotMeasured, Pid};
use libbpf_rs::{MapCore, RingBuffer};
use rustix::event::epoll;

use crate::ObserveError;
use crate::clear::clear;
use crate::collector::Collector;
use crate::configure::Setup;
use crate::facts;
use crate::load::{self, Loaded};
use crate::observation::{Observation, Options, Scope};
use crate::recording::{Chains, RecordBatch, RecordLosses, Recording, RecordingEnd, settled_ns};
use crate::scope::{self, in_initial_pid_namespace, open_ring, update};
use crate::select::Build;
use crate::tables::Tables;

/// A running observation. Dropping it detaches the sensor.
pub struct Session {
    pub(crate) loaded: Loaded,
    ring: RingBuffer<'static>,
    /// Readable while any ring fills up.
    filling: OwnedFd,
    collector: Rc<RefCell<Collector>>,
    recording: Option<Recording>,
    options: Options,
    /// How many chunks may have been made before the table is swept again.
    sweep_at: u64,
    /// Programs that the kernel had skipped when the tables were made empty last.
    skipped_before: u64,
    _cgroup: Option<OwnedFd>,
}

impl Session {
    /// Loads and attaches the sensor.
    ///
    /// # Errors
    /// Where the kernel lacks something essential or refuses; nothing stays attached then.
    pub fn start(options: Options) -> Result<Self, ObserveError> {
        let of_host = in_initial_pid_namespace()?;
        if !of_host && (options.compat || !matches!(options.scope, Scope::Children)) {
            return Err(ObserveError::PidNamespace { what: "who is to be observed" });
        }
        if !of_host && options.record.is_some_and(|record| record.lossless) {
            return Err(ObserveError::PidNamespace {
                what: "who is to be stopped while records are read",
            });
        }
        let setup = Setup {
            scope: scope::number(&options.scope),
            max_rows: options.max_rows.max(2),
            record: options.record,
            ..Setup::default()
        };
        let mut loaded = load::load(&setup, options.compat)?;
        let cgroup = scope::admit(&loaded, &options.scope)?;
        if loaded.selection.build == Build::Compat && !of_host {
            return Err(ObserveError::PidNamespace { what: "the command" });
        }
        let collector = Rc::new(RefCell::new(Collector::default()));
        let sink = Rc::clone(&collector);
        let take = move |bytes: &[u8]| sink.borrow_mut().take(bytes);
        let ring = open_ring(&loaded, take)?;
        let recording =
            options.record.as_ref().map(|record| Recording::new(&loaded, record)).transpose()?;
        collector.borrow_mut().programs = recording.as_ref().map(|_| Vec::new());
        let wakers = recording.iter().map(Recording::fd).chain([ring.epoll_fd()]);
        let filling = either(wakers).map_err(|error| ObserveError::table("events", error))?;
        let tables = Tables::new(&loaded.object, loaded.selection.build);
        let sweep_at = tables.chunk_limit()? * 3 / 4;
        loaded.attach()?;
        let mut session = Self {
            loaded,
            ring,
            filling,
            collector,
            recording,
            options,
            sweep_at,
            skipped_before: 0,
            _cgroup: cgroup,
        };
        if let Some(mut recording) = session.recording.take() {
            session.following_children(|| recording.time_recorded())?;
            session.recording = Some(recording);
        }
        Ok(session)
    }

    /// Runs `spawn`; every process that this thread creates in it is observed from its first instant. Call it from the
    /// process's main thread.
    ///
    /// # Errors
    /// Where this thread can't be marked; `spawn` has not run then.
    pub fn following_children<T>(&self, spawn: impl FnOnce() -> T) -> Result<T, ObserveError> {
        let tasks = self.loaded.map("tasks")?;
        let empty = vec![0_u8; tasks.value_size() as usize];
        let own = own_key(self.loaded.selection.build)?;
        update(&tasks, "tasks", &own.bytes, &empty)?;
        let result = spawn();
        // A mark that stays does no harm: what this process itself does is left out of the facts. The command runs now, and
        // to fail would leave it without a report.
        let _ = tasks.delete(&own.bytes);
        Ok(result)
    }

    /// Processes that were seen to begin, and not to end.
    pub fn live_processes(&self) -> Vec<Pid> {
        self.collector.borrow().live_processes().collect()
    }

    /// That the sensor's tables count against the memory limit around this process, if they do: to be told before what is
    /// observed begins.
    pub fn limited(&self) -> Option<&NotMeasured> {
        self.loaded.limited.as_ref()
    }

    /// Adds processes to a session that observes [`Scope::Processes`].
    ///
    /// # Errors
    /// Where the table is full.
    pub fn add_processes(&mut self, pids: &[Pid]) -> Result<(), ObserveError> {
        scope::admit_processes(&self.loaded, pids)
    }

    /// A descriptor that turns readable when the ring fills up; call [`Session::drain`] then, and every 50 ms.
    pub fn readable(&self) -> BorrowedFd<'_> {
        self.filling.as_fd()
    }

    /// Takes what the ring holds, and keeps the tables from filling up.
    ///
    /// # Errors
    /// Where a table can't be read.
    pub fn drain(&mut self) -> Result<(), ObserveError> {
        self.ring.consume().map_err(|error| ObserveError::table("events", error))?;
        let tables = Tables::new(&self.loaded.object, self.loaded.selection.build);
        // Chunks ever made; those that were freed are in `sweep_at`.
        let made = tables.globals()?.chunks;
        if made >= self.sweep_at {
            let freed = tables.sweep_chunks()?;
            let limit = tables.chunk_limit()?;
            self.sweep_at = made + freed.max(limit / 16);
        }
        Ok(())
    }

    /// Takes the records that are complete, and what they point into. None in a session that records nothing.
    ///
    /// # Errors
    /// Where a ring can't be read.
    pub fn records(&mut self) -> Result<RecordBatch, ObserveError> {
        self.batch(settled_ns())
    }

    fn batch(&mut self, until_ns: u64) -> Result<RecordBatch, ObserveError> {
        let Some(recording) = &mut self.recording else { return Ok(RecordBatch::default()) };
        // Records before the names in them: whoever was named when its record was sent is known once both are read.
        recording.read()?;
        if recording.is_lossless() {
            let tables = Tables::new(&self.loaded.object, self.loaded.selection.build);
            recording.let_go(&self.loaded, tables.globals()?.stops)?;
        }
        self.ring.consume().map_err(|error| ObserveError::table("events", error))?;
        Ok(recording.batch(&mut self.collector.borrow_mut(), until_ns))
    }

    /// Where the sensor is told chains of calls; nothing in a session without call sites.
    ///
    /// # Errors
    /// Where the table can't be had.
    pub fn chains(&self) -> Result<Option<Chains>, ObserveError> {
        let asks = self.options.record.is_some_and(|record| record.stack_bytes > 0);
        asks.then(|| Chains::of(&self.loaded)).transpose()
    }

    /// Turns what was counted into facts, and goes on from zero: what is observed next is counted as by a new session, which
    /// takes much longer to start. Not of a recording.
    ///
    /// # Errors
    /// Where a table can't be read or emptied, or one of [`Session::live_processes`] is left: what it does from now on would
    /// be counted with what is observed next.
    pub fn take(&mut self) -> Result<Observation, ObserveError> {
        self.ring.consume().map_err(|error| ObserveError::table("events", error))?;
        if self.recording.is_some() || !self.live_processes().is_empty() {
            return Err(ObserveError::table("tasks", "still has processes that are observed"));
        }
        let tables = Tables::new(&self.loaded.object, self.loaded.selection.build);
        let globals = tables.globals()?;
        let skipped = self.loaded.skipped(&globals);
        let skipped_now = skipped.saturating_sub(self.skipped_before);
        let collector = self.collector.take();
        let observation = facts::observation(&self.loaded, &collector, &self.options, skipped_now)?;
        clear(&self.loaded, &globals)?;
        self.ring.consume().map_err(|error| ObserveError::table("events", error))?;
        self.collector.take();
        self.skipped_before = skipped;
        self.sweep_at = tables.chunk_limit()? * 3 / 4;
        Ok(observation)
    }

    /// Detaches the sensor and turns what it counted into facts.
    ///
    /// # Errors
    /// Where a table can't be read.
    pub fn finish(self) -> Result<Observation, ObserveError> {
        self.finish_recording().map(|(observation, _)| observation)
    }

    /// The same with what is to be told of the records.
    ///
    /// # Errors
    /// Where a table can't be read.
    pub fn finish_recording(mut self) -> Result<(Observation, RecordingEnd), ObserveError> {
        let globals = Tables::new(&self.loaded.object, self.loaded.selection.build).globals()?;
        let skipped = self.loaded.skipped(&globals).saturating_sub(self.skipped_before);
        self.loaded.links.clear();
        self.ring.consume().map_err(|error| ObserveError::table("events", error))?;
        let last = self.batch(u64::MAX)?;
        let globals = Tables::new(&self.loaded.object, self.loaded.selection.build).globals()?;
        let losses = RecordLosses {
            records: globals.ops_lost,
            stacks: globals.stacks_lost,
            pending: u64::try_from(globals.ops_pending).unwrap_or(0),
            malformed: self.recording.as_ref().map_or(0, Recording::malformed),
        };
        let cost = self.recording.as_ref().and_then(Recording::cost);
        let collector = self.collector.borrow();
        let observation = facts::observation(&self.loaded, &collector, &self.options, skipped)?;
        Ok((observation, RecordingEnd { last, losses, cost }))
    }
}

/// A descriptor that is readable while any of these is.
fn either(descriptors: impl Iterator<Item = RawFd>) -> io::Result<OwnedFd> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for descriptor in descriptors {
        // SAFETY: the ring that owns it lives, and so does the session that it will be a part of.
        let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
        epoll::add(&epoll, descriptor, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
    }
    Ok(epoll)
}

struct OwnKey {
    bytes: Vec<u8>,
    _pidfd: Option<OwnedFd>,
}

/// How a map of tasks names the main thread: by a pidfd in task storage, by its id in the compat hash.
fn own_key(build: Build) -> Result<OwnKey, ObserveError> {
    if build == Build::Compat {
        return Ok(OwnKey { bytes: std::process::id().to_ne_bytes().to_vec(), _pidfd: None });
    }
    let pidfd = rustix::process::pidfd_open(
        rustix::process::getpid(),
        rustix::process::PidfdFlags::empty(),
    )
    .map_err(|error| ObserveError::table("tasks", error))?;
    Ok(OwnKey { bytes: pidfd.as_raw_fd().to_ne_bytes().to_vec(), _pidfd: Some(pidfd) })
}
