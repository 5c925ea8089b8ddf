//! What a small host measured.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hotset_analysis::live::{Accumulated, CurveSet, SeriesLimits, summarise_interval, testing};
use hotset_facts::{
    CurveCounts, Dev, Feature, GroupCurve, LiveCurves, MemInfo, NotMeasured, Observed,
};

use super::{
    Curves, FleetNumbers, GroupLabels, GroupMemoryNumbers, Measured, MountLabels, OtlpNumbers,
    OwnNumbers, ProcessNumbers, SamplingState, WatchedNumbers,
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
    /// With `--curves`, and whether the kernel has its multi-gen LRU on.
    pub(super) curves: Option<(CurveSet, bool)>,
}

pub(super) fn epoch(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// A group of which 500 of 8,000 pages are in the sample: each is used five times, with 4,096 others at most in between.
fn curve(path: &str) -> GroupCurve {
    let limits: Vec<u64> = (0..=28).map(|shift| 1 << shift).collect();
    let weights = limits.iter().map(|&limit| if limit == 4_096 { 32_000 } else { 0 }).collect();
    let counts = CurveCounts {
        limits: limits.into(),
        weights,
        weighted: 40_000,
        weighted_first: 8_000,
        references: 40_000,
    };
    let group = Some(Arc::from(path));
    GroupCurve { group, exponent: 4, pages: 500, references: 40_000, lost: 0, counts }
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
            fleet: Some(FleetNumbers {
                delivered_files: 12,
                failed_deliveries: 3,
                waiting_files: 1,
                waiting_bytes: 4096,
                last_delivery: Some(epoch(1_699_999_500)),
                ..FleetNumbers::default()
            }),
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
            curves: None,
        }
    }

    /// The same with `--curves`: of its two groups one has a series.
    pub(super) fn with_curves(multi_gen_lru: bool) -> Self {
        let mut host = Self::new();
        let groups = vec![curve("/system.slice/0.service"), curve("/system.slice/1.service")];
        let seen = LiveCurves { groups, exponent: 4, groups_beyond: 3, unattributed: 2, lost: 1 };
        let mut set = CurveSet::default();
        set.add(&seen, 60_000_000_000, &host.counted.cgroups);
        host.curves = Some((set, multi_gen_lru));
        host
    }

    pub(super) fn measured<T>(&self, with: impl FnOnce(&Measured<'_>) -> T) -> T {
        let mount = |_: Dev| MountLabels { mountpoint: "/".to_owned(), fstype: "ext4".to_owned() };
        let group = |path: &str| GroupLabels { container: Some(format!("in {path}")), pod: None };
        let memory = |_: &str| {
            Some(GroupMemoryNumbers {
                limit_bytes: Some(1 << 30),
                used_bytes: 96 << 20,
                file_bytes: 64 << 20,
                refaulted_pages: Some(77),
            })
        };
        let curves = self.curves.as_ref().map(|(set, multi_gen_lru)| Curves {
            set,
            memory: &memory,
            multi_gen_lru: *multi_gen_lru,
        });
        with(&Measured {
            state: &self.state,
            counted: &self.counted,
            page_bytes: 4096,
            memory: &self.memory,
            group: &group,
            mount: if self.mounts { Some(&mount) } else { None },
            curves,
            watched: &self.watched,
            not_measured: &self.not_measured,
            own: &self.own,
        })
    }
}
