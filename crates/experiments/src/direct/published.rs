//! What the article measured that this experiment repeats.

use hotset_analysis::lab::{ConstLevel, PublishedFigure};

const SOURCE: &str = "an article on finding a program that bypasses the cache, with cachestat, cachetop, pcstat and strace";
const MACHINE: &str =
    "a virtual machine with two CPUs and 8 GB; the kernel and the device are not named";

const fn figure(
    what: &'static str,
    value: f64,
    unit: &'static str,
    here: &'static [(&'static str, ConstLevel)],
) -> PublishedFigure {
    PublishedFigure { source: SOURCE, machine: MACHINE, what, value, unit, here, or_here: &[] }
}

const DD: (&str, ConstLevel) = ("case", ConstLevel::Name("dd"));
const APP: (&str, ConstLevel) = ("case", ConstLevel::Name("app"));
const LATER: (&str, ConstLevel) = ("which", ConstLevel::Name("later"));

/// The published figures.
pub(super) const FIGURES: &[PublishedFigure] = &[
    figure("dd of 512 MiB, cold", 33.4, "MB/s", &[DD, ("state", ConstLevel::Name("cold"))]),
    figure("dd of 512 MiB, second run", 4.5, "GB/s", &[DD, ("state", ConstLevel::Name("warm"))]),
    figure("cachetop's read hits of the cold dd", 49.8, "%", &[]),
    figure(
        "a read of 32 MiB with O_DIRECT",
        0.93,
        "s",
        &[APP, LATER, ("mode", ConstLevel::Name("direct"))],
    ),
    figure(
        "a read of 32 MiB after the fix",
        0.03,
        "s",
        &[APP, LATER, ("mode", ConstLevel::Name("cached"))],
    ),
];
