//! One thread of a replay.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Instant;

use hotset_facts::replay::{Difference, PlanThread, ReplayPlan, Step, StepKind};

use super::ring::Ring;
use super::{Engine, ReplayError, Start, tables};
use crate::rawio::AlignedBuffer;

/// Differences that are told one by one; of the others, how many.
const MOST_TOLD: usize = 16;

/// A request for more is one for this much: its result tells that it was cut.
const MOST_BYTES: u64 = 1 << 30;
const LEAST_BYTES: u64 = 4096;

/// What a thread came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThreadRun {
    /// From its beginning to the end of its last step, without what it waited for others.
    pub busy_ns: u64,
    /// Of that, steps whose time the recording does not have.
    pub untimed_ns: u64,
    /// How long it waited for others.
    pub waited_ns: u64,
    /// Steps that did not end as recorded.
    pub differences: u64,
    /// The first of them.
    pub told: Vec<Difference>,
}

impl ThreadRun {
    /// Counts a step that did not end as recorded.
    #[inline]
    pub(super) fn compare(&mut self, step: &Step, found: i64) {
        if is_as_recorded(step, found) {
            return;
        }
        self.differences += 1;
        if self.told.len() < MOST_TOLD {
            let (record, recorded) = (step.record, step.result);
            self.told.push(Difference { record, step: step.kind, recorded, found });
        }
    }
}

/// A thread that is at its end.
pub(super) struct Ended {
    pub(super) run: ThreadRun,
    pub(super) begun: Instant,
    pub(super) ended: Instant,
    /// Its descriptors are of the table that it had before it was parted from it.
    _memory: Memory,
}

/// What a thread reads into and writes from, and what it opened and nothing else uses.
pub(super) struct Memory {
    buffer: AlignedBuffer,
    kept: Vec<OwnedFd>,
    null: Option<File>,
    ring: Option<Ring>,
}

// SAFETY: it belongs to the thread that it is handed to.
unsafe impl Send for Memory {}

impl Memory {
    /// As much as the largest request of a thread takes. Filled, so that nothing of it is first touched while time is taken, with
    /// bytes that no file system compresses.
    pub(super) fn of(plan: &ReplayPlan, thread: usize) -> Result<Self, ReplayError> {
        let of = plan.threads.get(thread);
        let steps = of.map_or(&[][..], |thread| &thread.steps);
        let largest = steps.iter().filter(|step| moves_bytes(step)).map(|step| step.bytes).max();
        let bytes = largest.unwrap_or(0).clamp(LEAST_BYTES, MOST_BYTES);
        let system = |what, error| ReplayError::System { what, error };
        // A root that originals are below may have none.
        let null = File::options().write(true).open("/dev/null").ok();
        let buffer = AlignedBuffer::new(bytes as usize)
            .ok_or_else(|| system("memory to read into", io::ErrorKind::OutOfMemory.into()))?;
        let ring = of.map(Ring::of).transpose()?.flatten();
        let mut memory = Self { buffer, kept: Vec::new(), null, ring };
        let mut random = hotset_facts::random::Random::new(thread as u64);
        for word in memory.buffer.bytes_mut().as_chunks_mut::<8>().0 {
            *word = random.number().to_ne_bytes();
        }
        Ok(memory)
    }

    pub(super) fn start(&mut self) -> *mut u8 {
        self.buffer.start()
    }

    /// So many bytes, or as many as it has.
    #[inline]
    pub(super) fn at_most(&self, bytes: u64) -> usize {
        usize::try_from(bytes).unwrap_or(usize::MAX).min(self.buffer.bytes().len())
    }

