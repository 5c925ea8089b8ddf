//! A recording: every request becomes a record, beside what is counted of it.

mod batch;
mod call;
mod chains;
mod code;
mod cost;
mod descriptions;
mod files;
mod incoming;
mod mapped;
mod programs;
mod raw;
pub(crate) mod rings;

use std::cell::RefCell;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::rc::Rc;

use hotset_facts::trace::{RecordingCost, TraceBatch};
use hotset_facts::{Feature, FileId, Pid};
use hotset_sys::cgroup::outside_limits;
use hotset_sys::proc::mountinfo::{self, Mount};
use libbpf_rs::{MapCore, MapHandle, RingBuffer, RingBufferBuilder};

use crate::ObserveError;
use crate::collector::Collector;
use crate::load::Loaded;
use batch::Resolver;
pub use chains::Chains;
pub(crate) use cost::KnownReads;
use incoming::Incoming;
#[cfg(test)]
pub(crate) use raw::{
    Chain, ChainsValue, CodeHead, Lost, Op, PathsHead, Pending, RawMapping, StackHead,
};

/// A record is sent when its request is over, and stands in its ring a few microseconds later: what ended longer ago than this is
/// complete, of all CPUs.
const SETTLED_NS: u64 = 5_000_000;

/// How to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordOptions {
    /// Pages that enter and leave the cache are recorded too.
    pub pages: bool,
    /// Memory of a CPU's ring: a power of two, and whole pages.
    pub ring_bytes: u32,
    /// One ring for all CPUs, to compare the two.
    pub shared_ring: bool,
    /// A process that fills its ring is stopped (SIGSTOP) until that is read, so that nothing is lost.
    pub lossless: bool,
    /// Bytes of a thread's stack that are copied where code asks for the first time, at most 8,192; 0 where nobody wants to know
    /// which code asks.
    pub stack_bytes: u32,
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self {
            pages: false,
            ring_bytes: 8 << 20,
            shared_ring: false,
            lossless: false,
            stack_bytes: 0,
        }
    }
}

/// A mapping that code runs from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeMapping {
    /// Its first address and the one behind its last.
    pub addresses: (u64, u64),
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// The file; none of memory.
    pub file: Option<FileId>,
    /// A path of it, where one is known.
    pub path: Option<PathBuf>,
    /// The kernel made it: `[vdso]`.
    pub is_vdso: bool,
}

/// A thread where it asked from code for the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackSample {
    /// Stands for the code: records have it too.
    pub site: u64,
    /// Where the code is: [`Chains::tell`] wants to know it.
    pub place: u64,
    /// The process.
    pub pid: Pid,
    /// The thread.
    pub tid: u32,
    /// Nanoseconds since the recording began.
    pub time_ns: u64,
    /// The instruction behind the one that asked.
    pub ip: u64,
    /// The stack pointer.
    pub sp: u64,
    /// The register that frame pointers stand in.
    pub bp: u64,
    /// Where the first stack of the program began that the process ran then.
    pub stack_start: u64,
    /// Memory from the stack pointer up; empty where it could not be read.
    pub stack: Vec<u8>,
    /// Where its process had code at that moment, in order of address, if that changed since the thread's sample before; empty if it
    /// is more than can be told. Nothing on kernels that don't tell (before 6.7), or where the mappings were locked.
    pub code: Option<Vec<CodeMapping>>,
}

/// Records, and the code that they were asked from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordBatch {
    /// The records; none has a call site yet.
    pub trace: TraceBatch,
    /// Of each record, the code that it was asked from; 0 where that is not known.
    pub sites: Vec<u64>,
    /// Code that asked for the first time.
    pub stacks: Vec<StackSample>,
}

/// What was lost of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordLosses {
    /// Records that found no room in their ring.
    pub records: u64,
    /// Records that could not be decoded.
    pub malformed: u64,
    /// Stacks that found no room: the code of some records is not known.
    pub stacks: u64,
    /// Faults, and what devices did beside requests, of threads that did nothing since: they were not told when the recording
    /// ended.
    pub pending: u64,
}

/// The end of a recording.
#[derive(Debug)]
pub struct RecordingEnd {
    /// Records that were not taken before.
    pub last: RecordBatch,
    /// What was lost of all.
    pub losses: RecordLosses,
    /// What recording cost a request; none where that could not be measured.
    pub cost: Option<RecordingCost>,
}

