//! The table of what was compared with real kernels.

use super::{Access, KernelVersion};

pub(super) const LINUX_6_1: KernelVersion = KernelVersion::new(6, 1);
pub(super) const LINUX_6_12: KernelVersion = KernelVersion::new(6, 12);
pub(super) const LINUX_6_18: KernelVersion = KernelVersion::new(6, 18);
const OLDEST: KernelVersion = KernelVersion::new(0, 0);
const NEWEST: KernelVersion = KernelVersion::new(u32::MAX, u32::MAX);
/// From here on, reclaim leaves the update of a group's statistics to a work item (`mem_cgroup_flush_stats_ratelimited()` in
/// `prepare_scan_control()`, mm/vmscan.c).
pub(super) const OLD_SIZES: KernelVersion = KernelVersion::new(6, 12);
/// From here on, MGLRU takes what came back within four generations for a refault, and chooses tiers in another way.
pub(super) const MGLRU_REWORKED: KernelVersion = KernelVersion::new(6, 14);
/// From here on, mappings with `MADV_RANDOM` don't count (`vma_has_recency()`).
const RANDOM_IS_NOT_RECENT: KernelVersion = KernelVersion::new(6, 3);

/// Runs of a real kernel, and how well they were predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The oldest kernel whose policy is the same, as far as its source was read.
    pub from: KernelVersion,
    /// The newest one.
    pub to: KernelVersion,
    /// Whether MGLRU was enabled.
    pub mglru: bool,
    /// What the program did.
    pub access: Access,
    /// The kernel of the runs.
    pub measured_on: KernelVersion,
    /// Mean error of the hit ratio, in points.
    pub mean_error: f64,
    /// The largest error.
    pub worst_error: f64,
    /// How many runs.
    pub runs: u32,
    /// Where they are, or what they were.
    pub evidence: &'static str,
}

const DATA_6_1: &str = "tests/data/linux-6.1.csv and tests/kernels.rs of this crate";
const DATA_6_12: &str = "tests/data/linux-6.12.csv and tests/kernels.rs of this crate";
const DATA_6_18: &str = "tests/data/linux-6.18.csv and tests/kernels.rs of this crate";

