//! What the article measured that asked why `require` is slow.

use hotset_analysis::lab::{ConstLevel, PublishedFigure};

const SOURCE: &str = "ashel.hatenablog.com, 6 June 2010";
const WINDOWS: &str =
    "Late 2008 MacBook, 2.4 GHz Core 2 Duo, disk of 5400 rpm, Windows XP SP3, NTFS";
const MAC: &str = "the same MacBook, Snow Leopard, HFS+";

type Here = &'static [(&'static str, ConstLevel)];

const REXML: Here = &[
    ("what", ConstLevel::Name("library")),
    ("library", ConstLevel::Name("rexml/document")),
    ("part", ConstLevel::Name("total")),
];
const TWITTER: Here = &[
    ("what", ConstLevel::Name("library")),
    ("library", ConstLevel::Name("twitter")),
    ("part", ConstLevel::Name("total")),
];

const fn seconds(
    machine: &'static str,
    what: &'static str,
    value: f64,
    here: Here,
) -> PublishedFigure {
    PublishedFigure { source: SOURCE, machine, what, value, unit: "s", here, or_here: &[] }
}

/// One `require` of a library, measured once, in a state of the cache that is not said. Ruby 1.8.7 is p249 on Windows and p173
/// on the Mac; 1.9.1 is p378.
pub(super) const FIGURES: &[PublishedFigure] = &[
    seconds(WINDOWS, "Ruby 1.8.7, rexml/document, 35 files, Windows XP", 0.140_625, REXML),
    seconds(MAC, "Ruby 1.8.7, rexml/document, 35 files, Mac OS X", 0.029_783, REXML),
    seconds(WINDOWS, "Ruby 1.9.1, rexml/document, 35 files, Windows XP", 0.281_250, REXML),
    seconds(MAC, "Ruby 1.9.1, rexml/document, 35 files, Mac OS X", 0.058_118, REXML),
    seconds(WINDOWS, "Ruby 1.8.7, twitter (gem), 125 files, Windows XP", 0.546_875, TWITTER),
    seconds(MAC, "Ruby 1.8.7, twitter (gem), 125 files, Mac OS X", 0.158_961, TWITTER),
    seconds(WINDOWS, "Ruby 1.9.1, twitter (gem), 135 files, Windows XP", 0.921_875, TWITTER),
    seconds(MAC, "Ruby 1.9.1, twitter (gem), 135 files, Mac OS X", 0.244_374, TWITTER),
];
