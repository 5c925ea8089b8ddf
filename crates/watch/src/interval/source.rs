//! The real source of intervals: the sensor and the host.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use hotset_facts::units::nanos;
use hotset_facts::{Interval, LiveCurves, NotMeasured};
use hotset_observe::live::{LiveOptions, LiveSample, LiveSession};
use hotset_sys::host::HostSampler;

use super::curves::{CurveOptions, Curves};
use super::{Drained, LiveSource};
use crate::scoped::{Scoped, family};

/// A session of the sensor, and the host beside it.
pub struct Live {
    session: LiveSession,
    curves: Option<Curves>,
    host: HostSampler,
    begun: Instant,
    ended: Instant,
}

impl Live {
    /// Loads and attaches the sensor; the first interval begins now. With `curves`, whose sample `options` then has, intervals
    /// say what the references of control groups to pages came to.
    ///
    /// # Errors
    /// Where the sensor can't be had.
    pub fn start(options: LiveOptions, curves: Option<CurveOptions>) -> Result<Self> {
        let sample_exponent = curves.map(|curves| curves.exponent);
        let session = LiveSession::start(LiveOptions { sample_exponent, ..options })?;
        let (host, begun) = (HostSampler::new(), Instant::now());
        Ok(Self { session, curves: curves.map(Curves::new), host, begun, ended: begun })
    }

    /// The same for what `scoped` names, with names of files where they are wanted.
    ///
    /// # Errors
    /// Where the sensor can't be had, or the process is gone.
    pub fn of(scoped: &Scoped, names: bool, curves: Option<CurveOptions>) -> Result<Self> {
        let scope = scoped.scope.clone();
        let options = LiveOptions { scope, names, ..LiveOptions::default() };
        let mut live = Self::start(options, curves)?;
        if let Some(pid) = scoped.pid {
            // Those that were forked while the sensor was being attached.
            live.session.add_processes(&family(pid)?)?;
        }
        Ok(live)
    }

    /// References that came since the last look.
    fn take_references(&mut self) {
        if let Some(curves) = &mut self.curves {
            self.session.take_references(|reference, group| curves.take(reference, group));
        }
    }

    /// What came of them in the interval that ended.
    fn end_curves(&mut self, counted: &LiveSample) -> Option<LiveCurves> {
        self.take_references();
        let (session, curves) = (&self.session, self.curves.as_mut()?);
        let (exponent, lost) = (session.sample_exponent()?, session.lost_references());
        let is_gone = |path: &str| !session.has_cgroup(path);
        let ended = curves.interval(counted, exponent, lost, is_gone);
        if let Some(exponent) = curves.fewer(&ended) {
            session.raise_sample_exponent(exponent);
        }
        Some(ended)
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
        self.session.drain()?;
        self.take_references();
        Ok(())
    }
}

impl LiveSource for Live {
    fn interval(&mut self) -> Result<Interval> {
        // Before the pass: whatever happened until then is in it, and a little more.
        let (at, now) = (SystemTime::now(), Instant::now());
        let sample = self.session.sample()?;
        let curves = self.end_curves(&sample);
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
            curves,
            lookups: sample.lookups,
        })
    }
}