/// What was compared. A kind of access of a kernel that has no row was not.
pub const ROWS: &[Row] = &[
    Row {
        from: OLDEST,
        to: KernelVersion::new(6, 11),
        mglru: false,
        access: Access::Read,
        measured_on: LINUX_6_1,
        mean_error: 0.05,
        worst_error: 0.34,
        runs: 22,
        evidence: DATA_6_1,
    },
    Row {
        from: OLD_SIZES,
        to: KernelVersion::new(6, 14),
        mglru: false,
        access: Access::Read,
        measured_on: LINUX_6_12,
        mean_error: 0.2,
        worst_error: 3.64,
        runs: 53,
        evidence: DATA_6_12,
    },
    Row {
        from: KernelVersion::new(6, 15),
        to: NEWEST,
        mglru: false,
        access: Access::Read,
        measured_on: LINUX_6_18,
        mean_error: 0.27,
        worst_error: 1.41,
        runs: 22,
        evidence: DATA_6_18,
    },
    Row {
        from: LINUX_6_1,
        to: KernelVersion::new(6, 6),
        mglru: true,
        access: Access::Read,
        measured_on: LINUX_6_1,
        mean_error: 0.04,
        worst_error: 0.18,
        runs: 22,
        evidence: DATA_6_1,
    },
    Row {
        from: KernelVersion::new(6, 7),
        to: KernelVersion::new(6, 13),
        mglru: true,
        access: Access::Read,
        measured_on: LINUX_6_12,
        mean_error: 0.04,
        worst_error: 0.43,
        runs: 53,
        evidence: DATA_6_12,
    },
    Row {
        from: MGLRU_REWORKED,
        to: NEWEST,
        mglru: true,
        access: Access::Read,
        measured_on: LINUX_6_18,
        mean_error: 0.54,
        worst_error: 8.5,
        runs: 22,
        evidence: DATA_6_18,
    },
    Row {
        from: OLDEST,
        to: KernelVersion::new(6, 11),
        mglru: false,
        access: Access::Mapped,
        measured_on: LINUX_6_1,
        mean_error: 0.05,
        worst_error: 0.09,
        runs: 3,
        evidence: DATA_6_1,
    },
    Row {
        from: OLD_SIZES,
        to: KernelVersion::new(6, 14),
        mglru: false,
        access: Access::Mapped,
        measured_on: LINUX_6_12,
        mean_error: 0.51,
        worst_error: 4.4,
        runs: 18,
        evidence: DATA_6_12,
    },
    Row {
        from: KernelVersion::new(6, 15),
        to: NEWEST,
        mglru: false,
        access: Access::Mapped,
        measured_on: LINUX_6_18,
        mean_error: 0.19,
        worst_error: 0.48,
        runs: 3,
        evidence: DATA_6_18,
    },
    Row {
        from: LINUX_6_1,
        to: KernelVersion::new(6, 6),
        mglru: true,
        access: Access::Mapped,
        measured_on: LINUX_6_1,
        mean_error: 0.78,
        worst_error: 1.8,
        runs: 3,
        evidence: DATA_6_1,
    },
    Row {
        from: KernelVersion::new(6, 7),
        to: KernelVersion::new(6, 13),
        mglru: true,
        access: Access::Mapped,
        measured_on: LINUX_6_12,
        mean_error: 0.85,
        worst_error: 5.18,
        runs: 18,
        evidence: DATA_6_12,
    },
    Row {
        from: MGLRU_REWORKED,
        to: NEWEST,
        mglru: true,
        access: Access::Mapped,
        measured_on: LINUX_6_18,
        mean_error: 1.53,
        worst_error: 3.39,
        runs: 3,
        evidence: DATA_6_18,
    },
    Row {
        from: OLDEST,
        to: KernelVersion::new(6, 2),
        mglru: false,
        access: Access::MappedRandom,
        measured_on: LINUX_6_1,
        mean_error: 0.07,
        worst_error: 0.11,
        runs: 2,
        evidence: DATA_6_1,
    },
    Row {
        from: RANDOM_IS_NOT_RECENT,
        to: KernelVersion::new(6, 14),
        mglru: false,
        access: Access::MappedRandom,
        measured_on: LINUX_6_12,
        mean_error: 0.29,
        worst_error: 2.08,
        runs: 15,
        evidence: DATA_6_12,
    },
    Row {
        from: KernelVersion::new(6, 15),
        to: NEWEST,
        mglru: false,
        access: Access::MappedRandom,
        measured_on: LINUX_6_18,
        mean_error: 0.1,
        worst_error: 0.17,
        runs: 2,
        evidence: DATA_6_18,
    },
    Row {
        from: LINUX_6_1,
        to: KernelVersion::new(6, 2),
        mglru: true,
        access: Access::MappedRandom,
        measured_on: LINUX_6_1,
        mean_error: 1.78,
        worst_error: 1.98,
        runs: 2,
        evidence: DATA_6_1,
    },
    Row {
        from: RANDOM_IS_NOT_RECENT,
        to: KernelVersion::new(6, 13),
        mglru: true,
        access: Access::MappedRandom,
        measured_on: LINUX_6_12,
        mean_error: 0.17,
        worst_error: 0.83,
        runs: 15,
        evidence: DATA_6_12,
    },
    Row {
        from: MGLRU_REWORKED,
        to: NEWEST,
        mglru: true,
        access: Access::MappedRandom,
        measured_on: LINUX_6_18,
        mean_error: 0.1,
        worst_error: 0.15,
        runs: 2,
        evidence: DATA_6_18,
    },
];
