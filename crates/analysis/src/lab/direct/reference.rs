//! What the article measured that this experiment repeats.

use super::super::{KnownLevel, ReferenceFigure};

const SOURCE: &str = "an article on finding a program that bypasses the cache, with cachestat, cachetop, pcstat and strace";
const MACHINE: &str =
    "a virtual machine with two CPUs and 8 GB; the kernel and the device are not named";

const fn figure(
    what: &'static str,
    value: f64,
    unit: &'static str,
    here: &'static [(&'static str, KnownLevel)],
) -> ReferenceFigure {
    ReferenceFigure { source: SOURCE, machine: MACHINE, what, value, unit, here }
}

const DD: (&str, KnownLevel) = ("case", KnownLevel::Name("dd"));
const APP: (&str, KnownLevel) = ("case", KnownLevel::Name("app"));
const LATER: (&str, KnownLevel) = ("which", KnownLevel::Name("later"));

/// The published figures.
pub(in super::super) const FIGURES: &[ReferenceFigure] = &[
    figure("dd of 512 MiB, cold", 33.4, "MB/s", &[DD, ("state", KnownLevel::Name("cold"))]),
    figure("dd of 512 MiB, again", 4.5, "GB/s", &[DD, ("state", KnownLevel::Name("warm"))]),
    figure("cachetop's read hits of the cold dd", 49.8, "%", &[]),
    figure(
        "a read of 32 MiB with O_DIRECT",
        0.93,
        "s",
        &[APP, LATER, ("mode", KnownLevel::Name("direct"))],
    ),
    figure(
        "a read of 32 MiB after the fix",
        0.03,
        "s",
        &[APP, LATER, ("mode", KnownLevel::Name("cached"))],
    ),
];
