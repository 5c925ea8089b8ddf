//! Columns for people and for awk: the first six where `cachestat` of bcc has printed them since 2015.

use std::time::SystemTime;

use hotset_facts::Observed;

use super::Row;
use super::columns::{COLUMNS, Cell};

const MIB: f64 = 1_048_576.0;

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
        let fits = COLUMNS.iter().enumerate().take_while(|(at, (_, column, ..))| {
            used += column + usize::from(*at > 0);
            used <= width
        });
        fits.count().max(ALWAYS)
    }

    /// The columns that don't fit, by name.
    pub fn hidden(self) -> impl Iterator<Item = &'static str> {
        COLUMNS.iter().skip(self.shown()).map(|(name, ..)| *name)
    }
}

/// The names of the columns, with a line end.
pub fn header(layout: Layout) -> String {
    let names = COLUMNS.map(|(name, ..)| name.to_owned());
    join(layout, "TIME", &names)
}

/// One line, with a line end. `utc_offset_s` is how far the local time is ahead of UTC, in seconds. What is not known
/// is `-`.
pub fn line(row: &Row<'_>, layout: Layout, utc_offset_s: i32) -> String {
    let known = |value: Observed<u64>, text: &dyn Fn(u64) -> String| {
        value.value().map_or_else(|| "-".to_owned(), text)
    };
    let fields = COLUMNS.map(|(_, _, _, cell)| match cell(row.line) {
        Cell::Count(value) => known(value, &|count| count.to_string()),
        Cell::Bytes(value, decimals) => {
            known(value, &|bytes| format!("{:.decimals$}", bytes as f64 / MIB))
        }
        Cell::Share(share) => share.map_or("-".to_owned(), percent),
    });
    join(layout, &time_of_day(row.at, utc_offset_s), &fields)
}

fn join(layout: Layout, time: &str, fields: &[String; COLUMNS.len()]) -> String {
    let mut out = if layout.time { format!("{time:<8} ") } else { String::new() };
    for (at, ((_, width, ..), field)) in COLUMNS.iter().zip(fields).take(layout.shown()).enumerate()
    {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(&format!("{field:>width$}"));
    }
    out.push('\n');
    out
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
