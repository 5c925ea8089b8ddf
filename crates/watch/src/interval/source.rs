//! The real source of intervals: the sensor and the host.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use hotset_facts::units::nanos;
use hotset_facts::{Interval, NotMeasured};
use hotset_observe::DEFAULT_MAX_ROWS;
use hotset_observe::live::{LiveOptions, LiveSession};
use hotset_sys::host::HostSampler;

use super::{Drained, LiveSource};
use crate::scoped::{Scoped, family};

/// A session of the sensor, and the host beside it.
pub struct Live {
    session: LiveSession,
    host: HostSampler,
    begun: Instant,
    ended: Instant,
}

impl Live {
    /// Loads and attaches the sensor; the first interval begins now.
    ///
    /// # Errors
    /// Where the sensor can't be had.
    pub fn start(options: LiveOptions) -> Result<Self> {
        let session = LiveSession::start(options)?;
        let (host, begun) = (HostSampler::new(), Instant::now());
        Ok(Self { session, host, begun, ended: begun })
    }

    /// The same for what `scoped` names, with names of files where they are wanted.
    ///
    /// # Errors
    /// Where the sensor can't be had, or the process is gone.
    pub fn of(scoped: &Scoped, names: bool) -> Result<Self> {
        let scope = scoped.scope.clone();
        let options = LiveOptions { scope, max_rows: DEFAULT_MAX_ROWS, names, compat: false };
        let mut live = Self::start(options)?;
        if let Some(pid) = scoped.pid {
            // Those that were forked while the sensor was being attached.
            live.session.add_processes(&family(pid)?)?;
        }
        Ok(live)
    }

    /// The session, for what is asked of single items.
    pub fn session(&self) -> &LiveSession {
        &self.session
    }

    /// What this kernel doesn't let the sensor count.
    pub fn not_measured(&self) -> Vec<NotMeasured> {
        self.session.not_measured()
    }
}

impl Drained for Live {
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        Some(self.session.readable())
    }

    fn drain_interval(&self) -> Duration {
        hotset_observe::DRAIN_INTERVAL
    }

    fn drain(&mut self) -> Result<()> {
        Ok(self.session.drain()?)
    }
}

impl LiveSource for Live {
    fn interval(&mut self) -> Result<Interval> {
        // Before the pass: whatever happened until then is in it, and a little more.
        let (at, now) = (SystemTime::now(), Instant::now());
        let sample = self.session.sample()?;
        let host = self.host.sample();
        let before = std::mem::replace(&mut self.ended, now);
        Ok(Interval {
            at,
            ended_after_ns: nanos(now.duration_since(self.begun)),
            length_ns: nanos(now.duration_since(before)),
            processes: sample.processes,
            files: sample.files,
            rows: sample.rows,
            active_rows: sample.active_rows,
            others: sample.others,
            evicted_pages: sample.evicted_pages,
            host,
            losses: sample.losses,
        })
    }
}
