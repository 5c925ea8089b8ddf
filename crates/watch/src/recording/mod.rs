//! A session whose records are taken while it lasts, and handed to the thread that keeps them (`pipe`).

mod memory;
mod pipe;

use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use anyhow::Result;
use hotset_facts::trace::{MemoryStep, RecordingCost, TraceMemory};
use hotset_observe::{
    DRAIN_INTERVAL, Observation, ObserveError, RecordLosses, RecordingEnd, Session,
};
use hotset_sites::Images;
use hotset_sys::child::Attendant;

use crate::Say;
use crate::interval::Drained;
use crate::sites::Taken;

pub(crate) use memory::{Memory, Whose};
pub(crate) use pipe::{Pipe, Waiting};

/// How long rings are left alone while the thread is behind: a fraction of what they take to fill.
const THREAD_BEHIND: Duration = Duration::from_millis(2);

/// The sensor, and the thread that keeps what it tells.
pub(crate) struct Recorder<R> {
    pub(crate) session: Session,
    pipe: Pipe<R>,
    images: Images,
    memory: Memory,
    say: Say,
    /// The first error of the sensor.
    failed: Option<ObserveError>,
    has_told: bool,
}

/// What a recorder has in the end.
pub(crate) struct Finished<R> {
    pub(crate) observation: Observation,
    pub(crate) losses: RecordLosses,
    /// What recording cost a request; none where that could not be measured.
    pub(crate) cost: Option<RecordingCost>,
    /// Memory beside the cache; none where nobody looked.
    pub(crate) memory: Option<TraceMemory>,
    /// The same over time.
    pub(crate) memory_steps: Vec<MemoryStep>,
    /// Where the last records go.
    pub(crate) pipe: Pipe<R>,
    /// These records.
    pub(crate) last: Taken,
}

impl<R: Send + 'static> Recorder<R> {
    pub(crate) fn new(session: Session, pipe: Pipe<R>, whose: Whose, say: Say) -> Self {
        Self {
            session,
            pipe,
            images: Images::default(),
            memory: Memory::of(whose),
            say,
            failed: None,
            has_told: false,
        }
    }

    /// Takes what the sensor has, unless the thread is behind: then it stays in the rings.
    fn take(&mut self) -> Result<(), ObserveError> {
        self.session.drain()?;
        self.memory.look(|| self.session.live_processes());
        if self.pipe.has_room() {
            let batch = self.session.records()?;
            self.pipe.push(Taken::of(batch, &mut self.images));
        } else {
            // Rings that are not read stay readable: whoever waits for them would not wait, and take the thread's CPU.
            std::thread::sleep(THREAD_BEHIND);
        }
        if !self.has_told && self.pipe.has_ended() {
            self.has_told = true;
            (self.say)(&"the trace can't be written any more; the command goes on without it");
        }
        Ok(())
    }

    /// Detaches the sensor.
    ///
    /// # Errors
    /// Where what it counted can't be read.
    pub(crate) fn finish(mut self) -> Result<Finished<R>, ObserveError> {
        if let Some(error) = self.failed {
            (self.say)(&error);
        }
        let (observation, RecordingEnd { last, losses, cost }) = self.session.finish_recording()?;
        let last = Taken::of(last, &mut self.images);
        let (memory, memory_steps) = self.memory.into_seen();
        Ok(Finished { observation, losses, cost, memory, memory_steps, pipe: self.pipe, last })
    }
}

impl<R: Send + 'static> Attendant for Recorder<R> {
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        Some(self.session.readable())
    }

    fn tick(&self) -> Duration {
        self.memory.until_next()
    }

    fn attend(&mut self) -> ControlFlow<()> {
        if let Err(error) = self.take() {
            self.failed.get_or_insert(error);
        }
        ControlFlow::Continue(())
    }
}

impl<R: Send + 'static> Drained for Recorder<R> {
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        Some(self.session.readable())
    }

    fn drain_interval(&self) -> Duration {
        DRAIN_INTERVAL.min(self.memory.until_next())
    }

    fn drain(&mut self) -> Result<()> {
        Ok(self.take()?)
    }
}
