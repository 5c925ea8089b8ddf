//! Columns for people and for awk: the first six where `cachestat` of bcc has printed them since 2015.

use std::time::SystemTime;

use hotset_facts::Observed;

use super::Row;

const MIB: f64 = 1_048_576.0;

/// Names and widths. The first six are those of bcc's cachestat: `%8s %8s %8s %8s %12s %10s`.
const COLUMNS: [(&str, usize); 12] = [
    ("TOTAL", 8),
    ("MISSES", 8),
    ("HITS", 8),
    ("DIRTIES", 8),
    ("BUFFERS_MB", 12),
    ("CACHED_MB", 10),
    ("READ-AHEAD", 10),
    ("DEVICE%", 8),
    ("DIRECT_MB", 10),
    ("FAULTS", 8),
    ("EVICTED", 8),
    ("WRITEBACK_MB", 12),
];

/// Columns that are printed however narrow the terminal is.
const ALWAYS: usize = 6;

/// What a line needs to show every column, without the time.
pub const MIN_WIDTH: usize = 121;

/// How lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// A column with the time of day before the others.
    pub time: bool,
    /// Columns of the terminal; nothing where all are to be printed.
    pub width: Option<usize>,
}

impl Layout {
    /// How many columns fit: all, or the first ones, six at least.
    fn shown(self) -> usize {
        let Some(width) = self.width else { return COLUMNS.len() };
        let mut used = if self.time { 9 } else { 0 };
        let fits = COLUMNS.iter().enumerate().take_while(|(at, (_, column))| {
            used += column + usize::from(*at > 0);
            used <= width
        });
        fits.count().max(ALWAYS)
    }

    /// The columns that don't fit, by name.
    pub fn hidden(self) -> impl Iterator<Item = &'static str> {
        COLUMNS.iter().skip(self.shown()).map(|(name, _)| *name)
    }
}

/// The names of the columns, with a line end.
pub fn header(layout: Layout) -> String {
    let names = COLUMNS.map(|(name, _)| name.to_owned());
    join(layout, "TIME", &names)
}

/// One line, with a line end. `utc_offset_s` is how far the local time is ahead of UTC, in seconds. What is not known
/// is `-`.
pub fn line(row: &Row<'_>, layout: Layout, utc_offset_s: i32) -> String {
    let numbers = row.line;
    let fields = [
        numbers.total.to_string(),
        numbers.misses.to_string(),
        numbers.hits.to_string(),
        or_dash(numbers.dirties),
        mib(numbers.buffers_bytes, 0),
        mib(numbers.cached_bytes, 0),
        numbers.readahead_pages.to_string(),
        numbers.device_share.map_or("-".to_owned(), percent),
        mib(Observed::Value(numbers.direct_bytes), 1),
        or_dash(numbers.faults),
        or_dash(numbers.evicted_pages),
        mib(numbers.writeback_bytes, 1),
    ];
    join(layout, &time_of_day(row.at, utc_offset_s), &fields)
}

fn join(layout: Layout, time: &str, fields: &[String; COLUMNS.len()]) -> String {
    let mut out = if layout.time { format!("{time:<8} ") } else { String::new() };
    for (at, ((_, width), field)) in COLUMNS.iter().zip(fields).take(layout.shown()).enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(&format!("{field:>width$}"));
    }
    out.push('\n');
    out
}

fn or_dash(value: Observed<u64>) -> String {
    value.value().map_or("-".to_owned(), |value| value.to_string())
}

fn mib(bytes: Observed<u64>, decimals: usize) -> String {
    let mib = bytes.value().map(|bytes| bytes as f64 / MIB);
    mib.map_or("-".to_owned(), |mib| format!("{mib:.decimals$}"))
}

/// A share of 1 in percent. Rounding must claim neither all nor nothing.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 100.0 {
        format!("{:.1}", percent.clamp(0.1, 99.9))
    } else {
        format!("{percent:.1}")
    }
}

/// `HH:MM:SS`, as cachestat prints it.
fn time_of_day(at: SystemTime, utc_offset_s: i32) -> String {
    let timestamp = jiff::Timestamp::try_from(at).unwrap_or(jiff::Timestamp::MAX);
    let offset = jiff::tz::Offset::from_seconds(utc_offset_s).unwrap_or(jiff::tz::Offset::UTC);
    let time = offset.to_datetime(timestamp).time();
    format!("{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second())
}
