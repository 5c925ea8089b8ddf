//! One observation, from attaching to the facts.

use std::cell::RefCell;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use hotset_facts::{NotMeasured, Pid};
use libbpf_rs::{MapCore, RingBuffer};

use crate::ObserveError;
use crate::collector::Collector;
use crate::configure::Setup;
use crate::facts;
use crate::load::{self, Loaded};
use crate::observation::{Observation, Options, Scope};
use crate::scope::{self, in_initial_pid_namespace, open_ring, update};
use crate::select::Build;
use crate::tables::Tables;

/// A running observation. Dropping it detaches the sensor.
pub struct Session {
    pub(crate) loaded: Loaded,
    ring: RingBuffer<'static>,
    collector: Rc<RefCell<Collector>>,
    options: Options,
    /// How many chunks may have been made before the table is swept again.
    sweep_at: u64,
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
        let setup = Setup {
            scope: scope::number(&options.scope),
            max_rows: options.max_rows.max(2),
            ..Setup::default()
        };
        let mut loaded = load::load(&setup, options.compat)?;
        let cgroup = scope::admit(&loaded, &options.scope)?;
        if loaded.selection.build == Build::Compat && !of_host {
            return Err(ObserveError::PidNamespace { what: "the command" });
        }
        let collector = Rc::new(RefCell::new(Collector::default()));
        let sink = Rc::clone(&collector);
        let ring = open_ring(&loaded, move |bytes| sink.borrow_mut().take(bytes))?;
        let tables = Tables::new(&loaded.object, loaded.selection.build);
        let sweep_at = tables.chunk_limit()? * 3 / 4;
        loaded.attach()?;
        Ok(Self { loaded, ring, collector, options, sweep_at, _cgroup: cgroup })
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
        // SAFETY: the ring owns this descriptor and lives as long as the borrow of `self`.
        unsafe { BorrowedFd::borrow_raw(self.ring.epoll_fd()) }
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

    /// Detaches the sensor and turns what it counted into facts.
    ///
    /// # Errors
    /// Where a table can't be read.
    pub fn finish(mut self) -> Result<Observation, ObserveError> {
        let globals = Tables::new(&self.loaded.object, self.loaded.selection.build).globals()?;
        let skipped = self.loaded.skipped(&globals);
        self.loaded.links.clear();
        self.ring.consume().map_err(|error| ObserveError::table("events", error))?;
        facts::observation(&self.loaded, &self.collector.borrow(), &self.options, skipped)
    }
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