/// The records of a session.
pub(crate) struct Recording {
    ring: RingBuffer<'static>,
    incoming: Rc<RefCell<Incoming>>,
    resolver: Resolver,
    mounts: Vec<Mount>,
    lossless: bool,
    stops: u64,
    known: Option<KnownReads>,
    _rings: Vec<MapHandle>,
}

impl Recording {
    /// Makes the rings; the sensor is not attached yet.
    pub(crate) fn new(loaded: &Loaded, options: &RecordOptions) -> Result<Self, ObserveError> {
        // A recording is none the worse where its cost is not known.
        let known = KnownReads::time_unrecorded(options.ring_bytes);
        // That a limit counts them all the same is told with the other tables (`load()`).
        let (rings, _) =
            outside_limits(|| rings::make(loaded, options.ring_bytes, options.shared_ring));
        let rings = rings?;
        let incoming: Rc<RefCell<Incoming>> = Rc::default();
        let ring = listen(&rings, &incoming)?;
        let has_device = !loaded.selection.missing.contains(&Feature::BlockLayer);
        Ok(Self {
            ring,
            incoming,
            resolver: Resolver::new(monotonic_ns(), has_device),
            mounts: mountinfo::own().unwrap_or_default(),
            lossless: options.lossless,
            stops: 0,
            known,
            _rings: rings,
        })
    }

    /// Readable while a ring fills up.
    pub(crate) fn fd(&self) -> RawFd {
        self.ring.epoll_fd()
    }

    /// Reads the rings.
    pub(crate) fn read(&self) -> Result<(), ObserveError> {
        self.ring.consume().map_err(|error| ObserveError::table("op_rings", error))
    }

    /// What the rings held when they were read last, of all that ended before `until_ns`; names must have been read since.
    pub(crate) fn batch(&mut self, collector: &mut Collector, until_ns: u64) -> RecordBatch {
        let mut incoming = self.incoming.borrow_mut();
        self.resolver.batch(&mut incoming, until_ns, collector, &self.mounts)
    }

    /// Has the calling thread, which is recorded, do what it did before the sensor was attached.
    pub(crate) fn time_recorded(&mut self) {
        if let Some(known) = &mut self.known {
            // What can't be read now is read later, or is not there to be measured.
            known.time_recorded(|| drop(self.ring.consume()));
        }
    }

    /// What recording costs a request; none where that could not be measured.
    pub(crate) fn cost(&self) -> Option<RecordingCost> {
        self.known.as_ref()?.cost(self.resolver.own_reads_ns())
    }

    pub(crate) fn is_lossless(&self) -> bool {
        self.lossless
    }

    /// Lets processes go on that were stopped before the rings were read; that happened so often until now.
    pub(crate) fn let_go(&mut self, loaded: &Loaded, stops: u64) -> Result<(), ObserveError> {
        if stops == self.stops {
            return Ok(());
        }
        self.stops = stops;
        let stopped = loaded.map("stopped")?;
        let keys: Vec<Vec<u8>> = stopped.keys().collect();
        for key in keys {
            // Before the signal: stopped again, it is in the table again.
            let _ = stopped.delete(&key);
            let pid = key.first_chunk().map(|bytes| i32::from_ne_bytes(*bytes));
            if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::CONT);
            }
        }
        Ok(())
    }

    /// Records that could not be decoded.
    pub(crate) fn malformed(&self) -> u64 {
        self.incoming.borrow().malformed + self.resolver.unknown
    }
}

fn listen(
    rings: &[MapHandle],
    incoming: &Rc<RefCell<Incoming>>,
) -> Result<RingBuffer<'static>, ObserveError> {
    let failed = |error| ObserveError::table("op_rings", error);
    let mut builder = RingBufferBuilder::new();
    for ring in rings {
        let sink = Rc::clone(incoming);
        let take = move |bytes: &[u8]| {
            sink.borrow_mut().add(bytes);
            0
        };
        builder.add(ring, take).map_err(failed)?;
    }
    builder.build().map_err(failed)
}

/// Up to when records that are read now are complete.
pub(crate) fn settled_ns() -> u64 {
    monotonic_ns().saturating_sub(SETTLED_NS)
}

/// The clock of the sensor.
pub(crate) fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}
