//! What becomes of an interval: counters, labels, a snapshot for the server and for pushes.

use hotset_facts::units::nanos;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hotset_analysis::live::{Accumulated, GrownLoss, LossWatch, SeriesLimits, summarise_interval};
use hotset_facts::{Interval, MemInfo, NotMeasured, Observed, Reason};
use hotset_view::metrics::{
    Curves, FleetNumbers, Measured, OtlpNumbers, OwnNumbers, ProcessNumbers, SamplingState,
};

use crate::SeriesOptions;
use crate::curves::GroupCurves;
use crate::labels::Known;
use crate::shared::{Shared, Snapshot};
use crate::watch::Watched;

/// File systems with series of their own, where they are exported.
const MOUNTS: usize = 64;

const NO_SAMPLE: Reason = Reason::not_measured("no interval has ended yet");
const NO_PROC: Reason = Reason::denied("/proc can't be read");

/// Everything that goes into a snapshot.
pub(super) struct Sampler {
    counted: Accumulated,
    curves: Option<GroupCurves>,
    losses: LossWatch,
    known: Known,
    mounts: bool,
    watched: Watched,
    gaps: Vec<NotMeasured>,
    memory: Observed<MemInfo>,
    own: OwnNumbers,
    state: SamplingState,
    stopped_at: Option<SystemTime>,
}

/// How it goes to bring elsewhere what was counted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Deliveries {
    /// Pushes by OTLP.
    pub(super) otlp: Option<OtlpNumbers>,
    /// Tables of a fleet.
    pub(super) fleet: Option<FleetNumbers>,
}

/// How long it took to sample.
#[derive(Debug, Clone, Copy, Default)]
pub struct SampleTime {
    /// All samples so far.
    pub total: Duration,
    /// The last one.
    pub last: Duration,
}

impl Sampler {
    /// Nothing sampled yet; the session began at `started`.
    pub(super) fn new(
        series: &SeriesOptions,
        interval: Duration,
        started: SystemTime,
        watched: Watched,
    ) -> Self {
        let limits = SeriesLimits {
            commands: series.commands,
            cgroups: series.cgroups,
            mounts: if series.mounts { MOUNTS } else { 0 },
        };
        Self {
            counted: Accumulated::new(limits),
            curves: series.curves.then(GroupCurves::default),
            losses: LossWatch::default(),
            known: Known::new(),
            mounts: series.mounts,
            watched,
            gaps: Vec::new(),
            memory: Observed::Missing(NO_SAMPLE),
            own: OwnNumbers {
                version: env!("CARGO_PKG_VERSION"),
                started,
                last_sample: None,
                interval_ns: nanos(interval),
                sample_ns: 0,
                last_sample_ns: 0,
                rows: 0,
                processes: 0,
                responses: Vec::new(),
                refused_connections: 0,
                process: Observed::Missing(NO_SAMPLE),
                otlp: None,
                fleet: None,
            },
            state: SamplingState::Running,
            stopped_at: None,
        }
    }

    /// Says what is not measured.
    pub(super) fn set_gaps(&mut self, gaps: Vec<NotMeasured>) {
        self.gaps = gaps;
    }

    /// Adds an interval, and says which losses grew in it.
    pub(super) fn add(&mut self, interval: &Interval, time: SampleTime) -> Vec<GrownLoss> {
        self.counted.add(interval, &summarise_interval(interval));
        self.known.update_groups(&mut self.counted.cgroups);
        if let Some(curves) = &mut self.curves {
            curves.add(interval, &self.counted.cgroups, |path| self.known.usage(path));
        }
        if self.mounts {
            self.known.update_mounts(&mut self.counted.mounts);
        }
        self.memory = interval.host.memory;
        let count = |len: usize| len as u64;
        self.own.last_sample = Some(interval.at);
        self.own.rows = interval.active_rows;
        self.own.processes = count(interval.processes.len());
        self.own.sample_ns = nanos(time.total);
        self.own.last_sample_ns = nanos(time.last);
        self.losses.grown(&interval.losses)
    }

    /// Sampling has ended before it was asked to.
    pub(super) fn stop(&mut self, why: String) {
        self.state = SamplingState::Stopped(why);
    }

    /// What is known now, for whoever serves it; `shared` knows what was answered so far.
    pub(super) fn snapshot(&mut self, shared: Option<&Shared>, deliveries: Deliveries) -> Snapshot {
        if let Some(shared) = shared {
            self.own.responses = shared.responses();
            self.own.refused_connections = shared.refused_connections();
        }
        self.own.otlp = deliveries.otlp;
        self.own.fleet = deliveries.fleet;
        self.own.process = match hotset_sys::proc::own::now() {
            Ok(own) => Observed::Value(ProcessNumbers {
                cpu_ns: own.cpu_ns,
                resident_bytes: own.resident_bytes,
                open_fds: own.open_fds,
            }),
            Err(_) => Observed::Missing(NO_PROC),
        };
        let (group, mount) = (|path: &str| self.known.group(path), |dev| self.known.mount(dev));
        let memory = |path: &str| self.curves.as_ref()?.memory(path);
        let curves = self.curves.as_ref().map(|curves| Curves {
            set: &curves.set,
            memory: &memory,
            multi_gen_lru: curves.multi_gen_lru,
        });
        let watched = self.watched.numbers();
        let measured = Measured {
            state: &self.state,
            counted: &self.counted,
            page_bytes: hotset_sys::page_size(),
            memory: &self.memory,
            group: &group,
            mount: if self.mounts { Some(&mount) } else { None },
            curves,
            watched: &watched,
            not_measured: &self.gaps,
            own: &self.own,
        };
        let at = match &self.state {
            SamplingState::Running => self.own.last_sample.unwrap_or(self.own.started),
            // When it stopped is not when it last counted.
            SamplingState::Stopped(_) => *self.stopped_at.get_or_insert_with(SystemTime::now),
        };
        Snapshot::new(&measured, at)
    }

    /// The same, put in the place of the last.
    pub(super) fn publish(&mut self, shared: &Shared, deliveries: Deliveries) -> Arc<Snapshot> {
        let snapshot = self.snapshot(Some(shared), deliveries);
        shared.publish(snapshot)
    }
}