    /// A file that takes all and keeps nothing; -1 where there is none.
    pub(super) fn null(&self) -> RawFd {
        self.null.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Keeps a descriptor that no step is about until the end: nobody was seen to close it.
    pub(super) fn keep(&mut self, fd: RawFd) {
        // SAFETY: a new descriptor that nobody else owns.
        self.kept.push(unsafe { OwnedFd::from_raw_fd(fd) });
    }
}

fn moves_bytes(step: &Step) -> bool {
    matches!(step.kind, StepKind::Read | StepKind::ReadAt | StepKind::Write | StepKind::WriteAt)
}

/// Does the steps of a thread, from the moment at which all begin: what came of it, and when it began and ended. Nothing where it is
/// told not to.
pub(super) fn run(
    engine: &Engine<'_>,
    at: usize,
    mut memory: Memory,
    start: &Start,
) -> Option<Ended> {
    let mut run = ThreadRun { told: Vec::with_capacity(MOST_TOLD), ..ThreadRun::default() };
    let thread = engine.plan.threads.get(at)?;
    if !start.wait() {
        return None;
    }
    let is_to_part = engine.is_parted.get(at) == Some(&true);
    let is_parted = is_to_part && tables::part();
    if is_to_part && !is_parted {
        engine.descriptors.stay_shared();
    }
    let begun = Instant::now();
    if memory.ring.is_some() {
        go::<true>(engine, at, thread, &mut memory, &mut run);
    } else {
        go::<false>(engine, at, thread, &mut memory, &mut run);
    }
    let ended = Instant::now();
    run.busy_ns = ((ended - begun).as_nanos() as u64).saturating_sub(run.waited_ns);
    // In the table that they were opened in.
    memory.kept.clear();
    if is_parted {
        engine.descriptors.forget(engine.plan, at);
    }
    Some(Ended { run, begun, ended, _memory: memory })
}

/// Of threads that have no ring, the loop asks for none.
fn go<const HAS_RING: bool>(
    engine: &Engine<'_>,
    at: usize,
    thread: &PlanThread,
    memory: &mut Memory,
    run: &mut ThreadRun,
) {
    let mut waits = thread.waits.iter().peekable();
    let mut told = engine.pace.told(at).iter().peekable();
    for (place, step) in (0_u32..).zip(&thread.steps) {
        while let Some(wait) = waits.next_if(|wait| wait.before <= place) {
            run.waited_ns += engine.pace.wait(wait);
        }
        let found = match (step.kind, &mut memory.ring) {
            (StepKind::Send, _) | (StepKind::Load | StepKind::Store, _) if is_untimed(step) => {
                let begun = Instant::now();
                let found = engine.act(step, memory);
                run.untimed_ns += begun.elapsed().as_nanos() as u64;
                found
            }
            (kind, Some(ring)) if HAS_RING && kind.is_in_flight() => {
                let is_alone = waits.peek().is_some_and(|wait| wait.before == place + 1)
                    || told.peek().is_some_and(|steps| **steps == place + 1);
                let more = !is_alone && is_with_ring(thread.steps.get(place as usize + 1));
                let (fd, flags) = (engine.descriptors.get(step.target), engine.write_flags(step));
                ring.begin((fd, flags), step, more, run)
            }
            (StepKind::Drain, Some(ring)) if HAS_RING => ring.drain(step.bytes, run),
            _ => engine.act(step, memory),
        };
        run.compare(step, found);
        if let Some(steps) = told.next_if(|steps| **steps <= place + 1) {
            engine.pace.tell(at, *steps);
        }
    }
    if let Some(ring) = memory.ring.as_mut().filter(|_| HAS_RING) {
        let last = Step::new(StepKind::Drain, 0, thread.steps.last().map_or(0, |step| step.record));
        let found = ring.drain(0, run);
        run.compare(&last, found);
    }
}

/// Whether a step hands over what is queued before it.
fn is_with_ring(step: Option<&Step>) -> bool {
    step.is_some_and(|step| step.kind.is_in_flight() || step.kind == StepKind::Drain)
}

/// Whether the recording has no time to compare its own with: a fault that was not timed, or bytes of which a pipe or a socket took a
/// part of the time.
#[inline]
fn is_untimed(step: &Step) -> bool {
    step.kind == StepKind::Send || step.bytes == 0
}

/// Whether a call came to what it did when it was recorded: the same bytes, the same error, the same success.
#[inline]
fn is_as_recorded(step: &Step, found: i64) -> bool {
    let counts = matches!(
        step.kind,
        StepKind::Read
            | StepKind::ReadAt
            | StepKind::ReadRing
            | StepKind::Write
            | StepKind::WriteAt
            | StepKind::WriteRing
            | StepKind::CopyRange
            | StepKind::Send
            | StepKind::SendTo
            | StepKind::ReadLink
    );
    if counts { found == step.result } else { found.min(0) == step.result.min(0) }
}
