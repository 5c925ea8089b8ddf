//! What a small host measured.

use std::time::{Duration, SystemTime};

use hotset_analysis::live::{Accumulated, SeriesLimits, summarise_interval, testing};
use hotset_facts::{Dev, Feature, MemInfo, NotMeasured, Observed};

use super::{
    GroupLabels, Measured, MountLabels, OtlpNumbers, OwnNumbers, ProcessNumbers, SamplingState,
    WatchedNumbers,
};

/// Everything that [`Measured`] borrows.
pub(super) struct Host {
    pub(super) state: SamplingState,
    pub(super) counted: Accumulated,
    pub(super) memory: Observed<MemInfo>,
    pub(super) watched: Vec<WatchedNumbers>,
    pub(super) not_measured: Vec<NotMeasured>,
    pub(super) own: OwnNumbers,
    pub(super) mounts: bool,
}

pub(super) fn epoch(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

impl Host {
    /// Two commands read, in two groups; there is place for one of each.
    pub(super) fn new() -> Self {
        let limits = SeriesLimits { commands: 1, cgroups: 1, mounts: 1 };
        let mut counted = Accumulated::new(limits);
        let interval = testing::interval(vec![testing::reads(0, 100, 10), testing::reads(1, 5, 5)]);
        counted.add(&interval, &summarise_interval(&interval));
        let own = OwnNumbers {
            version: "0.1.0",
            started: epoch(1_699_999_000),
            last_sample: Some(interval.at),
            interval_ns: 5_000_000_000,
            sample_ns: 2_500_000,
            last_sample_ns: 1_250_000,
            rows: 2,
            processes: 2,
            responses: vec![(200, 3), (405, 1)],
            refused_connections: 0,
            process: Observed::Value(ProcessNumbers {
                cpu_ns: 30_000_000,
                resident_bytes: 9 << 20,
                open_fds: 12,
            }),
            otlp: Some(OtlpNumbers { pushed: 4, failed: 1, dropped: 0, rejected_points: 0 }),
        };
        let memory = interval.host.memory;
        let watched = vec![WatchedNumbers {
            path: "/srv/\"db\"".to_owned(),
            files: 3,
            unknown: 1,
            size_bytes: 40_960,
            cached_bytes: 8192,
            dirty_bytes: None,
            complete: true,
            walk_ns: 1_000,
            at: epoch(1_700_000_000),
        }];
        let (feature, reason) = (Feature::CompatCalls, "12 calls were not decoded".to_owned());
        Self {
            state: SamplingState::Running,
            counted,
            memory,
            watched,
            not_measured: vec![NotMeasured { feature, reason }],
            own,
            mounts: true,
        }
    }

    pub(super) fn measured<T>(&self, with: impl FnOnce(&Measured<'_>) -> T) -> T {
        let mount = |_: Dev| MountLabels { mountpoint: "/".to_owned(), fstype: "ext4".to_owned() };
        let group = |path: &str| GroupLabels { container: Some(format!("in {path}")), pod: None };
        with(&Measured {
            state: &self.state,
            counted: &self.counted,
            page_bytes: 4096,
            memory: &self.memory,
            group: &group,
            mount: if self.mounts { Some(&mount) } else { None },
            watched: &self.watched,
            not_measured: &self.not_measured,
            own: &self.own,
        })
    }
}
